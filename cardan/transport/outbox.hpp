// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/memory/fd.hpp"
#include "cardan/transport/descriptor_shares.hpp"

namespace cardan::detail {

/// Datagrams for one peer, in order, kept while its socket is full: a peer that is stopped for a moment loses no
/// answer. A peer of another user gets a small share: descriptors that it does not receive count against the limit of
/// our user, for all processes of that user, so at most eight letters that carry some are on their way to it. Helper
/// thread only; never blocks.
class Outbox {
 public:
  struct Limits {
    std::size_t letters, bytes;    ///< waiting here
    std::size_t with_descriptors;  ///< on their way, and as many waiting
  };
  static constexpr Limits kOwn{4096, std::size_t{4} << 20, 4096};
  static constexpr Limits kForeign{256, std::size_t{256} << 10, 8};

  /// Of our own user, until for_peer().
  Outbox() = default;
  void for_peer(uid_t uid);

  /// False: the peer is gone (errno EPIPE or ECONNRESET), or has left so many unread that it is given up. `keep` owns
  /// the descriptors as long as the letter waits; without it they are duplicated then.
  bool send(int socket, std::string_view text, const std::vector<int>& fds = {}, std::shared_ptr<const void> keep = {});
  bool flush(int socket);
  /// Gives back what a stranger was charged for, once it has read all.
  void settle(int socket);
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// Since when the first letter waits (steady clock, ns); 0: none does.
  [[nodiscard]] std::int64_t waiting_since() const noexcept { return waiting_.empty() ? 0 : since_; }

 private:
  struct Letter {
    std::string text;
    std::vector<int> fds;
    std::vector<Fd> own;
    std::shared_ptr<const void> keep;
  };
  enum class Sent { Yes, Full, Never };
  Sent try_send(int socket, std::string_view text, const std::vector<int>& fds);
  [[nodiscard]] bool room_on_the_way(int socket, std::size_t descriptors);

  Limits limits_ = kOwn;
  uid_t uid_ = 0;
  bool foreign_ = false;
  std::deque<Letter> waiting_;
  std::size_t bytes_ = 0;
  std::size_t with_descriptors_ = 0;  ///< waiting
  std::size_t on_the_way_ = 0;        ///< letters with descriptors sent since the peer had read all
  DescriptorShares::Claim claim_;     ///< for them
  std::int64_t since_ = 0;
};

}  // namespace cardan::detail
