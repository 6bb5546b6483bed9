// SPDX-License-Identifier: Apache-2.0
// `cardan bag info`: what a file, or a folder of a recording in several files, holds.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>

#include "apps/bag/bag.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/record/player/file_set.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

const mcap::Schema* schema_of(const mcap::Reader& reader, const mcap::Channel& channel) {
  const auto found = reader.summary().schemas().find(channel.schema_id);
  return found == reader.summary().schemas().end() ? nullptr : &found->second;
}

/// A channel, in several files perhaps.
struct ChannelRow {
  const mcap::Channel* channel;
  const mcap::Schema* schema;
  std::uint64_t messages = 0;

  [[nodiscard]] bool same(const mcap::Channel& c, const mcap::Schema* s) const {
    return channel->topic == c.topic && channel->message_encoding == c.message_encoding &&
           channel->metadata == c.metadata && (schema == nullptr) == (s == nullptr) &&
           (s == nullptr || (schema->name == s->name && schema->encoding == s->encoding));
  }
};

struct Contents {
  std::string path;
  const record::FileSet& files;
  bool folder;
  std::uint64_t bytes = 0, messages = 0, first = 0, last = 0;
  std::uint64_t repeated = 0;  ///< messages from before a file's start
  bool finished = true, has_statistics = true;
  bool counted = true;  ///< by channel
  std::vector<ChannelRow> rows{};

  Contents(const std::string& named, const record::FileSet& set) : path(named), files(set) {
    std::error_code ignored;
    folder = std::filesystem::is_directory(path, ignored);
    for (const auto& reader : files.readers()) add(*reader);
  }
  [[nodiscard]] const mcap::Reader& front() const { return *files.readers().front(); }
  [[nodiscard]] double seconds() const { return static_cast<double>(std::max(last, first) - first) / 1e9; }
  /// Messages per second; 0: not known.
  [[nodiscard]] double rate(std::uint64_t count) const {
    return count > 1 && last > first ? static_cast<double>(count - 1) / seconds() : 0;
  }
  /// What all files say of themselves; "several": they differ.
  template <class Get>
  [[nodiscard]] std::string common(Get get) const {
    for (const auto& reader : files.readers())
      if (get(*reader) != get(front())) return "several";
    return get(front());
  }

 private:
  void add(const mcap::Reader& reader) {
    bytes += reader.file().size();
    finished = finished && reader.complete();
    has_statistics = has_statistics && reader.has_statistics();
    const mcap::Statistics& s = reader.summary().statistics();
    const auto& counts = s.channel_message_counts;
    counted = counted && reader.has_statistics() && (!counts.empty() || s.message_count == 0);
    if (reader.has_statistics() && s.message_count > 0) {
      const auto& from_before = reader.before_start();
      const std::uint64_t own = from_before ? std::max(s.message_start_time, from_before->start) : s.message_start_time;
      first = messages == 0 ? own : std::min(first, own);
      if (from_before)
        for (const auto& [topic, count] : from_before->messages) repeated += count;
      last = std::max(last, s.message_end_time);
      messages += s.message_count;
    }
    const std::size_t before = rows.size();  // within one file each channel is a row
    for (const auto& [id, channel] : reader.summary().channels()) {
      const mcap::Schema* const schema = schema_of(reader, channel);
      const auto end = rows.begin() + static_cast<std::ptrdiff_t>(before);
      auto row = std::find_if(rows.begin(), end, [&](const ChannelRow& r) { return r.same(channel, schema); });
      if (row == end) row = rows.insert(rows.end(), {&channel, schema});
      if (const auto count = counts.find(id); count != counts.end()) row->messages += count->second;
    }
  }
};

/// "none: 12 chunks, 3.4 MiB" for each compression.
std::map<std::string, mcap::ChunkIndex> by_compression(const Contents& contents) {
  std::map<std::string, mcap::ChunkIndex> all;
  for (const auto& reader : contents.files.readers())
    for (const mcap::ChunkIndex& chunk : reader->summary().chunks()) {
      mcap::ChunkIndex& sum = all[chunk.compression];
      ++sum.chunk_length;
      sum.compressed_size += chunk.compressed_size;
      sum.uncompressed_size += chunk.uncompressed_size;
    }
  return all;
}

/// Attachments, each once: the parts of a recording have the same ones.
std::vector<const mcap::AttachmentIndex*> attachments_of(const Contents& contents) {
  std::vector<const mcap::AttachmentIndex*> all;
  for (const auto& reader : contents.files.readers()) {
    const std::size_t before = all.size();
    for (const mcap::AttachmentIndex& a : reader->summary().attachments()) {
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(before);
      if (std::none_of(all.begin(), end, [&](const auto* b) {
            return std::tie(a.name, a.media_type, a.data_size, a.log_time) ==
                   std::tie(b->name, b->media_type, b->data_size, b->log_time);
          }))
        all.push_back(&a);
    }
  }
  return all;
}

