// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "src/base/area.hpp"
#include "src/transport/endpoint/bell_board.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::detail {

inline constexpr std::uint32_t kMaxSubscribers = 256;

/// How soon subscribers that let a reliable publish time out may be waited for again. Used on the publishing thread.
/// All subscribers of another user share one; otherwise each new attachment would cost a time-out.
struct Patience {
  std::uint32_t demotions = 0;
  std::uint32_t losses = 0;  ///< in total
  std::int64_t until_ns = 0;
};

/// A subscriber as its publisher sees it. The helper thread makes and ends it; the publishing thread reads it.
struct Attached {
  const layout::SubscriberPage* page = nullptr;
  Mapping mapping;              ///< of the page; empty for a subscriber of this process
  std::shared_ptr<void> local;  ///< keeps the page of a subscriber of this process alive
  std::shared_ptr<BellLine> bell;
  BoundFd notify_socket;        ///< our end of the socket pair of its fd(); helper thread
  Atomic<int> notify{-1};       ///< its descriptor number, once it exists
  std::uint32_t rung = 0;       ///< publishing thread: the `armed` value already answered
  std::uint32_t announced = 0;  ///< holds + threads
  std::uint32_t threads = 1;
  bool prewake = false;
  bool reliable = false;
  bool follows = false;                 ///< its descriptor is rung after a silence only, and may wait for the helper
  bool foreign = false;                 ///< of another user
  Atomic<bool> token_due{false};        ///< the helper thread must ring its descriptor
  Atomic<bool> liar{false};             ///< it held more than it announced and is cut off; the helper thread cleans up
  std::shared_ptr<BoundFd> connection;  ///< null: a subscriber of this process
  Atomic<bool> demoted{false};
  bool demotion_told = false;  ///< helper thread
  std::shared_ptr<Patience> patience;
  bool proven = false;             ///< publishing thread: it kept up while its user could be waited for
  std::uint32_t proven_after = 0;  ///< its user's losses of patience at that time; another loss withdraws the proof
  std::uint64_t floor = 0;         ///< the cursor from which it starts
  int pid = 0;
  uid_t uid = 0;
  std::string name;
  std::uint32_t depth = 0;  ///< the samples that it asks the publisher to keep; 0: it does not say
  std::uint32_t index = 0;  ///< in the table

  /// Sets where to ring for its fd(). Once only, because the publishing thread may be using it. Helper thread.
  void connect_notify(Fd socket);
};

}  // namespace cardan::detail
