// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/record/recorder/segment.hpp"
#include "src/record/recorder/topic_queue.hpp"

namespace cardan::record {

/// The number of the channel of causes (causes.hpp). Topics have theirs from 1 on.
inline constexpr std::uint16_t kCausesChannel = 0;

/// The channel and schema records that a file needs before the first chunk of a topic. The recorder's thread; does not
/// block.
class Channels {
 public:
  /// Adds to the file what it does not have of the topic yet.
  void ensure(Segment& segment, TopicQueue& topic);
  /// The same of the channel of causes.
  void ensure_causes(Segment& segment);

 private:
  [[nodiscard]] std::uint16_t ensure_schema(Segment& segment, const std::string& type, const char* encoding,
                                            std::string_view schema);

  std::map<std::string, std::uint16_t> schemas_;  ///< numbers, by name, encoding and text
  std::vector<std::uint64_t> schema_in_segment_;  ///< by number: the last file that has it
  std::uint64_t causes_in_segment_ = ~std::uint64_t{0};
};

}  // namespace cardan::record
