// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "demo/sensors/projection.hpp"

namespace cardan::street {

/// `header.frame_id` of what the sensors send. A camera's frame is its optical one: x to the right, y down, z ahead.
inline constexpr const char* kCameraFrame = "camera";
inline constexpr const char* kLidarFrame = "lidar";
inline constexpr const char* kImuFrame = "imu";

/// Where the sensors of a KITTI drive are, and how one of its cameras sees: the files calib_velo_to_cam.txt,
/// calib_cam_to_cam.txt and calib_imu_to_velo.txt, which KITTI's raw data has for each day.
struct KittiCalibration {
  Transform lidar{};               ///< its place in the camera's frame, as in the rectified pictures
  std::optional<Transform> imu{};  ///< its place in the LiDAR's frame; empty without calib_imu_to_velo.txt
  ProjectionMatrix projection{};   ///< of the rectified pictures, in the camera's frame
  int width = 0, height = 0;       ///< pixels, of the rectified pictures; 0: the files do not say
};

/// The camera of KITTI's usual colour pictures, `image_02`.
inline constexpr int kKittiCamera = 2;
/// The number of the `image_0N` in a path; kKittiCamera if the path has no such folder.
[[nodiscard]] int kitti_camera_of(const std::string& pictures);

/// The folder with the calibration of a drive: `folder` (also a pattern of pictures), or the next one above it (at most
/// four) that has calib_velo_to_cam.txt; "": none. Reads the disk.
[[nodiscard]] std::string find_kitti_calibration(const std::string& folder);

/// Reads the files in the folder. Throws Error, with the file: Unavailable (cannot be read), InvalidArgument (a value
/// is missing, is not finite or is not a rotation; the file is too large). Reads the disk.
[[nodiscard]] KittiCalibration read_kitti_calibration(const std::string& folder, int camera = kKittiCamera);

/// The same as entries of a configuration: imu → lidar → camera.
[[nodiscard]] std::vector<config::FrameTransform> transforms_of(const KittiCalibration& calibration);
/// These as the text of a configuration file: `{"transforms": […]}`, with an end of line.
[[nodiscard]] std::string transforms_text(const std::vector<config::FrameTransform>& transforms);

}  // namespace cardan::street
