// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/pattern.hpp"

namespace cardan::bench {
namespace {

constexpr unsigned kNumberBits = 48;
constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;

// An odd factor makes the mix one-to-one, and spreads neighbouring frames so far that base + index never collides.
constexpr std::uint64_t mix(std::uint64_t id) noexcept { return id * 0x9E3779B97F4A7C15ULL; }

}  // namespace

void fill_frame(std::span<std::uint64_t> words, FrameId id) noexcept { fill_frame_from(words, 0, id); }

void fill_frame_from(std::span<std::uint64_t> words, std::size_t first, FrameId id) noexcept {
  const std::uint64_t packed = (std::uint64_t{id.publisher} << kNumberBits) | (id.number & kNumberMask);
  const std::uint64_t base = mix(packed);
  std::uint64_t* const out = words.data();
  const std::size_t count = words.size();
  if (first == 0 && count > 0) out[0] = packed;
  for (std::size_t i = first == 0 ? 1 : first; i < count; ++i) out[i] = base + i;
}

CheckedFrame check_frame(std::span<const std::uint64_t> words) noexcept {
  if (words.empty()) return {};
  const std::uint64_t* const in = words.data();
  const std::size_t count = words.size();
  const std::uint64_t packed = in[0];
  const std::uint64_t base = mix(packed);
  std::uint64_t difference = 0;
  for (std::size_t i = 1; i < count; ++i) difference |= in[i] ^ (base + i);
  return {{static_cast<std::uint32_t>(packed >> kNumberBits), packed & kNumberMask}, difference == 0};
}

}  // namespace cardan::bench
