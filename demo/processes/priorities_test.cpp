// SPDX-License-Identifier: Apache-2.0
#include "demo/processes/priorities.hpp"

#include <gtest/gtest.h>

namespace cardan::street {
namespace {

TEST(Priorities, SayWhatIsPermittedAndWhatToGrant) {
  const RealtimeGrant fifo{.what = "SCHED_FIFO priority 30", .granted = true};
  const RealtimeGrant no_fifo{.what = "SCHED_FIFO priority 30", .cause = "no right", .remedy = "grant rtprio 30"};
  const RealtimeGrant nice{.what = "nice -10", .granted = true};
  const RealtimeGrant no_nice{.what = "nice -10", .cause = "no right", .remedy = "grant nice -10"};
  const std::string all = priorities_text({.grants = {fifo}});
  EXPECT_NE(all.find("before all ordinary threads (SCHED_FIFO priority 30)"), std::string::npos) << all;
  EXPECT_EQ(all.find("doctor"), std::string::npos);
  const std::string some = priorities_text({.grants = {no_fifo, nice}});
  EXPECT_NE(some.find("before others (nice -10)"), std::string::npos) << some;
  EXPECT_NE(some.find("grant rtprio 30"), std::string::npos) << some;
  const std::string none = priorities_text({.grants = {no_fifo, no_nice}});
  EXPECT_NE(none.find("the detector after the others"), std::string::npos) << none;
  EXPECT_NE(none.find("grant nice -10"), std::string::npos) << none;
  EXPECT_NE(none.find("cardan doctor"), std::string::npos) << none;
}

TEST(Priorities, TheMostUrgentOfAConfigurationIsAskedFor) {
  config::Configuration configuration;
  EXPECT_TRUE(ask_for_priorities(configuration).grants.empty());
  configuration.processes.push_back(
      {.name = "a",
       .groups = {{.name = "main", .nice = 5}, {.name = "b", .policy = config::Policy::Fifo, .priority = 7}}});
  const RealtimeReport report = ask_for_priorities(configuration);
  ASSERT_EQ(report.grants.size(), 1U);
  EXPECT_EQ(report.grants[0].what, "SCHED_FIFO priority 7");
}

}  // namespace
}  // namespace cardan::street
