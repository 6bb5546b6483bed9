// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cardan/fixed_string.hpp"
#include "cardan/message.hpp"
#include "cardan/publisher.hpp"
#include "cardan/shm_vector.hpp"
#include "cardan/topic.hpp"
#include "src/bridge/counts.hpp"

namespace cardan {

/// Counts of one topic in one direction since the bridge started (bridge::TopicCounts).
struct BridgedTopic {
  FixedString<124> topic{};   ///< on this computer; cut if longer
  FixedString<124> beyond{};  ///< on the other side; cut if longer
  bool in = false;
  std::uint64_t receivers = 0;
  std::uint64_t carried = 0, bytes = 0, thinned = 0, lost = 0, refused = 0;
};

/// A bridge's report on itself, published once a second.
struct BridgeStatistics {
  std::int64_t stamp = 0;            ///< nanoseconds since 1970
  FixedString<60> network{};         ///< as "dds:0"
  shm::vector<BridgedTopic> topics;  ///< as many as fit
};

/// One stream for each bridge.
inline constexpr Topic<BridgeStatistics> kBridgeStatistics{
    "/cardan/bridge/statistics", {.max_bytes = 128 * sizeof(BridgedTopic), .max_memory = 16 << 20}};

}  // namespace cardan

CARDAN_MESSAGE(cardan::BridgedTopic, "cardan_msgs/msg/BridgedTopic", topic, beyond, in, receivers, carried, bytes,
               thinned, lost, refused);
CARDAN_MESSAGE(cardan::BridgeStatistics, "cardan_msgs/msg/BridgeStatistics", stamp, network, topics);

namespace cardan::bridge {

/// Publishes the reports of a bridge, at most once a second. One thread; does not block.
class StatisticsPublisher {
 public:
  /// Throws what Publisher's constructor throws.
  StatisticsPublisher(const std::string& domain, Access access, const std::string& network);
  void publish(const std::vector<TopicReport>& reports);

 private:
  FixedString<60> network_;
  Publisher<BridgeStatistics> publisher_;
};

}  // namespace cardan::bridge