void add_state(Json& out, const mcap::Reader& reader) {
  if (reader.complete()) return;
  out["valid_bytes"] = reader.finish().valid;
  out["cause"] = reader.finish().cause;
}

Json files_json(const Contents& contents) {
  Json all = Json::array();
  for (const auto& reader : contents.files.readers()) {
    const mcap::Statistics& s = reader->summary().statistics();
    const bool known = reader->has_statistics();
    Json one{{"file", reader->file().path()},
             {"bytes", reader->file().size()},
             {"finished", reader->complete()},
             {"messages", known ? Json(s.message_count) : Json()},
             {"start_ns", known ? Json(s.message_start_time) : Json()},
             {"end_ns", known ? Json(s.message_end_time) : Json()}};
    add_state(one, *reader);
    all.push_back(std::move(one));
  }
  return all;
}

Json info_json(const Contents& contents) {
  // Of a file without statistics nobody has counted: that is not 0.
  const auto counted = [&](auto value) { return contents.has_statistics ? Json(value) : Json(); };
  Json out{{"file", contents.path},
           {"bytes", contents.bytes},
           {"finished", contents.finished},
           {"profile", contents.common([](const mcap::Reader& r) { return r.header().profile; })},
           {"library", contents.common([](const mcap::Reader& r) { return r.header().library; })},
           {"messages", counted(contents.messages)},
           {"messages_from_before", contents.repeated},
           {"start_ns", counted(contents.first)},
           {"end_ns", counted(contents.last)},
           {"seconds", counted(contents.seconds())}};
  if (contents.folder)
    out["files"] = files_json(contents);
  else
    add_state(out, contents.front());
  out["topics"] = Json::array();
  for (const ChannelRow& row : contents.rows) {
    const bool known = row.schema != nullptr;
    Json one{{"topic", row.channel->topic},
             {"type", known ? Json(row.schema->name) : Json()},
             {"encoding", row.channel->message_encoding},
             {"schema_encoding", known ? Json(row.schema->encoding) : Json()}};
    if (!contents.folder) one["channel"] = row.channel->id;
    if (contents.counted) {
      one["messages"] = row.messages;
      one["rate"] = contents.rate(row.messages);
    }
    if (!row.channel->metadata.empty()) one["metadata"] = row.channel->metadata;
    out["topics"].push_back(std::move(one));
  }
  out["chunks"] = Json::array();
  for (const auto& [compression, sum] : by_compression(contents))
    out["chunks"].push_back({{"compression", compression.empty() ? "none" : compression},
                             {"chunks", sum.chunk_length},
                             {"bytes", sum.compressed_size},
                             {"uncompressed_bytes", sum.uncompressed_size}});
  out["attachments"] = Json::array();
  for (const mcap::AttachmentIndex* a : attachments_of(contents))
    out["attachments"].push_back({{"name", a->name}, {"media_type", a->media_type}, {"bytes", a->data_size}});
  out["metadata"] = Json::object();
  for (const auto& reader : contents.files.readers())
    for (const mcap::MetadataIndex& m : reader->summary().metadata())
      if (const auto metadata = reader->metadata(m)) out["metadata"][m.name] = metadata->metadata;
  out["problems"] = contents.files.problems();
  out["notes"] = contents.files.notes();
  return out;
}

std::string state_text(const mcap::Reader& reader) {
  return reader.complete() ? "finished"
                           : fmt::format("not finished: {} at byte {}", reader.finish().cause, reader.finish().valid);
}

std::string packed_text(const Contents& contents) {
  std::string packed;
  for (const auto& [compression, sum] : by_compression(contents))
    packed += fmt::format("{}{} chunks {}{}", packed.empty() ? "" : "; ", sum.chunk_length,
                          compression.empty() ? "not compressed" : printable(compression),
                          compression.empty()
                              ? ""
                              : fmt::format(", {} of {}", bytes_text(static_cast<double>(sum.compressed_size)),
                                            bytes_text(static_cast<double>(sum.uncompressed_size))));
  return packed;
}

