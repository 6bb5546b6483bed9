#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The unit tests under AddressSanitizer and UndefinedBehaviorSanitizer, and two minutes of random misuse of the Python extension.
# Arguments go to ctest; with arguments, Python's part is left out. CARDAN_MISUSE_SEED=N repeats a failure: each line "seed N" is one.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
find_tools
CARDAN_TESTS=ON scripts/build.sh asan
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1
"$CTEST" --test-dir build/asan --output-on-failure --no-tests="$( (($#)) && echo ignore || echo error)" -j "$JOBS" -LE '^(deep|native|package)$' "$@"

(($# == 0)) || exit 0
python=build/venv/bin/python
[[ -x $python && -d build/asan/python/cardan ]] || { say "no Python package in build/asan: its misuse is left out"; exit 0; }
"$python" -c 'import numpy' 2>/dev/null || { say "$python has no numpy: the misuse of the Python extension is left out"; exit 0; }
# The interpreter keeps what it has at its end, so that leaks cannot be told from that. Its own memory comes from malloc(), where
# the sanitizer sees what is freed too early. A request that nothing can fulfil gets std::bad_alloc, as without the sanitizer.
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0:allocator_may_return_null=1:handle_segv=1
# The interpreter is not C++: without libstdc++ at the start, the sanitizer does not find what throws.
runtime="$("$CXX" -print-file-name=libasan.so) $("$CXX" -print-file-name=libstdc++.so)"
folder=$(mktemp -d /tmp/cardan-misuse.XXXXXX)
trap 'rm -rf "$folder"' EXIT
seed=${CARDAN_MISUSE_SEED:-$((RANDOM * 1000))}
say "== random misuse of the Python extension, seed $seed"
LD_PRELOAD="$runtime" PYTHONMALLOC=malloc PYTHONPATH=build/asan/python PYTHONDONTWRITEBYTECODE=1 CARDAN_RUN_DIR=$folder TMPDIR=$folder \
  "$python" python/tests/misuse.py --seconds "${CARDAN_FUZZ_SECONDS:-120}" --seed "$seed" >"$folder/log" 2>&1 ||
  { tail -n 150 "$folder/log" >&2; die "the Python extension does not survive misuse (above, with the last seed)"; }
tail -n 1 "$folder/log"
