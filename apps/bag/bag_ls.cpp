// SPDX-License-Identifier: Apache-2.0
// `cardan bag ls`, and which messages of a file are meant.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/bag/bag.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/stop.hpp"
#include "src/base/name_patterns.hpp"
#include "src/record/player/file_set.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

/// Of the file's first message; 0: it has none.
std::uint64_t first_time(const mcap::Reader& reader) {
  if (reader.before_start()) {
    const auto own = mcap::own_times(reader);
    return own ? own->first : reader.before_start()->start;
  }
  if (reader.has_statistics()) return reader.summary().statistics().message_start_time;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const mcap::ChunkIndex& chunk : reader.summary().chunks()) first = std::min(first, chunk.message_start_time);
  return reader.summary().chunks().empty() ? 0 : first;
}

/// Of the first message of all; 0: no message.
std::uint64_t first_time(const std::vector<const mcap::Reader*>& readers) {
  std::uint64_t first = 0;
  for (const mcap::Reader* const reader : readers)
    if (const std::uint64_t its = first_time(*reader); its != 0) first = first == 0 ? its : std::min(first, its);
  return first;
}

/// Of the last message of all; 0: it is not known.
std::uint64_t last_time(const std::vector<const mcap::Reader*>& readers) {
  std::uint64_t last = 0;
  for (const mcap::Reader* const reader : readers) {
    if (reader->has_statistics()) last = std::max(last, reader->summary().statistics().message_end_time);
    for (const mcap::ChunkIndex& chunk : reader->summary().chunks()) last = std::max(last, chunk.message_end_time);
  }
  return last;
}

mcap::ReadOptions options_of(const BagSelection& s, const std::vector<const mcap::Reader*>& readers,
                             const std::string& path) {
  for (const std::string& pattern : s.topics) {
    const auto has = [&](const mcap::Reader* reader) {
      const auto& channels = reader->summary().channels();
      return std::any_of(channels.begin(), channels.end(),
                         [&](const auto& one) { return detail::fits_one({pattern}, one.second.topic); });
    };
    if (std::none_of(readers.begin(), readers.end(), has))
      throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no topic '{}'", path, pattern),
                  "cardan bag info shows which it has");
  }
  mcap::ReadOptions options;
  const std::uint64_t first = first_time(readers);
  const auto at = [&](const replay::RecordedTime& time) { return time.log_time(first); };
  if (s.start && s.end && at(*s.end) < at(*s.start))
    throw Error(ErrorCode::InvalidArgument, fmt::format("--end {} is before --start {}", s.end->text, s.start->text),
                "both count from the first message");
  if (const std::uint64_t last = last_time(readers); s.start && last >= first && last != 0 && at(*s.start) > last)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("--start {} is after the last message: {} lasts {:.3f} s", s.start->text, path,
                            static_cast<double>(last - first) / 1e9),
                "it counts from the first message");
  if (s.start) options.start = at(*s.start);
  if (s.end) options.end = at(*s.end);
  if (!s.topics.empty() || !s.exclude.empty())
    options.wanted = [s](const mcap::Channel& channel) {
      return (s.topics.empty() || detail::fits_one(s.topics, channel.topic)) &&
             !detail::fits_one(s.exclude, channel.topic);
    };
  return options;
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
  return options_of(s, {&reader}, reader.file().path());
}

mcap::ReadOptions read_options(const BagSelection& s, const record::FileSet& files, const std::string& path) {
  std::vector<const mcap::Reader*> readers;
  for (const auto& reader : files.readers()) readers.push_back(reader.get());
  return options_of(s, readers, path);
}

record::FileMessages selected_messages(const record::FileSet& files, const mcap::ReadOptions& options) {
  record::WantedChannel wanted;
  if (options.wanted)
    wanted = [wants = options.wanted](std::size_t, const mcap::Channel& channel) { return wants(channel); };
  return {files, options.start, options.end, wanted};
}

bool tell_faults(const record::FileSet& files, const record::FileMessages& messages) {
  const auto problems = messages.problems();
  for (const record::FileProblem& p : problems)
    warn(fmt::format("{}, byte {}: {}", files.readers()[p.file]->file().path(), p.problem.offset, p.problem.cause));
  for (const std::string& problem : files.problems()) warn(problem);
  for (const std::string& note : files.notes()) warn(note);
  bool lost = !problems.empty() || !files.problems().empty();
  for (const auto& reader : files.readers()) {
    if (reader->complete()) continue;
    warn(fmt::format("{} is not finished: {} (byte {})", reader->file().path(), reader->finish().cause,
                     reader->finish().valid));
    lost = lost || reader->finish().how == mcap::Finish::How::Damaged;
  }
  return lost;
}

int bag_list(const BagListOptions& o) {
  const record::FileSet files({o.file});
  record::FileMessages messages = selected_messages(files, read_options(o.selection, files, o.file));
  stop_on_signals();
  std::uint64_t shown = 0;
  while (const auto next = messages.next()) {
    const mcap::MessageView* const one = &next->view;
    const mcap::Message& m = one->message;
    const std::string line =
        o.json ? one_line({{"log_time", m.log_time},
                           {"publish_time", m.publish_time},
                           {"source_time", m.source_time},
                           {"sequence", m.sequence},
                           {"topic", one->channel->topic},
                           {"type", one->schema == nullptr ? Json() : Json(one->schema->name)},
                           {"bytes", m.data.size()}})
               : fmt::format("{}  {:>10}  {:>10}  {}", stamp_text(m.log_time), m.sequence,
                             bytes_text(static_cast<double>(m.data.size())), printable(one->channel->topic));
    if (!emit(line + "\n")) return kFailed;
    if (stopping() || ++shown == o.count) break;
  }
  return tell_faults(files, messages) ? kLoss : kOk;
}

}  // namespace cardan::apps
