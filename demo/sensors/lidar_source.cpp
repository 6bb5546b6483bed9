// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/lidar_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <thread>

#include "cardan/error.hpp"
#include "demo/sensors/kitti.hpp"
#include "demo/sensors/raycast.hpp"
#include "demo/sensors/velodyne_source.hpp"

namespace cardan::street {
namespace {

constexpr std::chrono::milliseconds kTenHz{100};

class SimulatedLidar final : public LidarSource {
 public:
  [[nodiscard]] std::string describe() const override { return "simulated street, 64 x 1,800 points at 10 Hz"; }
  [[nodiscard]] std::size_t max_points() const noexcept override { return SimulatedStreet::kPoints; }
  [[nodiscard]] std::size_t rows() const noexcept override { return SimulatedStreet::kRings; }
  [[nodiscard]] bool simulated() const noexcept override { return true; }
  bool wait(const std::function<bool()>& stopping) override { return pace_.wait(kTenHz, stopping); }
  std::size_t fill(std::span<Point> out) override {
    street_.scan(static_cast<double>(scans_++) / SimulatedStreet::kRateHz, out.first(SimulatedStreet::kPoints));
    return SimulatedStreet::kPoints;
  }

 private:
  SimulatedStreet street_;
  Pace pace_;
  std::uint64_t scans_ = 0;
};

class KittiLidar final : public LidarSource {
 public:
  KittiLidar(const std::string& argument, const Beside& beside)
      : folder_(argument), timeline_(timeline_of(folder_.recorded(), kPictureFiles, beside)) {
    const double hertz = static_cast<double>(folder_.scans()) * 1e9 / static_cast<double>(timeline_.length());
    name_ = fmt::format("KITTI, {} scans of {} at {:.3g} Hz{}", folder_.scans(), argument, hertz,
                        timeline_.paired() ? ", in step with the pictures" : "");
  }
  [[nodiscard]] std::string describe() const override { return name_; }
  [[nodiscard]] std::size_t max_points() const noexcept override { return KittiFolder::kMaxPoints; }
  bool wait(const std::function<bool()>& stopping) override {
    const Timeline::Due next = timeline_.next(steady_now());
    scan_ = next.frame;
    if (!Timeline::sleep_until(next.time, stopping)) return false;
    stamp_ = Timeline::wall_time(next.time);
    return true;
  }
  [[nodiscard]] std::size_t due() const noexcept override { return folder_.points(scan_); }
  std::size_t fill(std::span<Point> out) override { return folder_.read(scan_, out); }
  [[nodiscard]] std::int64_t stamp() const noexcept override { return stamp_; }

 private:
  KittiFolder folder_;
  Timeline timeline_;
  std::string name_;
  std::size_t scan_ = 0;
  std::int64_t stamp_ = 0;
};

}  // namespace

bool Pace::wait(std::chrono::nanoseconds period, const std::function<bool()>& stopping) {
  const auto now = Clock::now();
  due_ = due_ == Clock::time_point{} ? now : due_ + period;
  if (due_ + period < now) due_ = now;
  while (true) {
    if (stopping()) return false;
    const auto left = due_ - Clock::now();
    if (left <= std::chrono::nanoseconds{0}) return true;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds{50}));
  }
}

bool is_udp_port(const std::string& argument) {
  std::error_code ignored;
  return !argument.empty() && argument.find_first_not_of("0123456789") == std::string::npos &&
         !std::filesystem::exists(argument, ignored);
}

std::unique_ptr<LidarSource> open_lidar(const std::string& argument, const Beside& beside) {
  if (argument.empty()) return std::make_unique<SimulatedLidar>();
  std::error_code failure;
  const auto status = std::filesystem::status(argument, failure);
  if (is_folder_of_frames(argument)) return std::make_unique<KittiLidar>(argument, beside);
  if (std::filesystem::exists(status)) return std::make_unique<PcapLidar>(argument);
  unsigned port = 0;
  const char* end = argument.data() + argument.size();
  if (const auto [at, error] = std::from_chars(argument.data(), end, port); error == std::errc{} && at == end) {
    if (port == 0 || port > 65535) {
      throw Error(ErrorCode::InvalidArgument, "--lidar " + argument + " is not a UDP port",
                  "a port is 1 to 65535; a Velodyne sends to 2368");
    }
    return std::make_unique<UdpLidar>(static_cast<std::uint16_t>(port));
  }
  throw Error(ErrorCode::Unavailable, "--lidar " + argument + ": no such file or folder",
              "give a pcap file of a Velodyne, a folder of KITTI scans, or a UDP port; leave it out for the "
              "simulated street");
}

}  // namespace cardan::street
