// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/record/recorder/segment.hpp"
#include "src/record/recorder/topic_queue.hpp"

namespace cardan::record {

/// The channel and schema records that a file needs before the first chunk of a topic. The recorder's thread; does not
/// block.
class Channels {
 public:
  /// Adds to the file what it does not have of the topic yet.
  void ensure(Segment& segment, TopicQueue& topic);

 private:
  std::map<std::string, std::uint16_t> schemas_;  ///< numbers, by name, encoding and text
  std::vector<std::uint64_t> schema_in_segment_;  ///< by number: the last file that has it
};

}  // namespace cardan::record
