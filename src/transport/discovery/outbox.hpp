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

#include "cardan/detail/fd.hpp"
#include "src/transport/discovery/descriptor_shares.hpp"

namespace cardan::detail {

/// Datagrams for one peer, in order, kept while its socket is full, so that a peer that is stopped for a moment loses
/// no answer. A peer of another user gets a small share: descriptors that it does not receive count against the limit
/// of our user, for all processes of that user, so at most eight letters with descriptors are on their way to it.
/// Helper thread only; never blocks.
class Outbox {
 public:
  struct Limits {
    std::size_t letters, bytes;    ///< waiting here
    std::size_t with_descriptors;  ///< on their way, and the same number waiting
  };
  static constexpr Limits kOwn{4096, std::size_t{4} << 20, 4096};
  static constexpr Limits kForeign{256, std::size_t{256} << 10, 8};

  /// For a peer of our own user, until for_peer() is called.
  Outbox() = default;
  void for_peer(uid_t uid);

  /// Sends or queues a letter. Returns false if the peer is gone (errno EPIPE or ECONNRESET), if it has left too many
  /// letters unread and is given up, or if the letter would have to wait and there is no room for its own descriptors
  /// (EMFILE; it is not sent). `keep` owns the descriptors while the letter waits; without it they are duplicated.
  /// `claim`: the result of claim_for() for them; without it the letter waits for a share, too.
  bool send(int socket, std::string_view text, const std::vector<int>& fds = {}, std::shared_ptr<const void> keep = {},
            DescriptorShares::Claim claim = {});
  /// The share for `descriptors` descriptors on their way to the peer. Empty: its user, or all other users together,
  /// have used their share, which is not the fault of a peer that reads.
  std::optional<DescriptorShares::Claim> claim_for(int socket, std::size_t descriptors);
  bool flush(int socket);
  /// Returns another user's share once it has read everything.
  void settle(int socket);
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// Since when the first letter has been waiting (steady clock, ns); 0: none is.
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
  std::size_t on_the_way_ = 0;        ///< letters with descriptors that were sent since the peer had read everything
  DescriptorShares::Claim claim_;     ///< for them
  std::int64_t since_ = 0;
};

}  // namespace cardan::detail
