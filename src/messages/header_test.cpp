// SPDX-License-Identifier: Apache-2.0
#include "cardan/messages/header.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace cardan {
namespace {

static_assert(RosTime::from(1'500'000'000).sec == 1 && RosTime::from(1'500'000'000).nanosec == 500'000'000);

TEST(RosTime, KeepsNanosecondsBothWays) {
  for (const std::int64_t stamp :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{1'700'000'000'123'456'789},
        std::int64_t{-1'500'000'001}, std::int64_t{999'999'999}, std::int64_t{-1'000'000'000}}) {
    const RosTime time = RosTime::from(stamp);
    EXPECT_LT(time.nanosec, 1'000'000'000U);
    EXPECT_EQ(time.nanoseconds(), stamp);
  }
}

TEST(RosTime, WritesTheNearestThatRosHas) {
  EXPECT_EQ(RosTime::from(std::numeric_limits<std::int64_t>::max()).sec, std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(RosTime::from(std::numeric_limits<std::int64_t>::min()).sec, std::numeric_limits<std::int32_t>::min());
}

TEST(Header, HasTheRosForm) {
  Header header;
  header.stamp = 2'000'000'003;
  header.sequence = 99;
  header.frame_id = "cam";
  const std::vector<std::byte> bytes = to_cdr(header);
  const std::vector<unsigned> expected{0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 'c', 'a', 'm', 0};
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), expected[i]) << i;

  Header back;
  ASSERT_TRUE(from_cdr(bytes, back));
  header.sequence = 0;  // not in the ROS form
  EXPECT_EQ(back, header);
}

TEST(Header, RefusesAFrameNameThatDoesNotFit) {
  Header header;
  std::vector<std::byte> prefix;
  std::vector<std::byte> suffix;
  CdrWriter writer(prefix, suffix, nullptr);
  writer.number(std::int32_t{1});
  writer.number(std::uint32_t{2});
  writer.string(std::string(61, 'x'));
  const CdrResult result = from_cdr(prefix, header);
  EXPECT_EQ(result.error, CdrError::TooLong);
  EXPECT_NE(result.text().find("larger bound"), std::string::npos) << result.text();
}

}  // namespace
}  // namespace cardan
