// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/velodyne.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

constexpr std::size_t kBlockBytes = 100;
constexpr float kUnit = 0.002F;  // m
constexpr float kNearest = 0.5F;

// Elevation of each laser in degrees, in firing order (VLP-16 and HDL-32E user manuals).
constexpr std::array<float, 16> kVlp16 = {-15, 1, -13, 3, -11, 5, -9, 7, -7, 9, -5, 11, -3, 13, -1, 15};
constexpr std::array<float, 32> kHdl32 = {-30.67F, -9.33F, -29.33F, -8.00F, -28.00F, -6.67F, -26.67F, -5.33F,
                                          -25.33F, -4.00F, -24.00F, -2.67F, -22.67F, -1.33F, -21.33F, 0.00F,
                                          -20.00F, 1.33F,  -18.67F, 2.67F,  -17.33F, 4.00F,  -16.00F, 5.33F,
                                          -14.67F, 6.67F,  -13.33F, 8.00F,  -12.00F, 9.33F,  -10.67F, 10.67F};

struct Angle {
  float cosine, sine;
};

template <std::size_t N>
std::array<Angle, N> angles(const std::array<float, N>& degrees) {
  std::array<Angle, N> out{};
  for (std::size_t i = 0; i < N; ++i) {
    const float radians = degrees[i] * std::numbers::pi_v<float> / 180.0F;
    out[i] = {std::cos(radians), std::sin(radians)};
  }
  return out;
}

std::uint16_t little16(const std::byte* at) noexcept {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(at[0]) | (std::to_integer<unsigned>(at[1]) << 8));
}

// Sines for every azimuth that a packet can name, because a sine a point would cost more than the rest of the decoding.
struct Turn {
  std::array<Angle, 36000> at;
  Turn() {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double radians = static_cast<double>(i) * std::numbers::pi / 18000.0;
      at[i] = {static_cast<float>(std::cos(radians)), static_cast<float>(std::sin(radians))};
    }
  }
};

}  // namespace

const char* model_name(VelodyneModel model) noexcept {
  return model == VelodyneModel::Hdl32 ? "Velodyne HDL-32E" : "Velodyne VLP-16";
}

std::optional<VelodynePacket> VelodynePacket::from(std::span<const std::byte> datagram) noexcept {
  if (datagram.size() != kBytes) return std::nullopt;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    if (little16(datagram.data() + block * kBlockBytes) != 0xEEFF) return std::nullopt;
  }
  VelodynePacket packet;
  std::memcpy(packet.bytes.data(), datagram.data(), kBytes);
  return packet;
}

std::uint16_t VelodynePacket::azimuth(std::size_t block) const noexcept {
  return static_cast<std::uint16_t>(little16(bytes.data() + block * kBlockBytes + 2) % 36000U);
}

VelodyneModel model_of(const VelodynePacket& packet) {
  switch (packet.product()) {
    case 0x21:
      return VelodyneModel::Hdl32;
    case 0x22:
      return VelodyneModel::Vlp16;
    default:
      break;
  }
  char number[8];
  std::snprintf(number, sizeof(number), "0x%02X", static_cast<unsigned>(packet.product()));
  throw Error(
      ErrorCode::InvalidArgument,
      std::string("the packets come from Velodyne product ") + number + ", which this decoder does not know",
      "use a recording of an HDL-32E (0x21) or a VLP-16 (0x22), or convert the scans to a folder of KITTI .bin files");
}

std::size_t decode(const VelodynePacket& packet, std::span<Point> out, std::size_t count) noexcept {
  static const std::array<Angle, 16> vlp16 = angles(kVlp16);
  static const std::array<Angle, 32> hdl32 = angles(kHdl32);
  static const Turn turn;
  const bool vlp = packet.product() == static_cast<std::uint8_t>(VelodyneModel::Vlp16);
  const std::size_t step = packet.dual_return() ? 2 : 1;

  // How far the head turns from one block to the next, in 0.01 degree: from this packet itself.
  const unsigned span = (packet.azimuth(VelodynePacket::kBlocks - step) + 36000U - packet.azimuth(0)) % 36000U;
  const std::size_t gaps = VelodynePacket::kBlocks / step - 1;
  const float per_block = static_cast<float>(span) / static_cast<float>(gaps);

  for (std::size_t block = 0; block < VelodynePacket::kBlocks; block += step) {
    const std::byte* at = packet.bytes.data() + block * kBlockBytes + 4;
    const auto start = static_cast<float>(packet.azimuth(block));
    for (std::size_t channel = 0; channel < 32; ++channel, at += 3) {
      const float range = static_cast<float>(little16(at)) * kUnit;
      if (range < kNearest) continue;
      if (count >= out.size()) return count;
      // A VLP-16 block holds two firings of 55.296 µs with 2.304 µs a laser; an HDL-32E block one of 46.08 µs
      // with 1.152 µs.
      const std::size_t firing = channel / 16;
      const float share =
          vlp ? (static_cast<float>(firing) * 55.296F + static_cast<float>(channel % 16) * 2.304F) / 110.592F
              : static_cast<float>(channel) * 1.152F / 46.08F;
      const Angle& elevation = vlp ? vlp16[channel % 16] : hdl32[channel];
      const Angle& azimuth = turn.at[static_cast<std::size_t>(std::lround(start + per_block * share)) % 36000U];
      Point& p = out[count++];
      p = Point{};
      p.x = range * elevation.cosine * azimuth.cosine;  // azimuth 0 is forward and turns clockwise
      p.y = -range * elevation.cosine * azimuth.sine;
      p.z = range * elevation.sine;
      p.intensity = static_cast<float>(std::to_integer<unsigned>(at[2]));
    }
  }
  return count;
}

void ScanAssembler::clear() noexcept {
  packets_.clear();
  turned_ = 0;
  complete_ = false;
}

bool ScanAssembler::add(const VelodynePacket& packet) {
  if (complete_) clear();
  if (!packets_.empty()) turned_ += (packet.azimuth(0) + 36000U - packets_.back().azimuth(0)) % 36000U;
  packets_.push_back(packet);
  // This packet's own arc counts too: what follows it would be the next turn.
  const unsigned own = (packet.azimuth(VelodynePacket::kBlocks - 1) + 36000U - packet.azimuth(0)) % 36000U;
  complete_ = turned_ + own * VelodynePacket::kBlocks / (VelodynePacket::kBlocks - 1) >= 36000U ||
              packets_.size() >= kMaxPackets;
  return complete_;
}

}  // namespace cardan::street
