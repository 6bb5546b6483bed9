// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cardan::street {

/// What a process of the street tells the one that watches it: one datagram over a socket pair, after the work is done,
/// so that watching is not on the path that is measured. Times are of the steady clock in ns.
struct Note {
  enum class Kind : std::uint8_t {
    Ready,     ///< text: what the process reads, for people; sequence: the width of its pictures, if it has any
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
  std::string text;
};

/// Sends a note; false when nobody listens (any more) or the listener is too far behind. Never blocks.
bool send_note(int fd, const Note& note) noexcept;

/// The next note, or empty when there is none now. `ended` is set when the other side is gone. Never blocks.
std::optional<Note> receive_note(int fd, bool& ended);

}  // namespace cardan::street
