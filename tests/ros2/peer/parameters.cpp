// SPDX-License-Identifier: Apache-2.0
#include "parameters.hpp"

#include <chrono>
#include <cstdio>
#include <future>
#include <sstream>
#include <stdexcept>

#include "rclcpp/rclcpp.hpp"

namespace {

constexpr std::chrono::seconds kPatience{20};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

template <class T>
T answer(const std::shared_ptr<rclcpp::Node>& node, const std::shared_future<T>& future, const char* what) {
  if (rclcpp::spin_until_future_complete(node, future, kPatience) != rclcpp::FutureReturnCode::SUCCESS)
    throw std::runtime_error(std::string("no answer: ") + what);
  return future.get();
}

}  // namespace

int ask_parameters(const std::shared_ptr<rclcpp::Node>& node, const std::string& of, const std::string& name,
                   const std::string& value) {
  std::ostringstream out;
  try {
    const auto client = std::make_shared<rclcpp::AsyncParametersClient>(node, of);
    if (!client->wait_for_service(kPatience)) throw std::runtime_error("no services of " + of);
    if (!value.empty()) {
      const auto results =
          answer(node, client->set_parameters({rclcpp::Parameter(name, std::stod(value))}), "set_parameters");
      out << "\"set\": " << (results.at(0).successful ? "true" : "false")
          << ", \"reason\": " << quoted(results.at(0).reason) << ", ";
    }
    out << "\"names\": [";
    const char* between = "";
    for (const std::string& one : answer(node, client->list_parameters({}, 0), "list_parameters").names) {
      out << between << quoted(one);
      between = ", ";
    }
    out << "]";
    const auto parameters = answer(node, client->get_parameters({name}), "get_parameters");
    if (!parameters.empty() && parameters[0].get_type() == rclcpp::ParameterType::PARAMETER_DOUBLE) {
      out << ", \"type\": " << quoted(parameters[0].get_type_name()) << ", \"value\": " << parameters[0].as_double();
      const auto described = answer(node, client->describe_parameters({name}), "describe_parameters").at(0);
      out << ", \"description\": " << quoted(described.description)
          << ", \"read_only\": " << (described.read_only ? "true" : "false");
      if (!described.floating_point_range.empty())
        out << ", \"from\": " << described.floating_point_range[0].from_value
            << ", \"to\": " << described.floating_point_range[0].to_value;
    }
  } catch (const std::exception& error) {
    std::printf("ros2_peer: %s\n", error.what());
    return 1;
  }
  std::printf("{%s}\n", out.str().c_str());
  return 0;
}
