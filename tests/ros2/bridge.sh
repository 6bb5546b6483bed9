#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `cardan bridge dds` against real ROS 2 nodes (rclcpp), in a network of the test's own.
source "$(dirname "$0")/lib.sh"
mkdir -p "$WORK"
build "$SOURCE/tests/ros2/peer" "$WORK/peer"
if ((EUID != 0)) || ! unshare -n true 2>/dev/null; then
  echo "skipped: it needs root for a network namespace"
  exit 77
fi
exec unshare -n sh -c 'ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && exec "$@"' sh \
  python3 "$SOURCE/tests/ros2/bridge_test.py" "$BIN" "$WORK/peer/ros2_peer"
