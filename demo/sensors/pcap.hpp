// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cardan::street {

/// Reads the UDP datagrams of a classic pcap file (either byte order, micro- or nanoseconds; Ethernet with or without
/// VLAN tags, raw IP, Linux "cooked" and BSD loopback captures; IPv4). Everything else in the file is skipped and
/// counted.
class PcapReader {
 public:
  struct Datagram {
    std::int64_t time = 0;               ///< ns since 1970, from the capture
    std::uint16_t port = 0;              ///< destination
    std::span<const std::byte> payload;  ///< valid until the next call
  };

  /// Throws cardan::Error: Unavailable when the file cannot be opened, InvalidArgument when it is not a pcap file
  /// (a pcapng file is named as such, with the command that converts it).
  explicit PcapReader(const std::filesystem::path& file);

  /// The next UDP datagram; empty at the end, and where the file was cut off. Not thread-safe; reads the disk.
  std::optional<Datagram> next();

  /// Back to the first packet.
  void rewind();

  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }

 private:
  struct Close {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };
  [[nodiscard]] std::uint32_t word(const std::byte* at) const noexcept;
  bool parse(Datagram& datagram) const;

  std::unique_ptr<std::FILE, Close> file_;
  bool swapped_ = false;
  bool nanoseconds_ = false;
  std::uint32_t link_type_ = 0;
  std::uint64_t packets_ = 0;
  std::vector<std::byte> packet_;
};

}  // namespace cardan::street
