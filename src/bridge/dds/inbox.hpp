// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cardan/detail/atomic.hpp"
#include "src/bridge/dds/packets.hpp"

namespace cardan::bridge::dds {

/// Where Cyclone's receive threads leave messages of one topic.
/// Thread safety: any thread. No function blocks, except for the time of a copy.
class Inbox {
 public:
  /// Copied: each message is copied once, into a buffer that is used again, and is in one piece. Kept: large ones stay
  /// in the packets in which they came; what a writer's numbers leave out counts as lost.
  enum class Way : std::uint8_t { Copied, Kept };
  /// `most_bytes`: larger messages are refused.
  explicit Inbox(std::uint64_t most_bytes, Way way = Way::Copied) : most_bytes_(most_bytes), way_(way) {}

  struct Buffer {
    std::unique_ptr<std::byte[]> bytes{};
    std::size_t size = 0, capacity = 0;
  };
  /// Whether a message of this size may come in; counted if not.
  [[nodiscard]] bool admits(std::size_t size) noexcept;
  /// Room for a message, or none: memory has run out (counted as lost).
  [[nodiscard]] bool room(std::size_t size, Buffer& buffer) noexcept;
  void give_back(Buffer buffer) noexcept;

  /// Returns whether a message may stay in Cyclone's buffers, of which it occupies `cost` bytes. Together, kept
  /// messages occupy at most twice the largest message, or 16 MiB. Copy a message that is not kept. Each kept one needs
  /// a let_go().
  [[nodiscard]] bool keep(std::size_t cost) noexcept;
  void let_go(std::size_t cost) noexcept { kept_.fetch_sub(cost); }

  /// A message has arrived. Those of its writer between the one before and it have not, and will not. Returns false if
  /// it had come before: to a reader before this one, which had the same writer.
  bool note(const Origin& origin) noexcept;
  /// Numbers of whole messages of a writer; 0: none so far.
  struct Came {
    std::int64_t first = 0, last = 0;
  };
  /// `writer`: in the form of Origin::writer. Empty: it may be forgotten.
  [[nodiscard]] std::optional<Came> came_of(const Guid& writer) noexcept;
  /// Continues with the numbers of the inbox of the reader before this one, which has ended: what was written in
  /// between counts, and what comes again does not.
  void go_on_from(Inbox& before) noexcept;

  void not_taken(std::uint64_t messages = 1) noexcept { lost_.fetch_add(messages); }
  void refuse() noexcept { refused_.fetch_add(1); }
  /// Counts since the call before.
  [[nodiscard]] std::uint64_t take_lost() noexcept { return lost_.exchange(0); }
  [[nodiscard]] std::uint64_t take_refused() noexcept { return refused_.exchange(0); }
  [[nodiscard]] std::uint64_t take_copied() noexcept { return copied_.exchange(0); }

 private:
  const std::uint64_t most_bytes_;
  const Way way_;
  Atomic<std::uint64_t> lost_{0}, refused_{0}, copied_{0}, kept_{0};
  std::mutex mutex_;
  std::vector<Buffer> spare_;
  struct Writer {
    Guid guid{};
    Came came{};
  };
  std::array<Writer, 64> writers_{};  ///< the last one that wrote comes first
  std::size_t known_ = 0;
};

}  // namespace cardan::bridge::dds
