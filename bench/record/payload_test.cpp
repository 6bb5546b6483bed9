// SPDX-License-Identifier: Apache-2.0
#include "bench/record/payload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace cardan::bench::recording {
namespace {

class Payload : public testing::TestWithParam<std::size_t> {};

TEST_P(Payload, IsWholeAndItsOwn) {
  std::vector<std::uint8_t> bytes(GetParam(), 0xAA);
  for (const PayloadId id : {PayloadId{3, 1}, PayloadId{3, 2}, PayloadId{65535, (1ULL << 48U) - 1}}) {
    write_payload(bytes, id);  // over the one before, as slots are used again
    for (const bool whole : {true, false}) {
      const CheckedPayload checked = check_payload(bytes, whole);
      EXPECT_TRUE(checked.intact);
      EXPECT_EQ(checked.id, id);
    }
  }
}

TEST_P(Payload, AnyChangedByteIsNoticed) {
  std::vector<std::uint8_t> bytes(GetParam());
  write_payload(bytes, {.sensor = 7, .number = 42});
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / 37);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    bytes[at] ^= 0x10U;
    const CheckedPayload checked = check_payload(bytes);
    // A change of the first word is one of its identity, which all other words then contradict.
    EXPECT_FALSE(checked.intact) << at;
    bytes[at] ^= 0x10U;
  }
  EXPECT_TRUE(check_payload(bytes).intact);
}

class Frame : public Payload {};

TEST_P(Frame, APageOfAnotherMessageIsNoticed) {
  std::vector<std::uint8_t> older(GetParam());
  std::vector<std::uint8_t> newer(GetParam());
  write_payload(older, {.sensor = 1, .number = 5});
  write_payload(newer, {.sensor = 1, .number = 6});
  std::copy(older.begin() + 4096, older.begin() + 8192, newer.begin() + 4096);
  EXPECT_FALSE(check_payload(newer).intact);
  EXPECT_FALSE(check_payload(newer, false).intact) << "the quick check looks at each page";
}

INSTANTIATE_TEST_SUITE_P(Sizes, Frame, testing::Values(160'000, 640'000, 65'536, 65'544));
INSTANTIATE_TEST_SUITE_P(Sizes, Payload, testing::Values(150, 200, 1600, 160'000, 640'000, 65'536, 65'544));

TEST(PayloadOfNothing, IsNotIntact) { EXPECT_FALSE(check_payload({}).intact); }

}  // namespace
}  // namespace cardan::bench::recording
