# SPDX-License-Identifier: Apache-2.0
# The installed `cardan` starts, and finds the installed library and not the build's.
source "$(dirname "$0")/lib.sh"
[[ -x $PREFIX/bin/cardan ]] || fail "bin/cardan is not installed"
ldd "$PREFIX/bin/cardan" | grep -F "libcardan.so" | grep -qF "$PREFIX/" || { ldd "$PREFIX/bin/cardan"; fail "bin/cardan does not find the installed library"; }
"$PREFIX/bin/cardan" --help >"$WORK/help.txt" || fail "cardan --help failed"
grep -q topic "$WORK/help.txt" || fail "cardan --help does not tell of its subcommands"
