// SPDX-License-Identifier: Apache-2.0
// For chains_test.py: a source, a detector that takes as long as it is told, and a driver that acts on what it finds.
// For browser_chains_check.mjs: an eye that sees one bright column, and a finder that tells which.
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

constexpr cardan::Topic<cardan::Image> kPicture{"/picture", {.max_bytes = 16 << 10, .depth = 2}};
constexpr cardan::Topic<cardan::Detections2D> kSeen{"/seen", {.max_bytes = 4 << 10, .depth = 2}};
constexpr std::uint32_t kColumns = 64, kRows = 48;

class ChainEye : public cardan::Component {
  void on_start(Context& context) override {
    out_ = context.output(kPicture);
    context.timer(33ms, [this] {
      auto picture = out_.loan();
      if (!picture) return;
      auto pixels = picture->resize(kRows, kColumns, "mono8");
      for (std::uint32_t i = 0; i < kRows * kColumns; ++i)
        pixels[i] = i % kColumns / 4 == number_ % (kColumns / 4) ? std::uint8_t{255} : std::uint8_t{0};
      picture->header.frame_id = "eye";
      picture->header.stamp = cardan::wall_now();
      ++number_;
      out_.publish(std::move(picture));
    });
  }
  cardan::Output<cardan::Image> out_;
  std::uint32_t number_ = 0;
};

/// The middle of the bright column, which is four pixels wide.
class ChainFinder : public cardan::Component {
  void on_start(Context& context) override {
    out_ = context.output(kSeen);
    context.input(kPicture, [this](const Sample<cardan::Image>& picture) {
      auto seen = out_.loan();
      if (!seen) return;
      std::uint32_t column = 0;
      while (column + 1 < kColumns && picture->data[column] == 0) ++column;
      seen->header = picture->header;
      seen->detections.resize(1);
      seen->detections[0].center_x = column + 2.0;
      seen->detections[0].center_y = kRows / 2.0;
      seen->detections[0].label = "column";
      out_.publish(std::move(seen));
    });
  }
  cardan::Output<cardan::Detections2D> out_;
};

CARDAN_COMPONENT(ChainEye)
CARDAN_COMPONENT(ChainFinder)
CARDAN_COMPONENT(ChainSource)
CARDAN_COMPONENT(ChainDetector)
CARDAN_COMPONENT(ChainDriver)

}  // namespace
