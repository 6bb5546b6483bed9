// SPDX-License-Identifier: Apache-2.0
// Two classes offered in one line: this one compiles.
#include "cardan/component.hpp"

struct One : cardan::Component {
  void on_start(cardan::Context&) override {}
};
struct Two : cardan::Component {
  void on_start(cardan::Context&) override {}
};
// clang-format off
CARDAN_COMPONENT(One) CARDAN_COMPONENT(Two)
