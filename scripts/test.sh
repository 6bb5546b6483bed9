#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make test`: every test that is not labelled `deep` in the release build, then the unit tests under ASan and UBSan.
# Arguments go to ctest: scripts/test.sh -R transport. CARDAN_TEST_SANITIZERS=0 leaves the second part out.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
began=$EPOCHREALTIME
find_tools

say "== release build, g++ $("$CXX" -dumpfullversion) =="
CARDAN_TESTS=ON scripts/build.sh release -DCARDAN_UNITY_TESTS=ON
"$CTEST" --test-dir build/release --output-on-failure --no-tests=error -j "$JOBS" -LE '^deep$' "$@"
if [[ ${CARDAN_TEST_SANITIZERS:-1} != 0 ]]; then
  say "== address and undefined-behaviour sanitizers =="
  scripts/deep/asan.sh "$@"
fi
say "all of it in $(seconds_since "$began") s"
