// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/bridge/counts.hpp"
#include "src/bridge/dds/participant.hpp"
#include "src/bridge/dds/qos.hpp"
#include "src/bridge/dds/wire.hpp"
#include "src/bridge/incoming_topic.hpp"

namespace cardan::bridge::dds {

/// A topic of DDS that a rule lets in.
/// Thread safety: one thread. carry() blocks as IncomingTopic::deliver().
class DdsReader {
 public:
  /// Throws Error.
  DdsReader(const Participant& participant, const std::string& topic, const AnyType& type, const TopicRule& rule,
            const EndpointQos& qos, IncomingOptions options);

  /// Takes and publishes what has come in, at most some messages. Returns whether there may be more.
  bool carry(Participant& participant);

  /// Its writers that are there now. Compares what each is known to have sent with what has come whole: a writer that
  /// sends, and of which nothing has come whole for some seconds, counts as lost messages. Call it when they change,
  /// and about once a second. `now`: steady clock, ns. Throws bad_alloc.
  void watch(const std::vector<const RemoteWriter*>& writers, std::int64_t now);

  /// Reads with this QoS from now on. Waiting messages are carried before, as by carry().
  void set_qos(Participant& participant, const EndpointQos& qos);
  [[nodiscard]] const EndpointQos& qos() const noexcept { return qos_; }
  /// Whether a larger receive buffer would help: it reads best effort, or has lost messages all the same.
  [[nodiscard]] bool may_overflow() const noexcept { return !qos_.reliable || own_.lost + missing() != 0; }
  /// Whether it has a reader on DDS. Not after a set_qos() that has thrown, until one that has not.
  [[nodiscard]] bool reads() const noexcept { return static_cast<bool>(reader_); }
  [[nodiscard]] const std::string& type_name() const noexcept { return topic_.type().message_type().name; }
  [[nodiscard]] const TopicRule& rule() const noexcept { return rule_; }

  [[nodiscard]] TopicReport report() const;
  [[nodiscard]] const Guid& guid() const noexcept { return guid_; }
  /// With which it rings the bell; another one after set_qos().
  [[nodiscard]] dds_entity_t entity() const noexcept { return reader_.get(); }

  std::int64_t alone_since = 0;  ///< steady clock: since when it has no writer; 0: it has one

 private:
  /// The data of a writer that is there.
  struct Watched {
    std::int64_t first = 0;  ///< the number from which on its messages were for us; 0: unknown
    std::int64_t whole = 0;  ///< of the last one that came whole
    std::int64_t since = 0;  ///< when that was; steady clock
    std::uint64_t missing = 0;
    bool came = false;  ///< one came whole
    bool met = false, there = false;
  };
  void watch(Watched& one, const Guid& writer, std::int64_t now);
  [[nodiscard]] std::uint64_t missing() const noexcept;
  void start(const Participant& participant);
  /// Whether a message of this writer may come in.
  bool wanted(Participant& participant, dds_instance_handle_t handle);
  void gather_counts();

  const TopicRule rule_;
  EndpointQos qos_;
  IncomingTopic topic_;
  std::shared_ptr<Inbox> inbox_;
  WireTopic wire_;
  Entity reader_;
  Guid guid_{};
  std::map<Guid, Watched> watched_;                 ///< by the writers
  TopicCounts own_;                                 ///< in addition to those of the topic
  std::vector<std::span<const std::byte>> pieces_;  ///< of the message that is read now
  bool out_of_memory_ = false;
  std::string note_;
};

}  // namespace cardan::bridge::dds
