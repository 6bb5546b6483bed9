# SPDX-License-Identifier: Apache-2.0
# docs/c.md as it is written: the program of the page, a C compiler, the installed Cardan.
source "$(dirname "$0")/lib.sh"
fresh "$WORK/c_interface"
cd "$WORK/c_interface"
awk '/^```c$/ {inside = !done; next} /^```$/ {if (inside) done = 1; inside = 0} inside' "$SOURCE/docs/c.md" >camera.c
grep -q cardan_subscribe camera.c || fail "docs/c.md has no program"
PKG_CONFIG_PATH=$(dirname "$(find "$PREFIX" -name cardan.pc)")
export PKG_CONFIG_PATH
eval "libdir=$(pkg-config --variable=libdir cardan-c) flags=($(pkg-config --cflags --libs cardan-c))"  # pkg-config quotes for a shell
cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror camera.c "${flags[@]}" -Wl,-rpath,"$libdir" -o camera
CARDAN_RUN_DIR=$(mktemp -d /tmp/cardan-install.XXXXXX)
export CARDAN_RUN_DIR
trap 'rm -rf "$CARDAN_RUN_DIR"' EXIT
if ./camera 2>error.txt; then fail "it found a camera that does not exist"; fi
grep -q "nobody publishes '/camera/front'" error.txt || { cat error.txt; fail "the error does not name the topic"; }
