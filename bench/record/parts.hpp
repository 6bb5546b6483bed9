// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace cardan::bench::recording {

/// Plays a part of `cardan bench record` (Stage); returns the exit code. Blocks.
int play_recording_part(const char* job) noexcept;

// The parts. A job says what each does; each throws what goes wrong.
void play_producer(const nlohmann::json& job);
void play_reader(const nlohmann::json& job);
void play_recorder(const nlohmann::json& job);
void play_rosbag2(const nlohmann::json& job);
void play_task(const nlohmann::json& job);
void play_pipeline(const nlohmann::json& job);

}  // namespace cardan::bench::recording
