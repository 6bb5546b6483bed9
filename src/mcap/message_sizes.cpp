// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/message_sizes.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace cardan::mcap {
namespace {

constexpr std::uint64_t kRecordHead = kPrefixBytes + kMessageHeaderBytes;
constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{1} << 28;  // of one chunk

class Sizes {
 public:
  Sizes(const Reader& reader, const std::function<bool(const Channel&)>& wanted) : reader_(reader) {
    for (const auto& [id, channel] : reader.summary().channels())
      if (!wanted || wanted(channel)) largest_[id] = 0;
  }

  std::map<std::uint16_t, std::uint64_t> find() {
    for (const LooseMessage& m : reader_.loose()) note(m.channel_id, m.length + kPrefixBytes);
    // The largest first: most of the others then cannot have anything larger, and are not looked into.
    std::vector<std::pair<std::uint64_t, const ChunkIndex*>> chunks;
    for (const ChunkIndex& chunk : reader_.summary().chunks()) chunks.emplace_back(records_of_chunk(chunk), &chunk);
    std::sort(chunks.begin(), chunks.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [bytes, chunk] : chunks)
      if (can_be_larger(*chunk, bytes) && !look_into(*chunk, bytes)) note_all(*chunk, bytes);
    for (auto& [id, bytes] : largest_) bytes -= std::min(bytes, kRecordHead);
    if (is_packed()) unpack_all();
    return std::move(largest_);
  }

 private:
  [[nodiscard]] Messages messages() const {
    return reader_.messages({.wanted = [this](const Channel& channel) { return largest_.contains(channel.id); }});
  }

  /// Whether rosbag2 compressed the messages one by one: then it did so with the first one.
  [[nodiscard]] bool is_packed() const {
    if (largest_.empty() || reader_.header().library.starts_with("cardan")) return false;
    Messages all = messages();
    const auto first = all.next();
    return first && first->was_packed;
  }
  /// The contents of the messages are known only once they are unpacked.
  void unpack_all() {
    Messages all = messages();
    while (const auto one = all.next())
      if (one->message.data.size() <= kMostMessageBytes)
        largest_[one->channel->id] = std::max<std::uint64_t>(largest_[one->channel->id], one->message.data.size());
  }

  /// Bytes of a chunk's records. Uncompressed records are in the file as they are, whatever the index says.
  [[nodiscard]] std::uint64_t records_of_chunk(const ChunkIndex& chunk) const {
    return chunk.compression.empty() ? std::min(chunk.uncompressed_size, file_bytes_) : chunk.uncompressed_size;
  }

  void note(std::uint16_t channel, std::uint64_t bytes) {
    // No topic can carry more: either what says so is wrong, or this message alone cannot be played.
    if (bytes > kMostMessageBytes + kRecordHead) return;
    if (const auto known = largest_.find(channel); known != largest_.end())
      known->second = std::max(known->second, bytes);
  }

  template <class Visit>
  void for_each_channel(const ChunkIndex& chunk, Visit visit) {
    if (chunk.message_index_offsets.empty()) {  // which it has is not said
      for (auto& one : largest_) visit(one.first, one.second);
      return;
    }
    for (const auto& [id, offset] : chunk.message_index_offsets)
      if (const auto known = largest_.find(id); known != largest_.end()) visit(id, known->second);
  }

  bool can_be_larger(const ChunkIndex& chunk, std::uint64_t bytes) {
    bool possible = false;
    for_each_channel(chunk, [&](std::uint16_t, std::uint64_t known) { possible = possible || known < bytes; });
    return possible;
  }

  void note_all(const ChunkIndex& chunk, std::uint64_t bytes) {
    for_each_channel(chunk, [&](std::uint16_t id, std::uint64_t) { note(id, bytes); });
  }

  /// A message ends where the next one starts, or before. False: the indexes are missing or malformed.
  bool look_into(const ChunkIndex& chunk, std::uint64_t bytes) {
    if (chunk.message_index_offsets.empty() || chunk.message_index_length > kMostIndexBytes ||
        chunk.chunk_start_offset > std::numeric_limits<std::uint64_t>::max() - chunk.chunk_length ||
        !reader_.file().read_exactly(chunk.chunk_start_offset + chunk.chunk_length, chunk.message_index_length,
                                     buffer_))
      return false;
    places_.clear();
    std::size_t found = 0;
    for (View left = buffer_; !left.empty();) {
      const auto record = take_record(left);
      if (!record) return false;
      if (!record->is(Opcode::MessageIndex)) continue;
      const auto index = decode<MessageIndex>(record->content);
      if (!index) return false;
      found += chunk.message_index_offsets.contains(index->channel_id) ? 1U : 0U;
      for (const auto& [time, place] : index->records) places_.emplace_back(place, index->channel_id);
    }
    if (found != chunk.message_index_offsets.size()) return false;
    std::sort(places_.begin(), places_.end());
    if (!places_.empty() && places_.back().first > bytes) return false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::uint64_t end = i + 1 < places_.size() ? places_[i + 1].first : bytes;
      note(places_[i].second, end - places_[i].first);
    }
    return true;
  }

  const Reader& reader_;
  std::uint64_t file_bytes_ = reader_.file().size();
  std::map<std::uint16_t, std::uint64_t> largest_;  ///< record and all, until the end
  Bytes buffer_;
  std::vector<std::pair<std::uint64_t, std::uint16_t>> places_;  ///< of the chunk that is looked into
};

}  // namespace

std::map<std::uint16_t, std::uint64_t> largest_messages(const Reader& reader,
                                                        const std::function<bool(const Channel&)>& wanted) {
  return Sizes(reader, wanted).find();
}

}  // namespace cardan::mcap
