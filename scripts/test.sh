#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make test`: every test that is not labelled `deep`, in the release build. With CARDAN_TEST_SANITIZERS=1, as the continuous
# integration has it, then the unit tests under ASan and UBSan. Arguments go to ctest: scripts/test.sh -R transport.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
began=$EPOCHREALTIME
find_tools

sanitizers=${CARDAN_TEST_SANITIZERS:-0}
asan_log=build/asan-build.log serial_log=build/serial-tests.log beside=()
# Each in a process group of its own: its end is the end of all that it started.
trap 'for group in "${beside[@]}"; do kill -TERM -- "-$group" 2>/dev/null || true; done' EXIT
trap 'exit 130' INT TERM
tests=("$CTEST" --test-dir build/release --output-on-failure --no-tests=error)
failed=0 left=deep

say "== release build, g++ $("$CXX" -dumpfullversion) =="
if (($# == 0)); then
  # The tests that run alone wait more than they compute: the rest is compiled meanwhile.
  CARDAN_TESTS=ON scripts/build.sh release serial_tests
  say "== the rest of the build; beside it, the tests that no other test may disturb (their output follows, and is in $serial_log) =="
  setsid "${tests[@]}" -L '^serial$' >"$serial_log" 2>&1 &
  beside+=($!)
  nice -n 19 "$CMAKE" --build build/release --parallel "$JOBS"
  wait "${beside[0]}" || failed=1
  beside=() left='deep|serial'
  cat "$serial_log"
else
  CARDAN_TESTS=ON scripts/build.sh release
fi
say "== tests =="
if [[ $sanitizers != 0 ]]; then
  # With what the tests leave of the processors, the second part is compiled meanwhile.
  CARDAN_TESTS=ON setsid nice -n 19 scripts/build.sh asan >"$asan_log" 2>&1 &
  beside+=($!)
fi
# Tests wait three times as long as they compute, most of them.
"${tests[@]}" -j "$((JOBS * 3))" -LE "^($left)\$" "$@" || failed=1
((failed == 0)) || die "some tests failed (above)"
if [[ $sanitizers != 0 ]]; then
  say "== address and undefined-behaviour sanitizers =="
  code=0
  wait "${beside[0]}" || code=$?
  beside=()
  ((code == 0)) || { tail -n 30 "$asan_log" >&2; die "the build with sanitizers failed (the rest is in $asan_log)"; }
  scripts/deep/asan.sh "$@"
fi
say "all in $(seconds_since "$began") s"
