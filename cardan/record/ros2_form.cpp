// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/ros2_form.hpp"

#include <fmt/format.h>
#include <sha2.h>

#include <algorithm>
#include <array>
#include <map>

#include "cardan/base/error.hpp"
#include "cardan/messages/ros_schema.hpp"

namespace cardan::record {
namespace {

using Kind = RosType::Kind;

/// Numbers of type_description_interfaces/msg/FieldType; an array's, a bounded list's and a list's lie this far above.
constexpr int kArray = 48, kBoundedList = 96, kList = 144;
constexpr int kNested = 1, kByte = 16, kBoundedString = 21;

/// 0: it has none here.
int number_of(const RosType& type) {
  switch (type.kind) {
    case Kind::Message:
      return kNested;
    case Kind::Int8:
      return 2;
    case Kind::Uint8:
      return type.octet ? kByte : 3;
    case Kind::Int16:
      return 4;
    case Kind::Uint16:
      return 5;
    case Kind::Int32:
      return 6;
    case Kind::Uint32:
      return 7;
    case Kind::Int64:
      return 8;
    case Kind::Uint64:
      return 9;
    case Kind::Float32:
      return 10;
    case Kind::Float64:
      return 11;
    case Kind::Bool:
      return 15;
    case Kind::String:
      return type.text_bound != 0 ? kBoundedString : 17;
    case Kind::WString:
      return type.text_bound != 0 ? 22 : 18;
  }
  return 0;
}

bool plain(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/';
  });
}

/// The JSON text of a type description, to the byte: spaces behind commas and colons, referenced types by name.
class Description {
 public:
  explicit Description(const RosMessage& root) : root_(root) {}

  /// Empty: a name is none that ROS 2 allows.
  std::string text() {
    const std::string own = message(root_);
    std::string others;
    for (const auto& [name, described] : used_)
      if (!described.empty()) others += (others.empty() ? "" : ", ") + described;
    if (!good_) return {};
    return fmt::format(R"({{"type_description": {}, "referenced_type_descriptions": [{}]}})", own, others);
  }

 private:
  /// "sensor_msgs/Image" → "sensor_msgs/msg/Image"
  static std::string full(const std::string& name) {
    const auto slash = name.find('/');
    return slash == std::string::npos ? name : name.substr(0, slash) + "/msg" + name.substr(slash);
  }

  std::string message(const RosMessage& one) {
    const std::string name = full(one.name);
    good_ = good_ && plain(name) && name.find('/') != std::string::npos;
    std::string fields;
    for (const RosField& f : one.fields) fields += (fields.empty() ? "" : ", ") + field(f.name, f.type);
    if (one.fields.empty()) fields = field("structure_needs_at_least_one_member", {.kind = Kind::Uint8});
    return fmt::format(R"({{"type_name": "{}", "fields": [{}]}})", name, fields);
  }

  std::string field(const std::string& name, const RosType& type) {
    good_ = good_ && plain(name);
    int number = number_of(type);
    if (type.many == RosType::Many::Fixed) number += kArray;
    if (type.many == RosType::Many::List) number += type.bound != 0 ? kBoundedList : kList;
    std::string nested;
    if (type.message != nullptr) {
      nested = full(type.message->name);
      // Described once; a type that is being described is not found in itself (RosSchema).
      if (const auto [at, is_new] = used_.try_emplace(nested); is_new) at->second = message(*type.message);
    }
    return fmt::format(
        R"({{"name": "{}", "type": {{"type_id": {}, "capacity": {}, "string_capacity": {}, "nested_type_name": "{}"}}}})",
        name, number, type.many == RosType::Many::Fixed ? type.count : type.bound, type.text_bound, nested);
  }

  const RosMessage& root_;
  std::map<std::string, std::string> used_;
  bool good_ = true;
};

}  // namespace

std::string ros_type_hash(const std::string& type_name, const std::string& schema) {
  std::string text;
  try {
    const RosSchema parsed(type_name, schema);
    if (type_name.find("/msg/") != std::string::npos) text = Description(parsed.root()).text();
  } catch (const Error&) {
    return {};
  }
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
