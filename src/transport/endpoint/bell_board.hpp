// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <vector>

#include "src/base/area.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::detail {

/// The bells that one publishing process rings for the subscribers of one user: 1,024 lines in a sealed area. Users do
/// not share a board, because a read-only mapping is enough for FUTEX_REQUEUE to move a neighbour's sleepers away
/// (tested).
class BellBoard {
 public:
  BellBoard();
  /// Returns a free line's index, or −1 when all are taken. Any thread; takes a mutex.
  int allocate();
  void release(int index) noexcept;
  [[nodiscard]] layout::Bell& bell(int index) const noexcept;
  [[nodiscard]] int read_only_fd() const noexcept { return area_.read_only_fd(); }
  [[nodiscard]] std::size_t size() const noexcept { return area_.size(); }

 private:
  Area area_;
  std::mutex mutex_;
  std::vector<bool> used_;
};

/// One bell of a publisher, shared by all its subscribers of one user. Background subscribers share another.
struct BellLine {
  BellLine(std::shared_ptr<BellBoard> of, int at, uid_t whose) noexcept : board(std::move(of)), index(at), uid(whose) {}
  BellLine(const BellLine&) = delete;
  BellLine& operator=(const BellLine&) = delete;
  ~BellLine() { board->release(index); }
  [[nodiscard]] Atomic<std::uint32_t>& word() const noexcept { return board->bell(index).phase; }

  std::shared_ptr<BellBoard> board;
  int index;
  uid_t uid;
  // Publishing thread:
  std::uint32_t phase = 0;       ///< its copy of the word
  std::uint64_t rung_round = 0;  ///< the round that rang it last, so that one round rings it once
  bool foreign = false;          ///< of another user
  bool background = false;       ///< of the subscribers that are woken last
  std::uint32_t slow_rings = 0;  ///< since slow_since_ns
  std::int64_t slow_since_ns = 0;
  std::int64_t helper_until_ns = 0;  ///< until this time the helper thread wakes
  // Both threads:
  Atomic<bool> due{false};    ///< the helper thread must wake
  std::int64_t woken_ns = 0;  ///< helper thread: when it last rang this bell or descriptors of its subscribers
};

/// The bells of one publisher. Helper thread.
class PublisherBells {
 public:
  /// Returns the bell of the user, on its board. Throws Error (Limit).
  [[nodiscard]] std::shared_ptr<BellLine> bell_for(uid_t uid, const std::shared_ptr<BellBoard>& board, bool background);

 private:
  std::vector<std::weak_ptr<BellLine>> bells_;
};

}  // namespace cardan::detail
