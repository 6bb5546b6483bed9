// SPDX-License-Identifier: Apache-2.0
#include "cardan/bridge/foxglove/origin.hpp"

#include <gtest/gtest.h>

namespace cardan::bridge::foxglove {
namespace {

TEST(FoxgloveOrigin, ProgramsAndTheOwnPageMayConnect) {
  EXPECT_TRUE(may_connect("", "127.0.0.1:8765", {}));
  EXPECT_TRUE(may_connect("http://127.0.0.1:8765", "127.0.0.1:8765", {}));
  EXPECT_TRUE(may_connect("http://localhost:8765", "localhost:8765", {}));
  EXPECT_TRUE(may_connect("http://[::1]:8765", "[::1]:8765", {}));
  EXPECT_TRUE(may_connect("http://LOCALHOST:8765", "localhost:8765", {}));
}

TEST(FoxgloveOrigin, OtherPagesMayNotUnlessTheRulesSaySo) {
  EXPECT_FALSE(may_connect("https://evil.example", "127.0.0.1:8765", {}));
  EXPECT_FALSE(may_connect("null", "127.0.0.1:8765", {}));
  EXPECT_FALSE(may_connect("http://127.0.0.1:9999", "127.0.0.1:8765", {})) << "another program's page";
  EXPECT_FALSE(may_connect("https://127.0.0.1:8765", "127.0.0.1:8765", {}));
  EXPECT_TRUE(may_connect("https://app.foxglove.dev", "127.0.0.1:8765", {"https://app.foxglove.dev"}));
  EXPECT_FALSE(may_connect("https://app.foxglove.dev.evil.example", "127.0.0.1:8765", {"https://app.foxglove.dev"}));
  EXPECT_TRUE(may_connect("null", "127.0.0.1:8765", {"*"}));
}

TEST(FoxgloveOrigin, AForeignNameThatPointsHereIsNotTheOwnOrigin) {
  EXPECT_FALSE(may_connect("http://evil.example:8765", "evil.example:8765", {}));
  EXPECT_FALSE(is_own_host("evil.example:8765"));
  EXPECT_FALSE(is_own_host(""));
  EXPECT_FALSE(is_own_host("["));
  EXPECT_FALSE(is_own_host("127.0.0.1.evil.example"));
  EXPECT_TRUE(is_own_host("127.0.0.1:8765"));
  EXPECT_TRUE(is_own_host("[fe80::1]:8765"));
}

}  // namespace
}  // namespace cardan::bridge::foxglove
