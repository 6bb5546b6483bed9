// SPDX-License-Identifier: Apache-2.0
// A component: brakes when something is near.
#include "cardan/component.hpp"
#include "topics.hpp"

class Brake : public cardan::Component {
  void on_start(cardan::Context& context) override {
    limit_ = context.parameter("limit_m", 8.0, {.min = 0.0, .max = 100.0, .description = "brakes below, metres"});
    command_ = context.output(kCommand);
    context.input(kDistance, [this](const cardan::Sample<Distance>& distance) {
      command_.publish({.brake = distance->metres < *limit_});
    });
  }
  cardan::Parameter<double> limit_;
  cardan::Output<Command> command_;
};
CARDAN_COMPONENT(Brake)
