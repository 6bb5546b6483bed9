// SPDX-License-Identifier: Apache-2.0
#include "apps/terminal/losses.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "apps/terminal/output.hpp"

namespace cardan::apps {
namespace {

using host::CallbackReport;

CallbackReport callback(CallbackReport::Kind kind) {
  CallbackReport report;
  report.kind = kind;
  return report;
}

TEST(Losses, TimersInTimeDoNotHideTheInputThatLost) {
  Table table({{"CALLBACK"}, {"DROPPED", true}});
  table.trouble({"DROPPED"});
  for (int i = 0; i < 8; ++i)
    table.row({"timer" + std::to_string(i), dropped_text(callback(CallbackReport::Kind::Timer))});
  CallbackReport input = callback(CallbackReport::Kind::Input);
  input.queue_full = 7;
  table.row({"/points", dropped_text(input)});
  const std::vector<std::string> lines = table.lines({80, 8});
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("/points"); }))
      << text_of(lines);
}

TEST(Losses, EachIsInWords) {
  CallbackReport timer = callback(CallbackReport::Kind::Timer);
  EXPECT_EQ(dropped_text(timer), "0");
  timer.overruns = 3;
  EXPECT_EQ(dropped_text(timer), "3 skipped");
  CallbackReport input = callback(CallbackReport::Kind::Input);
  EXPECT_EQ(dropped_text(input), "0");
  input.queue_full = 2;
  input.kept = 1;
  input.skipped = 4;
  EXPECT_EQ(dropped_text(input), "3 (1 kept) (4 skipped)");
  input.missed = 5;
  EXPECT_EQ(lost_of(input), 12U) << "also what is skipped";
}

}  // namespace
}  // namespace cardan::apps
