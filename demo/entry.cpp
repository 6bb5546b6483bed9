// SPDX-License-Identifier: Apache-2.0
#include "demo/entry.hpp"

int cardan_street_demo(const cardan::street::DemoOptions& options, const std::function<void()>& on_start) {
  return cardan::street::run_demo(options, on_start);
}
int cardan_street_role(const cardan::street::RoleOptions& options) { return cardan::street::run_role(options); }
