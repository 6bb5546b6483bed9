// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/velodyne_source.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

std::size_t decode_all(std::span<const VelodynePacket> packets, std::span<Point> out) {
  std::size_t count = 0;
  for (const VelodynePacket& packet : packets) count = decode(packet, out, count);
  return count;
}

constexpr std::size_t kMaxPoints = ScanAssembler::kMaxPackets * VelodynePacket::kMaxPoints;

}  // namespace

PcapLidar::PcapLidar(const std::filesystem::path& file) : file_(file), reader_(file) {
  std::uint64_t datagrams = 0;
  while (auto datagram = reader_.next()) {
    ++datagrams;
    if (const auto packet = VelodynePacket::from(datagram->payload)) {
      model_ = model_of(*packet);
      reader_.rewind();
      return;
    }
  }
  throw Error(ErrorCode::InvalidArgument,
              file.string() + " holds no Velodyne data: " + std::to_string(reader_.packets()) + " packets, " +
                  std::to_string(datagrams) + " of them UDP, none a data packet",
              "capture the sensor's data port: tcpdump -i eth0 -w FILE udp port 2368");
}

std::string PcapLidar::describe() const {
  return std::string(model_name(model_)) + " from " + file_.filename().string();
}

std::size_t PcapLidar::max_points() const noexcept { return kMaxPoints; }

bool PcapLidar::read_turn() {
  scan_.clear();
  std::int64_t first = 0;
  std::int64_t last = 0;
  while (auto datagram = reader_.next()) {
    const auto packet = VelodynePacket::from(datagram->payload);
    if (!packet || packet->product() != static_cast<std::uint8_t>(model_)) continue;
    if (first == 0) first = datagram->time;
    last = datagram->time;
    if (!scan_.add(*packet)) continue;
    // From the first packet to the last there is one interval less than packets. The times in a file may be anything:
    // no sensor turns faster than 30 Hz or slower than 1 Hz.
    const auto packets = static_cast<std::int64_t>(scan_.packets().size());
    const std::int64_t turn = packets > 1 ? (last - first) / (packets - 1) * packets : 0;
    period_ = std::chrono::nanoseconds{std::clamp<std::int64_t>(turn, 33'000'000, 1'000'000'000)};
    return true;
  }
  return false;
}

bool PcapLidar::wait(const std::function<bool()>& stopping) {
  if (!read_turn()) {
    reader_.rewind();
    if (!read_turn()) {
      throw Error(ErrorCode::InvalidArgument, file_.string() + " holds less than one turn of the sensor",
                  "give a longer capture: a turn takes 0.1 s at 10 Hz");
    }
  }
  return pace_.wait(period_, stopping);
}

std::size_t PcapLidar::fill(std::span<Point> out) { return decode_all(scan_.packets(), out); }

UdpLidar::UdpLidar(std::uint16_t port) : port_(port), socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_ANY);  // a Velodyne broadcasts
  if (!socket_ || ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    throw Error(ErrorCode::Unavailable,
                "cannot listen on UDP port " + std::to_string(port) + ": " + std::generic_category().message(errno),
                "end the program that has the port (ss -ulpn), or give another one; a Velodyne sends to 2368");
  }
  // A turn is 200 KB: without room for one, a driver that is late by a turn loses packets. The kernel may grant less.
  const int bytes = 2 << 20;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

std::string UdpLidar::describe() const { return "Velodyne on UDP port " + std::to_string(port_); }

std::size_t UdpLidar::max_points() const noexcept { return kMaxPoints; }

bool UdpLidar::wait(const std::function<bool()>& stopping) {
  std::array<std::byte, 2048> buffer;
  while (!stopping()) {
    pollfd ready{socket_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 50) <= 0) continue;
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0) continue;
    const auto packet = VelodynePacket::from(std::span(buffer).first(static_cast<std::size_t>(got)));
    if (!packet) continue;
    static_cast<void>(model_of(*packet));  // an unknown sensor ends the driver with words
    if (scan_.add(*packet)) return true;
  }
  return false;
}

std::size_t UdpLidar::fill(std::span<Point> out) { return decode_all(scan_.packets(), out); }

}  // namespace cardan::street
