// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "cardan/component.hpp"
#include "demo/components/notes.hpp"
#include "demo/steps.hpp"

namespace cardan::street {

/// A component that finds something in each frame of a sensor, where the frame lies, and publishes it. It looks at the
/// freshest frame: what comes while it is busy is skipped, and counted.
template <class In, class Out, class Step>
class Finder : public Component {
 protected:
  /// `step`: what the step is made with.
  template <class Options>
  void declare(Context& context, HopIndex hop, const Topic<In>& from, const Topic<Out>& to, const Options& step) {
    step_.emplace(step);
    picture_ = context.parameter(
        "picture", std::string(),
        {.description = "PNG file for the detections, written at the end; empty: none", .fixed = true});
    context_ = &context;
    out_ = context.output(to);
    notes_.open(context);
    context.input(from, [this, hop](const Sample<In>& frame) {
      const std::int64_t received = context_->now();
      auto found = out_.loan();
      if (!found) return;
      step_->find(*frame, frame.sequence(), *found);
      out_.publish(std::move(found));
      notes_.received(hop, frame, frame->data.size(), received);
      if (draws()) remember(*frame);
      notes_.idle();
    });
  }

  /// Whether the detections are drawn at the end. After declare() has begun.
  [[nodiscard]] bool draws() const { return !(*picture_).empty(); }
  /// After the work on a frame, if the detections are drawn.
  virtual void remember(const In& frame) { step_->remember(frame); }
  [[nodiscard]] Step& step() { return *step_; }
  [[nodiscard]] Context& context() { return *context_; }

 private:
  void on_stop() override {
    const std::string path = *picture_;
    if (path.empty() || !step_) return;
    if (!step_->draw(path)) context_->log(LogLevel::Warning, "cannot write " + path);
  }

  Context* context_ = nullptr;
  Parameter<std::string> picture_;
  Output<Out> out_;
  Notes notes_;
  std::optional<Step> step_;
};

}  // namespace cardan::street
