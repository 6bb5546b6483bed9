// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "bench/record/peers/rosbag2/writer.hpp"
#include "bench/record/schedule.hpp"
#include "bench/record/sensors.hpp"

namespace cardan::bench::rosbag2 {

/// The work of a feed.
struct Fed {
  std::uint64_t made = 0;        ///< messages, where the feed makes them
  std::uint64_t dropped = 0;     ///< before the writer had them
  std::int64_t handling_ns = 0;  ///< from a message's arrival at the recorder until it is in the cache
  double producers_cpu_s = 0;    ///< where the feed makes them
};

/// A message whose bytes are copied from `payload`, with CDR's prefix, as the recorder of rosbag2 makes one.
[[nodiscard]] MessagePointer copy_message(std::uint16_t topic, std::span<const std::uint8_t> payload);

/// As rosbag2_performance_benchmarking with `no_transport`: a thread for each sensor, which pushes the same message
/// into its own queue; one loop that takes at most one of each queue, copies and writes it, and sleeps for 1 ms.
/// (The queues of cameras on one topic are still one for each: that is the tool's, and kind to rosbag2.) Calls
/// `all_made` when the producers are done; returns when the queues are empty. Throws what the writer throws.
Fed feed_without_transport(const recording::Sensors& sensors, recording::Schedule schedule, double seconds,
                           Writer& writer, const std::function<void()>& all_made);

/// From Cardan's topics, as rosbag2 takes from ROS's: one thread for all, a copy of each message.
class TopicFeed {
 public:
  explicit TopicFeed(const recording::Sensors& sensors);
  ~TopicFeed();
  TopicFeed(const TopicFeed&) = delete;
  TopicFeed& operator=(const TopicFeed&) = delete;

  /// Takes until `ended()`, which is asked some hundred times a second. Blocks.
  Fed run(Writer& writer, const std::function<bool()>& ended);

 private:
  class Inputs;
  std::unique_ptr<Inputs> inputs_;
};

}  // namespace cardan::bench::rosbag2
