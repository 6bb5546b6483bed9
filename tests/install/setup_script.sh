# SPDX-License-Identifier: Apache-2.0
# scripts/setup.sh where it cannot install: it says what is missing, and neither fails nor leaves the caller guessing.
source "$(dirname "$0")/lib.sh"
unset CARDAN_SKIP_SETUP
setup=$SOURCE/scripts/setup.sh
says() { grep -qF -- "$1" <<<"$output" || fail "it should say «$1», but said: $output"; }

output=$("$setup" --for nonsense 2>&1) && fail "an unknown group should fail" || [[ $? == 2 ]] || fail "an unknown group should end with 2"
says "unknown group 'nonsense'"
output=$("$setup" --wrong 2>&1) && fail "an unknown option should fail" || [[ $? == 2 ]] || fail "an unknown option should end with 2"
says "unknown option '--wrong'"
output=$(CARDAN_SKIP_SETUP=1 "$setup" --for test-deep)
says "skipped"

# Another distribution: no apt-get, and ninja is missing.
fresh "$WORK/path"
for program in awk basename bash cat cmake dirname flock g++ head mkdir paste pkg-config sed sort uname; do
  ln -s "$(command -v "$program")" "$WORK/path/$program" 2>/dev/null || true
done
output=$(PATH=$WORK/path "$setup" --for build 2>&1) || fail "on another distribution the build should continue: $output"
says "not Debian or Ubuntu"
says "ninja-build"
says "runs the build"

# Only telling installs nothing, whatever is missing.
output=$("$setup" --for test-deep --dry-run)
[[ $output != *"apt-get works"* ]] || fail "--dry-run should install nothing"
