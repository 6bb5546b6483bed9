// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cardan/any_type.hpp"
#include "cardan/arena.hpp"
#include "cardan/cdr.hpp"
#include "cardan/detail/message_type.hpp"
#include "cardan/mcap/reader.hpp"

namespace cardan::record {

/// How the messages of a channel become samples. Immutable; any thread.
class MessageForm {
 public:
  /// Messages of a type that is known, recorded in their CDR form.
  explicit MessageForm(AnyType native) : native_(std::move(native)), type_(native_->message_type()) {}
  /// Messages that are passed on as they were encoded.
  explicit MessageForm(detail::MessageType encoded) : type_(std::move(encoded)) {}

  [[nodiscard]] const detail::MessageType& type() const noexcept { return type_; }
  /// Null: encoded.
  [[nodiscard]] const TypeLayout* layout() const noexcept { return native_ ? &native_->layout() : nullptr; }
  /// The type that messages are decoded to; null: encoded.
  [[nodiscard]] const AnyType* native() const noexcept { return native_ ? &*native_ : nullptr; }
  /// The most payload that a message of this many recorded bytes can need.
  [[nodiscard]] std::size_t payload_bytes(std::size_t recorded_bytes) const noexcept;
  /// Fills a zeroed message where it lies. `arena`: where the type has vectors. Never throws or blocks.
  [[nodiscard]] CdrResult fill(mcap::View data, std::byte* message, shm::Arena* arena) const noexcept;

 private:
  std::optional<AnyType> native_;  ///< empty: encoded
  detail::MessageType type_;
};

/// A log time by the clock that readers see, which is `shift` after it, and back. Log times have no sign, so that a
/// difference may exceed what a signed number holds.
[[nodiscard]] constexpr std::int64_t clock_time(std::uint64_t log_time, std::int64_t shift) noexcept {
  return static_cast<std::int64_t>(log_time - static_cast<std::uint64_t>(shift));
}
[[nodiscard]] constexpr std::uint64_t log_time_of(std::int64_t clock_time, std::int64_t shift) noexcept {
  return static_cast<std::uint64_t>(clock_time) + static_cast<std::uint64_t>(shift);
}

/// The source stamp that readers of a recorded message are given: its publisher's own; where it gave none, or the file
/// has none (of version 0.1, or copied by a tool that does not know them), the publish time that was recorded, by the
/// clock that it was published by (`shift`: FileSet::wall_clock_ahead()). A fusion uses the publish time of what has
/// no stamp, so that it meets in a replay what it met live.
[[nodiscard]] inline std::int64_t source_time_of(const mcap::Message& message, std::int64_t shift) noexcept {
  return message.source_time != 0 ? message.source_time : clock_time(message.publish_time, shift);
}

/// The form of a channel's messages; empty: it has none, and `why` says so in words. `schema`: null where the channel
/// has none. `effort`: as find_layout() has it, of all channels: a file may claim anything of any number of them.
[[nodiscard]] std::optional<MessageForm> form_of(const mcap::Channel& channel, const mcap::Schema* schema,
                                                 std::string& why, std::int64_t& effort);
/// The same for readers of this type, which must get that one and no other.
[[nodiscard]] std::optional<MessageForm> form_for(const detail::MessageType& type, bool native,
                                                  const mcap::Channel& channel, const mcap::Schema* schema,
                                                  std::string& why);

}  // namespace cardan::record
