// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/selection.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"
#include "src/base/name_patterns.hpp"

namespace cardan::record {
namespace {

bool is_selected(const RecorderOptions& options, const std::string& topic, const std::string& type) {
  const Selection selection(options);
  EXPECT_TRUE(selection.may_want(topic) || !selection.wants(topic, type));
  return selection.wants(topic, type);
}

TEST(Selection, PatternsAndNames) {
  EXPECT_TRUE(detail::fits("/camera/*", "/camera/front/left"));
  EXPECT_TRUE(detail::fits("/cam?", "/camA"));
  EXPECT_FALSE(detail::fits("/camera", "/camera/front"));
  EXPECT_EQ(numbered("out/drive.mcap", 7), "out/drive_0007.mcap");
  EXPECT_TRUE(is_selected({}, "/a", "t"));
  EXPECT_FALSE(is_selected({.exclude = {"/a"}}, "/a", "t"));
  EXPECT_TRUE(is_selected({.topics = {"/b"}, .types = {"t"}}, "/a", "t"));
}

TEST(Selection, RegularExpressions) {
  const RecorderOptions cameras{.expressions = {"^/camera/(front|rear)/"}};
  EXPECT_TRUE(is_selected(cameras, "/camera/rear/image", "t"));
  EXPECT_FALSE(is_selected(cameras, "/x/camera/rear/image", "t"));
  EXPECT_FALSE(is_selected(cameras, "/imu", "t"));
  EXPECT_TRUE(is_selected({.topics = {"/imu"}, .expressions = {"camera"}}, "/imu", "t")) << "either of them";
  EXPECT_FALSE(is_selected({.expressions = {"camera"}, .exclude_expressions = {"debug$"}}, "/camera/debug", "t"));
  EXPECT_TRUE(is_selected({.exclude_expressions = {"debug$"}}, "/camera/debug/more", "t"));
  EXPECT_THROW(Selection({.expressions = {"("}}), Error);
  EXPECT_THROW(Selection({.exclude_expressions = {"[a"}}), Error);
}

TEST(Selection, AHostileNameCostsNoTime) {
  const Selection selection(
      {.expressions = {"^(/([a-z]+)*)+$"}});  // for which others take two to the power of its length
  EXPECT_FALSE(selection.may_want("/" + std::string(120, 'a') + "!"));
}

TEST(Selection, NamesAreNotPatterns) {
  const Selection selection({.topics = {"/imu", "/camera/*", "/gone"}, .exclude = {"/gone"}});
  EXPECT_EQ(selection.named(), std::vector<std::string>{"/imu"});
}

}  // namespace
}  // namespace cardan::record
