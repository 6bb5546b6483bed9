// SPDX-License-Identifier: Apache-2.0
// Nodes and subscriptions that go while messages arrive, callbacks that throw, and the end by a signal.
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "environment.hpp"

namespace cardan::ros::test {
namespace {

constexpr Topic<Twist> kFlood{"/test/flood", {.depth = 8}};

/// Publishes as fast as it can, until it goes.
class Flood {
 public:
  explicit Flood(const std::shared_ptr<rclcpp::Node>& node) : publisher_(node, kFlood) {
    thread_ = std::thread([this] {
      while (!stop_) {
        publisher_.publish(Twist());
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
  }
  ~Flood() {
    stop_ = true;
    thread_.join();
  }
  [[nodiscard]] std::size_t subscribers() const { return publisher_.subscribers(); }

 private:
  Publisher<Twist> publisher_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// A node as users write them: the callback uses what the node has.
class Reader : public rclcpp::Node {
 public:
  explicit Reader(std::atomic<int>& count)
      : Node("reader"), state_(std::make_unique<int>(0)), front_(this, kFlood, [this, &count](const Twist&) {
          ++*state_;  // freed memory, if the callback ran for longer than the node lives
          ++count;
        }) {}

 private:
  std::unique_ptr<int> state_;
  ros::Subscription<Twist> front_;
};

class EveryExecutor : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Executors, EveryExecutor, testing::ValuesIn(executors()),
                         [](const auto& info) { return info.param; });

TEST_P(EveryExecutor, NodesComeAndGoWhileMessagesArrive) {
  if (GetParam() == "static") GTEST_SKIP() << "in Humble this executor notices no node that is added while it spins";
  const auto keeper = std::make_shared<rclcpp::Node>("keeper");
  const Flood flood(keeper);
  Spinning spinning(GetParam(), keeper);
  std::atomic<int> count{0};
  for (int i = 0; i < 20; ++i) {
    const int before = count;
    auto node = std::make_shared<Reader>(count);
    (*spinning).add_node(node);
    ASSERT_TRUE(eventually([&] { return count > before + 3; })) << "node " << i;
    (*spinning).remove_node(node);
  }
  EXPECT_TRUE(eventually([&] { return flood.subscribers() == 0; })) << "the last subscription is gone too";
}

TEST_P(EveryExecutor, ANodeGoesWithoutLeavingItsExecutor) {
  if (GetParam() == "static") GTEST_SKIP() << "in Humble this executor notices no node that is added while it spins";
  const auto keeper = std::make_shared<rclcpp::Node>("keeper");
  const Flood flood(keeper);
  Spinning spinning(GetParam(), keeper);
  std::atomic<int> count{0};
  for (int i = 0; i < 10; ++i) {
    const int before = count;
    auto node = std::make_shared<Reader>(count);
    (*spinning).add_node(node);
    ASSERT_TRUE(eventually([&] { return count > before + 3; })) << "node " << i;
    node.reset();
  }
}

TEST_P(EveryExecutor, AfterTheDestructorNoCallbackRuns) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  const Flood flood(node);
  const Spinning spinning(GetParam(), node);
  for (int i = 0; i < 50; ++i) {
    auto alive = std::make_unique<std::atomic<bool>>(true);
    std::atomic<bool>* const seen = alive.get();
    std::atomic<int> calls{0};
    std::atomic<int> late{0};
    {
      const ros::Subscription<Twist> subscription(node, kFlood, [&calls, &late, seen](const Twist&) {
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        if (!*seen) ++late;
        ++calls;
      });
      ASSERT_TRUE(eventually([&] { return calls > 0; }));
    }
    *alive = false;
    const int then = calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ASSERT_EQ(late, 0);
    ASSERT_EQ(calls, then);
  }
}

TEST_P(EveryExecutor, ACallbackEndsItsOwnSubscription) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  const Flood flood(node);
  std::optional<ros::Subscription<Twist>> subscription;
  std::atomic<int> calls{0};
  subscription.emplace(node, kFlood, [&](const Twist&) {
    ++calls;
    subscription.reset();
  });
  {
    const Spinning spinning(GetParam(), node);
    ASSERT_TRUE(eventually([&] { return calls == 1; }));
    EXPECT_TRUE(eventually([&] { return flood.subscribers() == 0; }));
  }
  EXPECT_EQ(calls, 1);
}

// An executor that nobody spins keeps what it saw last. Humble's static executor does so even while it spins.
TEST_P(EveryExecutor, EverythingIsReleasedWithTheDestructorWhateverTheExecutorKeeps) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  const Flood flood(node);
  const auto owned = std::make_shared<int>(0);
  const auto executor = make_executor(GetParam());
  executor->add_node(node);
  std::atomic<int> calls{0};
  std::optional<ros::Subscription<Twist>> subscription(std::in_place, node, kFlood,
                                                       [&calls, owned](const Twist&) { ++calls; });
  ASSERT_TRUE(eventually([&] {
    executor->spin_some();
    return calls > 3;
  }));
  EXPECT_EQ(owned.use_count(), 2);
  subscription.reset();
  EXPECT_EQ(owned.use_count(), 1) << "the callback is gone";
  EXPECT_TRUE(eventually([&] { return flood.subscribers() == 0; })) << "the shared memory is released";
  const int then = calls;
  executor->spin_some();
  EXPECT_EQ(calls, then);
}

/// A source of boxes instead of a subscriber: it tells what becomes of them.
class Boxes final : public detail::SubscriptionWaitable {
 public:
  explicit Boxes(const std::shared_ptr<rclcpp::Node>& node)
      : SubscriptionWaitable(detail::NodeParts::of(node), "/boxes", false), fd_(::eventfd(0, EFD_CLOEXEC)) {
    listen(fd_);
  }
  ~Boxes() override {
    stop_listening();
    ::close(fd_);
  }
  [[nodiscard]] std::size_t alive() const {
    return static_cast<std::size_t>(std::count_if(boxes_.begin(), boxes_.end(), [](auto& b) { return !b.expired(); }));
  }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  std::shared_ptr<void> take_one(Reason& /*why*/) override {
    auto box = std::make_shared<int>(0);
    boxes_.push_back(box);
    return box;
  }
  std::array<std::shared_ptr<void>, 2> let_go() noexcept override { return {}; }
  void call(void* /*box*/) override { ++calls_; }
  std::optional<Event> next_event() override { return std::nullopt; }

