#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library cross-built for arm64, and its unit tests under qemu-user.
# This shows that the code is portable; it shows nothing about ARM's memory order, which an emulator on x86-64 does not have
# (docs/protocols says what does). Left out: tests labelled `native`, which need a kernel of their own architecture; those that start
# themselves again (qemu-user runs no second program); and those that run nothing built here.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
find_tools
root=$PWD/build/arm64
mkdir -p "$root"
if [[ ! -e $root/deps/lib/libgtest.a ]]; then
  say "-- GoogleTest for arm64, from /usr/src/googletest"
  "$CMAKE" -S /usr/src/googletest -B "$root/googletest" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/arm64.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$root/deps" -DCMAKE_INSTALL_LIBDIR=lib >"$root/googletest.log" 2>&1 &&
    "$CMAKE" --build "$root/googletest" --target install >>"$root/googletest.log" 2>&1 || { tail -n 20 "$root/googletest.log" >&2; die "GoogleTest does not build for arm64"; }
fi
unset CXX
"$CMAKE" --preset arm64 -DCARDAN_BUILD_TESTS=ON >build/arm64-configure.log 2>&1 || { tail -n 30 build/arm64-configure.log >&2; die "CMake could not configure build/arm64"; }
"$CMAKE" --build build/arm64 --parallel "$JOBS"
"$CTEST" --test-dir build/arm64 --output-on-failure --no-tests="$( (($#)) && echo ignore || echo error)" -j "$JOBS" -LE '^(deep|native|package|interop)$' \
  -E '^(error_output_tests|stress_tests|checker_docs)$' "$@"
