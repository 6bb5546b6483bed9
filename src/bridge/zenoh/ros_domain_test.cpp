// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/zenoh/ros_domain.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"

namespace cardan::bridge::zenoh {
namespace {

TEST(ZenohRosDomain, IsTheRulesOrTheVariables) {
  ZenohRules rules;
  choose_ros_domain(rules, "7");
  EXPECT_FALSE(rules.domain_id) << "only rmw_zenoh has domains";
  rules.form = "rmw";
  choose_ros_domain(rules, "7");
  EXPECT_EQ(rules.domain_id, 7);
  choose_ros_domain(rules, "8");
  EXPECT_EQ(rules.domain_id, 7) << "the rules say so";
  rules.domain_id.reset();
  choose_ros_domain(rules, "");
  EXPECT_EQ(rules.domain_id, 0);
  for (const char* const nonsense : {"-1", "233", "x", "1x", " 1", "99999999999999999999"}) {
    rules.domain_id.reset();
    EXPECT_THROW(choose_ros_domain(rules, nonsense), Error) << nonsense;
  }
}

TEST(ZenohRosDomain, ANodesNameIsAWord) {
  ZenohRules rules;
  rules.form = "rmw";
  for (const char* const nonsense : {"", "a/b", "1a", "a b", "a\x1b[2J", "*"}) {
    rules.node = nonsense;
    EXPECT_THROW(choose_ros_domain(rules, ""), Error) << nonsense;
  }
  rules.node = "vehicle_1";
  EXPECT_NO_THROW(choose_ros_domain(rules, ""));
}

TEST(ZenohRosDomain, EachIsANetworkOfItsOwn) {
  Rules rules;
  EXPECT_EQ(network_name(rules), "zenoh");
  rules.zenoh.form = "rmw";
  EXPECT_EQ(network_name(rules), "rmw_zenoh:0");
  rules.zenoh.domain_id = 7;
  EXPECT_EQ(network_name(rules), "rmw_zenoh:7");
  rules.network = "fleet";
  EXPECT_EQ(network_name(rules), "fleet");
}

}  // namespace
}  // namespace cardan::bridge::zenoh
