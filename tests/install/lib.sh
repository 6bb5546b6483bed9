# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder. From CTest: CMAKE, CXX, WORK (scratch), SOURCE (this tree), BUILD.
set -euo pipefail
PREFIX=$WORK/prefix
unset CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH DESTDIR MAKEFLAGS MAKELEVEL
[[ -n ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] || unset CMAKE_CXX_COMPILER_LAUNCHER
fail() { echo "$1" >&2; exit 1; }
fresh() { rm -rf "$1" && mkdir -p "$1"; }

# The same for the one that records.
run_recording() {
  local directory output
  directory=$(mktemp -d /tmp/cardan-install.XXXXXX)
  output=$(CARDAN_RUN_DIR=$directory timeout 60 "$@" "$directory/imu.mcap") || { rm -rf "$directory"; fail "the recording consumer failed: $output"; }
  rm -rf "$directory"
  echo "$output"
  [[ $output == "recorded 5 messages" ]] || fail "the recording consumer said something else"
}

# Runs a consumer in its own run directory (a short path: a socket's name has 108 bytes) and checks what it says.
run_consumer() {
  local directory output
  directory=$(mktemp -d /tmp/cardan-install.XXXXXX)
  output=$(CARDAN_RUN_DIR=$directory "$@") || { rm -rf "$directory"; fail "the consumer failed: $output"; }
  rm -rf "$directory"
  echo "$output"
  [[ $output == "received 640 x 480, first byte 7" ]] || fail "the consumer said something else"
}
