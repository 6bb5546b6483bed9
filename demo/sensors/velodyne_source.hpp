// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "cardan/detail/fd.hpp"
#include "demo/sensors/lidar_source.hpp"
#include "demo/sensors/pcap.hpp"
#include "demo/sensors/velodyne.hpp"

namespace cardan::street {

/// Scans of a Velodyne from a capture, at the speed at which it was captured. The incomplete turn at the end of the
/// file is left out, so that the loop keeps the sensor's rhythm.
class PcapLidar final : public LidarSource {
 public:
  /// Throws cardan::Error when the file is missing, no pcap, or holds no packets of a sensor that is known.
  explicit PcapLidar(const std::filesystem::path& file);
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::size_t max_points() const noexcept override;
  [[nodiscard]] std::size_t due() const noexcept override {
    return scan_.packets().size() * VelodynePacket::kMaxPoints;
  }
  bool wait(const std::function<bool()>& stopping) override;
  std::size_t fill(std::span<Point> out) override;

 private:
  bool read_turn();

  std::filesystem::path file_;
  PcapReader reader_;
  VelodyneModel model_{};
  ScanAssembler scan_;
  std::chrono::nanoseconds period_{};
  Pace pace_;
};

/// Scans of a Velodyne that sends to a UDP port of this computer.
class UdpLidar final : public LidarSource {
 public:
  /// Throws cardan::Error when the port cannot be bound. Does not wait for the sensor.
  explicit UdpLidar(std::uint16_t port);
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::size_t max_points() const noexcept override;
  [[nodiscard]] std::size_t due() const noexcept override {
    return scan_.packets().size() * VelodynePacket::kMaxPoints;
  }
  bool wait(const std::function<bool()>& stopping) override;
  std::size_t fill(std::span<Point> out) override;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  std::uint16_t port_;
  Fd socket_;
  ScanAssembler scan_;
};

}  // namespace cardan::street
