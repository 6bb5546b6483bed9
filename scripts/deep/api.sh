#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The public names are those of docs/public-names.txt, and the library's ABI is compared with the last release's.
# After a change that is meant: scripts/deep/api.sh --write, and read the diff.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
find_tools
mkdir -p build/deep
python3 packaging/site/api.py >build/deep/public-names.txt || die "the public headers cannot be read"
if [[ ${1:-} == --write ]]; then cp build/deep/public-names.txt docs/public-names.txt; fi
diff -u docs/public-names.txt build/deep/public-names.txt ||
  die "the public names have changed — scripts/deep/api.sh --write records them, if that is meant"
say "public names: $(wc -l <docs/public-names.txt), as recorded"

release=$(git describe --tags --match 'v*' --abbrev=0 2>/dev/null || true)
if [[ -z $release ]]; then
  say "ABI: there is no release yet, so nothing to compare with"
  exit
fi
scripts/build.sh release cardan
rm -rf build/deep/released
git worktree prune
git worktree add --force --detach build/deep/released "$release" >/dev/null
trap 'git worktree remove --force build/deep/released' EXIT
(cd build/deep/released && CARDAN_TESTS=OFF scripts/build.sh release cardan)
abidiff --no-added-syms build/deep/released/build/release/lib/libcardan.so build/release/lib/libcardan.so ||
  die "the ABI differs from $release's: before 1.0 that needs a new minor version and a line in CHANGELOG.md"
