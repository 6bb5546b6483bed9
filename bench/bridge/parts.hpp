// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

namespace cardan::bench {

/// Frames that the camera sends before those that are measured.
inline constexpr std::size_t kWarmUpFrames = 10;

/// Plays a part of `cardan bench bridge` (Stage); returns the exit code. Blocks.
int play_bridge_part(const char* job) noexcept;

// The parts. Each throws what goes wrong. Ages are wall clock at arrival less the stamp that the camera gave.

/// Images of `width` × `height` in `encoding` on `/camera`: at the first order one with stamp 0, which nobody counts
/// and by which all meet; at the second one `hz` for `seconds`. Reports {sent, publish_ns: [each publish()]}.
void play_camera(const nlohmann::json& job);
/// A subscriber of `/camera`. Reports {received, missed, latency_ns}.
void play_viewer(const nlohmann::json& job);
/// A client of the Foxglove bridge at `port` that reads `/camera`; with `pause_ms` it rests after each message.
/// Reports {received, latency_ns}.
void play_browser(const nlohmann::json& job);

}  // namespace cardan::bench
