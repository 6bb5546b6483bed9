// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/lidar/algorithms.hpp"

#include <pcl/common/transforms.h>
#include <pcl/console/print.h>
#include <pcl/filters/voxel_grid.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>
#include <pcl/registration/ndt.h>
#include <pcl/sample_consensus/ransac.h>
#include <pcl/sample_consensus/sac_model_perpendicular_plane.h>
#include <pcl/search/kdtree.h>
#include <pcl/segmentation/impl/extract_clusters.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>

namespace cardan::bench::perception::lidar {
namespace {

using PclPoint = pcl::PointXYZ;
using PclCloud = pcl::PointCloud<PclPoint>;

constexpr float kHighest = 20.0F;          // m above or below the sensor
constexpr float kGroundSlope = 8.0F;       // degrees
constexpr double kGroundThickness = 0.15;  // m
constexpr int kGroundTries = 100;          // of RANSAC
constexpr std::size_t kFewestForGround = 50;

constexpr float kMatchVoxel = 1.5F, kMapVoxel = 0.4F;  // m
constexpr float kNdtCell = 2.0F;                       // m; the map's voxels fill it with enough points
constexpr double kNdtStep = 0.3, kNdtEnough = 0.01;    // m
constexpr int kNdtMost = 12;                           // iterations
constexpr double kMapEvery = 3.0;                      // m that the vehicle drives between two scans of the map
constexpr std::size_t kMapScans = 6;
constexpr std::size_t kFewestToMatch = 50;

constexpr float kAhead = 60.0F, kBehind = -20.0F, kAside = 15.0F;  // m, the region that perception looks at
constexpr float kTogether = 0.6F;                                  // m between points of a cluster
constexpr unsigned kFewestPoints = 5, kMostClusterPoints = 5000;

void quiet() { pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS); }  // the bench reports failures

bool is_finite(const CloudPoint& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

void to_pcl(std::span<const CloudPoint> points, PclCloud& out) {
  out.clear();
  out.reserve(points.size());
  for (const CloudPoint& p : points)
    if (is_finite(p)) out.push_back(PclPoint(p.x, p.y, p.z));
}

void thin_out(const PclCloud::ConstPtr& from, float voxel, PclCloud& to) {
  pcl::VoxelGrid<PclPoint> grid;
  grid.setInputCloud(from);
  grid.setLeafSize(voxel, voxel, voxel);
  grid.filter(to);
}

Eigen::Isometry3d isometry_of(const Pose& p) {
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  out.translate(Eigen::Vector3d(p.x, p.y, p.z));
  out.rotate(Eigen::AngleAxisd(p.yaw, Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(p.pitch, Eigen::Vector3d::UnitY()) *
             Eigen::AngleAxisd(p.roll, Eigen::Vector3d::UnitX()));
  return out;
}

Pose pose_of(const Eigen::Matrix4f& m) {
  return {.x = m(0, 3),
          .y = m(1, 3),
          .z = m(2, 3),
          .roll = std::atan2(m(2, 1), m(2, 2)),
          .pitch = std::asin(std::clamp(-m(2, 0), -1.0F, 1.0F)),
          .yaw = std::atan2(m(1, 0), m(0, 0))};
}

}  // namespace

struct Preprocessor::Work {
  PclCloud::Ptr near{new PclCloud}, thin{new PclCloud};
  std::vector<bool> is_ground;
};

Preprocessor::Preprocessor() : work_(std::make_unique<Work>()) { quiet(); }
Preprocessor::~Preprocessor() = default;

std::span<const CloudPoint> Preprocessor::filter(std::span<const CloudPoint> scan, std::size_t most) {
  PclCloud& near = *work_->near;
  near.clear();
  for (const CloudPoint& p : scan) {
    const float range = std::hypot(p.x, p.y);
    if (range > kNearest && range < kFarthest && std::abs(p.z) < kHighest) near.push_back(PclPoint(p.x, p.y, p.z));
  }
  float voxel = kVoxel;
  thin_out(work_->near, voxel, *work_->thin);
  for (; work_->thin->size() > most && voxel < kFarthest; voxel *= 1.5F)
    thin_out(work_->near, voxel * 1.5F, *work_->thin);
  PclCloud& thin = *work_->thin;
  if (thin.size() > most) thin.clear();

  work_->is_ground.assign(thin.size(), false);
  if (thin.size() >= kFewestForGround) {
    const auto model = std::make_shared<pcl::SampleConsensusModelPerpendicularPlane<PclPoint>>(work_->thin);
    model->setAxis(Eigen::Vector3f::UnitZ());
    model->setEpsAngle(kGroundSlope * std::numbers::pi / 180);
    pcl::RandomSampleConsensus<PclPoint> ransac(model, kGroundThickness);  // with the same numbers in each run
    ransac.setMaxIterations(kGroundTries);
    pcl::Indices inliers;
    if (ransac.computeModel()) ransac.getInliers(inliers);
    for (const auto i : inliers) work_->is_ground[static_cast<std::size_t>(i)] = true;
  }
  points_.clear();
  for (const bool ground : {true, false}) {
    for (std::size_t i = 0; i < thin.size(); ++i)
      if (work_->is_ground[i] == ground) points_.push_back({thin[i].x, thin[i].y, thin[i].z, 1});
    if (ground) ground_ = points_.size();
  }
  return points_;
}

struct Localizer::Work {
  pcl::NormalDistributionsTransform<PclPoint, PclPoint> ndt;
  PclCloud::Ptr scan{new PclCloud}, thin{new PclCloud};
  PclCloud aligned;
  std::deque<PclCloud> map;
  Pose pose{}, mapped{};
  double seconds = 0;
  bool has_pose = false;

  void add_to_map() {
    const PclCloud::Ptr place(new PclCloud);
    thin_out(scan, kMapVoxel, *place);
    PclCloud moved;
    pcl::transformPointCloud(*place, moved, isometry_of(pose).matrix().cast<float>());
    map.push_back(std::move(moved));
    if (map.size() > kMapScans) map.pop_front();
    const PclCloud::Ptr all(new PclCloud);
    for (const PclCloud& one : map) *all += one;
    ndt.setInputTarget(all);
    mapped = pose;
  }
};

Localizer::Localizer() : work_(std::make_unique<Work>()) {
  quiet();
  work_->ndt.setResolution(kNdtCell);
  work_->ndt.setStepSize(kNdtStep);
  work_->ndt.setTransformationEpsilon(kNdtEnough);
  work_->ndt.setMaximumIterations(kNdtMost);
}
Localizer::~Localizer() = default;

Pose Localizer::locate(std::span<const CloudPoint> points, double seconds) {
  Work& w = *work_;
  to_pcl(points, *w.scan);
  if (w.scan->size() < kFewestToMatch) {
    w.pose.converged = 0;
    return w.pose;
  }
  if (!w.has_pose) {
    w.has_pose = true;
    w.pose.converged = 1;
    w.seconds = seconds;
    w.add_to_map();
    return w.pose;
  }
  thin_out(w.scan, kMatchVoxel, *w.thin);
  const Pose before = w.pose;
  const double passed = std::max(seconds - w.seconds, 1e-3);
  w.seconds = seconds;
  Pose expected = before;
  expected.x += before.speed * passed * std::cos(before.yaw);
  expected.y += before.speed * passed * std::sin(before.yaw);
  w.ndt.setInputSource(w.thin);
  w.ndt.align(w.aligned, isometry_of(expected).matrix().cast<float>());
  const Eigen::Matrix4f found = w.ndt.getFinalTransformation();
  if (!found.allFinite()) {
    w.pose.converged = 0;
    return w.pose;
  }
  w.pose = pose_of(found);
  w.pose.converged = w.ndt.hasConverged() ? 1 : 0;
  w.pose.speed = ((w.pose.x - before.x) * std::cos(w.pose.yaw) + (w.pose.y - before.y) * std::sin(w.pose.yaw)) / passed;
  if (w.pose.converged == 1 && std::hypot(w.pose.x - w.mapped.x, w.pose.y - w.mapped.y) >= kMapEvery) w.add_to_map();
  return w.pose;
}

struct Clusters::Work {
  PclCloud::Ptr cloud{new PclCloud};
  pcl::search::KdTree<PclPoint>::Ptr tree{new pcl::search::KdTree<PclPoint>};
};

Clusters::Clusters() : work_(std::make_unique<Work>()) { quiet(); }
Clusters::~Clusters() = default;

std::span<const ObstacleBox> Clusters::find(std::span<const CloudPoint> points) {
  boxes_.clear();
  PclCloud& cloud = *work_->cloud;
  cloud.clear();
  for (const CloudPoint& p : points)
    if (is_finite(p) && p.x > kBehind && p.x < kAhead && std::abs(p.y) < kAside)
      cloud.push_back(PclPoint(p.x, p.y, p.z));
  if (cloud.size() < kFewestPoints) return boxes_;
  work_->tree->setInputCloud(work_->cloud);
  std::vector<pcl::PointIndices> found;
  pcl::extractEuclideanClusters<PclPoint>(cloud, work_->tree, kTogether, found, kFewestPoints, kMostClusterPoints);
  for (const pcl::PointIndices& cluster : found) {
    const PclPoint& first = cloud[static_cast<std::size_t>(cluster.indices.front())];
    ObstacleBox box{first.x, first.x, first.y, first.y, first.z, first.z};
    for (const auto i : cluster.indices) {
      const PclPoint& p = cloud[static_cast<std::size_t>(i)];
      box = {std::min(box.x0, p.x), std::max(box.x1, p.x), std::min(box.y0, p.y),
             std::max(box.y1, p.y), std::min(box.z0, p.z), std::max(box.z1, p.z)};
    }
    boxes_.push_back(box);
  }
  const auto range = [](const ObstacleBox& b) {
    return std::hypot(std::max({b.x0, -b.x1, 0.0F}), std::max({b.y0, -b.y1, 0.0F}));
  };
  std::sort(boxes_.begin(), boxes_.end(),
            [&](const ObstacleBox& a, const ObstacleBox& b) { return range(a) < range(b); });
  if (boxes_.size() > Obstacles::kMost) boxes_.resize(Obstacles::kMost);
  return boxes_;
}

}  // namespace cardan::bench::perception::lidar
