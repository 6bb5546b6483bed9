// SPDX-License-Identifier: Apache-2.0
#include "apps/component/component_fusions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cardan::apps {
namespace {

using host::CallbackReport;
using host::ComponentReport;

/// Joins /left and /right, and also has a timer.
ComponentReport joiner() {
  ComponentReport c;
  c.name = "joiner";
  CallbackReport tick;
  tick.name = "tick";
  tick.kind = CallbackReport::Kind::Timer;
  tick.calls = 7;
  CallbackReport left;
  left.name = left.topic = "/left";
  left.transport = {{40, 100}};
  left.calls = 100;
  left.queue_full = 3;
  left.missed = 4;
  left.queued = 1;
  left.capacity = 64;
  CallbackReport right;
  right.name = right.topic = "/right";
  right.calls = 90;
  right.capacity = 64;
  c.callbacks = {tick, left, right};
  c.fusions = {
      {.name = "pairs",
       .policy = "exact",
       .time = "source",
       .fired = 80,
       .inputs = {{.name = "/left", .topic = "/left", .offered = 100, .used = 80, .pushed_out = 15, .waiting = 5},
                  {.name = "/right", .topic = "/right", .offered = 90, .used = 80, .unstamped = 2}}}};
  return c;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::string rows(bool narrow) {
  Table table({{"COMPONENT"},
               {"CALLBACK"},
               {"RATE"},
               {"TRANSPORT"},
               {"WAITING"},
               {"RUNNING"},
               {"LONGEST"},
               {"QUEUE"},
               {"DROPPED"},
               {"MISSED"},
               {"FAILED"},
               {"LATE"}});
  const ComponentReport c = joiner();
  std::string name = c.name;
  for (const CallbackReport& x : c.callbacks) {
    if (is_of_a_fusion(c, x)) continue;
    std::vector<std::string> cells = callback_cells(x, 1, narrow);
    cells.insert(cells.begin(), {std::exchange(name, ""), x.name});
    table.row(std::move(cells));
  }
  for (const host::FusionReport& f : c.fusions) add_fusion_rows(table, f, c, 1, narrow, name);
  return table.text();
}

TEST(FusionRows, EachInputHasOneRowWithAllThatIsKnownOfIt) {
  const std::string text = rows(false);
  EXPECT_EQ(count(text, "/left"), 1U) << text;
  EXPECT_EQ(count(text, "/right"), 1U) << text;
  EXPECT_EQ(count(text, "joiner"), 1U) << text;
  const std::string left = text.substr(text.find("/left"), text.find('\n', text.find("/left")) - text.find("/left"));
  for (const char* part : {"1/64 +5", "18 (15 pushed out)", " / ", "  4  "})
    EXPECT_NE(left.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_NE(text.find("0 (2 unstamped)"), std::string::npos) << text;
  EXPECT_NE(text.find("pairs (exact by source)  80"), std::string::npos) << text;
}

TEST(FusionRows, ANarrowTableHasOneLatencyACell) {
  EXPECT_EQ(rows(true).find(" / "), std::string::npos) << rows(true);
  EXPECT_NE(rows(true).find("pairs (exact)  80"), std::string::npos) << rows(true);
}

TEST(FusionRows, TheSetsAreTheCallsOfAFusion) {
  EXPECT_EQ(calls_of(joiner()), 87U);
  ComponentReport plain = joiner();
  plain.fusions.clear();
  EXPECT_EQ(calls_of(plain), 197U);
}

}  // namespace
}  // namespace cardan::apps
