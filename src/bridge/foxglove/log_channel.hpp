// SPDX-License-Identifier: Apache-2.0
// The merged log of `cardan run` as a topic that the log views of Foxglove, Lichtblick and the page show.
#pragma once

#include <cstddef>
#include <string_view>

#include "src/bridge/local_topic.hpp"
#include "src/bridge/outgoing_topic.hpp"

namespace cardan::bridge::foxglove {

/// Lines that a client gets which comes later.
inline constexpr std::size_t kKeptLogLines = 64;

/// Whether a topic below /cardan/ is that log; another type may have its name.
[[nodiscard]] bool is_log(const LocalTopic& topic);

/// A line as rcl_interfaces/msg/Log; it holds no slot. Null: the message is malformed. Throws std::bad_alloc alone. Any
/// thread; does not block.
[[nodiscard]] FramePtr log_frame(const OutgoingFrame& line);

}  // namespace cardan::bridge::foxglove
