// SPDX-License-Identifier: Apache-2.0
// For fusion_test.py: two topics whose samples carry the stamp of their measurement, the second of them published a
// tick later than the first, and a component that joins them.
#include <chrono>
#include <cstdint>

#include "cardan/component.hpp"
#include "cardan/messages.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::CanFrame;
using cardan::Context;
using cardan::Sample;

constexpr cardan::Topic<CanFrame> kLeft{"/left", {.depth = 64}};
constexpr cardan::Topic<CanFrame> kRight{"/right", {.depth = 64}};
constexpr cardan::Topic<CanFrame> kPairs{"/pairs", {.depth = 64}};

class FusionSource : public cardan::Component {
  void on_start(Context& context) override {
    left_ = context.output(kLeft);
    right_ = context.output(kRight);
    context.timer(10ms, [this] {
      publish(left_, ++count_);
      if (count_ > 1) publish(right_, count_ - 1);
    });
  }
  static void publish(cardan::Output<CanFrame>& out, std::uint32_t number) {
    auto frame = out.loan();
    if (!frame) return;
    frame->id = number;
    frame.set_source_time(1'700'000'000'000'000'000 + std::int64_t{number} * 10'000'000);
    out.publish(std::move(frame));
  }
  cardan::Output<CanFrame> left_, right_;
  std::uint32_t count_ = 0;
};

class FusionJoiner : public cardan::Component {
  void on_start(Context& context) override {
    out_ = context.output(kPairs);
    context.fuse(
        cardan::exact({.queue = 64}),
        [this](const Sample<CanFrame>& left, const Sample<CanFrame>& right) {
          auto pair = out_.loan();
          if (!pair || left->id != right->id) return;
          pair->id = left->id;
          pair.set_source_time(left.source_time());
          out_.publish(std::move(pair));
        },
        {.name = "pairs", .inputs = {{}, {.depth = 100}}}, kLeft, kRight);
  }
  cardan::Output<CanFrame> out_;
};

CARDAN_COMPONENT(FusionSource)
CARDAN_COMPONENT(FusionJoiner)

}  // namespace
