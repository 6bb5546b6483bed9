// SPDX-License-Identifier: Apache-2.0
// The SIM paper's double buffer and Cardan's depth 1 side by side under the same load: a writer at full speed, a reader
// that is stopped now and then. The paper's must show torn frames, Cardan none.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "cardan/clock.hpp"
#include "tests/stress/sim_buffer.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"
#include "tests/support/tally.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::test::Big;
using cardan::test::Child;

constexpr std::size_t kWords = 262144;  // 2 MiB: a camera frame
constexpr cardan::Topic<Big> kTopic{"/beside_sim", {.max_bytes = kWords * 8}};

struct SimCounts {
  std::atomic<std::uint32_t> stop;
  std::atomic<std::uint64_t> sim_written, sim_read, sim_torn, cardan_written, cardan_read, cardan_torn;
  cardan::test::SimBuffer<kWords> sim;
};
using SimTally = cardan::test::Tally<SimCounts>;

}  // namespace

CARDAN_ROLE(both_writer) {
  SimTally tally(args[0]);
  cardan::Publisher<Big> out{kTopic};
  cardan::test::say("ready");
  while (tally->stop == 0) {
    tally->sim.write(cardan::steady_now(),
                     [](std::uint64_t* words, std::uint64_t number) { cardan::test::fill({words, kWords}, number); });
    ++tally->sim_written;
    cardan::test::publish_next(out, 0, kWords);
    ++tally->cardan_written;
  }
  return 0;
}

CARDAN_ROLE(both_reader) {
  SimTally tally(args[0]);
  cardan::Subscriber<Big> in{kTopic};
  std::vector<std::uint64_t> copy(kWords);
  std::uint64_t last = 0;
  cardan::test::say("ready");
  while (tally->stop == 0) {
    if (const std::uint64_t number = tally->sim.read(last, copy.data()); number != 0) {
      last = number;
      ++tally->sim_read;
      if (!cardan::test::intact(std::span<const std::uint64_t>(copy), number)) ++tally->sim_torn;
    }
    if (const auto sample = in.take()) {
      ++tally->cardan_read;
      std::memcpy(copy.data(), sample->words.data(), kWords * 8);  // the same work, so the same chance to be lapped
      if (!cardan::test::intact(std::span<const std::uint64_t>(copy), sample->key)) ++tally->cardan_torn;
    }
  }
  return 0;
}

class BesideSim : public cardan::test::OwnRunDirectory {};

TEST_F(BesideSim, TheDoubleBufferTearsCardanDoesNot) {
  SimTally tally(cardan::test::run_directory() + "/sim");
  Child writer("both_writer", {tally.path()});
  writer.expect("ready");
  Child reader("both_reader", {tally.path()});
  reader.expect("ready");
  const auto begin = std::chrono::steady_clock::now();
  const auto least = cardan::test::deep() ? 20s : 2s;
  for (;;) {  // a load that every vehicle computer has: the reader is preempted now and then
    reader.signal(SIGSTOP);
    std::this_thread::sleep_for(3ms);
    reader.signal(SIGCONT);
    std::this_thread::sleep_for(3ms);
    const auto spent = std::chrono::steady_clock::now() - begin;
    if (spent > 60s || (spent > least && tally->sim_torn != 0 && tally->cardan_read > 20)) break;
  }
  tally->stop = 1;
  EXPECT_EQ(reader.end(), 0);
  EXPECT_EQ(writer.end(), 0);
  std::printf(
      "  the paper's double buffer: %llu written, %llu read, %llu torn\n  cardan, depth 1:           %llu written, "
      "%llu read, %llu torn\n",
      static_cast<unsigned long long>(tally->sim_written), static_cast<unsigned long long>(tally->sim_read),
      static_cast<unsigned long long>(tally->sim_torn), static_cast<unsigned long long>(tally->cardan_written),
      static_cast<unsigned long long>(tally->cardan_read), static_cast<unsigned long long>(tally->cardan_torn));
  EXPECT_GT(tally->sim_torn, 0U) << "the load is too weak to tell anything";
  EXPECT_EQ(tally->cardan_torn, 0U);
  EXPECT_GT(tally->cardan_read, 20U);
}
