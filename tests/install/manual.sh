# SPDX-License-Identifier: Apache-2.0
# The manual pages: one for each subcommand that --help shows, with its options, and without a warning of man or mandoc.
source "$(dirname "$0")/lib.sh"
cd "$PREFIX/share/man/man1"
for page in cardan cardan-topic cardan-topic-echo cardan-run cardan-new-project cardan-doctor; do
  [[ -s $page.1 ]] || fail "no manual page $page.1"
done
for page in *.1; do
  words=${page%.1}
  case $words in cardan-bridge-*) words="cardan bridge ${words#cardan-bridge-}" ;; *) words=${words//-/ } ;; esac
  # shellcheck disable=SC2086
  "$PREFIX/bin/"$words --help >"$WORK/help.txt" || fail "$page has no command $words"
  # shellcheck disable=SC2013
  for option in $(grep -oE '^  (-[a-zA-Z],)?--[a-z-]+' "$WORK/help.txt" | grep -oE -- '--[a-z-]+'); do
    grep -qF -- "${option//-/\\-}" "$page" || fail "$page does not have $option"
  done
  if command -v man >/dev/null && command -v groff >/dev/null; then
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "./$page" 2>"$WORK/man.txt" >/dev/null || { cat "$WORK/man.txt"; fail "man cannot show $page"; }
    [[ ! -s $WORK/man.txt ]] || { cat "$WORK/man.txt"; fail "man warns of $page"; }
  fi
  if command -v mandoc >/dev/null; then
    mandoc -T lint -W error "$page" || fail "mandoc finds errors in $page"
  fi
done
"$PREFIX/bin/cardan" __manual /nonexistent 2>"$WORK/help.txt" && fail "a folder that does not exist should fail"
grep -q "cannot write /nonexistent/cardan.1" "$WORK/help.txt" || fail "the error does not name the file"
"$PREFIX/bin/cardan" __manual 2>/dev/null && fail "without a folder it should fail"
exit 0
