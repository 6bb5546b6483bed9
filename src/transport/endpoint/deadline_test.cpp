// SPDX-License-Identifier: Apache-2.0
// Signs of life are words that the publisher writes. In these tests it writes arbitrary values.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/publisher.hpp"
#include "cardan/subscriber.hpp"
#include "src/transport/discovery/process.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;

struct Tick {
  std::uint64_t number;
};

}  // namespace

CARDAN_MESSAGE(Tick, "test_msgs/msg/Tick", number);

namespace {

constexpr cardan::Topic<Tick> kTick{"/tick", {.deadline = 20ms}};

class Deadline : public cardan::test::OwnRunDirectory {
 protected:
  Deadline()
      : process_(cardan::detail::Process::of({})),
        core_(std::make_shared<cardan::detail::PublisherCore>(kTick.name, cardan::detail::message_type_of<Tick>(),
                                                              kTick.options, cardan::PublisherOptions{})) {
    process_.add(core_);
  }
  ~Deadline() override { process_.remove(core_); }
  [[nodiscard]] auto& heartbeat() const { return core_->hot().heartbeat_ns; }

  cardan::detail::Process& process_;
  std::shared_ptr<cardan::detail::PublisherCore> core_;
};

TEST_F(Deadline, ASignOfLifeFromTheFutureDoesNotCount) {
  for (const std::int64_t lie : {cardan::steady_now() + 3'600'000'000'000, std::int64_t{1} << 61,
                                 std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    heartbeat() = lie;
    std::atomic<int> missed{0};
    const cardan::Subscriber in{
        kTick, {.on_event = [&](const cardan::Event& e) { missed += e.kind == cardan::Event::Kind::DeadlineMissed; }}};
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (missed == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(missed, 1) << lie;
  }
}

TEST_F(Deadline, SignsOfLifeThatChangeTellAMissOncePerDeadline) {
  std::atomic<bool> end{false};
  std::thread flipper([&] {
    for (std::int64_t i = 0; !end; ++i) heartbeat() = cardan::steady_now() - 1'000'000'000 - i % 1000;
  });
  std::atomic<int> missed{0};
  const auto begin = std::chrono::steady_clock::now();
  {
    const cardan::Subscriber in{
        kTick, {.on_event = [&](const cardan::Event& e) { missed += e.kind == cardan::Event::Kind::DeadlineMissed; }}};
    const auto until = begin + 200ms;
    while (std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(1ms);
      process_.run([] {});  // any task that gives the helper a turn
    }
  }
  const auto deadlines = (std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(20) + 1;
  end = true;
  flipper.join();
  EXPECT_GE(missed, 1);
  EXPECT_LE(missed, deadlines);
}

}  // namespace
