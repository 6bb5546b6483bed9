// SPDX-License-Identifier: Apache-2.0
#include "cardan/any_type.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "src/messages/layout_cdr.hpp"
#include "src/messages/ros_layout.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan {

AnyType::AnyType(std::shared_ptr<const TypeLayout> layout, AnyMessageType type)
    : layout_(std::move(layout)), type_(std::move(type)) {}

AnyType AnyType::of_definition(std::string_view name, std::string_view definition) {
  if (name.size() >= std::tuple_size_v<decltype(layout::Header::type_name)>)
    throw Error(ErrorCode::Limit, "a type's name has " + std::to_string(name.size()) + " letters",
                "at most 127 can be published");
  const RosSchema schema(name, definition);
  if (auto own = known_layout(name);
      own != nullptr && same_fields(RosSchema(name, own->schema).root(), schema.root())) {
    AnyMessageType type = message_type_of(*own, definition);
    return {std::move(own), std::move(type)};
  }
  auto layout = layout_of_ros(schema, name);
  AnyMessageType type = message_type_of(*layout, definition);
  return {std::move(layout), std::move(type)};
}

std::optional<AnyType> AnyType::of_publisher(const std::string& name, std::uint64_t hash,
                                             const std::string& definition) {
  auto layout = find_layout(name, hash, definition);
  if (layout == nullptr) return std::nullopt;
  AnyMessageType type = message_type_of(*layout, definition);
  return AnyType(std::move(layout), std::move(type));
}

std::optional<AnyType> AnyType::of_topic(const std::string& topic, const ObserverOptions& options) {
  const Observer observer(topic, options);
  for (const auto& stream : observer.streams()) {
    auto type = of_publisher(stream->type(), stream->type_hash(), stream->schema());
    if (type && type->layout().size == stream->message_bytes()) return type;
  }
  return std::nullopt;
}

std::size_t AnyType::payload_bytes(std::size_t cdr_bytes) const noexcept {
  return most_payload_bytes(*layout_, cdr_bytes);
}

CdrResult AnyType::fill(std::span<const std::byte> cdr, AnyLoan& loan) const noexcept {
  return fill(CdrPieces(&cdr, 1), loan);
}

CdrResult AnyType::fill(CdrPieces cdr, AnyLoan& loan) const noexcept {
  if (!loan) return {.error = CdrError::NoRoom};
  if (loan.arena() != nullptr) bind(*layout_, loan.message(), *loan.arena());
  return from_cdr(*layout_, cdr, loan.message());
}

CdrResult AnyType::fill(std::span<const std::byte> cdr, std::byte* message, shm::Arena* arena) const noexcept {
  if (arena != nullptr) bind(*layout_, message, *arena);
  return from_cdr(*layout_, cdr, message);
}

bool CdrFramer::frame(std::span<const std::byte> message, std::span<const std::byte> payload) noexcept {
  if (message.size() != copy_.size()) return false;
  std::memcpy(copy_.data(), message.data(), copy_.size());
  if (!adopt(type_.layout(), copy_.data(), message.data(), payload)) return false;
  try {
    return frame_cdr(type_.layout(), copy_.data(), payload, parts_);
  } catch (const std::exception&) {  // no memory, or a list that has no CDR form
    return false;
  }
}

}  // namespace cardan
