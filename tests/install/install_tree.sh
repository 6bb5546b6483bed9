# SPDX-License-Identifier: Apache-2.0
# Installs into a folder of the build, and looks at what arrived.
source "$(dirname "$0")/lib.sh"
fresh "$PREFIX"
"$CMAKE" --install "$BUILD" --prefix "$PREFIX" >"$WORK/install.log" 2>&1 || { cat "$WORK/install.log"; fail "cmake --install failed"; }
if grep -A5 -i warning "$WORK/install.log"; then fail "cmake --install warns"; fi
for file in include/cardan/cardan.hpp include/cardan/base/error.hpp lib*/libcardan.so lib*/pkgconfig/cardan.pc \
  lib*/cmake/cardan/cardanConfig.cmake lib*/cmake/cardan/cardanConfigVersion.cmake share/cardan/cardan.schema.json; do
  compgen -G "$PREFIX/$file" >/dev/null || compgen -G "$PREFIX/lib/*/${file#lib\*/}" >/dev/null || fail "not installed: $file"
done
# Exactly the headers of the list; those of the recorder only if it is built.
listed=$(sed -nE 's/^(public|detail) //p' "$SOURCE/cmake/installed_headers.txt" | sort)
[[ -e $PREFIX/include/cardan/record ]] || listed=$(grep -vE '^cardan/(mcap|record)/' <<<"$listed")
installed=$(cd "$PREFIX/include" && find . -type f -printf '%P\n' | sort)
diff <(echo "$listed") <(echo "$installed") || fail "what is installed differs from cmake/installed_headers.txt"
# Nothing of this computer may stay in what others build against.
if grep -rlF -e "$SOURCE" -e "$BUILD" "$PREFIX" --include='*.cmake' --include='*.pc' --include='*.hpp'; then fail "a path of the build is left in the files above"; fi
