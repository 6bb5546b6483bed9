// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cardan/observer_report.hpp"

namespace cardan::apps {

/// The counts since `before`.
inline LatencyHistogram less(const LatencyHistogram& now, const LatencyHistogram& before) {
  return latency_since(now, before);
}

/// {"p50": µs, "p95": µs, "p99": µs, "samples": n}; null when the histogram is empty.
nlohmann::ordered_json latency_json(const LatencyHistogram& histogram);

/// The same of the ages of what a subscriber took, with "greatest" (µs, since its attach) and "unknown" (a count).
nlohmann::ordered_json age_json(const SubscriberReport& subscriber, const LatencyHistogram& ages);

/// All that `topic info` knows of a publisher.
nlohmann::ordered_json publisher_json(const PublisherReport& publisher);

}  // namespace cardan::apps
