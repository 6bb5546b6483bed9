#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures a preset (release, dev, debug, asan, tsan, clang) and builds targets of it.
#
#   scripts/build.sh PRESET [-DNAME=VALUE]... [target]...
#
# Honours CXX, JOBS and CARDAN_TESTS=ON|OFF (default: ON where GoogleTest is there).
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
preset=${1:?usage: scripts/build.sh PRESET [-DNAME=VALUE]... [target]...}
shift
definitions=() targets=()
for argument; do
  case $argument in -D*) definitions+=("$argument") ;; *) targets+=("$argument") ;; esac
done
chosen=${CMAKE_CXX_COMPILER_LAUNCHER:-}
find_tools

if [[ -z ${CARDAN_TESTS:-} ]]; then
  CARDAN_TESTS=OFF
  if "$CXX" -x c++ -std=c++20 -E - >/dev/null 2>&1 <<<$'#if !__has_include(<gtest/gtest.h>)\n#error\n#endif'; then CARDAN_TESTS=ON; fi
fi
mkdir -p build
log=build/$preset-configure.log
# Another build of the same folder, such as one that test-deep.sh began ahead, ends first.
exec {lock}>"build/$preset.lock"
flock "$lock"
# Of a tree that was moved or copied, CMake's cache names the old place: it is made again, and what was built is used again where it still fits.
cache=build/$preset/CMakeCache.txt
fresh=()
if [[ -e $cache ]]; then
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  [[ $home -ef $PWD ]] && [[ $(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache") -ef build/$preset ]] || fresh=(--fresh)
  # A compiler cache that has appeared since would change every command, and so build everything again.
  launcher=$(sed -n 's/^CMAKE_CXX_COMPILER_LAUNCHER:[A-Z]*=//p' "$cache")
  if [[ -z $chosen && -z $launcher && ${#fresh[@]} == 0 ]]; then
    unset CMAKE_CXX_COMPILER_LAUNCHER
  elif [[ -n $launcher ]] && ! command -v "$launcher" >/dev/null; then
    definitions+=(-DCMAKE_CXX_COMPILER_LAUNCHER=)  # and one that has gone would stop it
  fi
fi
"$CMAKE" --preset "$preset" "${fresh[@]}" -DCARDAN_BUILD_TESTS="$CARDAN_TESTS" "${definitions[@]}" >"$log" 2>&1 ||
  { tail -n 30 "$log" >&2; die "CMake could not configure build/$preset (the rest is in $log)"; }
arguments=()
if ((${#targets[@]})); then arguments=(--target "${targets[@]}"); fi
"$CMAKE" --build "build/$preset" --parallel "$JOBS" "${arguments[@]}"
