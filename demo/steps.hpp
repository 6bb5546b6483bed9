// SPDX-License-Identifier: Apache-2.0
// The work of each of the five for one message. Whether they are components that Cardan runs or processes that talk
// over Unix sockets is not their business.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cardan/cardan.hpp"
#include "demo/decision/decision.hpp"
#include "demo/decision/fusion.hpp"
#include "demo/decision/obstacles.hpp"
#include "demo/detector/picture_detector.hpp"
#include "demo/report/drawing.hpp"
#include "demo/sensors/camera_source.hpp"
#include "demo/sensors/lidar_source.hpp"
#include "demo/topics.hpp"

namespace cardan::street {

/// The topics of the drivers, as big as their sources need.
[[nodiscard]] Topic<Image> topic_of(const CameraSource& camera);
[[nodiscard]] Topic<PointCloud> topic_of(const LidarSource& lidar);

/// How the camera sees: with a calibration (a folder with KITTI's files, for the `image_0N` in `pictures`) as these
/// say, else as the decision assumes. Throws Error as read_kitti_calibration(), and InvalidArgument if the calibration
/// is for pictures of another size.
[[nodiscard]] ProjectionMatrix projection_of(const CameraSource& camera, const std::string& pictures,
                                             const std::string& calibration);

/// The picture or scan that wait() announced, straight into the message. `sequence` is that of the message.
void fill(Image& image, CameraSource& camera, std::uint64_t sequence);
void fill(PointCloud& cloud, LidarSource& lidar, std::uint64_t sequence);

/// Finds pedestrians, or what a model can name. One thread at a time.
class DetectStep {
 public:
  struct Options {
    std::string model{};  ///< an ONNX file; empty: OpenCV's pedestrian detector, for drawn pictures a MotionDetector
    int threads = 0;      ///< of OpenCV's; 0: as many as there are CPUs
  };
  /// Throws Error as open_detector().
  explicit DetectStep(const Options& options);
  /// `sequence` of the image; the message says with it what it was found in.
  void find(const Image& image, std::uint64_t sequence, Detections2D& found);
  /// Keeps the picture that find() looked at last, if more was seen in it than in those before. For after the work: it
  /// copies.
  void remember(const Image& image);
  /// The header of that picture; null: none yet.
  [[nodiscard]] const Header* remembered() const noexcept { return best_.empty() ? nullptr : &best_header_; }
  /// Whether this scan is of the same moment as that picture, and nearer to it than the scans before.
  [[nodiscard]] bool is_nearer(const Header& scan) const noexcept;
  /// Keeps what the LiDAR found in that scan for the picture. `in_camera`: the place of its frame in the picture's.
  void remember(const Detections3D& obstacles, const Transform& in_camera, const ProjectionMatrix& projection);
  /// Writes that picture with what both sensors saw drawn in, if there is one. False: the file cannot be written.
  [[nodiscard]] bool draw(const std::string& file) const;

 private:
  void begin(const Image& first);

  std::unique_ptr<PictureDetector> detector_;
  Options options_;
  bool begun_ = false;
  std::span<const Seen> seen_;
  Picture best_;
  std::vector<std::uint8_t> best_pixels_;
  std::vector<Seen> best_seen_;
  Header best_header_;
  std::optional<std::int64_t> best_scan_;  ///< when it was taken
  LidarInPicture best_lidar_;
  bool has_lidar_ = false;  ///< some picture had a scan
};

/// Finds obstacles. One thread at a time.
class ObstacleStep {
 public:
  explicit ObstacleStep(const OwnVehicle& own = {}) : finder_(own) {}
  void find(const PointCloud& cloud, std::uint64_t sequence, Detections3D& found);
  /// Keeps the scan, if none had more pedestrians near the path.
  void remember(const PointCloud& cloud);
  /// As DetectStep's.
  [[nodiscard]] bool draw(const std::string& file) const;

 private:
  ObstacleFinder finder_;
  std::span<const Obstacle> obstacles_;
  std::vector<Point> best_;
  std::vector<Obstacle> best_obstacles_;
  int best_interest_ = -1;
  bool simulated_ = false;
};

/// Brake or go, from the newest findings of both sensors. One thread at a time. Times are of the steady clock in
/// nanoseconds, or of whatever clock the caller lives by.
class DecisionStep {
 public:
  /// `image_width`: pixels, of the camera's pictures.
  void see(const Detections2D& picture, float image_width, std::int64_t now);
  void see(const Detections3D& obstacles, std::int64_t now);
  /// `header`: of the findings that came last.
  void decide(const Header& header, std::int64_t now, Decision& decision) const;

 private:
  Fusion fusion_;
  std::vector<Seen> seen_;
  std::vector<Obstacle> obstacles_;
};

}  // namespace cardan::street
