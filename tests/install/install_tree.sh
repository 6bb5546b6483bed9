# SPDX-License-Identifier: Apache-2.0
# Installs into a folder of the build, and looks at what arrived.
source "$(dirname "$0")/lib.sh"
fresh "$PREFIX"
"$CMAKE" --install "$BUILD" --prefix "$PREFIX" >"$WORK/install.log" 2>&1 || { cat "$WORK/install.log"; fail "cmake --install failed"; }
if grep -A5 -i warning "$WORK/install.log"; then fail "cmake --install warns"; fi
for file in include/cardan/cardan.hpp include/cardan/error.hpp lib*/libcardan.so lib*/pkgconfig/cardan.pc \
  lib*/cmake/cardan/cardanConfig.cmake lib*/cmake/cardan/cardanConfigVersion.cmake share/cardan/cardan.schema.json lib/tmpfiles.d/cardan.conf; do
  compgen -G "$PREFIX/$file" >/dev/null || compgen -G "$PREFIX/lib/*/${file#lib\*/}" >/dev/null || fail "not installed: $file"
done
# Exactly the headers of include/; those of the recorder only if it is built.
listed=$(cd "$SOURCE/include" && find . -type f -printf '%P\n' | sort)
[[ -z $LEFT_OUT ]] || listed=$(grep -vE "$LEFT_OUT" <<<"$listed")
installed=$(cd "$PREFIX/include" && find . -type f -printf '%P\n' | sort)
diff <(echo "$listed") <(echo "$installed") || fail "the installed headers differ from include/"
# No path of this computer may stay in the files that others build against.
if grep -rlF -e "$SOURCE" -e "$BUILD" "$PREFIX" --include='*.cmake' --include='*.pc' --include='*.hpp'; then fail "a path of the build is left in the files above"; fi
# The unit starts the command that is installed next to it.
unit=$PREFIX/lib/systemd/system/cardan@.service
if [[ -e $PREFIX/bin/cardan ]]; then
  grep -q "^ExecStart=$PREFIX/bin/cardan run /etc/cardan/%i.json " "$unit" || fail "$unit does not start $PREFIX/bin/cardan"
fi
# Others' names (fmt, nlohmann_json, the standard library) stay inside the libraries, and Cardan's have the interface's version.
if command -v readelf >/dev/null && command -v c++filt >/dev/null; then
  find "$PREFIX" -name 'libcardan*.so.0' -print0 >"$WORK/libraries"
  [[ -s $WORK/libraries ]] || fail "no library of Cardan is installed"
  while IFS= read -r -d '' library; do
    readelf -dW "$library" | grep -q "SONAME.*\[$(basename "$library")\]" || fail "$library has another SONAME"
    shown=$(readelf --dyn-syms -W "$library" | awk '$1 ~ /^[0-9]+:$/ && $5 != "LOCAL" && $7 != "UND" && $7 != "ABS" {print $8}' | c++filt)
    grep -q 'cardan::.*@@CARDAN_0\.' <<<"$shown" || fail "$library does not show Cardan's names with a version"
    others=$(grep -v cardan <<<"$shown" | head -n 5 || true)
    [[ -z $others ]] || fail "$library shows others' names: $others"
  done <"$WORK/libraries"
fi
