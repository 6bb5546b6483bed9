// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cardan::bench::rosbag2 {

/// A serialized message with rosbag2's data about it. It is passed on as a shared pointer.
struct Message {
  std::uint16_t topic = 0;  ///< place among the topics of the bag
  std::int64_t time_ns = 0;
  std::size_t bytes = 0;
  std::unique_ptr<std::byte[]> data{};
};
using MessagePointer = std::shared_ptr<const Message>;

}  // namespace cardan::bench::rosbag2