  int fd_;
  int calls_ = 0;
  std::vector<std::weak_ptr<int>> boxes_;
};

// One executor's thread is interrupted between its two steps, another executor is cancelled there.
TEST(Lifetime, SamplesThatExecutorsHaveTakenGoWithTheSubscription) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  const auto boxes = std::make_shared<Boxes>(node);
  std::shared_ptr<void> interrupted = boxes->take_data();
  std::shared_ptr<void> cancelled = boxes->take_data();
  ASSERT_TRUE(interrupted && cancelled);
  cancelled.reset();
  EXPECT_EQ(boxes->alive(), 2U) << "the next executor gets what a cancelled one has taken";
  boxes->end();
  EXPECT_EQ(boxes->alive(), 0U);
  boxes->execute(interrupted);
  EXPECT_EQ(boxes->calls(), 0);
  EXPECT_EQ(boxes->take_data(), nullptr);
}

TEST(Lifetime, AnExceptionOfACallbackLeavesSpinAndTheNextMessageArrives) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  const Flood flood(node);
  int calls = 0;
  const ros::Subscription<Twist> subscription(node, kFlood, [&](const Twist&) {
    if (++calls % 2 == 1) throw std::runtime_error("on purpose");
  });
  for (const std::string& kind : executors()) {
    if (kind != "single" && kind != "static") continue;  // the others spin on threads whose exceptions end the program
    const auto executor = make_executor(kind);
    executor->add_node(node);
    for (int i = 0; i < 20; ++i) {
      const int before = calls;
      EXPECT_THROW(executor->spin(), std::runtime_error) << kind;
      EXPECT_GT(calls, before);
    }
    executor->remove_node(node);
  }
  EXPECT_EQ(subscription.held_up(), 0u) << "a throwing callback keeps no sample";
}

TEST(Lifetime, ASubscriptionOutlivesItsNode) {
  auto node = std::make_shared<rclcpp::Node>("reader");
  std::optional<ros::Subscription<Twist>> subscription(std::in_place, node, kFlood, [](const Twist&) {});
  ros::Publisher<Twist> publisher(node, kFlood);
  node.reset();
  EXPECT_TRUE(publisher.publish(Twist()));
  subscription.reset();
  EXPECT_TRUE(eventually([&] { return publisher.subscribers() == 0; }));
}

TEST(Lifetime, ASubscriptionMoves) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  std::atomic<int> calls{0};
  ros::Subscription<Twist> first(node, kFlood, [&](const Twist&) { ++calls; });
  ros::Subscription<Twist> second = std::move(first);
  EXPECT_FALSE(first);
  const Flood flood(node);
  const Spinning spinning("single", node);
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  second = ros::Subscription<Twist>();
  EXPECT_TRUE(eventually([&] { return flood.subscribers() == 0; }));
}

TEST(Lifetime, TheThreadGoesWithTheLastSubscription) {
  std::shared_ptr<detail::Bell> one = detail::Bell::get();
  EXPECT_EQ(one, detail::Bell::get());
  const std::weak_ptr<detail::Bell> watched = one;
  const auto node = std::make_shared<rclcpp::Node>("reader");
  {
    const ros::Subscription<Twist> subscription(node, kFlood, [](const Twist&) {});
    one.reset();
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Lifetime, ASignalEndsSpinAndEverythingIsTidiedUp) {
  std::atomic<int> calls{0};
  {
    const auto node = std::make_shared<rclcpp::Node>("reader");
    const Flood flood(node);
    const ros::Subscription<Twist> subscription(node, kFlood, [&](const Twist&) {
      if (++calls == 100) std::raise(SIGINT);
    });
    rclcpp::spin(node);
    EXPECT_FALSE(rclcpp::ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // rings of a context that is shut down
  }
  EXPECT_GE(calls, 100);
  rclcpp::init(0, nullptr);  // for the other tests
}

}  // namespace
}  // namespace cardan::ros::test
