// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/recorder.hpp"
#include "src/record/disk/io_queue.hpp"
#include "src/record/recorder/batches.hpp"
#include "src/record/recorder/intake.hpp"
#include "src/record/recorder/issuer.hpp"
#include "src/record/recorder/latest_report.hpp"
#include "src/record/recorder/recorded_topics.hpp"
#include "src/record/recorder/requests.hpp"
#include "src/record/recorder/rotation.hpp"
#include "src/record/recorder/selection.hpp"
#include "src/record/recorder/statistics_publisher.hpp"

namespace cardan::record {

/// Puts together what the parts of a recorder say of themselves, for report() and the statistics. It reads them and
/// changes nothing. The recorder's thread; does not block.
class Reporter {
 public:
  struct Parts {
    const RecorderOptions& options;
    const DiskProbe& probe;
    const Requests& requests;
    const IoQueue& queue;
    const Scheduler& scheduler;
    const RecordedTopics& topics;
    const Rotation& rotation;
    const Batches& batches;
    const Issuer& issuer;
    const Intake& intake;
  };
  /// Throws Error (InvalidArgument), as Selection. `latest` gets the reports.
  Reporter(const Parts& parts, StatisticsPublisher& statistics, LatestReport& latest);

  /// The recording starts now (steady clock).
  void start(std::int64_t now) noexcept { started_ns_ = now; }
  /// A report is due: some time has gone by, or there was a look for topics.
  [[nodiscard]] bool due(std::int64_t now) const noexcept;
  void publish(std::int64_t now);

 private:
  void add_topics(RecorderReport& report) const;
  void add_missing(RecorderReport& report) const;
  void add_problems(RecorderReport& report) const;
  void add_bytes(RecorderReport& report) const;

  const Parts parts_;
  StatisticsPublisher& statistics_;
  LatestReport& latest_;
  const Selection selection_;
  std::int64_t started_ns_ = 0, reported_ns_ = 0, reported_looked_ns_ = 0;
  std::int64_t ready_ns_ = 0;  ///< 0: not yet
};

}  // namespace cardan::record
