// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/velodyne.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "cardan/error.hpp"
#include "demo/sensors/pcap.hpp"

namespace cardan::street {
namespace {

VelodynePacket packet(VelodyneModel model, unsigned azimuth, unsigned step, unsigned range_2mm,
                      std::uint8_t mode = 0x37) {
  VelodynePacket p{};
  for (std::size_t block = 0; block < VelodynePacket::kBlocks; ++block) {
    std::byte* at = p.bytes.data() + block * 100;
    const unsigned a = (azimuth + static_cast<unsigned>(block) * step) % 36000;
    at[0] = std::byte{0xFF};
    at[1] = std::byte{0xEE};
    at[2] = static_cast<std::byte>(a & 0xFF);
    at[3] = static_cast<std::byte>(a >> 8);
    for (std::size_t channel = 0; channel < 32; ++channel) {
      at[4 + channel * 3] = static_cast<std::byte>(range_2mm & 0xFF);
      at[5 + channel * 3] = static_cast<std::byte>(range_2mm >> 8);
      at[6 + channel * 3] = std::byte{200};
    }
  }
  p.bytes[1204] = static_cast<std::byte>(mode);
  p.bytes[1205] = static_cast<std::byte>(model);
  return p;
}

TEST(Velodyne, AxesAreThoseOfRos) {
  std::vector<Point> out(VelodynePacket::kMaxPoints);
  // Forward; laser 1 of a VLP-16 points one degree up.
  ASSERT_EQ(decode(packet(VelodyneModel::Vlp16, 0, 0, 5000), out, 0), out.size());
  EXPECT_NEAR(out[1].x, 10 * std::cos(M_PI / 180), 1e-4);
  EXPECT_NEAR(out[1].y, 0, 1e-3);
  EXPECT_NEAR(out[1].z, 10 * std::sin(M_PI / 180), 1e-4);
  EXPECT_FLOAT_EQ(out[1].intensity, 200);
  // The head turns clockwise: 90 degrees is to the right, which is -y.
  ASSERT_EQ(decode(packet(VelodyneModel::Hdl32, 9000, 0, 5000), out, 0), out.size());
  EXPECT_NEAR(out[15].y, -10, 1e-3);
  EXPECT_NEAR(out[15].x, 0, 1e-2);
  EXPECT_NEAR(out[15].z, 0, 1e-3);
}

TEST(Velodyne, EmptyReturnsDualReturnsAndBounds) {
  std::vector<Point> out(VelodynePacket::kMaxPoints);
  EXPECT_EQ(decode(packet(VelodyneModel::Vlp16, 0, 40, 0), out, 0), 0U);
  EXPECT_EQ(decode(packet(VelodyneModel::Vlp16, 0, 0, 5000, 0x39), out, 0), out.size() / 2);
  EXPECT_EQ(decode(packet(VelodyneModel::Vlp16, 0, 40, 5000), std::span(out).first(100), 90), 100U);
}

TEST(Velodyne, APacketThatIsNotADataPacketIsRefused) {
  const VelodynePacket good = packet(VelodyneModel::Vlp16, 0, 40, 5000);
  EXPECT_TRUE(VelodynePacket::from(good.bytes));
  EXPECT_FALSE(VelodynePacket::from(std::span(good.bytes).first(1205)));
  VelodynePacket bad = good;
  bad.bytes[500] = std::byte{0};
  EXPECT_FALSE(VelodynePacket::from(bad.bytes));
  bad = good;
  bad.bytes[1205] = std::byte{0x28};
  EXPECT_THROW(static_cast<void>(model_of(bad)), Error);
}

TEST(Velodyne, AScanIsOneTurnWhereverItBegins) {
  ScanAssembler scans;
  unsigned azimuth = 22251;
  for (int turn = 0; turn < 3; ++turn) {
    int packets = 1;
    while (!scans.add(packet(VelodyneModel::Hdl32, azimuth, 15, 5000))) {
      azimuth = (azimuth + 180) % 36000;
      ++packets;
    }
    azimuth = (azimuth + 180) % 36000;
    EXPECT_EQ(packets, 200);
    EXPECT_EQ(scans.packets().size(), 200U);
  }
}

TEST(Velodyne, AStandingHeadDoesNotCollectForEver) {
  ScanAssembler scans;
  std::size_t packets = 1;
  while (!scans.add(packet(VelodyneModel::Hdl32, 100, 0, 5000))) ++packets;
  EXPECT_EQ(packets, ScanAssembler::kMaxPackets);
}

class Recording : public testing::TestWithParam<std::pair<const char*, VelodyneModel>> {};

TEST_P(Recording, ScansOfARealSensor) {
  const char* data = std::getenv("CARDAN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "skipped: no sample data";
  PcapReader reader(std::filesystem::path(data) / GetParam().first);
  ScanAssembler scans;
  std::vector<Point> cloud(200'000);
  int turns = 0;
  while (auto datagram = reader.next()) {
    const auto data_packet = VelodynePacket::from(datagram->payload);
    if (!data_packet) continue;
    EXPECT_EQ(datagram->port, 2368);
    EXPECT_EQ(model_of(*data_packet), GetParam().second);
    if (!scans.add(*data_packet)) continue;
    ++turns;
    std::size_t count = 0;
    for (const auto& p : scans.packets()) count = decode(p, cloud, count);
    EXPECT_GT(count, 5'000U);
    EXPECT_LT(count, 75'000U);
    for (std::size_t i = 0; i < count; ++i) ASSERT_LT(std::hypot(cloud[i].x, cloud[i].y, cloud[i].z), 131.1F);
  }
  EXPECT_GE(turns, 2);
}

INSTANTIATE_TEST_SUITE_P(Samples, Recording,
                         testing::Values(std::pair{"velodyne-hdl32.pcap", VelodyneModel::Hdl32},
                                         std::pair{"velodyne-vlp16-gps.pcap", VelodyneModel::Vlp16}));

}  // namespace
}  // namespace cardan::street
