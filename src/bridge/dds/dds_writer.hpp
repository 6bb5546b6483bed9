// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "src/bridge/counts.hpp"
#include "src/bridge/dds/bell.hpp"
#include "src/bridge/dds/discovery_info.hpp"
#include "src/bridge/dds/participant.hpp"
#include "src/bridge/dds/qos.hpp"
#include "src/bridge/dds/wire.hpp"
#include "src/bridge/outgoing_topic.hpp"

namespace cardan::bridge::dds {

/// A topic of this computer on DDS. It subscribes only while somebody there reads it.
/// Thread safety: one thread. No function blocks, except carry() for the system calls that send.
class DdsWriter {
 public:
  /// `network`: for the loop guard. Throws Error: the name or the type has no form on DDS.
  DdsWriter(const Participant& participant, LocalTopic topic, const TopicRule& rule, const Rules& rules,
            const std::string& network, std::shared_ptr<Bell> bell);

  /// Opens or closes the subscription, as there are readers. `now`: steady clock, ns.
  void look(std::int64_t now);
  /// Sends the next frame. Returns false if there is none to send now.
  bool carry(std::int64_t now);

  /// Whether fd() says when carry() will have something; if not, the bell (with entity()) or due_ns() does.
  [[nodiscard]] bool waits_for_fd(std::int64_t now);
  [[nodiscard]] int fd() { return topic_.fd(); }
  /// When look() or carry() has something to do again; INT64_MAX: unknown.
  [[nodiscard]] std::int64_t due_ns(std::int64_t now) const;

  [[nodiscard]] TopicReport report() const;
  /// Whether somebody reads large messages. One that does not fit into the reader's buffer is lost or, read reliably,
  /// replaced by newer ones before all of it has been sent again.
  [[nodiscard]] bool may_overflow_readers() const noexcept { return large_ && readers_ != 0; }
  [[nodiscard]] const Guid& guid() const noexcept { return guid_; }
  [[nodiscard]] dds_entity_t entity() const noexcept { return writer_.get(); }

 private:
  [[nodiscard]] static OutgoingOptions options(const EndpointQos& qos, bool copies, const Rules& rules,
                                               const std::string& network);
  void open(std::int64_t now);
  void bound_addresses();
  bool send(std::int64_t now);

  EndpointQos qos_;
  std::size_t most_bytes_;  ///< of a message on DDS
  bool large_;              ///< a message may be larger than what a socket usually holds
  bool copies_;             ///< what waits for readers is copied: it takes no slots of the publisher
  OutgoingOptions options_;
  OutgoingTopic topic_;
  std::shared_ptr<SendTally> tally_;
  WireTopic wire_;
  Entity writer_;
  Guid guid_{};
  std::uint32_t readers_ = 0;
  std::int64_t close_at_ = 0;  ///< steady clock; 0: not to be closed
  std::int64_t retry_at_ = 0;
  std::string note_;
};

}  // namespace cardan::bridge::dds
