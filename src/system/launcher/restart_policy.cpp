// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/restart_policy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cardan::launcher {

RestartPolicy::Decision RestartPolicy::ended(bool in_order, std::int64_t now_ns) {
  if (in_order && rule_.when != config::RestartWhen::Always) return {};
  if (rule_.when == config::RestartWhen::Never)
    return {.what = Decision::What::GiveUp, .reason = "its rule is never to restart it"};

  while (!recent_.empty() && now_ns - recent_.front() >= rule_.window.count()) recent_.pop_front();
  if (recent_.size() >= static_cast<std::size_t>(std::max(rule_.limit, 0)))
    return {.what = Decision::What::GiveUp,
            .reason = fmt::format("its limit is {} restart{} within {:g} s", rule_.limit, rule_.limit == 1 ? "" : "s",
                                  static_cast<double>(rule_.window.count()) / 1e9)};

  std::int64_t delay = std::min(rule_.backoff, rule_.backoff_max).count();
  for (std::size_t i = 0; i < recent_.size() && delay < rule_.backoff_max.count(); ++i)
    delay = delay > rule_.backoff_max.count() / 2 ? rule_.backoff_max.count() : 2 * delay;
  recent_.push_back(now_ns);
  ++restarts_;
  return {.what = Decision::What::Restart, .at_ns = now_ns + delay};
}

}  // namespace cardan::launcher
