// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/transport/discovery/handshake.hpp"
#include "src/transport/discovery/not_asked.hpp"

namespace cardan::detail {

class Stream;

/// The attachments that were lost although the publisher's process seems to live. Until that is known, nothing is taken
/// from their streams. Helper thread only.
class LostStreams {
 public:
  /// The subscribers that still exist.
  using Subscribers = std::vector<SubscriberCore*>;

  /// `owner`: of the publication's name. Returns false if too many are lost.
  bool keep(const Offer& offer, Stream& stream, uid_t owner);
  /// The process has said something on a new connection, so its publishers live, and overwrite what they held for us.
  void process_lives(const std::string& process, const Subscribers& subscribers);
  /// The process was dying when it hung up. Its publishers' last samples do not change any more, and may be taken.
  void process_died(const std::string& process, const Subscribers& subscribers);
  /// It is not known yet whether this process lives, and samples wait for that.
  [[nodiscard]] bool is_open(const std::string& process) const;
  /// All such processes, with the owners of their publications' names.
  [[nodiscard]] std::map<std::string, uid_t> open() const;
  /// Of an attachment that has come again: samples that were taken are not delivered again, and publications in between
  /// count as lost.
  void resume(const Offer& offer, handshake::Attached& answer);
  void forget(const SubscriberCore& subscriber);

 private:
  struct Lost {
    std::shared_ptr<Stream> stream;  ///< until it is known whether the process lives
    uid_t owner = 0;
    std::uint64_t taken = 0;  ///< once it is known: the last publication that was taken
  };
  std::map<Offer, Lost> all_;
};

}  // namespace cardan::detail
