// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/merged.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "cardan/mcap/before_start.hpp"

namespace cardan::mcap {
namespace {

constexpr std::size_t kLarge = 64 << 10;
constexpr std::uint64_t kRare = 1'000'000'000;
/// A file may claim any depth: limits for the chunks that are read and for what is kept of them.
constexpr std::size_t kMostLooks = 16'384;
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
/// ns: what is older says little of a time; and rare topics must not make each look read the whole file.
constexpr std::uint64_t kOldest = 60'000'000'000;

/// The last messages of a file's channels before a time.
class Last {
 public:
  struct Found {
    std::uint64_t time = 0, chunk = 0, order = 0;
    std::size_t file = 0;
    bool large = false, from_before = false;
    std::optional<MessageView> view{};  ///< empty: to be read when it is wanted
    std::uint16_t channel = 0;
    [[nodiscard]] auto place() const noexcept { return std::tie(time, file, chunk, order); }
  };
  using ByTopic = std::map<std::string, std::vector<Found>>;

  Last(const Reader& reader, std::size_t file, ReadOptions options, bool newest, ByTopic& into)
      : reader_(reader), file_(file), options_(std::move(options)), newest_(newest), into_(into) {
    const std::uint64_t oldest = options_.start - std::min(options_.start, kOldest);
    for (const auto& [id, channel] : reader_.summary().channels()) {
      const std::uint64_t depth = options_.wanted(channel) ? depth_of(channel) : 0;
      // One more than is given: what is rare is known by the one before it.
      if (depth != 0)
        lacks_[id] = latched_depth(channel) != 0 ? Lacking{.most = depth + 1} : Lacking{.most = 1, .oldest = oldest};
    }
    options_.end = std::exchange(options_.start, 0);
  }

  void find() {
    std::vector<const ChunkIndex*> chunks;
    for (const ChunkIndex& chunk : reader_.summary().chunks())
      if (chunk.message_start_time < options_.end) chunks.push_back(&chunk);
    std::sort(chunks.begin(), chunks.end(), [](const ChunkIndex* a, const ChunkIndex* b) {
      return std::tie(a->message_end_time, a->chunk_start_offset) >
             std::tie(b->message_end_time, b->chunk_start_offset);
    });
    for (const ChunkIndex* const chunk : chunks) look_into(*chunk);
    if (!reader_.loose().empty()) look_at_loose();
    for (auto& [id, channel] : lacks_) {
      auto& all = into_[reader_.summary().channels().at(id).topic];
      while (!channel.found.empty()) all.push_back(std::move(channel.found.extract(channel.found.begin()).value()));
    }
  }
  /// How many of a topic's messages are given.
  [[nodiscard]] std::uint64_t depth_of(const Channel& channel) const {
    std::uint64_t depth = latched_depth(channel);
    if (depth == 0) return newest_ ? 1 : 0;
    depth *= reader_.publishers(channel.topic);
    if (const auto& before = reader_.before_start())
      if (const auto carried = before->messages.find(channel.topic); carried != before->messages.end())
        depth = std::max(depth, carried->second);
    return std::min<std::uint64_t>(depth, 1 << 16);
  }
  /// Reads a message that was only found.
  void load(Found& found) {
    ReadOptions options = options_;
    options.start = found.time;
    options.end = found.time + 1;
    options.wanted = [&](const Channel& channel) { return channel.id == found.channel; };
    options.only_chunk = found.chunk;
    Messages messages = reader_.messages(std::move(options));
    found.view = messages.next();
    if (found.view) own(*found.view);
  }

 private:
  struct Newer {
    bool operator()(const Found& a, const Found& b) const noexcept { return b.place() < a.place(); }
  };
  struct Lacking {
    std::uint64_t most = 0, oldest = 0;
    std::multiset<Found, Newer> found{};  ///< a bounded number
  };

  [[nodiscard]] static bool lacks(const Lacking& channel, std::uint64_t until) {
    return until >= channel.oldest && (channel.found.size() < channel.most || channel.found.rbegin()->time <= until);
  }

  static void own(MessageView& view) {
    auto bytes = std::make_shared<Bytes>(view.message.data.begin(), view.message.data.end());
    view.message.data = View(*bytes);
    view.owner_bytes = bytes->size();
    view.owner = std::move(bytes);
  }

