// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/info_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "apps/bag/convert/bag_kind.hpp"
#include "apps/bag/convert/ros1_bag.hpp"
#include "apps/bag/convert/sqlite_bag.hpp"
#include "apps/terminal/output.hpp"
#include "src/record/metadata.hpp"

namespace cardan::apps {
namespace {

std::uint64_t bytes_of_file(const std::string& path) {
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(path, ignored);
  return ignored ? 0 : bytes;
}

/// Topics and messages, as a summary has them.
class Counted {
 public:
  /// The channel's number, which add() wants.
  std::uint16_t add(const std::string& topic, mcap::Schema schema, const std::string& encoding,
                    std::map<std::string, std::string> metadata) {
    const auto id = static_cast<std::uint16_t>(next_++);
    schema.id = static_cast<std::uint16_t>(id + 1);
    std::erase_if(metadata, [](const auto& one) { return one.second.empty(); });
    summary_.add(schema);
    summary_.add(mcap::Channel{.id = id,
                               .schema_id = schema.id,
                               .topic = topic,
                               .message_encoding = encoding,
                               .metadata = std::move(metadata)});
    return id;
  }
  void count(std::uint16_t channel, std::uint64_t messages) { counts_.channel_message_counts[channel] += messages; }
  void include(std::uint64_t first, std::uint64_t last) {
    counts_.message_start_time = any_ ? std::min(counts_.message_start_time, first) : first;
    counts_.message_end_time = any_ ? std::max(counts_.message_end_time, last) : last;
    any_ = true;
  }
  [[nodiscard]] mcap::Summary take(std::vector<mcap::ChunkIndex> chunks) {
    for (const auto& [channel, messages] : counts_.channel_message_counts) counts_.message_count += messages;
    summary_.set(counts_);
    for (mcap::ChunkIndex& chunk : chunks) summary_.add(std::move(chunk));
    return std::move(summary_);
  }

 private:
  mcap::Summary summary_;
  mcap::Statistics counts_;
  std::size_t next_ = 0;
  bool any_ = false;
};

/// Without an index: by walking through the file.
Ros1Index walk(Ros1Bag& bag) {
  Ros1Index found;
  Progress progress;
  for (bool any = false; const auto message = bag.next(); any = true) {
    ++found.messages[message->connection];
    found.first = any ? std::min(found.first, message->time) : message->time;
    found.last = any ? std::max(found.last, message->time) : message->time;
  }
  return found;
}

}  // namespace

InfoFiles::InfoFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const FoundBag found = find_bag(path, {BagKind::Mcap, BagKind::Sqlite, BagKind::Ros1});
    if (found.kind != BagKind::Ros1 && found.kind != BagKind::Sqlite) {
      add_mcap(path);
      continue;
    }
    problems_.insert(problems_.end(), found.files.problems.begin(), found.files.problems.end());
    notes_.insert(notes_.end(), found.files.notes.begin(), found.files.notes.end());
    for (const std::string& file : found.files.files) {
      const BagKind kind = kind_of(file);
      if (kind == BagKind::Ros1)
        add_ros1(file);
      else if (kind == BagKind::Sqlite)
        add_sqlite(file);
      else
        problems_.push_back(file + " is of another kind than the first file of the folder: it is left out");
    }
  }
}

void InfoFiles::add_mcap(const std::string& path) {
  const record::FileSet& set = sets_.emplace_back(std::vector{path});
  problems_.insert(problems_.end(), set.problems().begin(), set.problems().end());
  notes_.insert(notes_.end(), set.notes().begin(), set.notes().end());
  for (const auto& reader : set.readers())
    all_.push_back({.path = reader->file().path(),
                    .bytes = bytes_of_file(reader->file().path()),
                    .header = reader->header(),
                    .finish = reader->finish(),
                    .has_statistics = reader->has_statistics(),
                    .reader = reader.get()});
}

void InfoFiles::add_ros1(const std::string& path) {
  Ros1Bag bag(path);
  auto index = bag.index();
  if (!index) index = walk(bag);
  Counted counted;
  std::map<const Ros1Connection*, std::uint16_t, AsOneChannel> channels;
  for (const auto& [id, c] : bag.connections()) {
    auto at = channels.find(&c);
    if (at == channels.end())
      at = channels
               .emplace(&c, counted.add(c.topic, {.name = c.type, .encoding = "ros1msg"}, "ros1",
                                        {{"md5sum", c.md5}, {"latching", c.latching ? "1" : ""}}))
               .first;
    const auto messages = index->messages.find(id);
    counted.count(at->second, messages == index->messages.end() ? 0 : messages->second);
  }
  if (!index->messages.empty()) counted.include(index->first, index->last);
  for (const mcap::Problem& p : bag.problems())
    problems_.push_back(fmt::format("{}, byte {}: {}", path, p.offset, p.cause));
  if (bag.unnamed_problems() > 0) problems_.push_back(fmt::format("… and {} more", bag.unnamed_problems()));
  if (bag.missing() > 0) problems_.push_back(fmt::format("{}: {} messages could not be read", path, bag.missing()));
  InfoFile file{.path = path, .bytes = bytes_of_file(path), .header = {.profile = "ros1", .library = "ROS 1 (.bag)"}};
  if (bag.unfinished())
    file.finish = {
        .how = mcap::Finish::How::Cut, .valid = file.bytes, .cause = "it was never closed, and has no index"};
  file.counted = counted.take(std::move(index->chunks));
  all_.push_back(std::move(file));
}

void InfoFiles::add_sqlite(const std::string& path) {
  SqliteBag bag(path, SqliteBag::Read::Times);
  Counted counted;
  std::map<std::int64_t, std::uint16_t> channels;
  for (const auto& [id, t] : bag.topics())
    channels[id] = counted.add(t.name, {.name = t.type, .encoding = t.definition_encoding}, t.format,
                               {{record::kQosKey, t.qos}, {record::kRosTypeHashKey, t.hash}});
  for (const auto& [id, channel] : channels) counted.count(channel, 0);
  std::uint64_t unknown = 0;
  while (const auto message = bag.next()) {
    const auto channel = channels.find(message->topic);
    if (channel == channels.end()) {
      ++unknown;
      continue;
    }
    counted.count(channel->second, 1);
    const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(0, message->time));
    counted.include(time, time);
  }
  for (const std::string& what : bag.problems()) problems_.push_back(fmt::format("{}: {}", path, what));
  if (unknown > 0)
    problems_.push_back(fmt::format("{}: {} messages belong to topics that it does not name", path, unknown));
  if (bag.missing() > 0) problems_.push_back(fmt::format("{}: {} messages could not be read", path, bag.missing()));
  all_.push_back({.path = path,
                  .bytes = bytes_of_file(path),
                  .header = {.profile = "ros2", .library = "ROS 2 (.db3)"},
                  .counted = counted.take({})});
}

}  // namespace cardan::apps
