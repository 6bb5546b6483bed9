// SPDX-License-Identifier: Apache-2.0
// `cardan bag info` and `cardan bag ls`.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "apps/bag.hpp"
#include "apps/output.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/record/mcap/reader.hpp"
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

struct Contents {
  std::uint64_t messages = 0, first = 0, last = 0;
  std::map<std::uint16_t, std::uint64_t> of_channel;
  bool counted = false;  ///< by channel

  explicit Contents(const mcap::Reader& reader) {
    const mcap::Statistics& s = reader.summary().statistics();
    if (!reader.has_statistics()) return;
    messages = s.message_count;
    first = s.message_start_time;
    last = s.message_end_time;
    of_channel = s.channel_message_counts;
    counted = !of_channel.empty() || messages == 0;
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(last - first) / 1e9; }
  /// Messages a second; 0: it cannot be told.
  [[nodiscard]] double rate(std::uint64_t count) const {
    return count > 1 && last > first ? static_cast<double>(count - 1) / seconds() : 0;
  }
};

/// "none: 12 chunks, 3.4 MiB" for each compression.
std::map<std::string, mcap::ChunkIndex> by_compression(const mcap::Reader& reader) {
  std::map<std::string, mcap::ChunkIndex> all;
  for (const mcap::ChunkIndex& chunk : reader.summary().chunks()) {
    mcap::ChunkIndex& sum = all[chunk.compression];
    ++sum.chunk_length;
    sum.compressed_size += chunk.compressed_size;
    sum.uncompressed_size += chunk.uncompressed_size;
  }
  return all;
}

Json info_json(const mcap::Reader& reader, const Contents& contents) {
  Json out{{"file", reader.file().path()},       {"bytes", reader.file().size()},
           {"finished", reader.complete()},      {"profile", reader.header().profile},
           {"library", reader.header().library}, {"messages", contents.messages},
           {"start_ns", contents.first},         {"end_ns", contents.last},
           {"seconds", contents.seconds()}};
  if (!reader.complete()) {
    out["valid_bytes"] = reader.finish().valid;
    out["cause"] = reader.finish().cause;
  }
  out["topics"] = Json::array();
  for (const auto& [id, channel] : reader.summary().channels()) {
    const auto schema = reader.summary().schemas().find(channel.schema_id);
    const bool known = schema != reader.summary().schemas().end();
    Json one{{"topic", channel.topic},
             {"type", known ? Json(schema->second.name) : Json()},
             {"encoding", channel.message_encoding},
             {"schema_encoding", known ? Json(schema->second.encoding) : Json()},
             {"channel", id}};
    if (contents.counted) {
      const auto count = contents.of_channel.find(id);
      one["messages"] = count == contents.of_channel.end() ? 0 : count->second;
      one["rate"] = count == contents.of_channel.end() ? 0 : contents.rate(count->second);
    }
    if (!channel.metadata.empty()) one["metadata"] = channel.metadata;
    out["topics"].push_back(std::move(one));
  }
  out["chunks"] = Json::array();
  for (const auto& [compression, sum] : by_compression(reader))
    out["chunks"].push_back({{"compression", compression.empty() ? "none" : compression},
                             {"chunks", sum.chunk_length},
                             {"bytes", sum.compressed_size},
                             {"uncompressed_bytes", sum.uncompressed_size}});
  out["attachments"] = Json::array();
  for (const mcap::AttachmentIndex& a : reader.summary().attachments())
    out["attachments"].push_back({{"name", a.name}, {"media_type", a.media_type}, {"bytes", a.data_size}});
  out["metadata"] = Json::object();
  for (const mcap::MetadataIndex& m : reader.summary().metadata())
    if (const auto metadata = reader.metadata(m)) out["metadata"][m.name] = metadata->metadata;
  return out;
}

std::string info_text(const mcap::Reader& reader, const Contents& contents) {
  std::string out;
  const auto add = [&out](const char* what, const std::string& value) {
    out += fmt::format("{:<12} {}\n", what, value);
  };
  const std::string state =
      reader.complete() ? "finished"
                        : fmt::format("not finished: {} at byte {}", reader.finish().cause, reader.finish().valid);
  add("file", fmt::format("{}, {}, {}", printable(reader.file().path()),
                          bytes_text(static_cast<double>(reader.file().size())), state));
  add("written by", printable(reader.header().library.empty() ? "unknown" : reader.header().library) +
                        (reader.header().profile.empty() ? "" : ", profile " + printable(reader.header().profile)));
  if (contents.messages > 0)
    add("time",
        fmt::format("{} to {}, {:.3f} s", stamp_text(contents.first), stamp_text(contents.last), contents.seconds()));
  std::string packed;
  for (const auto& [compression, sum] : by_compression(reader))
    packed += fmt::format("{}{} chunks {}{}", packed.empty() ? "" : "; ", sum.chunk_length,
                          compression.empty() ? "not compressed" : printable(compression),
                          compression.empty()
                              ? ""
                              : fmt::format(", {} of {}", bytes_text(static_cast<double>(sum.compressed_size)),
                                            bytes_text(static_cast<double>(sum.uncompressed_size))));
  add("messages", fmt::format("{}{}", reader.has_statistics() ? std::to_string(contents.messages) : "not counted",
                              packed.empty() ? "" : " (" + packed + ")"));
  Table table({{"topic"}, {"type"}, {"encoding"}, {"messages", true}, {"Hz", true}});
  std::vector<const mcap::Channel*> channels;
  for (const auto& [id, channel] : reader.summary().channels()) channels.push_back(&channel);
  std::sort(channels.begin(), channels.end(),
            [](const auto* a, const auto* b) { return std::tie(a->topic, a->id) < std::tie(b->topic, b->id); });
  for (const mcap::Channel* channel : channels) {
    const auto schema = reader.summary().schemas().find(channel->schema_id);
    const auto count = contents.of_channel.find(channel->id);
    const std::uint64_t messages = count == contents.of_channel.end() ? 0 : count->second;
    const double rate = contents.rate(messages);
    table.row({printable(channel->topic),
               schema == reader.summary().schemas().end() ? "-" : printable(schema->second.name),
               printable(channel->message_encoding), contents.counted ? std::to_string(messages) : "-",
               rate > 0 ? count_text(rate) : "-"});
  }
  if (!channels.empty()) out += "\n" + table.text();
  for (const mcap::AttachmentIndex& a : reader.summary().attachments())
    out += fmt::format("\nattachment {} ({}, {})", printable(a.name), printable(a.media_type),
                       bytes_text(static_cast<double>(a.data_size)));
  for (const mcap::MetadataIndex& index : reader.summary().metadata()) {
    const auto metadata = reader.metadata(index);
    out += fmt::format("\nmetadata {}", printable(index.name));
    if (!metadata) continue;
    for (const auto& [key, value] : metadata->metadata)
      out += fmt::format("\n  {}: {}", printable(key), printable(value));
  }
  if (out.back() != '\n') out += "\n";
  if (!reader.complete())
    out += fmt::format("\nA finished file of it: cardan bag recover {0} -o recovered.mcap\n",
                       printable(reader.file().path()));
  return out;
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

int bag_info(const BagInfoOptions& o) {
  const mcap::Reader reader(o.file);
  const Contents contents(reader);
  if (o.json)
    return emit(info_json(reader, contents).dump(2, ' ', false, Json::error_handler_t::replace) + "\n") ? kOk : kFailed;
  return emit(info_text(reader, contents)) ? kOk : kFailed;
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
