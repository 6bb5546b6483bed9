// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/pcap.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

using Bytes = std::vector<unsigned char>;

void put(Bytes& out, std::uint32_t value, bool swapped) {
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<unsigned char>(value >> (swapped ? 24 - 8 * i : 8 * i)));
}

Bytes udp(std::size_t payload) {
  Bytes out(8 + payload, 0x5A);
  out[2] = 2368 >> 8;
  out[3] = 2368 & 0xFF;
  out[4] = static_cast<unsigned char>((8 + payload) >> 8);
  out[5] = static_cast<unsigned char>(8 + payload);
  return out;
}

Bytes ip(const Bytes& body, unsigned char protocol = 17) {
  Bytes out(20, 0);
  out[0] = 0x45;
  out[9] = protocol;
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

Bytes ethernet(const Bytes& body, bool vlan) {
  Bytes out(12, 0);
  if (vlan) out.insert(out.end(), {0x81, 0x00, 0x00, 0x05});
  out.insert(out.end(), {0x08, 0x00});
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

Bytes file(std::uint32_t magic, bool swapped, std::uint32_t link, const std::vector<Bytes>& packets) {
  Bytes out;
  put(out, magic, swapped);
  put(out, 0x00040002, swapped);
  for (int i = 0; i < 2; ++i) put(out, 0, swapped);
  put(out, 65535, swapped);
  put(out, link, swapped);
  for (const Bytes& packet : packets) {
    put(out, 100, swapped);
    put(out, 7, swapped);
    put(out, static_cast<std::uint32_t>(packet.size()), swapped);
    put(out, static_cast<std::uint32_t>(packet.size()), swapped);
    out.insert(out.end(), packet.begin(), packet.end());
  }
  return out;
}

class Pcap : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-pcap-XXXXXX";
    const int fd = mkstemp(name.data());
    ASSERT_GE(fd, 0);
    close(fd);
    path_ = name;
  }
  void TearDown() override { std::filesystem::remove(path_); }
  const std::filesystem::path& save(const Bytes& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path_;
  }
  std::string cause(const Bytes& bytes) {
    try {
      PcapReader reader(save(bytes));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  std::filesystem::path path_;
};

TEST_F(Pcap, BothByteOrdersBothClocksVlanAndRawIp) {
  const auto check = [&](std::uint32_t magic, bool swapped, std::uint32_t link, const Bytes& packet,
                         std::int64_t time) {
    PcapReader reader(save(file(magic, swapped, link, {packet, packet})));
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 2; ++i) {
        const auto got = reader.next();
        ASSERT_TRUE(got);
        EXPECT_EQ(got->port, 2368);
        EXPECT_EQ(got->payload.size(), 300U);
        EXPECT_EQ(got->payload[299], std::byte{0x5A});
        EXPECT_EQ(got->time, time);
      }
      EXPECT_FALSE(reader.next());
      reader.rewind();
    }
  };
  const Bytes datagram = ip(udp(300));
  check(0xA1B2C3D4, false, 1, ethernet(datagram, false), 100'000'007'000);
  check(0xA1B2C3D4, true, 1, ethernet(datagram, true), 100'000'007'000);
  check(0xA1B23C4D, false, 101, datagram, 100'000'000'007);
}

TEST_F(Pcap, PacketsThatAreNotUdpAreSkipped) {
  PcapReader reader(save(file(
      0xA1B2C3D4, false, 1,
      {ethernet(ip(udp(10), 6), false), Bytes(5, 1), ethernet(ip(Bytes(3, 0)), false), ethernet(ip(udp(20)), false)})));
  const auto got = reader.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->payload.size(), 20U);
  EXPECT_EQ(reader.packets(), 4U);
}

TEST_F(Pcap, WrongFilesAreNamed) {
  EXPECT_THROW(PcapReader{"/nonexistent/x.pcap"}, Error);
  EXPECT_NE(cause({}).find("not a pcap file"), std::string::npos);
  EXPECT_NE(cause(Bytes(100, 'x')).find("not a pcap file"), std::string::npos);
  EXPECT_NE(cause({0x0A, 0x0D, 0x0D, 0x0A, 0, 0, 0, 0}).find("editcap"), std::string::npos);
  EXPECT_NE(cause(file(0xA1B2C3D4, false, 147, {})).find("link type 147"), std::string::npos);
}

TEST_F(Pcap, DamageDoesNotCrash) {
  const Bytes good = file(0xA1B2C3D4, false, 1, {ethernet(ip(udp(100)), true), ethernet(ip(udp(50)), false)});
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    Bytes bad = good;
    for (int hits = 0; hits < 4; ++hits) {
      bad[24 + random() % (bad.size() - 24)] = static_cast<unsigned char>(random());
    }
    bad.resize(24 + random() % (bad.size() - 23));
    PcapReader reader(save(bad));
    std::size_t total = 0;
    while (auto datagram = reader.next()) {
      for (const std::byte b : datagram->payload) total += std::to_integer<std::size_t>(b);
    }
    EXPECT_LE(total, bad.size() * 255);
  }
}

}  // namespace
}  // namespace cardan::street
