// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/cycle_mark.hpp"

#include "cardan/cycle.hpp"

namespace cardan::detail {

void CycleMark::set(Cycle& cycle, bool also_short) noexcept {
  cycle_ = &cycle;
  marks_ = also_short_ = also_short;
}

void CycleMark::begin_cycle() noexcept { cycle_->begin(); }

void CycleMark::end_cycle(std::int64_t worked_ns) noexcept {
  cycle_->end();
  if (also_short_) return;
  average_ns_ += (worked_ns - average_ns_) / 8;
  marks_ = average_ns_ >= (marks_ ? kShort / 2 : kShort);  // one near the limit should not change at each call
}

}  // namespace cardan::detail
