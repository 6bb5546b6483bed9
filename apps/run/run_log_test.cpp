// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cardan/subscriber.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::apps {
namespace {

TEST(OwnLines, LibraryMessagesOfOtherThreadsComeToTheMergedLog) {
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

TEST(LogWords, SayWhoLoggedWhat) {
  const std::set<std::string, std::less<>> components{"detector"};
  const auto words = [&](std::string_view text, launcher::LogLine::Source source) {
    const LogWords w = words_of({.name = "driving", .source = source, .text = text}, components);
    return std::to_string(static_cast<int>(w.level)) + "|" + std::string(w.component) + "|" + std::string(w.text);
  };
  using Source = launcher::LogLine::Source;
  EXPECT_EQ(words("cardan: warning: detector: slow: 5 ms", Source::Error), "1|detector|slow: 5 ms");
  EXPECT_EQ(words("cardan: error: other: gone", Source::Error), "2||other: gone");
  EXPECT_EQ(words("cardan: info: detector", Source::Error), "0||detector");
  EXPECT_EQ(words("detector: printed", Source::Error), "0||detector: printed");
  EXPECT_EQ(words("cardan: error: detector: a lie", Source::Output), "0||cardan: error: detector: a lie");
}

class PublishedLogs : public test::OwnRunDirectory {};

TEST_F(PublishedLogs, ALateSubscriberGetsTheLastLines) {
  config::Configuration configuration;
  configuration.processes.push_back({.name = "driving"});
  configuration.processes[0].components.push_back({.name = "detector"});
  PublishedLog log(configuration, "");
  log.add({.name = "driving",
           .source = launcher::LogLine::Source::Error,
           .wall_ns = 7,
           .text = "cardan: warning: detector: slow"});
  log.add({.name = "driving", .wall_ns = 8, .text = std::string(10000, 'x')});
  Subscriber<LogMessage> late{kLog};
  const auto first = late.wait(std::chrono::seconds(10));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stamp, 7);
  EXPECT_EQ(first->level, LogLevel::Warning);
  EXPECT_EQ(first->component.view(), "detector");
  EXPECT_EQ(first->process.view(), "driving");
  EXPECT_EQ(std::string_view(first->text.data(), first->text.size()), "slow");
  const auto second = late.wait(std::chrono::seconds(10));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->text.size(), kMostLogText);
}

}  // namespace
}  // namespace cardan::apps
