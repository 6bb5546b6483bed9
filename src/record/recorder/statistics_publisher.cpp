// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/statistics_publisher.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/log.hpp"

namespace cardan::record {
namespace {

constexpr std::int64_t kStatisticsInterval = 1'000'000'000;

}  // namespace

StatisticsPublisher::StatisticsPublisher(const RecorderOptions& options) {
  if (!options.statistics) return;
  try {
    publisher_ = std::make_unique<Publisher<RecorderStatistics>>(kRecorderStatistics,
                                                                 PublisherOptions{.domain = options.domain});
  } catch (const Error& e) {
    detail::log(LogLevel::Warning, std::string("no statistics of the recorder: ") + e.what());
  }
}

void StatisticsPublisher::publish(const RecorderReport& report, std::int64_t now, std::int64_t ahead,
                                  std::int64_t looked_ns) {
  if (publisher_ == nullptr) return;
  const bool looked = std::exchange(published_looked_ns_, looked_ns) != looked_ns;
  if (now - published_ns_ < kStatisticsInterval && !looked) return;
  published_ns_ = now;
  auto loan = publisher_->loan();
  if (!loan) return;
  loan->stamp = now + ahead;
  loan->recorded = report.recorded;
  loan->lost = report.lost;
  loan->bytes = report.bytes;
  loan->write_p50_ns = std::max<std::int64_t>(report.write.p50, 0);  // -1: nothing was written yet
  loan->write_p99_ns = std::max<std::int64_t>(report.write.p99, 0);
  loan->write_most_ns = report.write.most;
  loan->free_bytes = report.free_bytes;
  loan->looked_ns = looked_ns;
  loan->paused = report.paused;
  loan->file = FixedString<252>(std::string_view(report.file));
  const std::size_t count =
      std::min(report.topics.size(), kRecorderStatistics.options.max_bytes / sizeof(RecordedTopic));
  if (loan->topics.try_resize(count))
    for (std::size_t i = 0; i < count; ++i) {
      const TopicReport& topic = report.topics[i];
      loan->topics[i] = {.topic = FixedString<124>(std::string_view(topic.topic)),
                         .recorded = topic.recorded,
                         .lost = topic.lost_in_all(),
                         .queued = topic.queued,
                         .queued_bytes = topic.queued_bytes};
    }
  publisher_->publish(std::move(loan));
}

}  // namespace cardan::record
