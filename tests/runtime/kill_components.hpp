// SPDX-License-Identifier: Apache-2.0
// The common part of the processes of the kill test and the test itself: topics, and what is counted outside of the
// processes, because those lose what they know.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tests/support/frames.hpp"
#include "tests/support/tally.hpp"

namespace cardan::test {

/// The middle stage's result for a small frame.
struct Derived {
  std::uint64_t key;
  std::uint64_t source;  ///< key of the small frame
  std::array<std::uint64_t, 14> words;
};
inline bool intact(const Derived& m) noexcept { return intact(std::span<const std::uint64_t>(m.words), m.key); }

/// Streams: the lives of one process publish on them in turn.
enum Stream : std::size_t { kSmallStream, kLargeStream, kDerivedStream, kStreams };
/// The readers: the middle stage reads the first two streams, the others all.
enum Reader : std::size_t { kMiddle, kWatch, kStore, kReaders };
constexpr bool reads(std::size_t reader, std::size_t stream) { return reader != kMiddle || stream != kDerivedStream; }

constexpr std::size_t kMostWords = 32 * 1024;
/// Only a reader's death or the room that it makes ends a wait for it: a loaded computer loses nothing.
constexpr std::chrono::minutes kPatience{30};
inline constexpr Topic<Small> kSmallFrames{"/kill/small",
                                           {.depth = 32, .reliable = true, .reliable_timeout = kPatience}};
inline constexpr Topic<Big> kLargeFrames{
    "/kill/large", {.max_bytes = kMostWords * 8, .depth = 8, .reliable = true, .reliable_timeout = kPatience}};
inline constexpr Topic<Derived> kDerivedFrames{"/kill/derived",
                                               {.depth = 32, .reliable = true, .reliable_timeout = kPatience}};
/// A reader's callback is never more samples behind than the window, which is more than the topic's depth (so that
/// publishers also wait within publish()) and less than the queue (so that nothing is pushed out).
constexpr std::array<std::uint64_t, kStreams> kWindow{40, 12, 40};
constexpr std::array<std::uint32_t, kStreams> kQueue{64, 24, 64};
/// Frames of a life before all readers have seen its first one.
constexpr std::uint64_t kFirst = 4;

constexpr std::size_t kMostLives = 8192;

/// A life is one run of one component, numbered from 1. Frames carry it as their writer.
struct KillTally {
  std::atomic<std::uint64_t> lives;
  std::atomic<std::uint64_t> refused;  ///< frames that found no slot, or were not published
  std::atomic<std::uint64_t> torn, lost, disordered;
  std::atomic<std::uint64_t>
      missed;  ///< of the lost ones those that the transport knows of; the rest fell out of a queue
  std::atomic<std::uint64_t> received[kReaders];
  std::atomic<std::uint64_t> writer[kStreams], reader[kReaders];  ///< their present lives
  std::atomic<std::uint64_t> stream_of[kMostLives];               ///< 1 + what a life publishes on; 0: nothing
  std::atomic<std::uint64_t> published[kMostLives];               ///< by a life, of which publish() came back
  std::atomic<std::uint64_t> seen[kReaders][kMostLives];          ///< of a writer's life: key_of(reader's life, number)
};

}  // namespace cardan::test

CARDAN_MESSAGE(cardan::test::Derived, "test_msgs/msg/Derived", key, source, words);
