// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/life_step.hpp"

#include <utility>

namespace cardan::detail {
namespace {
thread_local const LifeStep* step_here = nullptr;
}  // namespace

LifeStep::LifeStep(const char* component, const char* step) noexcept
    : component_(component), step_(step), before_(std::exchange(step_here, this)) {}

LifeStep::~LifeStep() { step_here = before_; }

const LifeStep* LifeStep::now() noexcept { return step_here; }

}  // namespace cardan::detail
