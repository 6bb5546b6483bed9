// SPDX-License-Identifier: Apache-2.0
// Origin and cause of recorded samples, as the recorder writes them on their own topic (docs/chains.md). Any thread;
// nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/mcap/records.hpp"

namespace cardan::record {

inline constexpr std::string_view kCausesTopic = "/cardan/causes";
inline constexpr std::string_view kCausesType = "cardan_msgs/msg/Causes";
/// The ros2msg text of the type.
extern const std::string_view kCausesSchema;

/// One message: samples of some hundred milliseconds. The lists from `publisher` on have one element for each sample.
struct Causes {
  static constexpr std::int64_t kNsPerUs = 1000;
  static constexpr std::size_t kLongestTopic = 1024;  ///< longer names are not of a recorder
  /// In `cause_publisher`: it has no cause.
  static constexpr std::uint16_t kNoCause = 0xffff;
  /// In `age_us`: nobody knows it.
  static constexpr std::uint32_t kUnknownAge = 0xffff'ffff;

  std::int64_t stamp_ns = 0;   ///< steady clock; the message's log time is the same moment
  std::uint64_t left_out = 0;  ///< samples of the recording so far that no message lists

  // The publishers of samples and causes.
  std::vector<std::uint64_t> publishers{};  ///< unique numbers; 0: of another user, whose numbers are not to be trusted
  std::vector<std::string> topics{};        ///< empty: none of its samples is in this message

  std::vector<std::uint16_t> publisher{};        ///< place in `publishers`
  std::vector<std::uint32_t> sequence{};         ///< as in the recorded message
  std::vector<std::int32_t> published_us{};      ///< after the stamp; the least value: that long before it, or longer
  std::vector<std::uint32_t> age_us{};           ///< from the origin to the publication; kUnknownAge − 1: or longer
  std::vector<std::uint16_t> cause_publisher{};  ///< place in `publishers`; kNoCause
  std::vector<std::uint32_t> cause_sequence{};

  [[nodiscard]] std::size_t samples() const noexcept { return sequence.size(); }
};

/// The message as it is recorded, in CDR.
[[nodiscard]] std::vector<std::byte> cdr_of(const Causes& causes);
/// False: the bytes are not such a message. Of the result, each place in `publishers` exists, and all lists have the
/// length that they must have. It takes at most 16 times the memory of the bytes.
[[nodiscard]] bool read_causes(mcap::View bytes, Causes& into);

}  // namespace cardan::record
