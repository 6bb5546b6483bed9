# SPDX-License-Identifier: Apache-2.0
# scripts/build.sh in a tree that was moved, and on a computer where a compiler cache appears and goes again.
source "$(dirname "$0")/lib.sh"
unset CMAKE_CXX_COMPILER_LAUNCHER
tree=$WORK/build_script/tree
fresh "$WORK/build_script"
mkdir -p "$tree/scripts" "$WORK/build_script/bin" "$WORK/build_script/cache"
cp "$SOURCE/scripts/build.sh" "$SOURCE/scripts/lib.sh" "$tree/scripts/"
cat >"$tree/CMakePresets.json" <<'END'
{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"}]}
END
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
option(CARDAN_BUILD_TESTS "")
add_executable(small small.cpp)
target_compile_definitions(small PRIVATE PLACE="${PROJECT_SOURCE_DIR}")
END
echo '#include <cstdio>
int main() { std::puts(PLACE); }' >"$tree/small.cpp"
# A compiler cache that can be put into the path and taken out of it.
printf '#!/bin/sh\nexec "$@"\n' >"$WORK/build_script/cache/ccache"
chmod +x "$WORK/build_script/cache/ccache"
build() { (cd "$1" && CXX=$(command -v "$CXX") CARDAN_TESTS=OFF JOBS=1 PATH=$2 scripts/build.sh release); }
# All tools but ccache.
plain=$WORK/build_script/bin
for folder in "$(dirname "$(command -v "$CXX")")" "$(dirname "$(command -v "$CMAKE")")" /usr/local/bin /usr/bin; do
  ln -s -t "$plain" "$folder"/* 2>/dev/null || true  # those that are there already stay
done
rm -f "$plain/ccache"

build "$tree" "$plain" >"$WORK/build_script/1.txt"
build "$tree" "$WORK/build_script/cache:$plain" >"$WORK/build_script/2.txt"
grep -q "no work to do" "$WORK/build_script/2.txt" || { cat "$WORK/build_script/2.txt"; fail "a compiler cache that appeared built everything again"; }

cp -a "$tree" "$WORK/build_script/copy"
build "$WORK/build_script/copy" "$plain" >"$WORK/build_script/3.txt" || { cat "$WORK/build_script/3.txt"; fail "a copied tree cannot be built"; }
[[ $("$WORK/build_script/copy/build/release/small") == "$WORK/build_script/copy" ]] || fail "the copied tree's program is that of the first one"
mv "$tree" "$WORK/build_script/moved"
build "$WORK/build_script/moved" "$WORK/build_script/cache:$plain" >"$WORK/build_script/4.txt" || { cat "$WORK/build_script/4.txt"; fail "a moved tree cannot be built"; }
[[ $("$WORK/build_script/moved/build/release/small") == "$WORK/build_script/moved" ]] || fail "the moved tree's program is that of the first place"
grep -q "CMAKE_CXX_COMPILER_LAUNCHER:[A-Z]*=ccache" "$WORK/build_script/moved/build/release/CMakeCache.txt" || fail "a tree that is configured again does not take the compiler cache"
build "$WORK/build_script/moved" "$plain" >"$WORK/build_script/5.txt" 2>&1 || { cat "$WORK/build_script/5.txt"; fail "a compiler cache that has gone stops the build"; }
