// SPDX-License-Identifier: Apache-2.0
#include "src/messages/ros_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cardan/error.hpp"
#include "src/messages/ros_schema.hpp"

namespace cardan {
namespace {

using FieldKind = RosType::Kind;

/// Numbers of type_description_interfaces/msg/FieldType; an array's, a bounded list's and a list's lie this far above.
constexpr int kFieldArray = 48, kFieldBoundedList = 96, kFieldList = 144;
constexpr int kFieldNested = 1, kFieldByte = 16, kFieldBoundedString = 21;

/// 0: it has none here.
int field_number(const RosType& type) {
  switch (type.kind) {
    case FieldKind::Message:
      return kFieldNested;
    case FieldKind::Int8:
      return 2;
    case FieldKind::Uint8:
      return type.octet ? kFieldByte : 3;
    case FieldKind::Int16:
      return 4;
    case FieldKind::Uint16:
      return 5;
    case FieldKind::Int32:
      return 6;
    case FieldKind::Uint32:
      return 7;
    case FieldKind::Int64:
      return 8;
    case FieldKind::Uint64:
      return 9;
    case FieldKind::Float32:
      return 10;
    case FieldKind::Float64:
      return 11;
    case FieldKind::Bool:
      return 15;
    case FieldKind::String:
      return type.text_bound != 0 ? kFieldBoundedString : 17;
    case FieldKind::WString:
      return type.text_bound != 0 ? 22 : 18;
  }
  return 0;
}

bool plain_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/';
  });
}

/// The JSON text of a type description, to the byte: spaces after commas and colons, referenced types by name.
class TypeDescription {
 public:
  explicit TypeDescription(const RosMessage& root) : root_(root) {}

  /// Empty: ROS 2 does not allow a name.
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
    good_ = good_ && plain_name(name) && name.find('/') != std::string::npos;
    std::string fields;
    for (const RosField& f : one.fields) fields += (fields.empty() ? "" : ", ") + field(f.name, f.type);
    if (one.fields.empty()) fields = field("structure_needs_at_least_one_member", {.kind = FieldKind::Uint8});
    return fmt::format(R"({{"type_name": "{}", "fields": [{}]}})", name, fields);
  }

  std::string field(const std::string& name, const RosType& type) {
    good_ = good_ && plain_name(name);
    int number = field_number(type);
    if (type.many == RosType::Many::Fixed) number += kFieldArray;
    if (type.many == RosType::Many::List) number += type.bound != 0 ? kFieldBoundedList : kFieldList;
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

std::string ros_type_description(const std::string& type_name, const std::string& schema) {
  if (type_name.find("/msg/") == std::string::npos) return {};
  try {
    const RosSchema parsed(type_name, schema);
    return TypeDescription(parsed.root()).text();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace cardan
