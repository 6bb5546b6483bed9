// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/packets.hpp"

#include <arpa/inet.h>
#include <dds/ddsrt/atomics.h>

#include <array>
#include <cstring>

#if defined(CARDAN_DDS_BEFORE_11)
#include <dds/ddsi/ddsi_typewrap.h>
#include <dds/ddsi/q_protocol.h>
#include <dds/ddsi/q_radmin.h>
#else
#include <dds/ddsi/ddsi_radmin.h>
#endif

namespace cardan::bridge::dds {
namespace {

#if defined(CARDAN_DDS_BEFORE_11)
const std::byte* payload_of(const Fragment& f) noexcept {
  return reinterpret_cast<const std::byte*>(NN_RMSG_PAYLOADOFF(f.rmsg, NN_RDATA_PAYLOAD_OFF(&f)));
}
#else
const std::byte* payload_of(const Fragment& f) noexcept {
  return reinterpret_cast<const std::byte*>(DDSI_RMSG_PAYLOADOFF(f.rmsg, DDSI_RDATA_PAYLOAD_OFF(&f)));
}
#endif

/// Calls `use` with the bytes of the message in order, each once.
template <class Use>
std::size_t for_each_piece(const Fragment* first, std::size_t size, Use&& use) {
  std::size_t filled = 0;
  for (const Fragment* f = first; f != nullptr; f = f->nextfrag) {
    if (f->maxp1 <= filled || f->min > filled || f->maxp1 > size) continue;
    use(filled, std::span(payload_of(*f) + (filled - f->min), f->maxp1 - filled));
    filled = f->maxp1;
  }
  return filled;
}

}  // namespace

/// Four numbers, which are in the network's byte order there.
Guid origin_form(const Guid& writer) noexcept {
  std::array<std::uint32_t, 4> words;
  static_assert(sizeof words == sizeof writer);
  std::memcpy(words.data(), writer.data(), sizeof words);
  for (std::uint32_t& word : words) word = ::ntohl(word);
  Guid origin;
  std::memcpy(origin.data(), words.data(), sizeof words);
  return origin;
}

std::size_t copy_fragments(const Fragment* first, std::size_t size, std::byte* to) noexcept {
  return for_each_piece(first, size, [&](std::size_t at, std::span<const std::byte> piece) {
    std::memcpy(to + at, piece.data(), piece.size());
  });
}

void Packets::add_to(std::vector<std::span<const std::byte>>& pieces) const {
  for_each_piece(first_, size_, [&](std::size_t, std::span<const std::byte> piece) { pieces.push_back(piece); });
}

#if defined(CARDAN_DDS_BEFORE_11)

}  // namespace cardan::bridge::dds

/// In place of Cyclone's, which ends the process if a writer or reader that is announced has a type of a kind that
/// Cyclone does not know, and follows types in types without end. An announced type is a structure, which has a hash.
extern "C" [[gnu::visibility("default")]] bool ddsi_typeid_is_fully_descriptive(const ::ddsi_typeid_t* type) {
  return type != nullptr && !::ddsi_typeid_is_hash(type);
}

namespace cardan::bridge::dds {

/// The participant whose submessage lies there: that of the packet's header, or another that was named since
/// (INFO_SRC). Cyclone packs messages of all participants of a process together.
::ddsi_guid_prefix_t participant_at(const std::byte* packet, std::size_t offset) noexcept {
  ::Header_t header;
  std::memcpy(&header, packet, sizeof header);
  ::ddsi_guid_prefix_t prefix = header.guid_prefix;
  for (std::size_t at = sizeof(::Header_t); at + sizeof(::InfoSRC_t) <= offset;) {
    ::InfoSRC_t source;  // of others, only its head counts
    std::memcpy(&source, packet + at, sizeof source);
    if (source.smhdr.submessageId == SMID_INFO_SRC) {
      prefix = source.guid_prefix;
      for (auto& word : prefix.u) word = ::ntohl(word);  // in the packet it has stayed as it came
    }
    if (source.smhdr.octetsToNextHeader == 0) break;
    at += sizeof source.smhdr + source.smhdr.octetsToNextHeader;
  }
  return prefix;
}

/// Both are in the packet, in this computer's byte order by now.
Origin origin_of(const Fragment& first) noexcept {
  Origin origin;
  const std::size_t offset = NN_RDATA_SUBMSG_OFF(&first);
  if (offset == 0) return origin;
  const auto* const packet = reinterpret_cast<const std::byte*>(NN_RMSG_PAYLOAD(first.rmsg));
  const ::ddsi_guid_prefix_t participant = participant_at(packet, offset);
  ::Data_DataFrag_common_t data;
  std::memcpy(&data, packet + offset, sizeof data);
  static_assert(sizeof participant + sizeof data.writerId == sizeof origin.writer);
  std::memcpy(origin.writer.data(), &participant, sizeof participant);
  std::memcpy(origin.writer.data() + sizeof participant, &data.writerId, sizeof data.writerId);
  origin.sequence = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(data.writerSN.high)) << 32U | data.writerSN.low);
  return origin;
}

std::size_t cost_of_keeping(const Fragment* first, std::size_t size) noexcept {
  constexpr std::size_t kLeast = 64U << 10U;   // less is copied in no time, and would keep a buffer of much more
  constexpr std::size_t kBuffer = 1U << 20U;   // Internal/ReceiveBufferSize: what is freed in one piece
  constexpr std::size_t kMostTimes = 4;        // as with four such streams whose packets take turns
  constexpr std::size_t kLeastFragment = 512;  // of smaller ones there would be too many
  if (size < kLeast) return 0;
  const std::size_t most = kMostTimes * size + 2 * kBuffer;
  std::size_t cost = 0, fragments = 0;
  const void* last = nullptr;
  for (const Fragment* f = first; f != nullptr; f = f->nextfrag) {
    if (std::exchange(last, f->rmsg->chunk.rbuf) != f->rmsg->chunk.rbuf) cost += kBuffer;
    if (cost > most || ++fragments > size / kLeastFragment) return 0;
  }
  return cost;
}

Packets::Packets(const Fragment* first, std::size_t size) noexcept : first_(first), size_(size) {
  // One reference for each fragment, as Cyclone itself counts them. Its own keep the packets until we have ours.
  for (const Fragment* f = first; f != nullptr; f = f->nextfrag) ::ddsrt_atomic_inc32(&f->rmsg->refcount);
}

Packets::~Packets() {
  if (first_ != nullptr) ::nn_fragchain_unref(const_cast<Fragment*>(first_));
}

#else

// From 11.0 on, programs can no longer keep packets, so messages are copied; nor is the packet's form known.
Origin origin_of(const Fragment& /*first*/) noexcept { return {}; }
std::size_t cost_of_keeping(const Fragment* /*first*/, std::size_t /*size*/) noexcept { return 0; }
Packets::Packets(const Fragment* /*first*/, std::size_t /*size*/) noexcept {}
Packets::~Packets() = default;

#endif

}  // namespace cardan::bridge::dds
