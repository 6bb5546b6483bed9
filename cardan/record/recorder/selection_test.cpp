// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/selection.hpp"

#include <gtest/gtest.h>

#include "cardan/record/name_patterns.hpp"

namespace cardan::record {
namespace {

TEST(Selection, PatternsAndNames) {
  EXPECT_TRUE(fits("/camera/*", "/camera/front/left"));
  EXPECT_TRUE(fits("/cam?", "/camA"));
  EXPECT_FALSE(fits("/camera", "/camera/front"));
  EXPECT_EQ(numbered("out/drive.mcap", 7), "out/drive_0007.mcap");
  EXPECT_TRUE(is_selected({}, "/a", "t"));
  EXPECT_FALSE(is_selected({.exclude = {"/a"}}, "/a", "t"));
  EXPECT_TRUE(is_selected({.topics = {"/b"}, .types = {"t"}}, "/a", "t"));
}

}  // namespace
}  // namespace cardan::record
