// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cardan/simulation.hpp"
#include "topics.hpp"

TEST(Brake, BrakesBelowItsLimit) {
  cardan::Simulation simulation;
  simulation.add({.name = "brake", .class_name = "Brake", .parameters = {{"limit_m", 5.0}}});
  const auto& commands = simulation.collect(kCommand);
  simulation.start();
  for (const double metres : {12.0, 4.9}) simulation.push(kDistance, {metres}), simulation.run();
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_FALSE(commands[0]->brake);
  EXPECT_TRUE(commands[1]->brake);
}
