#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bridge.sh bridge|tools: `cardan bridge dds` against real ROS 2 nodes (rclcpp), or against the ros2 command, in a network of the test's own.
source "$(dirname "$0")/lib.sh"
what=$1
mkdir -p "$WORK"
peer=$WORK/peer/ros2_peer
if [[ $what == bridge ]]; then
  build "$SOURCE/tests/ros2/peer" "$WORK/peer"
elif ! command -v ros2 >/dev/null; then
  echo "skipped: no ros2 command"
  exit 77
fi
own=(unshare -n)
if ((EUID != 0)); then own=(unshare -rn); fi
if ! "${own[@]}" true 2>/dev/null; then
  echo "skipped: network namespaces cannot be made here"
  exit 77
fi
# Loopback for most tests, and a network, on which nobody else is, for ROS 2's default settings.
exec "${own[@]}" sh -c 'ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo || exit 1
  ip link add near type veth peer name far && ip address add 10.71.0.1/24 dev near && ip link set near up && ip link set far up
  exec "$@"' sh \
  python3 "$SOURCE/tests/ros2/${what}_test.py" "$BIN" "$peer" "$SOURCE"
