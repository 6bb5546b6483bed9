// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/memory/fd.hpp"

namespace cardan::detail {

/// Datagrams for one peer, in order, kept while its socket is full: a peer that is stopped for a moment loses no
/// answer. Helper thread only; never blocks.
class Outbox {
 public:
  /// False: the peer is gone, or has left so many unread that it is given up.
  bool send(int socket, std::string_view text, const std::vector<int>& fds = {});
  bool flush(int socket);
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

 private:
  struct Letter {
    std::string text;
    std::vector<Fd> fds;
  };
  std::deque<Letter> waiting_;
  std::size_t bytes_ = 0;
};

}  // namespace cardan::detail
