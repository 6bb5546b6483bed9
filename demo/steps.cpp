// SPDX-License-Identifier: Apache-2.0
#include "demo/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cardan/error.hpp"
#include "demo/detector/coco.hpp"
#include "demo/detector/motion_detector.hpp"
#include "demo/sensors/kitti_calibration.hpp"

namespace cardan::street {
namespace {

constexpr const char* kSimulatedFrame = "lidar_simulated";
constexpr std::int64_t kSameMoment = 100'000'000;  // ns, a turn of a LiDAR

// How good a scan is for the picture: the more pedestrians near the path the better.
int interest(std::span<const Obstacle> obstacles) {
  return static_cast<int>(std::count_if(obstacles.begin(), obstacles.end(), [](const Obstacle& o) {
    return o.kind == Obstacle::Kind::Pedestrian && o.x0 > 4 && o.x0 < 20 && std::abs(o.y0 + o.y1) < 4;
  }));
}

Obstacle obstacle_of(const Detection3D& d) {
  Obstacle o{};
  const auto span = [](double centre, double size, float& low, float& high) {
    low = static_cast<float>(centre - size / 2);
    high = static_cast<float>(centre + size / 2);
  };
  span(d.center.position.x, d.size.x, o.x0, o.x1);
  span(d.center.position.y, d.size.y, o.y0, o.y1);
  span(d.center.position.z, d.size.z, o.z0, o.z1);
  o.kind = Obstacle::Kind::Object;
  for (const auto kind : {Obstacle::Kind::Pedestrian, Obstacle::Kind::Vehicle, Obstacle::Kind::Structure}) {
    if (d.label == kind_name(kind)) o.kind = kind;
  }
  return o;
}

}  // namespace

Topic<Image> topic_of(const CameraSource& camera) {
  const auto pixels = static_cast<std::size_t>(camera.width()) * static_cast<std::size_t>(camera.height());
  return {kImages.name, {.max_bytes = pixels * 3}};
}

Topic<PointCloud> topic_of(const LidarSource& lidar) {
  return {kClouds.name, {.max_bytes = lidar.max_points() * sizeof(Point)}};
}

ProjectionMatrix projection_of(const CameraSource& camera, const std::string& pictures,
                               const std::string& calibration) {
  if (calibration.empty()) return pinhole(camera.width(), camera.height(), static_cast<double>(Car{}.camera_fov));
  const KittiCalibration read = read_kitti_calibration(calibration, kitti_camera_of(pictures));
  if (read.width != 0 && (read.width != camera.width() || read.height != camera.height()))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("the calibration in {} is for pictures of {} x {}, but these have {} x {}", calibration,
                            read.width, read.height, camera.width(), camera.height()),
                "give the calibration of the drive's day, and the drive's rectified pictures (..._sync)");
  return read.projection;
}

void fill(Image& image, CameraSource& camera, std::uint64_t sequence) {
  camera.read(
      image.resize(static_cast<std::uint32_t>(camera.height()), static_cast<std::uint32_t>(camera.width()), "bgr8"));
  image.header.stamp = camera.stamp();
  image.header.frame_id = camera.drawn() ? FrameId(kDrawnFrame) : FrameId(kCameraFrame);
  image.header.sequence = sequence;
}

void fill(PointCloud& cloud, LidarSource& lidar, std::uint64_t sequence) {
  const std::size_t room = lidar.due();
  const std::size_t points = lidar.fill(cloud.resize_points_for_overwrite<Point>(room, lidar.rows()));
  if (points < room) static_cast<void>(cloud.resize_points_for_overwrite<Point>(points));
  cloud.is_dense = lidar.rows() == 1;
  cloud.header.stamp = lidar.stamp();
  cloud.header.frame_id = lidar.simulated() ? FrameId(kSimulatedFrame) : FrameId(kLidarFrame);
  cloud.header.sequence = sequence;
}

DetectStep::DetectStep(const Options& options) : options_(options) {
  // A model is tried on this thread alone: OpenCV's threads get the priority of the thread that starts them, which is
  // to be the one that calls find().
  set_detector_threads(1);
  detector_ = open_detector(options.model);
}

void DetectStep::begin(const Image& first) {
  begun_ = true;
  set_detector_threads(options_.threads > 0 ? options_.threads : -1);
  // HOG was trained on photographs, and does not find drawn people.
  if (options_.model.empty() && first.header.frame_id == kDrawnFrame) detector_ = std::make_unique<MotionDetector>();
}

void DetectStep::find(const Image& image, std::uint64_t sequence, Detections2D& found) {
  if (!begun_) begin(image);
  seen_ = detector_->detect(picture_of(image));
  found.header = image.header;
  found.header.sequence = sequence;
  for (const Seen& s : seen_.first(std::min(seen_.size(), kMostSeen))) {
    Detection2D d;
    d.label = FixedString<60>(s.label);
    d.score = static_cast<double>(s.score);
    d.center_x = static_cast<double>(s.x + s.width / 2);
    d.center_y = static_cast<double>(s.y + s.height / 2);
    d.size_x = static_cast<double>(s.width);
    d.size_y = static_cast<double>(s.height);
    found.detections.push_back(d);
  }
}

