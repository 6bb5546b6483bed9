// SPDX-License-Identifier: Apache-2.0
#include "src/base/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace cardan {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1U) != 0 ? 0x82f63b78U ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}
constexpr auto kTable = make_table();

#if defined(__x86_64__)
#define CARDAN_CRC_TARGET __attribute__((target("sse4.2")))
bool detect() noexcept { return __builtin_cpu_supports("sse4.2") != 0; }
CARDAN_CRC_TARGET std::uint32_t step8(std::uint32_t crc, std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(_mm_crc32_u64(crc, word));
}
CARDAN_CRC_TARGET std::uint32_t step1(std::uint32_t crc, unsigned char byte) noexcept {
  return _mm_crc32_u8(crc, byte);
}
#elif defined(__aarch64__)
#define CARDAN_CRC_TARGET __attribute__((target("+crc")))
bool detect() noexcept { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }
CARDAN_CRC_TARGET std::uint32_t step8(std::uint32_t crc, std::uint64_t word) noexcept { return __crc32cd(crc, word); }
CARDAN_CRC_TARGET std::uint32_t step1(std::uint32_t crc, unsigned char byte) noexcept { return __crc32cb(crc, byte); }
#else
#define CARDAN_CRC_TARGET
bool detect() noexcept { return false; }
std::uint32_t step8(std::uint32_t crc, std::uint64_t) noexcept { return crc; }
std::uint32_t step1(std::uint32_t crc, unsigned char) noexcept { return crc; }
#endif

CARDAN_CRC_TARGET std::uint32_t hardware(const std::byte* p, std::size_t n, std::uint32_t crc) noexcept {
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    crc = step8(crc, word);
  }
  for (; n > 0; ++p, --n) crc = step1(crc, static_cast<unsigned char>(*p));
  return crc;
}

}  // namespace

bool crc32c_in_hardware() noexcept {
  static const bool available = detect();
  return available;
}

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
  crc = ~crc;
  for (const std::byte b : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(b)) & 0xffU] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
  if (!crc32c_in_hardware()) return crc32c_portable(bytes, crc);
  return ~hardware(bytes.data(), bytes.size(), ~crc);
}

}  // namespace cardan
