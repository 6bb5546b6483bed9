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
log=build/asan-build.log building=
# In a process group of its own: its end is the end of all compilers.
trap '[[ -z $building ]] || kill -TERM -- "-$building" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

say "== release build, g++ $("$CXX" -dumpfullversion) =="
CARDAN_TESTS=ON scripts/build.sh release
if [[ $sanitizers != 0 ]]; then
  # The tests often wait: with what they leave of the processors, the second part is compiled meanwhile.
  CARDAN_TESTS=ON setsid nice -n 19 scripts/build.sh asan >"$log" 2>&1 &
  building=$!
fi
# Most tests wait more than they compute.
"$CTEST" --test-dir build/release --output-on-failure --no-tests=error -j "$((JOBS * 2))" -LE '^deep$' "$@"
if [[ $sanitizers != 0 ]]; then
  say "== address and undefined-behaviour sanitizers =="
  code=0
  wait "$building" || code=$?
  building=
  ((code == 0)) || { tail -n 30 "$log" >&2; die "the build with sanitizers failed (all of it in $log)"; }
  scripts/deep/asan.sh "$@"
fi
say "all of it in $(seconds_since "$began") s"
