// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demo/sensors/point.hpp"

namespace cardan::street {

enum class VelodyneModel : std::uint8_t { Hdl32 = 0x21, Vlp16 = 0x22 };

/// "Velodyne HDL-32E" …
[[nodiscard]] const char* model_name(VelodyneModel model) noexcept;

/// One data packet as the sensor sends it: 12 blocks of 32 returns.
struct VelodynePacket {
  static constexpr std::size_t kBytes = 1206;
  static constexpr std::size_t kBlocks = 12;
  static constexpr std::size_t kMaxPoints = kBlocks * 32;

  std::array<std::byte, kBytes> bytes;

  /// Copies a datagram if it is a data packet (size and block markers are right); empty for anything else,
  /// for example the sensor's position packets.
  [[nodiscard]] static std::optional<VelodynePacket> from(std::span<const std::byte> datagram) noexcept;

  [[nodiscard]] std::uint8_t product() const noexcept { return std::to_integer<std::uint8_t>(bytes[kBytes - 1]); }
  [[nodiscard]] bool dual_return() const noexcept { return std::to_integer<unsigned>(bytes[kBytes - 2]) == 0x39; }
  [[nodiscard]] std::uint16_t azimuth(std::size_t block) const noexcept;  ///< 0.01 degree
};

/// The model that sent the packet. Throws cardan::Error (InvalidArgument) for one that this decoder does not know.
[[nodiscard]] VelodyneModel model_of(const VelodynePacket& packet);

/// Appends the returns of one packet to `out`, from `count` on, and returns the new count; what does not fit is left
/// out. Points are in ROS axes (x forward, y left, z up). Of a dual-return pair only the last return is taken. Returns
/// nearer than 0.5 m are the car itself or dirt on the window and are left out. Thread-safe; allocates nothing.
std::size_t decode(const VelodynePacket& packet, std::span<Point> out, std::size_t count) noexcept;

/// Collects packets until the sensor has turned once.
class ScanAssembler {
 public:
  /// A scan with more packets than this is cut off: a sensor that stands still would never complete one.
  static constexpr std::size_t kMaxPackets = 512;

  /// Adds a packet; true when it completes a turn: then `packets()` is one scan, until the next add().
  bool add(const VelodynePacket& packet);
  [[nodiscard]] std::span<const VelodynePacket> packets() const noexcept { return packets_; }
  void clear() noexcept;

 private:
  std::vector<VelodynePacket> packets_;
  unsigned turned_ = 0;  // 0.01 degree
  bool complete_ = false;
};

}  // namespace cardan::street
