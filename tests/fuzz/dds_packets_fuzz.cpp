// SPDX-License-Identifier: Apache-2.0
// A message of an unknown peer as it lies in Cyclone's packets, and as pieces of bytes: which writer's it is, its bytes
// in order, and what an inbox makes of it. Must hold: nothing beyond the packets is read, each byte comes once and from
// its place, and what is kept stays within its bound.
#include <dds/ddsi/q_protocol.h>
#include <dds/ddsi/q_radmin.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "src/bridge/dds/inbox.hpp"
#include "src/bridge/dds/packets.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::dds_packets_target {
namespace {

using namespace cardan::bridge::dds;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// A packet as Cyclone has read it, with one fragment of a message. Its memory ends with the packet.
class Packet {
 public:
  /// `head`: bytes before the payload; of the last submessage that fits there Cyclone has checked the size.
  Packet(std::string_view head, std::string_view payload) {
    const std::size_t least = sizeof(::Header_t) + sizeof(::Data_DataFrag_common_t);
    const std::size_t before = std::max(least, (head.size() + 3) / 4 * 4);
    memory_.reset(static_cast<std::byte*>(std::calloc(1, sizeof(::nn_rmsg) + before + payload.size())));
    auto* const message = reinterpret_cast<::nn_rmsg*>(memory_.get());
    auto* const bytes = NN_RMSG_PAYLOAD(message);
    std::memcpy(bytes, head.data(), head.size());
    std::memcpy(bytes + before, payload.data(), payload.size());
    fragment.rmsg = message;
    fragment.submsg_zoff = static_cast<std::uint16_t>(before - sizeof(::Data_DataFrag_common_t));
    fragment.payload_zoff = static_cast<std::uint16_t>(before);
  }
  ::nn_rdata fragment{};

 private:
  std::unique_ptr<std::byte, Free> memory_;
};

/// The bytes that the fragments have, the first that has one counts.
std::string expected(const std::vector<std::unique_ptr<Packet>>& packets, const std::vector<std::string>& payloads,
                     std::size_t size) {
  std::string whole;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const ::nn_rdata& one = packets[i]->fragment;
    if (one.maxp1 <= whole.size() || one.min > whole.size() || one.maxp1 > size) continue;
    whole += payloads[i].substr(whole.size() - one.min);
  }
  return whole;
}

void run(std::string_view input) {
  constexpr std::size_t kMostFragments = 64, kMostSize = 1U << 20U;
  Input parts(input);
  const std::size_t size = parts.number(3) % kMostSize;
  std::vector<std::unique_ptr<Packet>> packets;
  std::vector<std::string> payloads;
  while (!parts.empty() && packets.size() < kMostFragments) {
    const auto from = static_cast<std::uint32_t>(parts.number(3) % kMostSize);
    const std::string head(parts.until('\xff'));
    payloads.emplace_back(parts.until('\xfe'));
    if (head.size() > 32768 || payloads.back().size() > 32768) return;
    packets.push_back(std::make_unique<Packet>(head, payloads.back()));
    packets.back()->fragment.min = from;
    packets.back()->fragment.maxp1 = from + static_cast<std::uint32_t>(payloads.back().size());
    if (packets.size() > 1) packets[packets.size() - 2]->fragment.nextfrag = &packets.back()->fragment;
  }
  if (packets.empty()) return;
  const ::nn_rdata& first = packets.front()->fragment;

  Inbox inbox(kMostSize / 2, Inbox::Way::Kept);
  for (int again = 0; again < 2; ++again)
    for (const auto& packet : packets) {
      const Origin origin = origin_of(packet->fragment);
      const bool is_new = inbox.note(origin);
      require(is_new || origin.sequence > 0, "a message without a number came twice");
      if (origin.sequence > 0) require(inbox.came_of(origin.writer)->last >= origin.sequence, "a number goes back");
    }
  require(inbox.take_lost() <= 2'000'000 * packets.size(), "invented losses");

  std::string copy(size, '\0');
  const std::size_t filled = copy_fragments(&first, size, reinterpret_cast<std::byte*>(copy.data()));
  const std::string whole = expected(packets, payloads, size);
  require(filled == whole.size() && copy.compare(0, filled, whole) == 0, "other bytes than those that came");
  if (const std::size_t cost = cost_of_keeping(&first, size); inbox.keep(cost)) {
    require(cost != 0 && cost <= 16U << 20U, "more is kept than the bound");
    inbox.let_go(cost);
  }
}

std::vector<std::string> seeds() {
  const std::string header = "RTPS\2\1\1\x10" + std::string(12, '\7');
  const std::string source = std::string("\x0c\1\x14\0", 4) + std::string(8, '\0') + std::string(12, '\5');
  std::string data(sizeof(::Data_DataFrag_common_t), '\0');
  data[0] = 0x16;
  data[data.size() - 4] = 3;
  const std::string size("\6\0\0", 3), begin("\0\0\0", 3), middle("\3\0\0", 3);
  return {size + begin + header + data + "\xff" + "abc" + "\xfe" + middle + header + data + "\xff" + "def",
          size + begin + header + source + data + "\xff" + "abcdef",
          size + middle + header + data + "\xff" + "def\xfe" + begin + header + data + "\xff" + "abcd"};
}

}  // namespace
CARDAN_FUZZ_TARGET(dds_packets, run, seeds)
}  // namespace cardan::fuzz::dds_packets_target
