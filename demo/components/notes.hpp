// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "cardan/context.hpp"
#include "demo/processes/roles.hpp"
#include "demo/topics.hpp"

namespace cardan::street {

/// A component's notes for the demo: only of what came while it ran. One thread at a time.
class Notes {
 public:
  void open(Context& context) {
    out_ = context.output(kNotes);
    context_ = &context;
    idle();
    begun_ = asked_;
  }
  void say(const Note& note) {
    if (auto loan = out_.loan()) {
      *loan = note;
      out_.publish(std::move(loan));
    }
  }
  /// `received`: when the callback began.
  template <class T>
  void received(HopIndex hop, const Sample<T>& sample, std::size_t bytes, std::int64_t received) {
    const std::uint64_t before = std::exchange(last_[hop], sample.sequence());
    if (sample.publish_time() < begun_) return;
    Note note;
    note.kind = Note::Kind::Received;
    note.topic = hop;
    note.sequence = sample.sequence();
    note.missed = before != 0 && note.sequence > before ? note.sequence - before - 1 : 0;
    note.bytes = bytes;
    note.published = sample.publish_time();
    note.asked = asked_;
    note.received = received;
    say(note);
  }
  /// The callback is over: the next publication finds a waiting reader.
  void idle() { asked_ = context_->now(); }

 private:
  Context* context_ = nullptr;  // its clock, so that a simulation says the same each time
  Output<Note> out_;
  std::array<std::uint64_t, kHops> last_{};
  std::int64_t begun_ = 0, asked_ = 0;
};

}  // namespace cardan::street
