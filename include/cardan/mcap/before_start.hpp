// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Messages from before a file's start. A topic that is published once or rarely (a calibration, a map) has no message
/// in a later part of a recording. So each part begins with the last messages of its topics, with their original times,
/// and says how many these are. Any thread; nothing blocks.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

/// Name of the metadata record that says it.
inline constexpr const char* kBeforeStartName = "cardan.before_start";
/// Name of the metadata record with the number of publishers of topics that had several.
inline constexpr const char* kPublishersName = "cardan.publishers";
/// In a channel's metadata, where it has no offered_qos_profiles: how many samples a late subscriber is given.
inline constexpr const char* kDepthKey = "cardan.depth";

/// The messages from before the start of a file, with which the file begins.
struct BeforeStart {
  std::uint64_t start = 0;                          ///< log time of the first other message, or earlier
  std::uint64_t last = 0;                           ///< log time of the last such message
  std::uint64_t chunks = 0;                         ///< how many chunks at the start of the file hold them alone
  std::map<std::string, std::uint64_t> messages{};  ///< how many, by topic
};

/// The metadata record with this content.
[[nodiscard]] Metadata before_start_record(const BeforeStart& before);
/// Empty: it is another record, or its content makes no sense.
[[nodiscard]] std::optional<BeforeStart> before_start_of(const Metadata& metadata);

/// How many of a channel's last messages a late subscriber is given by its publishers: the sum of the depths of those
/// that keep samples for it (transient local), as the channel's metadata say. 0: none.
[[nodiscard]] std::uint32_t latched_depth(const Channel& channel);

}  // namespace cardan::mcap
