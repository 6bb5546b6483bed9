// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/log_channel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "cardan/cdr_reader.hpp"
#include "cardan/cdr_writer.hpp"
#include "src/system/launcher/topics.hpp"

namespace cardan::bridge::foxglove {
namespace {

OutgoingFrame line_of(std::string_view process, std::string_view component, std::string_view text) {
  OutgoingFrame line;
  std::vector<std::byte> unused;
  CdrWriter out(line.cdr.prefix, unused, nullptr);
  out.number(std::int64_t{2'000'000'007});
  out.number(LogLevel::Warning);
  out.string(process);
  out.string(component);
  out.string(text);
  line.publish_ns = 9;
  return line;
}

TEST(FoxgloveLog, ALineIsWhatLogViewsShow) {
  const FramePtr frame = log_frame(line_of("main", "brake", "hot"));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->publish_ns, 9);
  EXPECT_FALSE(frame->sample) << "it holds no slot";
  CdrReader in{std::span<const std::byte>(frame->cdr.prefix)};
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  std::uint8_t level = 0;
  std::string_view name, text;
  ASSERT_TRUE(in.number(sec) && in.number(nanosec) && in.number(level) && in.string(name) && in.string(text));
  EXPECT_EQ(sec, 2);
  EXPECT_EQ(nanosec, 7U);
  EXPECT_EQ(level, 30);
  EXPECT_EQ(name, "brake");
  EXPECT_EQ(text, "hot");
}

TEST(FoxgloveLog, OnlyTheLogsOwnTypeIsOne) {
  EXPECT_TRUE(is_log({.name = "/cardan/log", .type = "cardan_msgs/msg/Log"}));
  EXPECT_FALSE(is_log({.name = "/cardan/log", .type = "std_msgs/msg/String"}));
  EXPECT_FALSE(is_log({.name = "/log", .type = "cardan_msgs/msg/Log"}));
}

/// Another process may publish anything under the name.
TEST(FoxgloveLog, MalformedLinesAreIgnored) {
  const OutgoingFrame whole = line_of("main", "brake", "hot");
  for (std::size_t size = 0; size < whole.cdr.prefix.size(); ++size) {
    OutgoingFrame part;
    part.cdr.prefix.assign(whole.cdr.prefix.begin(), whole.cdr.prefix.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(log_frame(part)) << size;
  }
  std::mt19937 random{1};
  for (int i = 0; i < 10'000; ++i) {
    OutgoingFrame damaged;
    damaged.cdr.prefix = whole.cdr.prefix;
    for (int k = 0; k < 3; ++k)
      damaged.cdr.prefix[random() % damaged.cdr.prefix.size()] = static_cast<std::byte>(random());
    if (const FramePtr frame = log_frame(damaged)) {
      EXPECT_LT(frame->size(), kMostLogText + 200);
    }
  }
}

}  // namespace
}  // namespace cardan::bridge::foxglove
