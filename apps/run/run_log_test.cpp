// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_log.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace cardan::apps {
namespace {

TEST(OwnLines, WhatTheLibrarySaysOnOtherThreadsComesToTheMergedLog) {
  std::vector<std::string> lines;
  const auto on_line = [&](const launcher::LogLine& line) {
    EXPECT_EQ(line.name, "cardan");
    EXPECT_EQ(line.source, launcher::LogLine::Source::Launcher);
    EXPECT_GT(line.wall_ns, 0);
    lines.push_back((line.level == LogLevel::Warning ? "warning " : "other ") + std::string(line.text));
  };
  {
    OwnLines own(on_line);
    std::thread([] { detail::log(LogLevel::Warning, "of a helper thread"); }).join();
    EXPECT_TRUE(lines.empty()) << "the merged log has one thread";
    own.say(LogLevel::Error, "at once");
    own.pump();
    EXPECT_EQ(lines, (std::vector<std::string>{"other at once", "warning of a helper thread"}));
    for (int i = 0; i < 2000; ++i) detail::log(LogLevel::Info, "much");
    detail::log(LogLevel::Warning, "last");
  }
  EXPECT_EQ(lines.size(), 2U + 1024U + 1U);
  EXPECT_EQ(lines.back(), "warning 977 lines of cardan run itself were left out");
  testing::internal::CaptureStderr();
  detail::log(LogLevel::Warning, "afterwards");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("afterwards"), std::string::npos);
  EXPECT_EQ(lines.size(), 1027U);
}

}  // namespace
}  // namespace cardan::apps
