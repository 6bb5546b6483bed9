#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ros2/cardan_rclcpp against the ROS 2 that is sourced and the installed library: builds, and passes its own tests.
source "$(dirname "$0")/lib.sh"
mkdir -p "$WORK"
PREFIXES=$PREFIX build "$SOURCE/ros2/cardan_rclcpp" "$WORK/cardan_rclcpp" -DBUILD_TESTING=ON
cd "$WORK/cardan_rclcpp"
"$(dirname "$CMAKE")/ctest" --output-on-failure --no-tests=error
