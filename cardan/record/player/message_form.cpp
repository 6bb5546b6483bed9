// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/player/message_form.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "cardan/messages/layout_cdr.hpp"
#include "cardan/record/channel_form.hpp"
#include "cardan/runtime/encoded.hpp"

namespace cardan::record {
namespace {

std::string text_of(const mcap::Schema& schema) {
  return {reinterpret_cast<const char*>(schema.data.data()), schema.data.size()};
}

/// Of those who can tell it by the schema alone.
std::string definition_of(const mcap::Schema& schema) {
  return schema.encoding == "ros2msg" ? text_of(schema) : std::string();
}

bool is_encoded_object(const mcap::Channel& channel) {
  return channel.message_encoding == "protobuf" || channel.message_encoding == kOwnCodec;
}

}  // namespace

MessageForm::MessageForm(std::shared_ptr<const TypeLayout> layout, detail::MessageType type)
    : layout_(std::move(layout)), type_(std::move(type)) {}

std::size_t MessageForm::payload_bytes(std::size_t recorded_bytes) const noexcept {
  return layout_ == nullptr ? recorded_bytes : most_payload_bytes(*layout_, recorded_bytes);
}

CdrResult MessageForm::fill(mcap::View data, std::byte* message, shm::Arena* arena) const noexcept {
  if (layout_ != nullptr) {
    if (arena != nullptr) cardan::bind(*layout_, message, *arena);
    return cardan::from_cdr(*layout_, data, message);
  }
  auto* encoded = new (message) detail::Encoded;
  shm::bind(*encoded, *arena);
  if (!encoded->data.try_resize_for_overwrite(data.size())) return {.error = CdrError::NoRoom};
  if (!data.empty()) std::memcpy(encoded->data.data(), data.data(), data.size());
  return {};
}

std::optional<MessageForm> form_of(const mcap::Channel& channel, const mcap::Schema* schema, std::string& why) {
  if (schema == nullptr) {
    why = "the file does not say of what type its messages are";
    return std::nullopt;
  }
  if (is_encoded_object(channel)) return MessageForm(detail::encoded_type(schema->name, text_of(*schema)));
  if (channel.message_encoding != "cdr") {
    why = fmt::format("messages encoded as '{}' cannot be published here, those encoded as cdr or protobuf can",
                      channel.message_encoding);
    return std::nullopt;
  }
  const std::string definition = definition_of(*schema);
  const auto hash = type_hash_of(channel);
  std::shared_ptr<const TypeLayout> layout;
  if (hash) layout = find_layout(schema->name, *hash, definition);
  if (layout == nullptr) layout = known_layout(schema->name);
  if (layout == nullptr) {
    why = hash
              ? fmt::format(
                    "how {} lies in memory does not follow from its schema (alignas, bit fields), or that is "
                    "not the one with which it was recorded",
                    schema->name)
              : fmt::format("the file does not say how {} lies in memory ({}), and it is not one of Cardan's own types",
                            schema->name, kTypeHashKey);
    return std::nullopt;
  }
  return MessageForm(layout, message_type_of(*layout, definition));
}

std::optional<MessageForm> form_for(const detail::MessageType& type, bool native, const mcap::Channel& channel,
                                    const mcap::Schema* schema, std::string& why) {
  if (schema == nullptr || schema->name != type.name) {
    why =
        fmt::format("it carries {} in the file, and {} is read",
                    schema == nullptr ? std::string("messages of a type that is not named") : schema->name, type.name);
    return std::nullopt;
  }
  if (native ? channel.message_encoding != "cdr" : !is_encoded_object(channel)) {
    why = fmt::format("its messages are encoded as '{}' in the file, and another form of {} is read",
                      channel.message_encoding, type.name);
    return std::nullopt;
  }
  if (!native) return MessageForm(type);
  const auto layout = find_layout(type.name, type.hash, type.schema);
  if (layout == nullptr) {
    why = fmt::format("how {} lies in memory does not follow from its schema (alignas, bit fields)", type.name);
    return std::nullopt;
  }
  return MessageForm(layout, type);
}

}  // namespace cardan::record
