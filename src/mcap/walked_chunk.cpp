// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/walked_chunk.hpp"

#include <algorithm>
#include <string>

#include "cardan/mcap/record_reader.hpp"

namespace cardan::mcap {
namespace {

/// Chunks up to there are read at once; of a larger one that is not compressed only the heads of its records.
constexpr std::uint64_t kSmallChunk = 256 << 10;

/// A record of a chunk, wherever it is. `content_of` reads its first bytes.
bool take(std::uint8_t opcode, std::uint64_t length, std::uint64_t place, WalkedChunk& chunk, Summary& summary,
          auto&& content_of) {
  const auto add = [&](const auto& record) {
    if (record) summary.add(*record);
    return record.has_value();
  };
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::Message: {
      const auto message =
          length < kMessageHeaderBytes ? std::nullopt : decode<Message>(content_of(kMessageHeaderBytes));
      if (message) chunk.messages.push_back({message->channel_id, message->log_time, place});
      return message.has_value();
    }
    case Opcode::Schema:
      return length <= kMostSmallRecordBytes && add(decode<Schema>(content_of(length)));
    case Opcode::Channel:
      return length <= kMostSmallRecordBytes && add(decode<Channel>(content_of(length)));
    default:
      return true;
  }
}

}  // namespace

bool ChunkWalker::walk(const ChunkHead& head, std::uint64_t at, bool check, WalkedChunk& chunk, Summary& summary) {
  const std::uint64_t bytes = head.records_size;
  if (head.chunk.compression.empty() && bytes > kSmallChunk) {
    check = check && head.chunk.uncompressed_crc != 0;
    return bytes == head.chunk.uncompressed_size && (!check || file_crc(at, bytes) == head.chunk.uncompressed_crc) &&
           walk_file(at, bytes, chunk, summary);
  }
  if (bytes > kMostRecordBytes || !file_.read_exactly(at, bytes, buffer_)) return false;
  Chunk whole = head.chunk;
  whole.records = buffer_;
  std::string cause;
  const auto records = records_of(whole, check, unpacked_, cause, whole.uncompressed_size);  // which was looked at
  return records && walk_memory(*records, chunk, summary);
}

std::uint32_t ChunkWalker::file_crc(std::uint64_t at, std::uint64_t bytes) {
  constexpr std::uint64_t kAtOnce = 1 << 20;
  std::uint32_t crc = 0;
  for (std::uint64_t done = 0; done < bytes; done += kAtOnce) {
    if (!file_.read_exactly(at + done, std::min(kAtOnce, bytes - done), buffer_)) return 0;
    crc = crc32(buffer_, crc);
  }
  return crc;
}

bool ChunkWalker::walk_memory(View records, WalkedChunk& chunk, Summary& summary) {
  chunk.messages.reserve(message_count(records));  // a list that grows takes twice the memory
  for (View left = records; !left.empty();) {
    const auto place = static_cast<std::uint64_t>(left.data() - records.data());
    const auto record = take_record(left);
    if (!record || !take(record->opcode, record->content.size(), place, chunk, summary,
                         [&](std::uint64_t bytes) { return record->content.first(static_cast<std::size_t>(bytes)); }))
      return false;
  }
  return true;
}

bool ChunkWalker::walk_file(std::uint64_t begin, std::uint64_t bytes, WalkedChunk& chunk, Summary& summary) {
  const std::uint64_t end = begin + bytes;
  for (std::uint64_t at = begin; at < end;) {
    const auto prefix = end - at >= kPrefixBytes ? file_.read_prefix(at) : std::nullopt;
    if (!prefix || prefix->length > end - at - kPrefixBytes) return false;
    if (!take(prefix->opcode, prefix->length, at - begin, chunk, summary, [&](std::uint64_t count) {
          return file_.read_exactly(at + kPrefixBytes, count, buffer_) ? View(buffer_) : View();
        }))
      return false;
    at += kPrefixBytes + prefix->length;
  }
  return true;
}

std::optional<std::uint64_t> ChunkCopies::first_of(const ChunkIndex& chunk) {
  const auto [at, is_new] = known_.try_emplace(
      std::tuple(chunk.message_start_time, chunk.message_end_time, chunk.chunk_length, chunk.uncompressed_size));
  Alike& alike = at->second;
  if (is_new) {
    alike.first = chunk.chunk_start_offset;
    return std::nullopt;
  }
  if (alike.by_checksum.empty()) alike.by_checksum[walker_.file_crc(alike.first, chunk.chunk_length)] = alike.first;
  const auto [same, differs] = alike.by_checksum.try_emplace(
      walker_.file_crc(chunk.chunk_start_offset, chunk.chunk_length), chunk.chunk_start_offset);
  return differs ? std::nullopt : std::optional(same->second);
}

}  // namespace cardan::mcap
