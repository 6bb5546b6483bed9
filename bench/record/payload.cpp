// SPDX-License-Identifier: Apache-2.0
#include "bench/record/payload.hpp"

#include <cstring>

namespace cardan::bench::recording {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kWord = sizeof(std::uint64_t);

constexpr std::uint64_t packed(PayloadId id) noexcept {
  return (std::uint64_t{id.sensor} << 48U) | (id.number & ((std::uint64_t{1} << 48U) - 1));
}
// The words of a frame without an identity: different in each word, the same in each frame.
constexpr std::uint64_t still(std::size_t offset) noexcept { return (offset + 1) * 0x9E3779B97F4A7C15ULL; }

std::uint64_t word_at(std::span<const std::uint8_t> bytes, std::size_t offset) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, kWord);
  return word;
}
void put_word(std::span<std::uint8_t> bytes, std::size_t offset, std::uint64_t word) noexcept {
  std::memcpy(bytes.data() + offset, &word, kWord);
}
// The last whole word that is not the first of a page.
std::size_t last_still(std::size_t bytes) noexcept {
  const std::size_t last = (bytes / kWord - 1) * kWord;
  return last % kPage == 0 ? last - kWord : last;
}

}  // namespace

void write_payload(std::span<std::uint8_t> bytes, PayloadId id) noexcept {
  const std::size_t size = bytes.size();
  const bool frame = size >= kFrameBytes;
  if (!frame || word_at(bytes, last_still(size)) != still(last_still(size))) {
    for (std::size_t at = 0; at + kWord <= size; at += kWord)
      put_word(bytes, at, frame ? still(at) : still(at) ^ packed(id));
    for (std::size_t at = size - size % kWord; at < size; ++at) bytes[at] = static_cast<std::uint8_t>(at);
  }
  for (std::size_t at = 0; at + kWord <= size; at += kPage) put_word(bytes, at, packed(id));
}

CheckedPayload check_payload(std::span<const std::uint8_t> bytes, bool whole) noexcept {
  const std::size_t size = bytes.size();
  if (size < kWord) return {};
  const std::uint64_t first = word_at(bytes, 0);
  const PayloadId id{static_cast<std::uint16_t>(first >> 48U), first & ((std::uint64_t{1} << 48U) - 1)};
  const std::uint64_t mixed = size >= kFrameBytes ? 0 : first;
  std::uint64_t difference = 0;
  for (std::size_t at = 0; at + kWord <= size; at += whole ? kWord : kPage)
    difference |= word_at(bytes, at) ^ (at % kPage == 0 ? first : still(at) ^ mixed);
  if (whole)
    for (std::size_t at = size - size % kWord; at < size; ++at)
      difference |= static_cast<std::uint64_t>(bytes[at] ^ static_cast<std::uint8_t>(at));
  return {id, difference == 0};
}

}  // namespace cardan::bench::recording
