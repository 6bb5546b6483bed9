// SPDX-License-Identifier: Apache-2.0
// A component with a timer: a radar that sees something come nearer, again and again.
#include <chrono>

#include "cardan/component.hpp"
#include "topics.hpp"

class Radar : public cardan::Component {
  void on_start(cardan::Context& context) override {
    using namespace std::chrono_literals;
    out_ = context.output(kDistance);
    context.timer(50ms, [this] {
      metres_ = metres_ < 1 ? 20 : metres_ - 0.5;
      out_.publish({metres_});
    });
  }
  cardan::Output<Distance> out_;
  double metres_ = 20;
};
CARDAN_COMPONENT(Radar)
