// SPDX-License-Identifier: Apache-2.0
// Valid CDR bytes of every message, changed and cut at random: from_cdr must refuse or take them, and never read or
// write beyond what it was given. A sanitizer build shows what this test alone cannot see.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "samples.hpp"

namespace {

constexpr int kRoundsPerType = 10'000;
constexpr std::uint32_t kSeed = 20'251'121;

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t bound) {
  return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

// Practical faults: a bit, a byte, a length, the end, the middle.
void damage(std::vector<std::byte>& bytes, Random& random) {
  constexpr std::uint32_t kLengths[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
  const std::size_t times = 1 + below(random, 4);
  for (std::size_t i = 0; i < times && !bytes.empty(); ++i) {
    const std::size_t at = below(random, bytes.size());
    switch (below(random, 6)) {
      case 0:
        bytes[at] ^= static_cast<std::byte>(1U << below(random, 8));
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(below(random, 256));
        break;
      case 2:
        if (bytes.size() >= 8) {
          const std::uint32_t length = kLengths[below(random, std::size(kLengths))];
          std::memcpy(bytes.data() + (at & ~std::size_t{3}) % (bytes.size() - 4), &length, sizeof length);
        }
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(below(random, 256)));
        break;
    }
  }
}

template <class T>
void hammer(std::size_t& taken, std::size_t& refused) {
  const std::vector<std::byte> valid = cardan::to_cdr(*samples::make<T>());
  Random random(kSeed);
  for (int round = 0; round < kRoundsPerType; ++round) {
    std::vector<std::byte> bytes = valid;
    damage(bytes, random);
    // Of exactly this size, so that AddressSanitizer sees a read of one byte too many.
    const std::vector<std::byte> exact(bytes.begin(), bytes.end());
    // Now and then in too small a storage, so that this way out is taken too.
    cardan::LocalMessage<T> message(round % 4 == 0 ? valid.size() / 2 : samples::kRoom);
    if (cardan::from_cdr(exact, *message)) {
      ++taken;
      // Accepted messages can be written again, and read again.
      const std::vector<std::byte> again = cardan::to_cdr(*message);
      cardan::LocalMessage<T> back(samples::kRoom);
      const auto result = cardan::from_cdr(again, *back);
      ASSERT_TRUE(result) << result.text();
      ASSERT_EQ(cardan::to_cdr(*back), again);
    } else {
      ++refused;
    }
  }
}

TEST(CdrFuzz, NoBytesBreakTheReader) {
  std::size_t taken = 0;
  std::size_t refused = 0;
  samples::for_each_type([&]<class T>() {
    SCOPED_TRACE(cardan::message_traits<T>::type_name());
    ASSERT_NO_FATAL_FAILURE(hammer<T>(taken, refused));
  });
  // Both ways are really tried: many changes only hit numbers, many hit lengths.
  EXPECT_GT(taken, 10'000U);
  EXPECT_GT(refused, 10'000U);
}

TEST(CdrFuzz, PureNoiseIsRefusedOrTaken) {
  Random random(kSeed);
  samples::for_each_type([&]<class T>() {
    for (int round = 0; round < 1'000; ++round) {
      std::vector<std::byte> bytes(below(random, 600));
      std::ranges::generate(bytes, [&] { return static_cast<std::byte>(below(random, 256)); });
      if (bytes.size() >= 2) {
        bytes[0] = std::byte{0};
        bytes[1] = std::byte{1};
      }
      cardan::LocalMessage<T> message(samples::kRoom);
      const auto result = cardan::from_cdr(bytes, *message);
      EXPECT_LE(result.offset, bytes.size());
    }
  });
}

}  // namespace
