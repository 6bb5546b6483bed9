// SPDX-License-Identifier: Apache-2.0
// `cardan bag ls`, and which messages of a file are meant.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/bag/bag.hpp"
#include "apps/view/output.hpp"
#include "cardan/base/error.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/record/name_patterns.hpp"
#include "cardan/transport/stop.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

/// Of the file's first message; 0: it has none.
std::uint64_t first_time(const mcap::Reader& reader) {
  if (reader.has_statistics()) return reader.summary().statistics().message_start_time;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const mcap::ChunkIndex& chunk : reader.summary().chunks()) first = std::min(first, chunk.message_start_time);
  return reader.summary().chunks().empty() ? 0 : first;
}

}  // namespace

std::string stamp_text(std::uint64_t nanoseconds) {
  constexpr std::uint64_t kNs = 1'000'000'000;
  if (nanoseconds < 1'000'000'000 * kNs || nanoseconds / kNs > 32'503'680'000)  // not between 2001 and 3000
    return fmt::format("{}.{:09} s", nanoseconds / kNs, nanoseconds % kNs);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:09}", fmt::gmtime(static_cast<std::time_t>(nanoseconds / kNs)),
                     nanoseconds % kNs);
}

mcap::ReadOptions read_options(const BagSelection& s, const mcap::Reader& reader) {
  for (const std::string& pattern : s.topics) {
    const auto& channels = reader.summary().channels();
    if (std::none_of(channels.begin(), channels.end(),
                     [&](const auto& one) { return record::fits_one({pattern}, one.second.topic); }))
      throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no topic '{}'", reader.file().path(), pattern),
                  "cardan bag info shows which it has");
  }
  mcap::ReadOptions options;
  const std::uint64_t first = first_time(reader);
  const auto at = [&](double seconds) {
    return seconds <= 0 ? first : first + static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e9) * 1e9));
  };
  if (s.start && s.end && *s.end < *s.start)
    throw Error(ErrorCode::InvalidArgument, fmt::format("--end {} is before --start {}", *s.end, *s.start),
                "both count from the first message");
  if (s.start) options.start = at(*s.start);
  if (s.end) options.end = at(*s.end);
  if (!s.topics.empty() || !s.exclude.empty())
    options.wanted = [s](const mcap::Channel& channel) {
      return (s.topics.empty() || record::fits_one(s.topics, channel.topic)) &&
             !record::fits_one(s.exclude, channel.topic);
    };
  return options;
}

int bag_list(const BagListOptions& o) {
  const mcap::Reader reader(o.file);
  mcap::Messages messages = reader.messages(read_options(o.selection, reader));
  stop_on_signals();
  std::uint64_t shown = 0;
  while (const auto one = messages.next()) {
    const mcap::Message& m = one->message;
    const std::string line =
        o.json
            ? Json{{"log_time", m.log_time},       {"publish_time", m.publish_time},
                   {"source_time", m.source_time}, {"sequence", m.sequence},
                   {"topic", one->channel->topic}, {"type", one->schema == nullptr ? Json() : Json(one->schema->name)},
                   {"bytes", m.data.size()}}
                  .dump(-1, ' ', false, Json::error_handler_t::replace)
            : fmt::format("{}  {:>10}  {:>10}  {}", stamp_text(m.log_time), m.sequence,
                          bytes_text(static_cast<double>(m.data.size())), printable(one->channel->topic));
    if (!emit(line + "\n") || stopping() || ++shown == o.count) break;
  }
  for (const mcap::Problem& p : messages.problems()) warn(fmt::format("{}, byte {}: {}", o.file, p.offset, p.cause));
  for (const mcap::Problem& p : reader.losses()) warn(fmt::format("{}: {}", o.file, p.cause));
  if (!reader.complete())
    warn(fmt::format("{} is not finished: {} (byte {})", o.file, reader.finish().cause, reader.finish().valid));
  return messages.problems().empty() && reader.losses().empty() && reader.finish().how != mcap::Finish::How::Damaged
             ? kOk
             : kLoss;
}

}  // namespace cardan::apps
