// SPDX-License-Identifier: Apache-2.0
#include "bench/record/parts.hpp"

#include <nlohmann/json.hpp>

#include "bench/stage.hpp"

namespace cardan::bench::recording {

int play_recording_part(const char* job) noexcept {
  return play_part({{"producer", play_producer},
                    {"reader", play_reader},
                    {"recorder", play_recorder},
                    {"rosbag2", play_rosbag2},
                    {"task", play_task},
                    {"pipeline", play_pipeline}},
                   job);
}

}  // namespace cardan::bench::recording
