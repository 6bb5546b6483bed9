// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "rclcpp/node.hpp"

/// Asks the node `of` by an rclcpp::AsyncParametersClient: sets parameter `name` to `value`, unless that is empty, then
/// prints one JSON object with all names, and with the value and the description of `name`. Returns 0, or 1 without
/// an answer in 20 s.
int ask_parameters(const std::shared_ptr<rclcpp::Node>& node, const std::string& of, const std::string& name,
                   const std::string& value);
