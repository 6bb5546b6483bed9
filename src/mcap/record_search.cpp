// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/record_search.hpp"

#include <algorithm>
#include <cstring>

#include "cardan/mcap/compression.hpp"
#include "cardan/mcap/record_reader.hpp"

namespace cardan::mcap {
namespace {

/// Records lie side by side, so that all of them together claim no more than the file has; some may be copies within a
/// message.
constexpr std::uint64_t kMostClaimed = 16;
constexpr std::size_t kWindow = 1 << 20;

/// A name as people give them: control characters in it say that it is not one.
bool is_name(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}
bool looks_right(const Schema& s) {
  return s.id != 0 && is_name(s.name) && (s.encoding.empty() || is_name(s.encoding));
}
bool looks_right(const Channel& c) {
  return is_name(c.topic) && (c.message_encoding.empty() || is_name(c.message_encoding));
}
bool looks_right(const Metadata& m) { return is_name(m.name); }

/// `alone`: only zeros follow the fields.
template <class Record>
bool is_whole(View content, bool alone) {
  Record record;
  detail::Decoder decoder(content);
  Record::fields(record, decoder);
  const View rest = decoder.left();
  return decoder.ok() && looks_right(record) &&
         (!alone || std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; }));
}

}  // namespace

std::optional<ChunkHead> chunk_head(View content, std::uint64_t length) {
  ChunkHead head;
  Chunk& c = head.chunk;
  detail::Decoder decoder{content};
  decoder("", c.message_start_time), decoder("", c.message_end_time), decoder("", c.uncompressed_size);
  decoder("", c.uncompressed_crc), decoder("", c.compression), decoder("", head.records_size);
  head.records_at = content.size() - decoder.left().size();
  if (!decoder.ok() || length < head.records_at || head.records_size != length - head.records_at) return std::nullopt;
  return head;
}

std::optional<AttachmentIndex> attachment_head(View content, std::uint64_t length) {
  constexpr std::uint64_t kCrcBytes = 4;
  AttachmentIndex a;
  detail::Decoder decoder{content};
  decoder("", a.log_time), decoder("", a.create_time), decoder("", a.name), decoder("", a.media_type);
  decoder("", a.data_size);
  const std::uint64_t rest = length - std::min<std::uint64_t>(length, content.size() - decoder.left().size());
  if (!decoder.ok() || rest < kCrcBytes || a.data_size > rest - kCrcBytes) return std::nullopt;
  return a;
}

bool RecordSearch::afford(std::uint64_t bytes) {
  if (claimed_ / kMostClaimed > end_) return false;
  claimed_ += bytes;
  return true;
}

bool RecordSearch::may_go_on_at(std::uint64_t offset) const {
  if (offset >= end_) return offset == end_;
  const auto prefix = file_.read_prefix(offset);
  return prefix && name_of(static_cast<Opcode>(prefix->opcode)) != nullptr &&
         prefix->length <= end_ - offset - kPrefixBytes;
}

bool RecordSearch::looks_like_record(Opcode opcode, std::uint64_t content, std::uint64_t length, bool alone) {
  const bool large = opcode == Opcode::Chunk || opcode == Opcode::Attachment;
  if (!large && length > kMostSmallRecordBytes) return false;
  const std::uint64_t head_bytes = large ? std::min(length, kRecordHeadBytes) : length;
  if (!afford(head_bytes) || !file_.read_exactly(content, head_bytes, buffer_)) return false;
  switch (opcode) {
    case Opcode::Chunk: {
      const auto head = chunk_head(buffer_, length);
      if (!head) return false;
      return compression_named(head->chunk.compression) && afford(length - head_bytes);
    }
    case Opcode::Attachment: {
      const auto head = attachment_head(buffer_, length);
      return head && is_name(head->name) && afford(length - head_bytes);
    }
    case Opcode::Schema:
      return is_whole<Schema>(buffer_, alone);
    case Opcode::Channel:
      return is_whole<Channel>(buffer_, alone);
    case Opcode::Metadata:
      return is_whole<Metadata>(buffer_, alone);
    default:
      return false;
  }
}

bool RecordSearch::hides_a_record(std::uint64_t content, std::uint64_t length) {
  for (const Opcode opcode : {Opcode::Chunk, Opcode::Attachment, Opcode::Schema, Opcode::Channel, Opcode::Metadata})
    if (looks_like_record(opcode, content, length, true)) return true;
  return false;
}

// Has the bytes from there on in the window: a prefix at least.
bool RecordSearch::fill(std::uint64_t from) {
  if (from >= window_at_ && from + kPrefixBytes <= window_at_ + window_bytes_) return true;
  window_.resize(kWindow);
  window_at_ = from;
  window_bytes_ = file_.read(from, window_);
  return window_bytes_ >= kPrefixBytes;
}

std::optional<std::uint64_t> RecordSearch::next(std::uint64_t from, std::uint64_t to, std::uint64_t not_there) {
  for (; from < to && fill(from); ++from) {
    const View bytes = View(window_).subspan(static_cast<std::size_t>(from - window_at_), kPrefixBytes);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    if (word == 0) {  // what was reserved and not written may be long
      from += sizeof word - 1;
      continue;
    }
    const Prefix prefix(bytes);
    const auto opcode = static_cast<Opcode>(prefix.opcode);
    if (opcode < Opcode::Schema || opcode > Opcode::Metadata || from == not_there) continue;
    if (prefix.length == 0 || prefix.length > end_ - from - kPrefixBytes) continue;
    // (A message index leads nowhere: after a crash it may end data that nobody counted yet.)
    if (looks_like_record(opcode, from + kPrefixBytes, prefix.length, false)) return from;
    if (!afford(0)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace cardan::mcap
