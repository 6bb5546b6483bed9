// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "cardan/messages/recorder_statistics.hpp"
#include "cardan/publisher.hpp"
#include "cardan/recorder.hpp"
#include "cardan/recorder_report.hpp"

namespace cardan::record {

/// The recorder's statistics as a topic, if that is wanted. The recorder's thread; does not block, but for the
/// constructor.
class StatisticsPublisher {
 public:
  /// Logs it if the topic cannot be published: recording matters more than reporting.
  explicit StatisticsPublisher(const RecorderOptions& options);

  /// Once a second, and at once after a look for topics: processes that wait for us to attach are notified
  /// (src/runtime/executor/await_recorders.hpp). `now`, `looked_ns`: steady clock; `ahead`: of the wall clock to it.
  void publish(const RecorderReport& report, std::int64_t now, std::int64_t ahead, std::int64_t looked_ns);

 private:
  std::unique_ptr<Publisher<RecorderStatistics>> publisher_;
  std::int64_t published_ns_ = 0, published_looked_ns_ = 0;
};

}  // namespace cardan::record
