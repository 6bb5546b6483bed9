// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "cardan/fixed_string.hpp"
#include "cardan/message.hpp"

namespace cardan::street {

/// A note of a part of the street to the one that watches it, after the work is done, so that watching is not on the
/// path that is measured: on a topic, or as one datagram over a socket pair. Times are of the steady clock in ns.
struct Note {
  enum class Kind : std::uint8_t {
    Ready,     ///< topic: the role; text: what it reads, for people; sequence: the width of its pictures, if it has any
    Received,  ///< topic (a hop), sequence, missed (just before it), published, asked, received
    Decided,   ///< topic: the sensor's hop, sequence: of its frame, received: when decided, brake, distance, text: why
    Failed,    ///< text: cause, a line feed, remedy; sequence: the exit code to end with
  };
  Kind kind = Kind::Ready;
  std::uint8_t topic = 0;
  bool brake = false;
  float distance = 0;
  std::uint64_t sequence = 0, missed = 0, bytes = 0;
  std::int64_t published = 0;  ///< just before the publish call
  std::int64_t asked = 0;      ///< when the reader began to wait
  std::int64_t received = 0;   ///< when it had the sample
  FixedString<700> text;
};
static_assert(std::is_trivially_copyable_v<Note>);

/// A note that says that, cut where it is too long.
[[nodiscard]] Note ready_note(std::uint8_t role, std::string_view what, std::uint64_t width = 0);
[[nodiscard]] Note decided_note(std::uint8_t sensor, std::uint64_t sequence, std::int64_t when, bool brake,
                                float distance, std::string_view reason);
[[nodiscard]] Note failed_note(std::string_view cause, std::string_view remedy, int exit_code);

/// Sends a note; false when nobody listens (any more) or the listener is too far behind. Never blocks.
bool send_note(int fd, const Note& note) noexcept;

/// The next note, or empty when there is none now. `ended` is set when the other side is gone. Never blocks.
std::optional<Note> receive_note(int fd, bool& ended);

}  // namespace cardan::street

CARDAN_MESSAGE(cardan::street::Note, "street_msgs/msg/Note", kind, topic, brake, distance, sequence, missed, bytes,
               published, asked, received, text);
