// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/ros_node.hpp"

#include <algorithm>
#include <utility>

#include "cardan/clock.hpp"
#include "src/bridge/dds/qos.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::uint64_t kMostInfoBytes = 4U << 20U;
constexpr std::uint32_t kInfosAtOnce = 16;

}  // namespace

RosNode::RosNode(const Participant& participant, std::string name_space, std::string name, int gid_bytes, bool fixed)
    : gid_bytes_(gid_bytes), fixed_(fixed), inbox_(std::make_shared<Inbox>(kMostInfoBytes)) {
  entities_.participant = participant.guid();
  entities_.nodes = {{.name_space = std::move(name_space), .name = std::move(name)}};
  const EndpointQos qos = discovery_qos(kDiscoveryHash);
  write_topic_ = make_topic(participant.entity(), kDiscoveryTopic, kDiscoveryType, nullptr);
  writer_ = Entity(
      checked(::dds_create_writer(participant.entity(), write_topic_.topic.get(), writer_qos(qos).get(), nullptr),
              "write ros_discovery_info"));
  EndpointQos reading = qos;
  reading.depth = kInfosAtOnce;
  read_topic_ = make_topic(participant.entity(), kDiscoveryTopic, kDiscoveryType, inbox_);
  reader_ = Entity(
      checked(::dds_create_reader(participant.entity(), read_topic_.topic.get(), reader_qos(reading).get(), nullptr),
              "read ros_discovery_info"));
}

bool RosNode::learn() {
  for (const Received& one : take(reader_.get(), kInfosAtOnce)) {
    const int bytes = one.bytes().empty() ? 0 : gid_bytes_of(one.bytes());
    seen_old_ = seen_old_ || bytes == kOldGidBytes;
    seen_new_ = seen_new_ || bytes == kNewGidBytes;
  }
  // Of both, the old one: for newer releases it is a participant without nodes, but older ones read names that are not
  // there from the new one, and then fail to list any node (rmw_cyclonedds).
  if (!fixed_ && (seen_old_ || seen_new_)) {
    const int bytes = seen_old_ ? kOldGidBytes : kNewGidBytes;
    published_ = published_ && bytes == gid_bytes_;
    gid_bytes_ = bytes;
  }
  return !published_ && gid_bytes_ != 0;
}

void RosNode::update(std::vector<Guid> readers, std::vector<Guid> writers) {
  NodeEntities& node = entities_.nodes.front();
  if (published_ && node.readers == readers && node.writers == writers) return;
  node.readers = std::move(readers);
  node.writers = std::move(writers);
  if (gid_bytes_ == 0) return;
  const auto bytes = std::make_shared<const std::vector<std::byte>>(discovery_info(entities_, gid_bytes_));
  WireMessage message{.pieces = {*bytes}, .keep = bytes, .source_ns = wall_now()};
  published_ = write(writer_.get(), write_topic_, std::move(message), nullptr) == DDS_RETCODE_OK;
}

}  // namespace cardan::bridge::dds
