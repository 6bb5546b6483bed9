// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/lidar/scans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "bench/pipeline/recording.hpp"
#include "cardan/cdr.hpp"
#include "cardan/error.hpp"
#include "cardan/local_message.hpp"
#include "cardan/point_cloud.hpp"
#include "demo/sensors/kitti.hpp"
#include "demo/sensors/pcap.hpp"
#include "demo/sensors/raycast.hpp"
#include "demo/sensors/recorded_folder.hpp"
#include "demo/sensors/velodyne.hpp"

namespace cardan::bench::perception::lidar {
namespace {

constexpr std::size_t kUsualTurn = 64;  // packets; fewer is a part of a turn, at the beginning of a capture

std::vector<CloudPoint> points_of(std::span<const street::Point> points) {
  std::vector<CloudPoint> out;
  out.reserve(points.size());
  for (const street::Point& p : points) out.push_back({p.x, p.y, p.z, 1});
  return out;
}

std::vector<CloudPoint> points_of(const PointCloud& cloud, const std::string& file) {
  const std::int64_t x = cloud.float_offset("x");
  const std::int64_t y = cloud.float_offset("y");
  const std::int64_t z = cloud.float_offset("z");
  if (x < 0 || y < 0 || z < 0 || !cloud.valid() || std::uint64_t{cloud.height} * cloud.width > kMostPoints)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("--from {}: a cloud without x, y, z as 32-bit floats, or with more than {} points", file,
                            kMostPoints),
                "give a recording of clouds as a LiDAR's driver publishes them");
  if (cloud.width == 0) return {};  // whatever its height
  std::vector<CloudPoint> out;
  out.reserve(std::size_t{cloud.height} * cloud.width);
  for (std::size_t row = 0; row < cloud.height; ++row) {
    for (std::size_t column = 0; column < cloud.width; ++column) {
      const std::uint8_t* const at = cloud.data.data() + row * cloud.row_step + column * cloud.point_step;
      CloudPoint p;
      std::memcpy(&p.x, at + x, sizeof p.x);
      std::memcpy(&p.y, at + y, sizeof p.y);
      std::memcpy(&p.z, at + z, sizeof p.z);
      out.push_back(p);
    }
  }
  return out;
}

}  // namespace

Scans::Scans(const StageInputs& inputs, std::size_t most, double rate_hz) {
  most = std::max<std::size_t>(most, 1);
  std::error_code ignored;
  if (!inputs.from.empty())
    record(inputs.from, inputs.topic, most);
  else if (inputs.lidar.empty())
    simulate(most, rate_hz);
  else if (street::is_folder_of_frames(inputs.lidar))
    folder(inputs.lidar, most);
  else if (std::filesystem::is_regular_file(inputs.lidar, ignored))
    capture(inputs.lidar, most);
  else
    throw Error(ErrorCode::InvalidArgument, fmt::format("--lidar {}: no such file or folder", inputs.lidar),
                "give a pcap file of a Velodyne or a folder of KITTI scans; leave it out for the simulated street");
  if (scans_.empty() || most_points_ == 0)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no scan", name_), "give a longer one");
}

std::span<const CloudPoint> Scans::at(std::uint64_t number) const noexcept {
  const std::size_t n = scans_.size();
  if (n == 1) return scans_.front();
  const auto place = static_cast<std::size_t>((number - 1) % (2 * n - 2));
  return scans_[place < n ? place : 2 * n - 2 - place];
}

bool Scans::add(std::vector<CloudPoint> scan, std::size_t most) {
  if (scan.size() > kMostPoints)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: a scan has more than {} points", name_, kMostPoints),
                "give another one");
  bytes_ += scan.size() * sizeof(CloudPoint);
  if (!scans_.empty() && bytes_ > kMostBytes) return false;
  most_points_ = std::max(most_points_, scan.size());
  scans_.push_back(std::move(scan));
  return scans_.size() < most;
}

void Scans::simulate(std::size_t most, double rate_hz) {
  name_ = "simulated street";
  street::SimulatedStreet simulated;
  std::vector<street::Point> scan(street::SimulatedStreet::kPoints);
  for (bool more = true; more;) {
    simulated.scan(static_cast<double>(scans_.size()) / rate_hz, scan);
    more = add(points_of(scan), most);
  }
}

void Scans::capture(const std::string& file, std::size_t most) {
  name_ = std::filesystem::path(file).filename().string();
  street::PcapReader reader(file);
  street::ScanAssembler turn;
  std::vector<street::Point> scan(street::ScanAssembler::kMaxPackets * street::VelodynePacket::kMaxPoints);
  while (const auto datagram = reader.next()) {
    const auto packet = street::VelodynePacket::from(datagram->payload);
    if (!packet) continue;
    static_cast<void>(street::model_of(*packet));  // an unknown sensor ends it with words
    if (!turn.add(*packet) || turn.packets().size() < kUsualTurn) continue;
    std::size_t count = 0;
    for (const street::VelodynePacket& one : turn.packets()) count = street::decode(one, scan, count);
    if (!add(points_of(std::span(scan).first(count)), most)) return;
  }
}

void Scans::folder(const std::string& folder, std::size_t most) {
  name_ = std::filesystem::path(folder).filename().string();
  street::KittiFolder scans(folder);
  std::vector<street::Point> scan(street::KittiFolder::kMaxPoints);
  for (std::size_t i = 0; i < scans.scans(); ++i) {
    const std::size_t count = scans.read(i, scan);
    if (!add(points_of(std::span(scan).first(count)), most)) return;
  }
}

void Scans::record(const std::string& file, const std::string& topic, std::size_t most) {
  name_ = std::filesystem::path(file).filename().string();
  read_recording(file, topic, "sensor_msgs/msg/PointCloud2", [&](std::span<const std::byte> bytes) {
    LocalMessage<PointCloud> cloud(bytes.size());
    if (const CdrResult read = from_cdr(bytes, *cloud); !read)
      throw Error(ErrorCode::InvalidArgument, fmt::format("--from {}: a cloud cannot be read: {}", file, read.text()),
                  "give another recording");
    return add(points_of(*cloud, file), most);
  });
}

}  // namespace cardan::bench::perception::lidar
