// SPDX-License-Identifier: Apache-2.0
// A service for the tests of components' services, and a component at each end.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/component.hpp"
#include "cardan/context.hpp"

namespace cardan::service_test {

struct Sum {
  std::int64_t a, b;
};
struct Total {
  std::int64_t sum;
};

}  // namespace cardan::service_test

CARDAN_MESSAGE(cardan::service_test::Sum, "test_msgs/msg/Sum", a, b);
CARDAN_MESSAGE(cardan::service_test::Total, "test_msgs/msg/Total", sum);

namespace cardan::service_test {

inline constexpr Service<Sum, Total> kAdd{"/add", {.pending = 4}};

/// Answers at once, or keeps the questions.
struct Adder : Component {
  void on_start(Context& context) override {
    context.service(kAdd, [this](Question<Sum, Total> question) {
      ++taken;
      if (keeps)
        kept.push_back(std::move(question));
      else if (question->a < 0)
        question.decline("no negative numbers");
      else
        question.reply({question->a + question->b});
    });
  }
  std::atomic<int> taken{0};
  std::atomic<bool> keeps{false};
  std::deque<Question<Sum, Total>> kept;
};

/// Asks when it is told, in a callback, and notes the outcomes.
struct Asker : Component {
  explicit Asker(bool has_timer = true) : has_timer_(has_timer) {}
  void on_start(Context& context) override {
    add = context.client(kAdd);
    if (!has_timer_) return;  // nothing but services wakes its group
    context.timer(std::chrono::milliseconds{1}, [this] {
      std::deque<std::function<void()>> now;
      {
        const std::lock_guard lock(mutex);
        now.swap(work);
      }
      for (const auto& one : now) one();
    });
  }
  void ask(std::int64_t a, std::int64_t b, std::chrono::nanoseconds timeout = std::chrono::seconds{60}) {
    number = add.ask({a, b}, timeout, [this](const Answer<Total>& answer) {
      const std::lock_guard lock(mutex);
      outcomes.push_back({answer ? answer->sum : 0, answer.reason(), answer.text()});
    });
  }
  void later(std::function<void()> one) {
    const std::lock_guard lock(mutex);
    work.push_back(std::move(one));
  }
  struct Outcome {
    std::int64_t sum = 0;
    NoAnswer reason = NoAnswer::Pending;
    std::string text{};
  };
  [[nodiscard]] std::size_t done() const {
    const std::lock_guard lock(mutex);
    return outcomes.size();
  }
  ServiceClient<Service<Sum, Total>> add;
  std::atomic<std::uint64_t> number{0};
  mutable std::mutex mutex;
  std::deque<std::function<void()>> work;
  std::vector<Outcome> outcomes;

 private:
  bool has_timer_;
};

}  // namespace cardan::service_test
