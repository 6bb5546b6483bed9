#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make test`: every test that is not labelled `deep`, in the release build. With CARDAN_TEST_SANITIZERS=1, as the continuous
# integration has it, then the unit tests under ASan and UBSan. Arguments go to ctest: scripts/test.sh -R transport.
# Root hides faults: without arguments, root also runs the tests of bridges, pages and Python as an ordinary user.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
began=$EPOCHREALTIME
find_tools

sanitizers=${CARDAN_TEST_SANITIZERS:-0}
asan_log=build/asan-build.log serial_log=build/serial-tests.log user_log=build/user-tests.log beside=()
# Each in its own process group: its end is the end of all that it started.
trap 'for group in "${beside[@]}"; do kill -TERM -- "-$group" 2>/dev/null || true; done; rm -rf "${user_folder:-}"' EXIT
trap 'exit 130' INT TERM
tests=("$CTEST" --test-dir build/release --output-on-failure --no-tests=error)
failed=0 left=deep

say "== release build, g++ $("$CXX" -dumpfullversion) =="
if (($# == 0)); then
  # The tests that run alone wait more than they compute: the rest is compiled meanwhile.
  CARDAN_TESTS=ON scripts/build.sh release serial_tests
  say "== the rest of the build, and meanwhile the tests that no other test may disturb (their output follows, and is in $serial_log) =="
  setsid "${tests[@]}" -L '^serial$' >"$serial_log" 2>&1 &
  beside+=($!)
  when_idle "$CMAKE" --build build/release --parallel "$JOBS" &
  beside+=($!)
  wait "${beside[0]}" || failed=1
  hurry "${beside[1]}"
  wait "${beside[1]}"
  beside=() left='deep|serial'
  cat "$serial_log"
else
  CARDAN_TESTS=ON scripts/build.sh release
fi
say "== tests =="
if [[ $sanitizers != 0 ]]; then
  # With what the tests leave of the processors, the second part is compiled meanwhile.
  CARDAN_TESTS=ON when_idle scripts/build.sh asan >"$asan_log" 2>&1 &
  asan_build=$!
  beside+=("$asan_build")
fi
if (($# == 0)) && [[ $EUID == 0 ]]; then
  user_folder=$(mktemp -d)  # in which ctest may write
  printf 'subdirs("%s")\n' "$PWD/build/release" >"$user_folder/CTestTestfile.cmake"
  chmod 777 "$user_folder"
  setsid scripts/as_user.sh "$CTEST" --test-dir "$user_folder" --output-on-failure --no-tests=error -j "$JOBS" \
    -R '^(bridge_|bench_bridge|command_views|command_run_bridge|python_tests)' -LE '^deep$' >"$user_log" 2>&1 &
  user_tests=$!
  beside+=("$user_tests")
fi
# Tests wait three times as long as they compute, most of them.
"${tests[@]}" -j "$((JOBS * 3))" -LE "^($left)\$" "$@" || failed=1
if [[ -n ${user_tests:-} ]]; then
  say "== bridges, pages and Python as an ordinary user (also in $user_log) =="
  wait "$user_tests" || failed=1
  cat "$user_log"
fi
((failed == 0)) || die "some tests failed (above)"
if [[ $sanitizers != 0 ]]; then
  say "== address and undefined-behaviour sanitizers =="
  code=0
  hurry "$asan_build"
  wait "$asan_build" || code=$?
  beside=()
  ((code == 0)) || { tail -n 30 "$asan_log" >&2; die "the build with sanitizers failed (the rest is in $asan_log)"; }
  scripts/deep/asan.sh "$@"
fi
say "all in $(seconds_since "$began") s"
