#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures a preset (release, debug, asan, tsan, clang) and builds targets of it.
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
find_tools

if [[ -z ${CARDAN_TESTS:-} ]]; then
  CARDAN_TESTS=OFF
  if "$CXX" -x c++ -std=c++20 -E - >/dev/null 2>&1 <<<$'#if !__has_include(<gtest/gtest.h>)\n#error\n#endif'; then CARDAN_TESTS=ON; fi
fi
mkdir -p build
log=build/$preset-configure.log
"$CMAKE" --preset "$preset" -DCARDAN_BUILD_TESTS="$CARDAN_TESTS" "${definitions[@]}" >"$log" 2>&1 ||
  { tail -n 30 "$log" >&2; die "CMake could not configure build/$preset (all of it in $log)"; }
arguments=()
if ((${#targets[@]})); then arguments=(--target "${targets[@]}"); fi
"$CMAKE" --build "build/$preset" --parallel "$JOBS" "${arguments[@]}"
