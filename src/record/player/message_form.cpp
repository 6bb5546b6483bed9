// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/message_form.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "cardan/error.hpp"
#include "src/messages/ros_layout.hpp"
#include "src/record/metadata.hpp"
#include "src/runtime/encoded_form.hpp"

namespace cardan::record {
namespace {

std::string text_of(const mcap::Schema& schema) {
  return {reinterpret_cast<const char*>(schema.data.data()), schema.data.size()};
}

bool is_encoded_object(const mcap::Channel& channel) {
  return channel.message_encoding == "protobuf" || channel.message_encoding == detail::kOwnCodec;
}

/// The file's description of a type that is in CDR form.
struct Definition {
  const mcap::Schema& schema;
  std::string text = text_of(schema);
  [[nodiscard]] bool readable() const { return schema.encoding == "ros2msg"; }
};

/// Whether what is written as the one can be read as the other; where a text makes no sense, nothing is known.
bool same_definition(const std::string& name, const std::string& a, const std::string& b) {
  try {
    return same_fields(RosSchema(name, a).root(), RosSchema(name, b).root());
  } catch (const Error&) {
    return true;
  }
}

/// Whether a definition without a word is one: rosbag2 writes none of a message whose package it does not find.
bool is_empty_message(const std::string& name) {
  return name.ends_with("/Empty") || name.ends_with("_Request") || name.ends_with("_Response");
}

/// The type of a channel by its definition alone.
std::optional<AnyType> type_of(const Definition& definition, std::string& why) {
  const std::string& name = definition.schema.name;
  const bool empty = definition.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (!definition.readable() || (empty && !is_empty_message(name))) {
    // Cardan's own are as ROS has them, in files of any writer.
    if (auto own = known_layout(name)) {
      AnyMessageType type = message_type_of(*own, {});
      return AnyType(std::move(own), std::move(type));
    }
    why = empty ? fmt::format(
                      "the file does not define {}: its recorder had no definition — record it again where the package "
                      "of that message is installed",
                      name)
                : fmt::format(
                      "the file defines {} in '{}', but only ros2msg is supported — convert the file with "
                      "`ros2 bag convert`",
                      name, definition.schema.encoding);
    return std::nullopt;
  }
  try {
    return AnyType::of_definition(name, definition.text);
  } catch (const Error& e) {
    why = fmt::format("the file's definition of {} is malformed: {}", name, e.what());
    return std::nullopt;
  }
}

}  // namespace

std::size_t MessageForm::payload_bytes(std::size_t recorded_bytes) const noexcept {
  return native_ ? native_->payload_bytes(recorded_bytes) : recorded_bytes;
}

CdrResult MessageForm::fill(mcap::View data, std::byte* message, shm::Arena* arena) const noexcept {
  if (native_) return native_->fill(data, message, arena);
  auto* encoded = new (message) detail::Encoded;
  shm::bind(*encoded, *arena);
  if (!encoded->data.try_resize_for_overwrite(data.size())) return {.error = CdrError::NoRoom};
  if (!data.empty()) std::memcpy(encoded->data.data(), data.data(), data.size());
  return {};
}

std::optional<MessageForm> form_of(const mcap::Channel& channel, const mcap::Schema* schema, std::string& why,
                                   std::int64_t& effort) {
  if (schema == nullptr) {
    why = "the file does not name the type of its messages";
    return std::nullopt;
  }
  if (is_encoded_object(channel)) return MessageForm(detail::encoded_type(schema->name, text_of(*schema)));
  if (channel.message_encoding == "json" && schema->encoding == "jsonschema")
    return MessageForm(detail::json_type(schema->name, text_of(*schema)));
  if (channel.message_encoding != "cdr") {
    why = fmt::format(
        "messages encoded as '{}' with a schema in '{}' cannot be published, only cdr, protobuf, and json "
        "with a schema in 'jsonschema' can",
        channel.message_encoding, schema->encoding);
    return std::nullopt;
  }
  const Definition definition{*schema};
  std::optional<AnyType> type;
  // As its publisher laid it out, so that the same readers can read it.
  if (const auto hash = type_hash_of(channel)) {
    const std::string text = definition.readable() ? definition.text : std::string();
    if (auto layout = find_layout(schema->name, *hash, text, &effort)) {
      AnyMessageType named = message_type_of(*layout, text);
      type = AnyType(std::move(layout), std::move(named));
    }
  }
  if (!type) type = type_of(definition, why);
  if (!type) return std::nullopt;
  return MessageForm(*std::move(type));
}

std::optional<MessageForm> form_for(const detail::MessageType& type, bool native, const mcap::Channel& channel,
                                    const mcap::Schema* schema, std::string& why) {
  if (schema == nullptr || schema->name != type.name) {
    why = fmt::format("it carries {} in the file, but its readers take {}",
                      schema == nullptr ? std::string("messages of an unnamed type") : schema->name, type.name);
    return std::nullopt;
  }
  if (native ? channel.message_encoding != "cdr" : !is_encoded_object(channel)) {
    why = fmt::format("its messages are encoded as '{}' in the file, but its readers take another form of {}",
                      channel.message_encoding, type.name);
    return std::nullopt;
  }
  if (!native) return MessageForm(type);
  auto layout = find_layout(type.name, type.hash, type.schema);
  if (layout == nullptr) {
    why = fmt::format("the memory layout of {} does not follow from its schema (alignas, bit fields)", type.name);
    return std::nullopt;
  }
  if (const Definition definition{*schema};
      definition.readable() && !same_definition(type.name, type.schema, definition.text)) {
    why = fmt::format("{} has other fields in the file than in its readers", type.name);
    return std::nullopt;
  }
  return MessageForm(AnyType(std::move(layout), type));
}

}  // namespace cardan::record
