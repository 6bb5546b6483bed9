// SPDX-License-Identifier: Apache-2.0
#include "src/record/ros2_form.hpp"

#include <fmt/format.h>
#include <sha2.h>

#include <array>

#include "src/messages/ros_description.hpp"

namespace cardan::record {

std::string ros_type_hash(const std::string& type_name, const std::string& schema) {
  const std::string text = ros_type_description(type_name, schema);
  if (text.empty()) return {};
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
  ::SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digits.data());
  return "RIHS01_" + std::string(digits.data());
}

std::string offered_qos(std::uint32_t depth) {
  // rmw's numbers: keep last 1, reliable 1, transient local 1, automatic 1; a time without an end.
  constexpr const char* kForever = "\n    sec: 9223372036\n    nsec: 854775807\n";
  return fmt::format(
      "- history: 1\n  depth: {}\n  reliability: 1\n  durability: 1\n  deadline:{}  lifespan:{}  liveliness: 1\n"
      "  liveliness_lease_duration:{}  avoid_ros_namespace_conventions: false",
      depth, kForever, kForever, kForever);
}

}  // namespace cardan::record
