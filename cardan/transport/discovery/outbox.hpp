// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/base/fd.hpp"
#include "cardan/transport/discovery/descriptor_shares.hpp"

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

  /// False: the peer is gone (errno EPIPE or ECONNRESET), has left so many unread that it is given up, or the letter
  /// would have to wait with descriptors of its own that there is no room for (EMFILE; it is not sent). `keep` owns the
  /// descriptors as long as the letter waits; without it they are duplicated then. `claim`: what claim_for() gave for
  /// them; without it the letter waits for a share, too.
  bool send(int socket, std::string_view text, const std::vector<int>& fds = {}, std::shared_ptr<const void> keep = {},
            DescriptorShares::Claim claim = {});
  /// The share for so many descriptors on their way to the peer. Nothing: its user, or all other users together, have
  /// theirs, which is no fault of a peer that reads.
  std::optional<DescriptorShares::Claim> claim_for(int socket, std::size_t descriptors);
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
    DescriptorShares::Claim on_the_way, of_own;
  };
  enum class Sent { Yes, Full, Never };
  Sent try_send(int socket, std::string_view text, const std::vector<int>& fds, DescriptorShares::Claim& claim);
  [[nodiscard]] bool room_on_the_way(int socket, std::size_t descriptors, DescriptorShares::Claim& claim);

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
