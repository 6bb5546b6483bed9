// SPDX-License-Identifier: Apache-2.0
#include "src/transport/topic_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "cardan/clock.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::detail {
namespace {

using namespace std::chrono_literals;

class Uninterested : public TopicWatchListener {
  bool may_want(const std::string& /*topic*/) const override { return false; }
  bool wants(const std::string& /*topic*/, const std::string& /*type*/) const override { return false; }
  void found(const std::string& /*topic*/, const ObservedStream& /*stream*/) override {}
  void refused(const std::string& /*topic*/, const ObservedStream& /*stream*/, const std::string& /*why*/,
               bool /*again*/) override {}
  void unusable(const std::string& /*topic*/, const std::string& /*why*/) override {}
  void silent(const std::string& /*topic*/, const std::string& /*why*/) override {}
  void looked() override {}
};

class TopicWatchTest : public test::OwnRunDirectory {};

// A component on a loaded computer may note when it announced its outputs long after the watch has seen them. It waits
// for a look that began later, although nothing new appears.
TEST_F(TopicWatchTest, LooksAlsoWithoutAnEvent) {
  Uninterested listener;
  TopicWatch watch({}, listener);
  watch.start();
  std::this_thread::sleep_for(200ms);  // the looks after the start are over
  const std::int64_t announced = steady_now();
  for (int i = 0; i < 1000 && watch.looked_ns() <= announced; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_GT(watch.looked_ns(), announced);
}

}  // namespace
}  // namespace cardan::detail
