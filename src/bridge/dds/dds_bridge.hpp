// SPDX-License-Identifier: Apache-2.0
// Carries topics to and from ROS 2 and other DDS systems. Docs: docs/bridges.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/bridge/bridge.hpp"
#include "src/bridge/catalogue.hpp"
#include "src/bridge/dds/bell.hpp"
#include "src/bridge/dds/dds_reader.hpp"
#include "src/bridge/dds/dds_writer.hpp"
#include "src/bridge/dds/environment.hpp"
#include "src/bridge/dds/message_finder.hpp"
#include "src/bridge/dds/node_interfaces.hpp"
#include "src/bridge/dds/participant.hpp"
#include "src/bridge/dds/parts.hpp"
#include "src/bridge/dds/ready_queue.hpp"
#include "src/bridge/dds/ros_node.hpp"
#include "src/bridge/rules.hpp"

namespace cardan::bridge::dds {

/// The name of the network for the loop guard: the rules', or "dds:<domain>".
[[nodiscard]] std::string network_name(const Rules& rules, const DomainChoice& choice);

/// The cost of a pass grows with the topics that have something to do, not with those that are there.
/// Thread safety: one thread.
class DdsBridge final : public Bridge {
 public:
  /// Throws Error: Cyclone or the run directory cannot be used.
  DdsBridge(Rules rules, DomainChoice choice);

  void turn(std::chrono::nanoseconds timeout) override;
  void finish() override;
  [[nodiscard]] std::vector<TopicReport> topics() const override;
  [[nodiscard]] std::string title() const override;
  [[nodiscard]] std::string readers() const override;
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  using Key = std::pair<std::string, bool>;  ///< topic of this computer, and whether it comes in

  bool pass();
  void wait(std::int64_t until);
  void watch(std::int64_t now);
  void watch_readers(std::int64_t now);
  [[nodiscard]] std::vector<const RemoteWriter*> strangers(const std::string& topic) const;
  [[nodiscard]] std::vector<std::string> notes_on_rules() const;
  void update_writers();
  void update_readers(const Bell::Rung& rung, std::int64_t now);
  void note_rung(const Bell::Rung& rung);
  bool carry_in();
  bool carry_out(std::int64_t now);
  void remove_readers(std::int64_t now);
  [[nodiscard]] std::vector<std::string> types_of(const std::string& topic,
                                                  const std::vector<const RemoteWriter*>& writers) const;
  void read(const std::string& topic, const std::vector<const RemoteWriter*>& writers);
  bool read(const std::string& topic, const std::string& type, const std::vector<const RemoteWriter*>& writers);
  [[nodiscard]] std::vector<const RemoteWriter*> usable(const std::vector<const RemoteWriter*>& writers,
                                                        const std::string& type, const std::string& hash);
  bool make_room(const Guid& newcomer);
  void note_problem(const std::string& topic, std::string why);
  void announce();
  void remember(const TopicReport& last);

  const Rules rules_;
  const DomainChoice choice_;
  const std::string network_;
  std::shared_ptr<Bell> bell_;
  MessageFinder finder_;
  Participant participant_;
  RosNode node_;
  NodeInterfaces interfaces_;
  Catalogue catalogue_;
  std::map<std::string, std::unique_ptr<DdsWriter>> writers_;  ///< by the topic on this computer
  std::map<std::string, std::unique_ptr<DdsReader>> readers_;  ///< by the topic on DDS
  std::map<std::string, std::string> problems_;                ///< by topic: why it is not carried
  std::set<Guid> no_room_for_;                                 ///< participants, found in this look
  std::map<Key, TopicReport> past_;                            ///< topics that have ended
  /// The same by the entities that ring the bell, as they are after announce().
  std::unordered_map<dds_entity_t, DdsWriter*> writer_of_;
  std::unordered_map<dds_entity_t, DdsReader*> reader_of_;
  PartsBound parts_;
  ReadyQueue ready_;                    ///< of the writers
  std::vector<dds_entity_t> to_read_;   ///< readers with messages
  std::int64_t remove_at_ = INT64_MAX;  ///< when a reader has been alone for long enough
  std::int64_t watch_at_ = 0;           ///< when the readers' writers are looked at
  bool endpoints_changed_ = true;
  bool look_at_all_ = false;  ///< writers on DDS may have been passed over
  std::uint64_t out_of_memory_ = 0;
};

}  // namespace cardan::bridge::dds
