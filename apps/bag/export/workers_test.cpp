// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using cardan::apps::Workers;

TEST(Workers, ResultsComeInTheOrderOfTheWork) {
  Workers workers(4);
  std::atomic<int> under_way = 0, most = 0;
  std::vector<int> done;
  for (int i = 0; i < 40; ++i)
    workers.give([&, i]() -> Workers::Then {
      const int now = ++under_way;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 4 == 0 ? 4 : 0));
      --under_way;
      return [&done, i] { done.push_back(i); };
    });
  workers.drain();
  ASSERT_EQ(done.size(), 40U);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
  EXPECT_LE(most, 4);
}

TEST(Workers, ExceptionsOfTheWorkAreThrownHere) {
  Workers workers(2);
  workers.give([]() -> Workers::Then { throw std::runtime_error("full"); });
  EXPECT_THROW(workers.drain(), std::runtime_error);
  workers.give([]() -> Workers::Then { return {}; });
  EXPECT_NO_THROW(workers.drain());
}

}  // namespace
