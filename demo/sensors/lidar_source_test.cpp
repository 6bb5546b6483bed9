// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/lidar_source.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "demo/sensors/velodyne.hpp"

namespace cardan::street {
namespace {

std::string lidar_refusal(const std::string& argument) {
  try {
    static_cast<void>(open_lidar(argument));
  } catch (const Error& error) {
    EXPECT_FALSE(error.remedy().empty());
    return error.cause();
  }
  return {};
}

TEST(LidarSource, NothingGivenIsSimulatedAndSaysSo) {
  const auto source = open_lidar("");
  EXPECT_NE(source->describe().find("simulated"), std::string::npos);
  ASSERT_EQ(source->max_points(), 64U * 1800U);
  std::vector<Point> out(source->max_points());
  ASSERT_TRUE(source->wait([] { return false; }));
  EXPECT_EQ(source->fill(out), out.size());
  EXPECT_FALSE(source->wait([] { return true; }));
}

TEST(LidarSource, ASourceThatCannotBeOpenedIsReported) {
  EXPECT_NE(lidar_refusal("/nonexistent/drive.pcap").find("no such file"), std::string::npos);
  EXPECT_NE(lidar_refusal("0").find("not a UDP port"), std::string::npos);
  EXPECT_NE(lidar_refusal("70000").find("not a UDP port"), std::string::npos);
  EXPECT_NE(lidar_refusal("/proc/self/exe").find("not a pcap file"), std::string::npos);
  EXPECT_NE(lidar_refusal("/proc/self/fd").find("no .bin file"), std::string::npos);
}

TEST(LidarSource, ARecordingLoopsAtItsOwnRate) {
  const char* data = std::getenv("CARDAN_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "skipped: no sample data";
  const auto source = open_lidar((std::filesystem::path(data) / "velodyne-hdl32.pcap").string());
  EXPECT_EQ(source->describe(), "Velodyne HDL-32E from velodyne-hdl32.pcap");
  std::vector<Point> out(source->max_points());
  for (int scan = 0; scan < 5; ++scan) {  // the file holds two turns and a bit
    ASSERT_TRUE(source->wait([] { return false; }));
    EXPECT_GT(source->fill(out), 20'000U);
  }
}

TEST(LidarSource, UdpPackets) {
  std::unique_ptr<LidarSource> source;
  std::uint16_t port = 0;
  for (unsigned candidate = 23680; candidate < 23780 && !source; ++candidate) {
    try {
      source = open_lidar(std::to_string(candidate));
      port = static_cast<std::uint16_t>(candidate);
    } catch (const Error&) {
      continue;  // somebody else has this port
    }
  }
  ASSERT_TRUE(source) << "no free UDP port";
  EXPECT_THROW(static_cast<void>(open_lidar(std::to_string(port))), Error) << "the port is taken";
  std::atomic<bool> done{false};
  std::thread sensor([&] {
    const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (unsigned azimuth = 0; !done; azimuth = (azimuth + 480) % 36000) {
      VelodynePacket packet{};
      for (std::size_t block = 0; block < VelodynePacket::kBlocks; ++block) {
        std::byte* at = packet.bytes.data() + block * 100;
        const unsigned a = (azimuth + static_cast<unsigned>(block) * 40) % 36000;
        at[0] = std::byte{0xFF};
        at[1] = std::byte{0xEE};
        at[2] = static_cast<std::byte>(a & 0xFF);
        at[3] = static_cast<std::byte>(a >> 8);
        for (std::size_t channel = 0; channel < 32; ++channel) at[5 + channel * 3] = std::byte{10};
      }
      packet.bytes[1204] = std::byte{0x37};
      packet.bytes[1205] = std::byte{0x22};
      for (const std::size_t bytes : {packet.bytes.size(), std::size_t{512}}) {  // a position packet comes in between
        ::sendto(socket.get(), packet.bytes.data(), bytes, 0, reinterpret_cast<const sockaddr*>(&to), sizeof(to));
      }
      std::this_thread::sleep_for(std::chrono::microseconds{200});
    }
  });
  std::vector<Point> out(source->max_points());
  EXPECT_TRUE(source->wait([] { return false; }));
  const std::size_t points = source->fill(out);
  done = true;
  sensor.join();
  EXPECT_GE(points, 75U * VelodynePacket::kMaxPoints);
  EXPECT_NEAR(std::hypot(out[0].x, out[0].y, out[0].z), 5.12F, 0.01F);
}

}  // namespace
}  // namespace cardan::street
