// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/bridge_statistics.hpp"

#include <algorithm>
#include <utility>

#include "cardan/clock.hpp"

namespace cardan::bridge {
namespace {

Topic<BridgeStatistics> topic_with(Access access) {
  Topic<BridgeStatistics> topic = kBridgeStatistics;
  topic.options.access = access;
  return topic;
}

}  // namespace

StatisticsPublisher::StatisticsPublisher(const std::string& domain, Access access, const std::string& network)
    : publisher_(topic_with(access), {.domain = domain}) {
  network_ = FixedString<60>(std::string_view(network));
}

void StatisticsPublisher::publish(const std::vector<TopicReport>& reports) {
  constexpr std::size_t kMost = kBridgeStatistics.options.max_bytes / sizeof(BridgedTopic);
  auto loan = publisher_.loan();
  if (!loan) return;
  loan->stamp = wall_now();
  loan->network = network_;
  loan->topics.resize(std::min(reports.size(), kMost));
  for (std::size_t i = 0; i < loan->topics.size(); ++i) {
    const TopicReport& from = reports[i];
    BridgedTopic& to = loan->topics[i];
    to.topic = FixedString<124>(std::string_view(from.topic));
    to.beyond = FixedString<124>(std::string_view(from.beyond));
    to.in = from.in;
    to.receivers = from.receivers;
    to.carried = from.counts.carried;
    to.bytes = from.counts.bytes;
    to.thinned = from.counts.thinned;
    to.lost = from.counts.lost;
    to.refused = from.counts.refused;
  }
  publisher_.publish(std::move(loan));
}

}  // namespace cardan::bridge
