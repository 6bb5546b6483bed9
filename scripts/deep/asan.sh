#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The unit tests under AddressSanitizer and UndefinedBehaviorSanitizer. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
find_tools
CARDAN_TESTS=ON scripts/build.sh asan
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1
"$CTEST" --test-dir build/asan --output-on-failure --no-tests="$( (($#)) && echo ignore || echo error)" -j "$JOBS" -LE '^(deep|native|package)$' "$@"