std::string head_text(const Contents& contents) {
  std::string out;
  const auto add = [&out](const char* what, const std::string& value) {
    out += fmt::format("{:<12} {}\n", what, value);
  };
  const std::string size = bytes_text(static_cast<double>(contents.bytes));
  if (contents.folder)
    add("folder", fmt::format("{}, {} files, {}, {}", printable(contents.path), contents.files.readers().size(), size,
                              contents.finished ? "finished" : "not finished"));
  else
    add("file", fmt::format("{}, {}, {}", printable(contents.path), size, state_text(contents.front())));
  const std::string library = contents.common([](const mcap::Reader& r) { return r.header().library; });
  const std::string profile = contents.common([](const mcap::Reader& r) { return r.header().profile; });
  add("written by",
      printable(library.empty() ? "unknown" : library) + (profile.empty() ? "" : ", profile " + printable(profile)));
  if (contents.messages > 0 && contents.has_statistics)
    add("time",
        fmt::format("{} to {}, {:.3f} s", stamp_text(contents.first), stamp_text(contents.last), contents.seconds()));
  const std::string packed = packed_text(contents);
  add("messages", fmt::format("{}{}", contents.has_statistics ? std::to_string(contents.messages) : "not counted",
                              packed.empty() ? "" : " (" + packed + ")"));
  if (contents.repeated > 0)
    add("of these", fmt::format("{} from before the start, for late readers of their topics", contents.repeated));
  return out;
}

std::string files_text(const Contents& contents) {
  Table table({{"file"}, {"size", true}, {"messages", true}, {"from s", true}, {"to s", true}, {""}});
  for (const auto& reader : contents.files.readers()) {
    const mcap::Statistics& s = reader->summary().statistics();
    const auto at = [&](std::uint64_t time) {
      return s.message_count == 0
                 ? std::string("-")
                 : fmt::format("{:.3f}", static_cast<double>(static_cast<std::int64_t>(time - contents.first)) / 1e9);
    };
    table.row({printable(std::filesystem::path(reader->file().path()).filename().string()),
               bytes_text(static_cast<double>(reader->file().size())),
               reader->has_statistics() ? std::to_string(s.message_count) : "-", at(s.message_start_time),
               at(s.message_end_time), reader->complete() ? "" : state_text(*reader)});
  }
  return "\n" + table.text();
}

std::string info_text(const Contents& contents) {
  std::string out = head_text(contents);
  Table table({{"topic"}, {"type"}, {"encoding"}, {"messages", true}, {"Hz", true}});
  std::vector<const ChannelRow*> rows;
  for (const ChannelRow& row : contents.rows) rows.push_back(&row);
  // Channels of several files may have the same id: then in the order in which they came.
  std::sort(rows.begin(), rows.end(), [](const ChannelRow* a, const ChannelRow* b) {
    return std::tie(a->channel->topic, a->channel->id, a) < std::tie(b->channel->topic, b->channel->id, b);
  });
  for (const ChannelRow* const one : rows) {
    const ChannelRow& row = *one;
    const double rate = contents.rate(row.messages);
    table.row({printable(row.channel->topic), row.schema == nullptr ? "-" : printable(row.schema->name),
               printable(row.channel->message_encoding), contents.counted ? std::to_string(row.messages) : "-",
               rate > 0 ? count_text(rate) : "-"});
  }
  if (!rows.empty()) out += "\n" + table.text();
  if (contents.folder) out += files_text(contents);
  for (const mcap::AttachmentIndex* a : attachments_of(contents))
    out += fmt::format("\nattachment {} ({}, {})", printable(a->name), printable(a->media_type),
                       bytes_text(static_cast<double>(a->data_size)));
  std::set<std::string> shown;
  for (const auto& reader : contents.files.readers())
    for (const mcap::MetadataIndex& index : reader->summary().metadata()) {
      const auto metadata = reader->metadata(index);
      std::string text = fmt::format("\nmetadata {}", printable(index.name));
      if (metadata)
        for (const auto& [key, value] : metadata->metadata)
          text += fmt::format("\n  {}: {}", printable(key), printable(value));
      if (!contents.folder || shown.insert(text).second) out += text;
    }
  if (out.back() != '\n') out += "\n";
  for (const auto& reader : contents.files.readers())
    if (!reader->complete())
      out +=
          fmt::format("\nTo finish it: cardan bag recover {0} -o recovered.mcap\n", printable(reader->file().path()));
  return out;
}

}  // namespace

int bag_info(const BagInfoOptions& o) {
  const record::FileSet files({o.file});
  const Contents contents(o.file, files);
  const std::string text = o.json ? json_lines(info_json(contents)) : info_text(contents);
  if (!emit(text)) return kFailed;
  for (const std::string& note : files.notes()) warn(note);
  for (const std::string& problem : files.problems()) warn(problem);
  return files.problems().empty() ? kOk : kLoss;
}

}  // namespace cardan::apps
