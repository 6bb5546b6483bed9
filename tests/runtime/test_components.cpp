// SPDX-License-Identifier: Apache-2.0
// A component library as users build one, whose components do on demand what components should not.
#include "tests/runtime/test_components.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "cardan/component.hpp"

// Names that stack traces show.
extern "C" {
void servant_faults();
void servant_hangs();
int servant_overflows(int depth);
}

// The fault itself, not what a sanitizer would say before it.
__attribute__((no_sanitize("undefined"))) void servant_faults() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;  // NOLINT(clang-analyzer-core.NullDereference): that is the point
}

[[gnu::noinline]] void servant_hangs() {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int servant_overflows(int depth) {  // NOLINT(misc-no-recursion): that is the point
  volatile char eaten[1024];        // less than the guard page, which a larger frame could jump over
  eaten[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : servant_overflows(depth + 1) + eaten[0];
}

namespace {

using namespace std::chrono_literals;
using cardan::Context;
using cardan::Sample;
using cardan::test::Number;
using cardan::test::Order;

/// A line is out when it ends, also into a pipe: run_host() sees to that.
void say(const std::string& text) { std::puts(text.c_str()); }

/// Where files that a test makes for this process begin.
std::string marks() {
  const auto text = [](const char* name) { return std::string(std::getenv(name) != nullptr ? std::getenv(name) : ""); };
  return text("CARDAN_RUN_DIR") + "/" + text("CARDAN_DOMAIN");
}

/// Its start takes for as long as the file `.slow` is there (`.starting` says that it has begun).
class Servant : public cardan::Component {
  void on_start(Context& context) override {
    name_ = context.name();
    context_ = &context;
    if (const std::string mark = marks(); std::ifstream(mark + ".slow")) {
      std::ofstream(mark + ".starting") << "now";
      while (std::ifstream(mark + ".slow")) std::this_thread::sleep_for(1ms);
    }
    threshold_ = context.parameter<double>("threshold", 0.5, {.min = 0, .max = 1, .description = "least score"});
    people_ = context.parameter<std::int64_t>(
        "people", 4, {.min = 0, .max = 100, .description = "how many at most", .accept = [](const std::int64_t& n) {
                        return n % 2 == 0 ? std::string() : std::string("people come in pairs");
                      }});
    night_ = context.parameter<bool>("night", false);
    model_ = context.parameter<std::string>("model", "small", {.description = "which network", .fixed = true});
    said_ = context.output(cardan::test::kSaid);
    context.input(cardan::test::kOrders, [this](const Sample<Number>& order) { obey(order); });
    say(name_ + " starts");
  }
  void on_stop() override { say(name_ + " stops"); }

  void obey(const Sample<Number>& order) {
    switch (static_cast<Order>(order->value)) {
      case Order::Answer:
        break;
      case Order::Segfault:
        servant_faults();
        break;
      case Order::Overflow:
        said_.publish({servant_overflows(0)});
        break;
      case Order::Abort:
        std::abort();
      case Order::Hang:
        servant_hangs();
        break;
      case Order::Throw:
        throw std::runtime_error("the servant is tired");
      case Order::Nap: {
        const std::string file = marks() + ".wake";
        while (!std::ifstream(file)) std::this_thread::sleep_for(1ms);
        break;
      }
      case Order::Speak:
        context_->log("the servant speaks");
        context_->log(cardan::LogLevel::Debug, "the servant whispers");
        break;
      case Order::Exit:
        std::exit(0);
      case Order::WriteToSample:
        const_cast<volatile Number*>(order.get())->value = 0;
        break;
    }
    said_.publish({++obeyed_});
  }

  std::string name_;
  Context* context_ = nullptr;
  cardan::Parameter<double> threshold_;
  cardan::Parameter<std::int64_t> people_;
  cardan::Parameter<bool> night_;
  cardan::Parameter<std::string> model_;
  cardan::Output<Number> said_;
  std::int64_t obeyed_ = 0;
};
CARDAN_COMPONENT(Servant)

class Ticker : public cardan::Component {
  void on_start(Context& context) override {
    name_ = context.name();
    ticks_ = context.output(cardan::test::kTicks);
    context.timer(2ms, [this] { ticks_.publish({++ticked_}); });
  }
  void on_stop() override { say(name_ + " stops"); }
  std::string name_;
  cardan::Output<Number> ticks_;
  std::int64_t ticked_ = 0;
};
CARDAN_COMPONENT(Ticker)

class Counter : public cardan::Component {
  void on_start(Context& context) override {
    name_ = context.name();
    seen_ = context.output(cardan::test::kSeen);
    lost_ = context.output(cardan::test::kLost);
    context.input(cardan::test::kTicks, [this](const Sample<Number>& tick) {
      if (last_ != 0) losses_ += tick->value - last_ - 1;
      last_ = tick->value;
      seen_.publish({++count_});
      lost_.publish({losses_});
    });
  }
  void on_stop() override { say(name_ + " stops"); }
  std::string name_;
  std::int64_t last_ = 0, losses_ = 0, count_ = 0;
  cardan::Output<Number> seen_, lost_;
};
CARDAN_COMPONENT(Counter)

class Refuser : public cardan::Component {
  void on_start(Context&) override { throw std::runtime_error("no camera is plugged in"); }
};
CARDAN_COMPONENT(Refuser)

class FallsInConstructor : public cardan::Component {
 public:
  FallsInConstructor() { servant_faults(); }
  void on_start(Context&) override {}
};
CARDAN_COMPONENT(FallsInConstructor)

class FallsAtTheEnd : public cardan::Component {
 public:
  ~FallsAtTheEnd() override {
    if (falls_) servant_faults();
  }
  void on_start(Context& context) override { falls_ = context.name() == "serve"; }

 private:
  bool falls_ = false;
};
CARDAN_COMPONENT(FallsAtTheEnd)

/// Says in mm how far in front of base_link the lidar is, for each order; 0: it does not know.
class Measurer : public cardan::Component {
  void on_start(Context& context) override {
    tf_ = context.transforms();
    said_ = context.output(cardan::test::kSaid);
    context.input(cardan::test::kOrders, [this](const Sample<Number>&) {
      const cardan::FoundTransform found = tf_.lookup("base_link", "lidar");
      said_.publish({std::llround(found->translation.x * 1000)});
    });
  }
  cardan::Transforms tf_;
  cardan::Output<Number> said_;
};
CARDAN_COMPONENT(Measurer)

}  // namespace