  void add(Found found) {
    Lacking& channel = lacks_.at(found.channel);
    channel.found.insert(std::move(found));
    if (channel.found.size() > channel.most) channel.found.erase(std::prev(channel.found.end()));
  }

  void look_into(const ChunkIndex& chunk) {
    const auto& by_channel = chunk.message_index_offsets;
    const auto wants = [&](std::uint16_t id) {
      const auto found = lacks_.find(id);
      return found != lacks_.end() && lacks(found->second, chunk.message_end_time);
    };
    if (looked_ == kMostLooks || bytes_ > kMostBytes) return;
    const auto wants_one = [&](const auto& one) { return wants(one.first); };
    if (by_channel.empty() ? std::none_of(lacks_.begin(), lacks_.end(), wants_one)
                           : std::none_of(by_channel.begin(), by_channel.end(), wants_one))
      return;
    // A large message that is a separate chunk is read only if it is given.
    const bool from_before = reader_.is_from_before(chunk.chunk_start_offset, chunk.message_start_time);
    if (by_channel.size() == 1 && chunk.message_start_time == chunk.message_end_time && chunk.compression.empty() &&
        chunk.uncompressed_size >= kLarge) {
      if (options_.drops && from_before &&
          options_.drops(reader_.summary().channels().at(by_channel.begin()->first), chunk.message_start_time))
        return;
      return add({.time = chunk.message_start_time,
                  .chunk = chunk.chunk_start_offset,
                  .file = file_,
                  .large = true,
                  .from_before = from_before,
                  .channel = by_channel.begin()->first});
    }
    ++looked_;
    ReadOptions options = options_;
    options.only_chunk = chunk.chunk_start_offset;
    options.wanted = [&](const Channel& channel) { return wants(channel.id); };
    take_all(std::move(options), chunk.chunk_start_offset);
  }

  void look_at_loose() {
    ReadOptions options = options_;
    options.only_chunk = ReadOptions::kNoChunk;
    options.wanted = [&](const Channel& channel) { return lacks_.contains(channel.id); };
    take_all(std::move(options), 0);
  }

  void take_all(ReadOptions options, std::uint64_t chunk) {
    Messages messages = reader_.messages(std::move(options));
    for (std::uint64_t order = 0;; ++order) {
      auto view = messages.next();
      if (!view) return;
      Found found{.time = view->message.log_time,
                  .chunk = chunk,
                  .order = order,
                  .file = file_,
                  .large = view->message.data.size() >= kLarge,
                  .from_before = view->from_before,
                  .channel = view->channel->id};
      if (!lacks(lacks_.at(found.channel), found.time)) continue;
      own(*view);
      bytes_ += view->owner_bytes;
      found.view = std::move(view);
      add(std::move(found));
    }
  }

  const Reader& reader_;
  std::size_t file_;
  ReadOptions options_;
  bool newest_;  ///< topics that keep nothing have a last message, too
  ByTopic& into_;
  std::map<std::uint16_t, Lacking> lacks_;
  std::size_t looked_ = 0;   ///< into chunks
  std::uint64_t bytes_ = 0;  ///< of messages that were found
};

/// Which of a topic's messages before `start` are given: the newest first, one more than that.
std::size_t given_of(std::vector<Last::Found>& found, std::uint64_t depth, std::uint64_t start, bool newest) {
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return b.place() < a.place(); });
  // Messages that several files repeat.
  for (std::size_t i = 0; i < found.size();)
    if (found[i].from_before && std::any_of(found.begin(), found.end(), [&](const auto& other) {
          return other.time == found[i].time && other.file < found[i].file;
        }))
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  std::size_t given = 0;
  while (given < found.size() && given < depth) {
    const std::uint64_t after = given == 0 ? start : found[given - 1].time;
    const bool rare = after - found[given].time >= kRare || given + 1 == found.size() ||
                      found[given].time - found[given + 1].time >= kRare;
    if (found[given].large && !rare && !(newest && given == 0)) break;
    ++given;
  }
  return given;
}

}  // namespace

