# SPDX-License-Identifier: Apache-2.0
# The installed `cardan` starts, and finds the installed library and not the build's.
source "$(dirname "$0")/lib.sh"
[[ -x $PREFIX/bin/cardan ]] || fail "bin/cardan is not installed"
ldd "$PREFIX/bin/cardan" | grep -F "libcardan.so" | grep -qF "$PREFIX/" || { ldd "$PREFIX/bin/cardan"; fail "bin/cardan does not find the installed library"; }
"$PREFIX/bin/cardan" --help >"$WORK/help.txt" || fail "cardan --help failed"
grep -q topic "$WORK/help.txt" || fail "cardan --help does not tell of its subcommands"
# The components of `cardan demo` are found next to it: on_start() of each component answers.
street=$PREFIX/share/cardan/street.json
if [[ -e $street ]]; then
  schema=$(sed -n 's/.*"\$schema": "\(.*\)".*/\1/p' "$street")
  [[ -e $(dirname "$street")/$schema ]] || fail "$street names the schema $schema, which is not installed there"
  # The street video is not a part of the installation: the camera draws one.
  "$PREFIX/bin/cardan" check "$street" >"$WORK/check.txt" 2>&1 || { cat "$WORK/check.txt"; fail "cardan check $street finds errors"; }
fi
# The tour starts processes of the installed program. It belongs to the recorder's commands.
if compgen -G "$PREFIX/lib*/libcardan_record.so*" >/dev/null; then
  fresh "$WORK/tour"
  TMPDIR=$WORK/tour timeout 120 "$PREFIX/bin/cardan" tour --step 7 >"$WORK/tour.txt" 2>&1 || { cat "$WORK/tour.txt"; fail "cardan tour --step 7 failed"; }
  grep -q "is still whole: 307200 bytes" "$WORK/tour.txt" || { cat "$WORK/tour.txt"; fail "cardan tour --step 7 does not say what it measured"; }
  [[ -s $PREFIX/share/man/man1/cardan-tour.1 ]] || fail "cardan tour has no manual page"
  rmdir "$WORK/tour" || fail "cardan tour left something in its TMPDIR"
fi
