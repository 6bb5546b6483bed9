// SPDX-License-Identifier: Apache-2.0
// `cardan bag info`: what files hold, of whatever kind; several, and those of a folder, as one recording.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/bag/bag.hpp"
#include "apps/bag/info_file.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

const mcap::Schema* schema_of(const InfoFile& file, const mcap::Channel& channel) {
  const auto found = file.summary().schemas().find(channel.schema_id);
  return found == file.summary().schemas().end() ? nullptr : &found->second;
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
  const InfoFiles& files;
  std::size_t named;
  bool several;  ///< a folder, or some files
  std::uint64_t bytes = 0, messages = 0, first = 0, last = 0;
  std::uint64_t repeated = 0;  ///< messages from before a file's start
  bool finished = true, has_statistics = true;
  bool counted = true;  ///< by channel
  std::vector<ChannelRow> rows{};

  Contents(const std::vector<std::string>& paths, const InfoFiles& opened)
      : path(paths.front()), files(opened), named(paths.size()) {
    std::error_code ignored;
    several = named > 1 || std::filesystem::is_directory(path, ignored);
    for (std::size_t i = 1; i < named; ++i) path += " " + paths[i];
    for (const InfoFile& file : files.all()) add(file);
  }
  [[nodiscard]] const InfoFile& front() const { return files.all().front(); }
  [[nodiscard]] double seconds() const { return static_cast<double>(std::max(last, first) - first) / 1e9; }
  /// Messages per second; 0: not known.
  [[nodiscard]] double rate(std::uint64_t count) const {
    return count > 1 && last > first ? static_cast<double>(count - 1) / seconds() : 0;
  }
  /// The common value of all files; "several": they differ.
  template <class Get>
  [[nodiscard]] std::string common(Get get) const {
    for (const InfoFile& file : files.all())
      if (get(file) != get(front())) return "several";
    return get(front());
  }

 private:
  void add(const InfoFile& file) {
    bytes += file.bytes;
    finished = finished && file.complete();
    has_statistics = has_statistics && file.has_statistics;
    const mcap::Statistics& s = file.summary().statistics();
    const auto& counts = s.channel_message_counts;
    counted = counted && file.has_statistics && (!counts.empty() || s.message_count == 0);
    if (file.has_statistics && s.message_count > 0) {
      const auto from_before = file.reader == nullptr ? std::nullopt : file.reader->before_start();
      const std::uint64_t own = from_before ? std::max(s.message_start_time, from_before->start) : s.message_start_time;
      first = messages == 0 ? own : std::min(first, own);
      if (from_before)
        for (const auto& [topic, count] : from_before->messages) repeated += count;
      last = std::max(last, s.message_end_time);
      messages += s.message_count;
    }
    const std::size_t before = rows.size();  // within one file each channel is a row
    for (const auto& [id, channel] : file.summary().channels()) {
      const mcap::Schema* const schema = schema_of(file, channel);
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
  for (const InfoFile& file : contents.files.all())
    for (const mcap::ChunkIndex& chunk : file.summary().chunks()) {
      mcap::ChunkIndex& sum = all[chunk.compression];
      ++sum.chunk_length;
      sum.compressed_size += chunk.compressed_size;
      sum.uncompressed_size += chunk.uncompressed_size;
    }
  return all;
}

/// Attachments, each once: the parts of a recording have the same ones.
std::vector<const mcap::AttachmentIndex*> attachments_of(const Contents& contents) {
  const auto key = [](const mcap::AttachmentIndex& a) {
    return std::tie(a.name, a.media_type, a.data_size, a.log_time);
  };
  std::set<decltype(key(std::declval<const mcap::AttachmentIndex&>()))> earlier;
  std::vector<const mcap::AttachmentIndex*> all;
  for (const InfoFile& file : contents.files.all()) {
    const std::size_t before = all.size();
    for (const mcap::AttachmentIndex& a : file.summary().attachments())
      if (!earlier.contains(key(a))) all.push_back(&a);
    for (std::size_t i = before; i < all.size(); ++i) earlier.insert(key(*all[i]));
  }
  return all;
}

void add_state(Json& out, const InfoFile& file) {
  if (file.complete()) return;
  out["valid_bytes"] = file.finish.valid;
  out["cause"] = file.finish.cause;
}

Json files_json(const Contents& contents) {
  Json all = Json::array();
  for (const InfoFile& file : contents.files.all()) {
    const mcap::Statistics& s = file.summary().statistics();
    const bool known = file.has_statistics;
    Json one{{"file", file.path},
             {"bytes", file.bytes},
             {"finished", file.complete()},
             {"messages", known ? Json(s.message_count) : Json()},
             {"start_ns", known ? Json(s.message_start_time) : Json()},
             {"end_ns", known ? Json(s.message_end_time) : Json()}};
    add_state(one, file);
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
           {"profile", contents.common([](const InfoFile& f) { return f.header.profile; })},
           {"library", contents.common([](const InfoFile& f) { return f.header.library; })},
           {"messages", counted(contents.messages)},
           {"messages_from_before", contents.repeated},
           {"start_ns", counted(contents.first)},
           {"end_ns", counted(contents.last)},
           {"seconds", counted(contents.seconds())}};
  if (contents.several)
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
    if (!contents.several) one["channel"] = row.channel->id;
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
  for (const InfoFile& file : contents.files.all())
    for (const mcap::MetadataIndex& m : file.summary().metadata())
      if (const auto metadata = file.reader->metadata(m)) out["metadata"][m.name] = metadata->metadata;
  out["problems"] = contents.files.problems();
  out["notes"] = contents.files.notes();
  return out;
}

std::string state_text(const InfoFile& file) {
  return file.complete() ? "finished"
                         : fmt::format("not finished: {} at byte {}", file.finish.cause, file.finish.valid);
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
  if (contents.several)
    add(contents.named > 1 ? "files" : "folder",
        fmt::format("{}, {} files, {}, {}", printable(contents.path), contents.files.all().size(), size,
                    contents.finished ? "finished" : "not finished"));
  else
    add("file", fmt::format("{}, {}, {}", printable(contents.path), size, state_text(contents.front())));
  const std::string library = contents.common([](const InfoFile& f) { return f.header.library; });
  const std::string profile = contents.common([](const InfoFile& f) { return f.header.profile; });
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
  for (const InfoFile& file : contents.files.all()) {
    const mcap::Statistics& s = file.summary().statistics();
    const auto at = [&](std::uint64_t time) {
      return s.message_count == 0
                 ? std::string("-")
                 : fmt::format("{:.3f}", static_cast<double>(static_cast<std::int64_t>(time - contents.first)) / 1e9);
    };
    table.row({printable(std::filesystem::path(file.path).filename().string()),
               bytes_text(static_cast<double>(file.bytes)), file.has_statistics ? std::to_string(s.message_count) : "-",
               at(s.message_start_time), at(s.message_end_time), file.complete() ? "" : state_text(file)});
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
  if (contents.several) out += files_text(contents);
  for (const mcap::AttachmentIndex* a : attachments_of(contents))
    out += fmt::format("\nattachment {} ({}, {})", printable(a->name), printable(a->media_type),
                       bytes_text(static_cast<double>(a->data_size)));
  std::set<std::string> shown;
  for (const InfoFile& file : contents.files.all())
    for (const mcap::MetadataIndex& index : file.summary().metadata()) {
      const auto metadata = file.reader->metadata(index);
      std::string text = fmt::format("\nmetadata {}", printable(index.name));
      if (metadata)
        for (const auto& [key, value] : metadata->metadata)
          text += fmt::format("\n  {}: {}", printable(key), printable(value));
      if (!contents.several || shown.insert(text).second) out += text;
    }
  if (out.back() != '\n') out += "\n";
  for (const InfoFile& file : contents.files.all())
    if (!file.complete())
      out += fmt::format("\nTo finish it: cardan bag {} {}recovered.mcap\n",
                         file.reader == nullptr ? "convert" : "recover",
                         printable(file.path) + (file.reader == nullptr ? " " : " -o "));
  return out;
}

}  // namespace

int bag_info(const BagInfoOptions& o) {
  const InfoFiles files(o.files);
  const Contents contents(o.files, files);
  const std::string text = o.json ? json_lines(info_json(contents)) : info_text(contents);
  if (!emit(text)) return kFailed;
  for (const std::string& note : files.notes()) warn(note);
  for (const std::string& problem : files.problems()) warn(problem);
  return files.problems().empty() ? kOk : kLoss;
}

}  // namespace cardan::apps