std::optional<std::pair<std::uint64_t, std::uint64_t>> own_times(const Reader& reader) {
  std::optional<std::pair<std::uint64_t, std::uint64_t>> times;
  const auto include = [&](std::uint64_t first, std::uint64_t last) {
    if (const auto& before = reader.before_start()) {
      if (last < before->start) return;
      first = std::max(first, before->start);
    }
    times = times ? std::pair(std::min(times->first, first), std::max(times->second, last)) : std::pair(first, last);
  };
  // The index of the messages has their times, whatever the file's statistics say.
  for (const ChunkIndex& chunk : reader.summary().chunks()) {
    const bool empty = chunk.message_end_time == 0 && chunk.message_index_offsets.empty();
    if (!empty && chunk.message_start_time <= chunk.message_end_time)
      include(chunk.message_start_time, chunk.message_end_time);
  }
  const Statistics& s = reader.summary().statistics();
  if (reader.scanned() && s.message_count > 0 && !reader.before_start())
    include(s.message_start_time, s.message_end_time);
  return times;
}

MergedMessages::MergedMessages(std::vector<const Reader*> readers, const ReadOptions& options, Wanted wanted,
                               Before before)
    : readers_(std::move(readers)) {
  if (!wanted)
    wanted = [&options](std::size_t, const Channel& channel) { return !options.wanted || options.wanted(channel); };
  if (before != Before::Nothing && options.start != 0) {
    const bool newest = before == Before::Newest;
    Last::ByTopic topics;
    std::vector<std::unique_ptr<Last>> files;
    std::map<std::string, std::uint64_t> depths;
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      files.push_back(std::make_unique<Last>(*readers_[i], i, options_of(i, options, wanted), newest, topics));
      for (const auto& [id, channel] : readers_[i]->summary().channels())
        depths[channel.topic] = std::max(depths[channel.topic], files[i]->depth_of(channel));
      files[i]->find();
    }
    std::vector<Last::Found> all;
    for (auto& [topic, found] : topics) {
      const std::size_t given = given_of(found, depths[topic], options.start, newest);
      std::move(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(given), std::back_inserter(all));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.place() < b.place(); });
    for (Last::Found& found : all) {
      if (!found.view) files[found.file]->load(found);
      if (found.view) before_.push_back({found.file, *std::move(found.view), true});
    }
  }
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    inputs_.push_back({readers_[i]->messages(options_of(i, options, wanted))});
    inputs_.back().next = inputs_.back().messages.next();
  }
}

ReadOptions MergedMessages::options_of(std::size_t file, const ReadOptions& options, const Wanted& wanted) const {
  ReadOptions own = options;
  own.wanted = [wanted, file](const Channel& channel) { return wanted(file, channel); };
  if (readers_.size() > 1 && readers_[file]->before_start())
    own.drops = [others = others_of(file)](const Channel& channel, std::uint64_t time) {
      return std::any_of(others.begin(), others.end(), [&](const Part& part) {
        return time >= part.first && time <= part.last && part.topics.contains(channel.topic);
      });
    };
  return own;
}

std::vector<MergedMessages::Part> MergedMessages::others_of(std::size_t file) const {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const auto times = i == file ? std::nullopt : own_times(*readers_[i]);
    if (!times) continue;
    parts.push_back({times->first, times->second, {}});
    for (const auto& [id, channel] : readers_[i]->summary().channels()) parts.back().topics.insert(channel.topic);
  }
  return parts;
}

std::optional<MergedMessages::Next> MergedMessages::next() {
  if (before_given_ < before_.size()) return std::move(before_[before_given_++]);
  do {
    if (given_ != kNone) inputs_[given_].next = inputs_[given_].messages.next();
    given_ = kNone;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].next) continue;
      if (given_ == kNone || inputs_[i].next->message.log_time < inputs_[given_].next->message.log_time) given_ = i;
    }
    if (given_ == kNone) return std::nullopt;
  } while (is_repeated(given_, *inputs_[given_].next));
  return Next{given_, *inputs_[given_].next};
}

/// By another of the files, which has repeated it already.
bool MergedMessages::is_repeated(std::size_t file, const MessageView& view) {
  if (!view.from_before || readers_.size() == 1) return false;
  return repeated_.try_emplace({view.channel->topic, view.message.log_time}, file).first->second != file;
}

std::vector<std::pair<std::size_t, Problem>> MergedMessages::problems() const {
  std::vector<std::pair<std::size_t, Problem>> all;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    for (const Problem& problem : inputs_[i].messages.problems()) all.emplace_back(i, problem);
  return all;
}

}  // namespace cardan::mcap
