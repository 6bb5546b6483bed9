#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bridge to DDS against crates.io's ros2-client, a ROS 2 node on RustDDS. It shares no code with Cyclone DDS or Fast DDS.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
if ! command -v cargo >/dev/null; then say "skipped: no cargo"; exit 0; fi
scripts/build.sh release whole_command bin/bridge_endpoints
[[ -x build/release/bin/cardan-bridge-dds ]] || { say "skipped: the bridge was not built (cyclonedds-dev)"; exit 0; }
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/build/rust}
(cd tests/bridge/ros2_client && cargo build --locked --release -j "${JOBS:-$(nproc)}")
install -m 755 "$CARGO_TARGET_DIR/release/bridge-ros2-client" build/release/bin
code=0
(cd build && venv/bin/python ../tests/bridge/dds_ros2_client_test.py release/bin ..) || code=$?  # PyPI's cyclonedds leaves a cache where it runs
((code == 0 || code == 77)) || exit "$code"
