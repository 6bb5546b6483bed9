// SPDX-License-Identifier: Apache-2.0
// Without threads: the steps of a simulation.
#include <algorithm>

#include "src/runtime/runtime.hpp"

namespace cardan {

bool Runtime::run_one() {
  services_.end_overdue();
  return std::any_of(groups_.begin(), groups_.end(), [](const auto& group) { return group->run_one(); });
}

std::int64_t Runtime::next_timer() const {
  std::int64_t next = services_.next_deadline();
  for (const auto& group : groups_)
    if (const std::int64_t at = group->next_timer(); at != 0) next = next == 0 ? at : std::min(next, at);
  return next;
}

}  // namespace cardan
