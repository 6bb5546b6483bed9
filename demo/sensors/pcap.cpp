// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/pcap.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kPacketHeader = 16;
constexpr std::uint32_t kLongestPacket = 256 * 1024;  // tcpdump's own limit

std::uint16_t big16(const std::byte* at) {
  return static_cast<std::uint16_t>((std::to_integer<unsigned>(at[0]) << 8) | std::to_integer<unsigned>(at[1]));
}

}  // namespace

PcapReader::PcapReader(const std::filesystem::path& file) {
  file_.reset(std::fopen(file.c_str(), "rb"));
  if (!file_) {
    throw Error(ErrorCode::Unavailable, "cannot open " + file.string() + ": " + std::generic_category().message(errno),
                "give an existing, readable pcap file");
  }
  std::array<std::byte, kFileHeader> header;
  const std::size_t got = std::fread(header.data(), 1, header.size(), file_.get());
  std::uint32_t magic = 0;
  if (got >= sizeof(magic)) std::memcpy(&magic, header.data(), sizeof(magic));
  if (magic == 0x0A0D0D0AU) {
    throw Error(ErrorCode::InvalidArgument, file.string() + " is a pcapng file",
                "convert it to pcap: editcap -F pcap " + file.string() + " converted.pcap");
  }
  if (magic == 0xA1B2C3D4U || magic == 0xA1B23C4DU) {
    swapped_ = false;
  } else if (magic == 0xD4C3B2A1U || magic == 0x4D3CB2A1U) {
    swapped_ = true;
  } else {
    throw Error(ErrorCode::InvalidArgument, file.string() + " is not a pcap file",
                "give a capture of the sensor's UDP packets (tcpdump -w), a folder of KITTI .bin scans, or a UDP port");
  }
  if (got < kFileHeader) {
    throw Error(ErrorCode::InvalidArgument, file.string() + " ends within its header", "give a complete pcap file");
  }
  nanoseconds_ = magic == 0xA1B23C4DU || magic == 0x4D3CB2A1U;
  link_type_ = word(header.data() + 20) & 0xFFFFU;
  if (link_type_ != 0 && link_type_ != 1 && link_type_ != 12 && link_type_ != 101 && link_type_ != 113) {
    throw Error(ErrorCode::InvalidArgument,
                file.string() + " was captured on link type " + std::to_string(link_type_) + ", which is not supported",
                "capture on Ethernet (tcpdump -i eth0 -w FILE udp)");
  }
  packet_.reserve(2048);
}

std::uint32_t PcapReader::word(const std::byte* at) const noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return swapped_ ? __builtin_bswap32(value) : value;
}

bool PcapReader::parse(Datagram& datagram) const {
  const std::byte* at = packet_.data();
  std::size_t left = packet_.size();
  const auto skip = [&](std::size_t bytes) {
    if (bytes > left) return false;
    at += bytes;
    left -= bytes;
    return true;
  };
  constexpr std::uint16_t kIpv4 = 0x0800;
  if (link_type_ == 1) {
    if (left < 14) return false;
    std::uint16_t type = big16(at + 12);
    if (!skip(14)) return false;
    while (type == 0x8100 || type == 0x88A8) {
      if (left < 4) return false;
      type = big16(at + 2);
      skip(4);
    }
    if (type != kIpv4) return false;
  } else if (link_type_ == 113) {
    if (left < 16 || big16(at + 14) != kIpv4 || !skip(16)) return false;
  } else if (link_type_ == 0) {
    if (!skip(4)) return false;
  }
  if (left < 20 || (std::to_integer<unsigned>(at[0]) >> 4) != 4 || std::to_integer<unsigned>(at[9]) != 17) return false;
  if ((big16(at + 6) & 0x3FFF) != 0) return false;  // a fragment
  const std::size_t ip_header = (std::to_integer<std::size_t>(at[0]) & 0xF) * 4;
  if (ip_header < 20 || !skip(ip_header) || left < 8) return false;
  datagram.port = big16(at + 2);
  const std::size_t length = big16(at + 4);
  if (length < 8 || length > left) return false;  // cut short by the capture
  datagram.payload = {at + 8, length - 8};
  return true;
}

std::optional<PcapReader::Datagram> PcapReader::next() {
  while (true) {
    std::array<std::byte, kPacketHeader> header;
    if (std::fread(header.data(), 1, header.size(), file_.get()) != header.size()) return std::nullopt;
    const std::uint32_t captured = word(header.data() + 8);
    if (captured > kLongestPacket) return std::nullopt;  // no packet is that long: the rest of the file is damaged
    packet_.resize(captured);
    if (std::fread(packet_.data(), 1, captured, file_.get()) != captured) return std::nullopt;
    ++packets_;
    Datagram datagram;
    if (!parse(datagram)) continue;
    const std::int64_t fraction = word(header.data() + 4);
    datagram.time = std::int64_t{word(header.data())} * 1'000'000'000 + (nanoseconds_ ? fraction : fraction * 1000);
    return datagram;
  }
}

void PcapReader::rewind() { std::fseek(file_.get(), kFileHeader, SEEK_SET); }

}  // namespace cardan::street
