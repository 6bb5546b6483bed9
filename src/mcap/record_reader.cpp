// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/record_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace cardan::mcap {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;

bool is_magic(View bytes) noexcept {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

}  // namespace

const char* name_of(Opcode opcode) noexcept {
  constexpr std::array kNames{"Header",     "Footer",       "Schema",        "Channel",       "Message",
                              "Chunk",      "MessageIndex", "ChunkIndex",    "Attachment",    "AttachmentIndex",
                              "Statistics", "Metadata",     "MetadataIndex", "SummaryOffset", "DataEnd"};
  const auto i = static_cast<std::size_t>(opcode);
  return i >= 1 && i <= kNames.size() ? kNames[i - 1] : nullptr;
}

std::size_t message_count(View records) noexcept {
  std::size_t count = 0;
  while (!records.empty()) {
    const auto record = take_record(records);
    if (!record) break;
    count += record->is(Opcode::Message) ? 1U : 0U;
  }
  return count;
}

std::string too_large_text(std::uint64_t bytes, std::uint64_t most_bytes) {
  const auto text = [](std::uint64_t size) {
    return size >> 20 == 0 ? fmt::format("{} bytes", size) : fmt::format("{} MiB", size >> 20);
  };
  return fmt::format("holds {} when it is unpacked, more than the {} that are permitted (--max-chunk)", text(bytes),
                     text(most_bytes));
}

std::optional<View> records_of(const Chunk& chunk, bool check_crc, Bytes& buffer, std::string& cause,
                               std::uint64_t most_unpacked_bytes) {
  View records = chunk.records;
  if (!chunk.compression.empty() && chunk.uncompressed_size > most_unpacked_bytes) {
    cause = "it " + too_large_text(chunk.uncompressed_size, most_unpacked_bytes);
    return std::nullopt;
  }
  const char* why = nullptr;
  if (!chunk.compression.empty()) {
    why = decompress(chunk.compression, chunk.records, chunk.uncompressed_size, buffer);
    records = buffer;
  } else if (records.size() != chunk.uncompressed_size) {
    why = "its records have another size than it says";
  }
  if (why == nullptr && check_crc && chunk.uncompressed_crc != 0 && crc32(records) != chunk.uncompressed_crc)
    why = "its checksum does not match its records";
  if (why == nullptr) return records;
  cause = why;
  return std::nullopt;
}

RecordReader::RecordReader(Read read, RecordReaderOptions options) : read_(std::move(read)), options_(options) {}

// Has at least `bytes` from begin_ on in the buffer, or all that is left. The buffer grows as the bytes come, not as a
// length in the file says.
std::size_t RecordReader::need(std::uint64_t bytes) {
  while (filled_ - begin_ < bytes && !at_end_) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
      filled_ -= begin_;
      begin_ = 0;
    }
    if (filled_ == buffer_.size())
      buffer_.resize(std::max<std::uint64_t>(kReadBytes, std::min<std::uint64_t>(buffer_.size() * 2, bytes)));
    const std::size_t got = read_(std::span(buffer_).subspan(filled_));
    filled_ += got;
    at_end_ = got == 0;
  }
  return filled_ - begin_;
}

std::optional<RecordView> RecordReader::end(Finish::How how, std::string cause) {
  done_ = true;
  finish_ = {.how = how, .valid = offset_, .cause = std::move(cause)};
  return std::nullopt;
}

bool RecordReader::open(View content) {
  const auto chunk = decode<Chunk>(content);
  std::string cause = "its fields are cut short";
  const auto records =
      chunk ? records_of(*chunk, options_.check_crcs, records_, cause, options_.most_unpacked_bytes) : std::nullopt;
  if (!records) {
    end(Finish::How::Damaged, fmt::format("the chunk at byte {} is damaged: {}", offset_, cause));
    return false;
  }
  in_chunk_ = *records;
  chunk_offset_ = offset_;
  chunk_bytes_ = kPrefixBytes + content.size();
  return true;
}

std::optional<RecordView> RecordReader::next_in_chunk() {
  const auto record = take_record(in_chunk_);
  if (!record)
    return end(Finish::How::Damaged, fmt::format("a record in the chunk at byte {} is longer than the chunk", offset_));
  return RecordView{*record, chunk_offset_, true};
}

std::optional<RecordView> RecordReader::next() {
  if (done_) return std::nullopt;
  if (!in_chunk_.empty()) return next_in_chunk();
  begin_ += chunk_bytes_;
  offset_ += std::exchange(chunk_bytes_, 0);
  if (!started_) {
    started_ = true;
    if (need(kMagic.size()) < kMagic.size() || !is_magic(View(buffer_).subspan(begin_)))
      return end(Finish::How::Damaged, "it is not an MCAP file: the first eight bytes are not MCAP's");
    begin_ += kMagic.size();
    offset_ += kMagic.size();
  }
  for (;;) {
    const std::size_t there = need(kPrefixBytes);
    const View begin = View(buffer_).subspan(begin_, there);
    if (footer_seen_) {
      if (!is_magic(begin)) return end(Finish::How::Cut, "the magic at its end is missing");
      offset_ += kMagic.size();
      return end(Finish::How::Complete, {});
    }
    if (there == 0) return end(Finish::How::Cut, "it ends without a footer");
    if (begin[0] == std::byte{0}) return end(Finish::How::Cut, "nothing was written after it");
    if (there < kPrefixBytes) return end(Finish::How::Cut, "it ends in the middle of a record");
    const auto [opcode, length] = Prefix(begin);
    if (length > (is_small(static_cast<Opcode>(opcode)) ? kMostSmallRecordBytes : options_.most_record_bytes))
      return end(Finish::How::Damaged, fmt::format("the record at byte {} claims {} bytes", offset_, length));
    if (need(kPrefixBytes + length) < kPrefixBytes + length)
      return end(Finish::How::Cut, "it ends in the middle of a record");
    const View content = View(buffer_).subspan(begin_ + kPrefixBytes, static_cast<std::size_t>(length));
    const RecordView record{{opcode, content}, offset_, false};
    if (options_.open_chunks && record.is(Opcode::Chunk)) {
      if (!open(record.content)) return std::nullopt;
      if (!in_chunk_.empty()) return next_in_chunk();
      begin_ += chunk_bytes_;
      offset_ += std::exchange(chunk_bytes_, 0);
      continue;
    }
    footer_seen_ = record.is(Opcode::Footer);
    chunk_bytes_ = kPrefixBytes + record.content.size();  // stays in the buffer until the next is asked for
    return record;
  }
}

}  // namespace cardan::mcap
