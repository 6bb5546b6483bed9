// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Cardan's topics in rclcpp nodes, with the conversions of the standard messages. Conversions by CDR, for other
/// messages, are in cardan_rclcpp/convert/cdr.hpp.
#include "cardan/cardan.hpp"
#include "cardan_rclcpp/convert/geometry_msgs.hpp"
#include "cardan_rclcpp/convert/sensor_msgs.hpp"
#include "cardan_rclcpp/convert/std_msgs.hpp"
#include "cardan_rclcpp/publisher.hpp"
#include "cardan_rclcpp/subscription.hpp"
#include "cardan_rclcpp/type_adapter.hpp"
