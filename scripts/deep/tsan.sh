#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The unit tests under clang's ThreadSanitizer. Arguments go to ctest.
# It maps its shadow at fixed places, which the kernel's address randomization may have taken: hence `setarch -R` where it is allowed.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
find_tools
CARDAN_TESTS=ON CXX=clang++-19 scripts/build.sh tsan
# Suppressions need the names of functions. An llvm-symbolizer of another version, which it would take first, gives none.
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:external_symbolizer_path=$(command -v addr2line):suppressions=$PWD/scripts/deep/tsan.supp
fixed=()
if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
"${fixed[@]}" "$CTEST" --test-dir build/tsan --output-on-failure --no-tests="$( (($#)) && echo ignore || echo error)" -j "$JOBS" -LE '^(deep|native|package)$' "$@"
