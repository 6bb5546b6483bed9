// SPDX-License-Identifier: Apache-2.0
#include "cardan/wait_any.hpp"

#include <algorithm>
#include <array>

#include "cardan/stop.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"
#include "src/transport/endpoint/waiting.hpp"

namespace cardan::detail {

std::size_t wait_any_of(std::span<SubscriberCore* const> subscribers, std::span<const std::size_t> subscriber_at,
                        std::span<const int> descriptors, std::span<const std::size_t> foreign_at,
                        std::int64_t deadline_ns) noexcept {
  std::array<Foreign, kMostWaitedFor> all;
  const std::span<Foreign> foreign = std::span(all).first(descriptors.size());
  for (std::size_t i = 0; i < foreign.size(); ++i) foreign[i] = {descriptors[i]};
  for (;;) {
    if (stopping()) return kNothing;
    std::size_t first = kNothing;
    for (std::size_t i = 0; i < subscribers.size(); ++i)
      if (subscribers[i]->ready()) first = std::min(first, subscriber_at[i]);
    for (std::size_t i = 0; i < foreign.size(); ++i)
      if (foreign[i].ready) first = std::min(first, foreign_at[i]);
    if (first != kNothing) return first;
    if (deadline_ns != 0 && steady_now() >= deadline_ns) return kNothing;
    sleep_on(subscribers, foreign, deadline_ns, false);
  }
}

}  // namespace cardan::detail
