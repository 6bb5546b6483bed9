// SPDX-License-Identifier: Apache-2.0
// The decision: whenever one of the two sensors' findings comes in, brake or go, from the newest of both.
#include <utility>

#include "cardan/component.hpp"
#include "demo/components/notes.hpp"
#include "demo/steps.hpp"

namespace cardan::street {

class Decide : public Component {
  void on_start(Context& context) override {
    context_ = &context;
    decisions_ = context.output(kDecisions);
    camera_ = context.latest(kCameraInfo, {.rests_on = false});  // its width does not grow old
    notes_.open(context);
    context.input(kSeen, [this](const Sample<Detections2D>& seen) {
      const std::int64_t received = context_->now();
      const Sample<CameraInfo> camera = camera_.get();
      seen_ = seen;
      step_.see(*seen, camera ? static_cast<float>(camera->width) : 0.0F, context_->now());
      decide(kImageHop, seen->header);
      notes_.received(kSeenHop, seen, seen->detections.size() * sizeof(Detection2D), received);
      notes_.idle();
    });
    const auto on_obstacles = [this](const Sample<Detections3D>& obstacles) {
      const std::int64_t received = context_->now();
      obstacles_ = obstacles;
      step_.see(*obstacles, context_->now());
      decide(kCloudHop, obstacles->header);
      notes_.received(kObstaclesHop, obstacles, obstacles->detections.size() * sizeof(Detection3D), received);
      notes_.idle();
    };
    context.input(kObstacles, on_obstacles, {.depth = 1});
  }

  void decide(HopIndex sensor, const Header& header) {
    auto decision = decisions_.loan();
    if (!decision) return;
    decision.rests_on(seen_);  // one of them came now, and the other is what was seen last
    decision.rests_on(obstacles_);
    step_.decide(header, context_->now(), *decision);
    const Decision made = *decision;
    decisions_.publish(std::move(decision));
    notes_.say(decided_note(sensor, header.sequence, context_->now(), made.brake, made.distance, made.reason));
  }

  Context* context_ = nullptr;
  DecisionStep step_;
  Latest<CameraInfo> camera_;
  Sample<Detections2D> seen_;
  Sample<Detections3D> obstacles_;
  Output<Decision> decisions_;
  Notes notes_;
};
CARDAN_COMPONENT(Decide)

}  // namespace cardan::street
