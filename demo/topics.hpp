// SPDX-License-Identifier: Apache-2.0
// The street's topics, as the code names them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cardan/messages.hpp"
#include "cardan/topic.hpp"
#include "demo/decision/decision.hpp"
#include "demo/decision/obstacles.hpp"
#include "demo/report/note.hpp"
#include "demo/sensors/projection.hpp"

namespace cardan::street {

inline constexpr std::size_t kMostSeen = 64;

/// The data of a calibration file: how the camera sees.
struct CameraInfo {
  std::uint32_t width = 0, height = 0;  ///< pixels
  ProjectionMatrix projection{};        ///< of points in the optical frame of the pictures
};

inline constexpr Topic<Image> kImages{"/street/camera/image"};       ///< the driver knows how big they are
inline constexpr Topic<PointCloud> kClouds{"/street/lidar/points"};  ///< likewise
inline constexpr Topic<CameraInfo> kCameraInfo{"/street/camera/info"};
inline constexpr Topic<Detections2D> kSeen{"/street/camera/objects", {.max_bytes = kMostSeen * sizeof(Detection2D)}};
/// The decision reads the newest. The detector looks for those that are nearest to a picture.
inline constexpr Topic<Detections3D> kObstacles{
    "/street/lidar/obstacles", {.max_bytes = ObstacleFinder::kMaxObstacles * sizeof(Detection3D), .depth = 8}};
inline constexpr Topic<Decision> kDecisions{"/street/decision"};
/// Each one's report on its input, for the demo's tables. Published after the work.
inline constexpr Topic<Note> kNotes{"/street/notes", {.depth = 256}};

}  // namespace cardan::street

CARDAN_MESSAGE(cardan::street::CameraInfo, "street_msgs/msg/CameraInfo", width, height, projection);
