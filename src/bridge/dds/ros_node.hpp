// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/bridge/dds/discovery_info.hpp"
#include "src/bridge/dds/participant.hpp"
#include "src/bridge/dds/wire.hpp"

namespace cardan::bridge::dds {

/// The bridge as a node of ROS 2: says on `ros_discovery_info` which endpoints are its own. The form of that message
/// differs between releases; it is learnt from others' messages unless it is given.
/// Thread safety: one thread. Does not block.
class RosNode {
 public:
  /// `gid_bytes`: 24 or 16; kept if `fixed`, otherwise until somebody's message says more. 0: the node is not announced
  /// before. Throws Error (System).
  RosNode(const Participant& participant, std::string name_space, std::string name, int gid_bytes, bool fixed);

  /// Looks at others' messages. Returns whether update() has something to say, although the endpoints are the same.
  [[nodiscard]] bool learn();
  /// Publishes what has changed.
  void update(std::vector<Guid> readers, std::vector<Guid> writers);
  [[nodiscard]] int gid_bytes() const noexcept { return gid_bytes_; }
  /// One of its topics on DDS.
  [[nodiscard]] const WireTopic& topic() const noexcept { return read_topic_; }
  /// Others use both forms: releases before and after Iron on one domain. Those of one kind do not see the node.
  [[nodiscard]] bool mixed() const noexcept { return seen_old_ && seen_new_; }

 private:
  ParticipantEntities entities_;
  int gid_bytes_;
  const bool fixed_;
  bool published_ = false, seen_old_ = false, seen_new_ = false;
  std::shared_ptr<Inbox> inbox_;
  WireTopic read_topic_, write_topic_;
  Entity reader_, writer_;
};

}  // namespace cardan::bridge::dds
