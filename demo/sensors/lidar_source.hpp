// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "cardan/clock.hpp"
#include "demo/sensors/point.hpp"
#include "demo/sensors/timeline.hpp"

namespace cardan::street {

/// Where scans come from. A driver calls wait(), takes a loan, fills it and publishes: a scan is computed or decoded
/// straight into the memory that its readers see.
class LidarSource {
 public:
  virtual ~LidarSource() = default;

  /// For people, for example "Velodyne VLP-16 from drive.pcap"; says "simulated" where it is.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// No scan has more points.
  [[nodiscard]] virtual std::size_t max_points() const noexcept = 0;
  /// Upper bound of the points that the next fill() writes; after wait().
  [[nodiscard]] virtual std::size_t due() const noexcept { return max_points(); }
  [[nodiscard]] virtual bool simulated() const noexcept { return false; }
  /// Rows of an organized cloud (then every scan has max_points()), or 1.
  [[nodiscard]] virtual std::size_t rows() const noexcept { return 1; }

  /// Blocks until the next scan is due or has arrived; false once `stopping` says so. Throws cardan::Error when the
  /// sensor or file fails. Not thread-safe.
  virtual bool wait(const std::function<bool()>& stopping) = 0;
  /// Writes that scan and returns its number of points; points that do not fit are left out.
  virtual std::size_t fill(std::span<Point> out) = 0;
  /// Of that scan: wall clock, ns.
  [[nodiscard]] virtual std::int64_t stamp() const noexcept { return wall_now(); }
};

/// Opens what a user gives: nothing (the simulated street), a pcap file, a folder of KITTI scans, or a UDP port.
/// Throws cardan::Error with cause and remedy for a source that is missing or is not one of these. Files are paced by
/// their own times and start again at their end. `beside`: of a folder, the pictures that it keeps step with.
[[nodiscard]] std::unique_ptr<LidarSource> open_lidar(const std::string& argument, const Beside& beside = {});

/// Whether that is a UDP port: a number, and no file of that name.
[[nodiscard]] bool is_udp_port(const std::string& argument);

/// The next of a series of times, `period` apart; a driver that falls behind continues from now instead of hurrying
/// after.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  /// Sleeps until `period` after the last time; looks at `stopping` every 50 ms and returns false when it says so.
  bool wait(std::chrono::nanoseconds period, const std::function<bool()>& stopping);

 private:
  Clock::time_point due_{};
};

}  // namespace cardan::street