void DetectStep::remember(const Image& image) {
  const Picture picture = picture_of(image);
  if (picture.empty()) return;
  const bool more = best_.empty() || seen_.size() > best_seen_.size();
  const bool with_lidar = seen_.size() == best_seen_.size() && has_lidar_ && !best_scan_;  // if its scan comes
  if (!more && !with_lidar) return;
  best_pixels_.assign(picture.pixels, picture.pixels + picture.step * static_cast<std::size_t>(picture.height));
  best_ = picture;
  best_.pixels = best_pixels_.data();
  best_seen_.assign(seen_.begin(), seen_.end());
  best_header_ = image.header;
  best_scan_.reset();
  best_lidar_ = {};
}

bool DetectStep::is_nearer(const Header& scan) const noexcept {
  const auto distance = [&](std::int64_t stamp) { return std::abs(stamp - best_header_.stamp); };
  return !best_.empty() && distance(scan.stamp) <= kSameMoment &&
         (!best_scan_ || distance(scan.stamp) < distance(*best_scan_));
}

void DetectStep::remember(const Detections3D& obstacles, const Transform& in_camera,
                          const ProjectionMatrix& projection) {
  has_lidar_ = true;
  best_scan_ = obstacles.header.stamp;
  best_lidar_ = {.simulated = obstacles.header.frame_id == kSimulatedFrame};
  for (const Detection3D& d : obstacles.detections) {
    const auto box = box_in_picture(d, in_camera, projection, best_.width, best_.height);
    if (!box) continue;
    const Obstacle obstacle = obstacle_of(d);
    best_lidar_.obstacles.push_back({*box, obstacle.kind, std::hypot(d.center.position.x, d.center.position.y)});
  }
}

bool DetectStep::draw(const std::string& file) const {
  return best_.empty() || draw_seen(file, best_, best_seen_, detector_->name(), best_scan_ ? &best_lidar_ : nullptr);
}

void ObstacleStep::find(const PointCloud& cloud, std::uint64_t sequence, Detections3D& found) {
  obstacles_ = finder_.find(cloud.points<Point>());
  found.header = cloud.header;
  found.header.sequence = sequence;
  constexpr double kSurePoints = 50;  // an obstacle with that many points has score 1
  for (const Obstacle& o : obstacles_) {
    Detection3D d;
    d.label = FixedString<60>(std::string_view(kind_name(o.kind)));
    d.score = std::min(1.0, static_cast<double>(o.points) / kSurePoints);
    d.center.position = {static_cast<double>(o.x0 + o.x1) / 2, static_cast<double>(o.y0 + o.y1) / 2,
                         static_cast<double>(o.z0 + o.z1) / 2};
    d.size = {static_cast<double>(o.x1 - o.x0), static_cast<double>(o.y1 - o.y0), static_cast<double>(o.z1 - o.z0)};
    found.detections.push_back(d);
  }
}

void ObstacleStep::remember(const PointCloud& cloud) {
  const int now = interest(obstacles_);
  if (now <= best_interest_) return;
  best_interest_ = now;
  const auto points = cloud.points<Point>();
  best_.assign(points.begin(), points.end());
  best_obstacles_.assign(obstacles_.begin(), obstacles_.end());
  simulated_ = cloud.header.frame_id == kSimulatedFrame;
}

bool ObstacleStep::draw(const std::string& file) const {
  return best_.empty() || draw_obstacles(file, best_, best_obstacles_, simulated_);
}

void DecisionStep::see(const Detections2D& picture, float image_width, std::int64_t now) {
  seen_.clear();
  for (const Detection2D& d : picture.detections) {
    seen_.push_back({static_cast<float>(d.center_x - d.size_x / 2), static_cast<float>(d.center_y - d.size_y / 2),
                     static_cast<float>(d.size_x), static_cast<float>(d.size_y), static_cast<float>(d.score),
                     static_label(d.label)});
  }
  fusion_.see_picture(seen_, image_width, now);
}

void DecisionStep::see(const Detections3D& obstacles, std::int64_t now) {
  obstacles_.clear();
  for (const Detection3D& d : obstacles.detections) obstacles_.push_back(obstacle_of(d));
  fusion_.see_obstacles(obstacles_, now);
}

void DecisionStep::decide(const Header& header, std::int64_t now, Decision& decision) const {
  const Verdict verdict = fusion_.decide(now);
  decision.header = header;
  decision.brake = verdict.brake;
  decision.distance = verdict.distance;
  decision.people = static_cast<std::uint32_t>(
      std::count_if(seen_.begin(), seen_.end(), [](const Seen& s) { return kind_of(s.label) == SeenKind::Person; }));
  decision.obstacles = static_cast<std::uint32_t>(obstacles_.size());
  static_cast<void>(decision.reason.assign(verdict.text()));
}

}  // namespace cardan::street
