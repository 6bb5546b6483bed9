// SPDX-License-Identifier: Apache-2.0
// For chains_test.py: a source, a detector that takes as long as it is told, and a driver that acts on what it finds.
#include <chrono>
#include <cstdint>
#include <thread>

#include "cardan/component.hpp"
#include "cardan/messages.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::CanFrame;
using cardan::Context;
using cardan::Sample;

constexpr cardan::Topic<CanFrame> kCamera{"/camera", {.depth = 2}};
constexpr cardan::Topic<CanFrame> kFound{"/found", {.depth = 2}};
constexpr cardan::Topic<CanFrame> kCommand{"/command", {.depth = 2}};

class ChainSource : public cardan::Component {
  void on_start(Context& context) override {
    out_ = context.output(kCamera);
    context.timer(50ms, [this] { out_.publish(CanFrame{}); });
  }
  cardan::Output<CanFrame> out_;
};

class ChainDetector : public cardan::Component {
  void on_start(Context& context) override {
    work_ms_ = context.parameter<std::int64_t>("work_ms", 0, {.min = 0, .max = 10'000, .description = "of a picture"});
    out_ = context.output(kFound);
    context.input(kCamera, [this](const Sample<CanFrame>&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(*work_ms_));
      out_.publish(CanFrame{});
    });
  }
  cardan::Parameter<std::int64_t> work_ms_;
  cardan::Output<CanFrame> out_;
};

class ChainDriver : public cardan::Component {
  void on_start(Context& context) override {
    out_ = context.output(kCommand);
    context.input(kFound, [this](const Sample<CanFrame>&) { out_.publish(CanFrame{}); });
  }
  cardan::Output<CanFrame> out_;
};

CARDAN_COMPONENT(ChainSource)
CARDAN_COMPONENT(ChainDetector)
CARDAN_COMPONENT(ChainDriver)

}  // namespace
