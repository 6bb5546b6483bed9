// SPDX-License-Identifier: Apache-2.0
#include "demo/processes/cpu_seconds.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/usage.hpp"

namespace cardan::street {
namespace {

TEST(CpuSeconds, CountsWhatAProcessHasStarted) {
  if (!std::ifstream("/proc/self/task/" + std::to_string(::getpid()) + "/children"))
    GTEST_SKIP() << "this kernel does not list children";
  launcher::ChildProcess shell(
      {.program = "/bin/sh", .arguments = {"sh", "-c", "while :; do :; done & wait"}, .environment = {}});
  double sum = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (sum < 0.1 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    sum = cpu_seconds_of(shell.pid()).value_or(0);
  }
  EXPECT_GE(sum, 0.1);
  EXPECT_LT(launcher::usage_of(shell.pid())->cpu_seconds, sum) << "the shell itself waits";
  EXPECT_FALSE(cpu_seconds_of(-1));
}

}  // namespace
}  // namespace cardan::street
