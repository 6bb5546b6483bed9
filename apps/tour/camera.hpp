// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cardan/image.hpp"
#include "cardan/topic.hpp"

namespace cardan::apps {

/// The contracts of the tour's camera: one topic has the freshest frame, the other one the last eight frames.
inline constexpr Topic<Image> kTourCamera{"/tour/camera", {.max_bytes = 640 * 480, .depth = 1}};
inline constexpr Topic<Image> kTourQueue{"/tour/queue", {.max_bytes = 640 * 480, .depth = 8}};

/// The camera's process: 30 frames a second on both topics, until SIGTERM. All pixels of a frame are equal, so that a
/// reader sees whether a frame is whole. Returns the exit code. Blocks.
int run_tour_camera();

/// Whether it is a frame of the camera, with all its pixels from one publication.
[[nodiscard]] bool is_whole(const Image& frame) noexcept;

}  // namespace cardan::apps
