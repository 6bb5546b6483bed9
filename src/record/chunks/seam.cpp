// SPDX-License-Identifier: Apache-2.0
#include "src/record/chunks/seam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cardan/detail/checksum.hpp"
#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/scan.hpp"
#include "src/mcap/ros2_profile.hpp"
#include "src/mcap/source_times.hpp"

namespace cardan::record {
namespace {

void append_chunk_head(mcap::Bytes& out, std::uint64_t first, std::uint64_t last, std::uint64_t uncompressed,
                       std::uint32_t checksum, const std::string& compression, std::uint64_t records) {
  namespace d = mcap::detail;
  d::put(out, static_cast<std::uint8_t>(mcap::Opcode::Chunk));
  d::put(out, std::uint64_t{mcap::kChunkHeaderBytes} + compression.size() + records);
  d::put(out, first);
  d::put(out, last);
  d::put(out, uncompressed);
  d::put(out, checksum);
  d::Encoder{out}("compression", compression);
  d::put(out, records);
}

}  // namespace

void SeamLayout::extend(mcap::Bytes& bytes, std::size_t record, std::uint64_t by) const {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + record + 1, sizeof length);
  length += by;
  std::memcpy(bytes.data() + record + 1, &length, sizeof length);
}

void SeamLayout::append_first_block(mcap::Bytes& out, const mcap::MountIdentity& mount, std::uint64_t durable_bytes,
                                    bool ros2, mcap::MetadataIndex* index) const {
  mcap::detail::put(out, std::as_bytes(std::span(mcap::kMagic)));
  mcap::append_header(out, ros2, library_);
  const std::size_t at = out.size();
  // Always this many digits, so that the block can be written again.
  mcap::append(out, mcap::Metadata{.name = mcap::kMarkName,
                                   .metadata = {{mcap::kMarkBoot, mount.boot_id},
                                                {mcap::kMarkMount, mount.mount},
                                                {mcap::kMarkSuperblock, mount.superblock},
                                                {mcap::kMarkBytes, fmt::format("{:020}", durable_bytes)}}});
  const std::uint64_t gap = whole_blocks(out.size()) - out.size();
  extend(out, at, gap);
  out.resize(out.size() + gap);
  if (index != nullptr) *index = {.offset = at, .length = out.size() - at, .name = mcap::kMarkName};
}

SeamLayout::SeamLayout(const Preamble& preamble) : mount_(preamble.mount), library_(preamble.library) {
  mcap::Bytes bytes;
  mcap::MetadataIndex mark;
  append_first_block(bytes, mount_, 0, false, &mark);
  metadata_.push_back(mark);
  for (mcap::AttachmentIndex index : preamble.attachments) {
    index.offset += bytes.size();
    attachments_.push_back(std::move(index));
  }
  mcap::detail::put(bytes, mcap::View(preamble.records));
  std::size_t last = bytes.size();
  const auto add_metadata = [&](const mcap::Metadata& metadata) {
    last = bytes.size();
    mcap::append(bytes, metadata);
    metadata_.push_back({.offset = last, .length = bytes.size() - last, .name = metadata.name});
  };
  for (const mcap::Metadata& metadata : preamble.metadata) add_metadata(metadata);
  // The last record is one that may be extended.
  if (preamble.metadata.empty()) add_metadata({.name = "cardan", .metadata = {{"library", library_}}});
  end_.offset = last / kBlock * kBlock;
  end_.bytes.assign(bytes.begin() + static_cast<std::ptrdiff_t>(end_.offset), bytes.end());
  end_.last_record = last - end_.offset;
  preamble_.append(bytes);
}

AlignedBuffer SeamLayout::first_block(const mcap::MountIdentity& mount, std::uint64_t durable_bytes, bool ros2) const {
  mcap::Bytes bytes;
  append_first_block(bytes, mount, durable_bytes, ros2, nullptr);
  AlignedBuffer block;
  block.append(bytes);
  return block;
}

AlignedBuffer SeamLayout::mark(std::uint64_t durable_bytes, bool at_the_end) const {
  return first_block(mount_, durable_bytes, at_the_end && ros2_);
}

AlignedBuffer SeamLayout::mark_of_nowhere(std::uint64_t durable_bytes) const {
  return first_block({}, durable_bytes, false);
}

void SeamLayout::add(const mcap::Schema& schema) {
  schemas_.push_back(schema);
  last_of_records_ = records_.size();
  mcap::append(records_, schema);
  described_bytes_ += records_.size() - last_of_records_;
}

void SeamLayout::add(const mcap::Channel& channel) {
  channel_records_.push_back(channel);
  const auto schema = std::find_if(schemas_.begin(), schemas_.end(),
                                   [&](const mcap::Schema& one) { return one.id == channel.schema_id; });
  ros2_ = ros2_ && schema != schemas_.end() && mcap::as_ros2_writes(channel, *schema);
  last_of_records_ = records_.size();
  mcap::append(records_, channel);
  described_bytes_ += records_.size() - last_of_records_;
}

void SeamLayout::add(const mcap::Metadata& metadata) {
  last_of_records_ = records_.size();
  mcap::append(records_, metadata);
  next_metadata_.push_back(
      {.offset = last_of_records_, .length = records_.size() - last_of_records_, .name = metadata.name});
}

/// The end of the file as it is, once more, with the head of a chunk after it that ends where a block does.
AlignedBuffer SeamLayout::head_for(const mcap::Bytes& chunk_head, std::uint64_t& offset) {
  offset = end_.offset;
  const std::uint64_t used = end_.bytes.size() + records_.size() + chunk_head.size();
  const std::uint64_t gap = whole_blocks(used) - used;
  AlignedBuffer head(used + gap);
  if (records_.empty()) {
    extend(end_.bytes, end_.last_record, gap);
    if (ends_in_chunk_)
      chunks_.back().index_length += gap;
    else
      preamble_gap_ = gap;
  } else {
    extend(records_, last_of_records_, gap);
    for (mcap::MetadataIndex& index : next_metadata_) {
      if (index.offset == last_of_records_) index.length += gap;
      index.offset += end_.offset + end_.bytes.size();
      later_metadata_.push_back({chunks_.size(), std::move(index)});
    }
    next_metadata_.clear();
  }
  head.append(end_.bytes);
  head.append(records_);
  head.append_zeros(gap);
  head.append(chunk_head);
  records_.clear();
  return head;
}

PlacedChunk SeamLayout::place(const FrameChunk& frame) {
  const std::uint64_t data = frame.prefix.size() + frame.payload.size() + frame.suffix.size();
  const std::uint64_t records = mcap::kPrefixBytes + mcap::kMessageHeaderBytes + data;
  mcap::Bytes message;
  append_message_head(message, frame.head, data);
  mcap::detail::put(message, frame.prefix);
  std::uint32_t checksum = 0;
  if (frame.checksum) checksum = mcap::crc32(frame.suffix, mcap::crc32(frame.payload, mcap::crc32(message)));
  mcap::Bytes chunk_head;
  append_chunk_head(chunk_head, frame.head.log_time, frame.head.log_time, records, checksum, {}, records);
  const std::uint64_t chunk_head_bytes = chunk_head.size();
  mcap::detail::put(chunk_head, mcap::View(message));

  PlacedChunk placed;
  placed.head = head_for(chunk_head, placed.head_offset);
  placed.body_offset = placed.head_offset + placed.head.size();
  const std::uint64_t chunk_offset = placed.body_offset - chunk_head.size();

  const std::size_t whole = frame.payload.size() / kBlock * kBlock;
  placed.payload = frame.payload.first(whole);
  placed.tail.append(frame.payload.subspan(whole));
  placed.tail.append(frame.suffix);
  const std::size_t index_at = placed.tail.size();
  mcap::Bytes index;
  mcap::Bytes stamp;
  mcap::append_source_times(stamp, std::span(&frame.head.source_time, 1));
  mcap::append(index, mcap::MessageIndex{.channel_id = frame.head.channel, .records = {{frame.head.log_time, 0}}},
               stamp);
  placed.tail.append(index);

  chunks_.push_back({.offset = chunk_offset,
                     .length = chunk_head_bytes + records,
                     .first_time = frame.head.log_time,
                     .last_time = frame.head.log_time,
                     .records = records,
                     .uncompressed = records,
                     .index_length = index.size(),
                     .first_channel = static_cast<std::uint32_t>(channels_.size()),
                     .channels = 1,
                     .schemas = schemas_.size(),
                     .channel_records = channel_records_.size()});
  channels_.push_back({frame.head.channel, 1, placed.body_offset + whole + index_at});
  ends_in_chunk_ = true;
  const std::size_t from = index_at / kBlock * kBlock;
  end_.offset = placed.body_offset + whole + from;
  end_.bytes.assign(placed.tail.data() + from, placed.tail.data() + placed.tail.size());
  end_.last_record = index_at - from;
  placed.end = end_;
  return placed;
}

PlacedChunk SeamLayout::place(Batch& batch) {
  mcap::Bytes chunk_head;
  append_chunk_head(chunk_head, batch.first_time(), batch.last_time(), batch.uncompressed_bytes(), batch.checksum(),
                    batch.compression(), batch.records_bytes());
  PlacedChunk placed;
  placed.head = head_for(chunk_head, placed.head_offset);
  placed.body_offset = placed.head_offset + placed.head.size();
  auto named = std::find(compressions_.begin(), compressions_.end(), batch.compression());
  if (named == compressions_.end()) named = compressions_.insert(named, batch.compression());
  const std::size_t body_bytes = batch.body().size();
  chunks_.push_back({.offset = placed.body_offset - chunk_head.size(),
                     .length = chunk_head.size() + batch.records_bytes(),
                     .first_time = batch.first_time(),
                     .last_time = batch.last_time(),
                     .records = batch.records_bytes(),
                     .uncompressed = batch.uncompressed_bytes(),
                     .index_length = body_bytes - batch.records_bytes(),
                     .first_channel = static_cast<std::uint32_t>(channels_.size()),
                     .channels = static_cast<std::uint32_t>(batch.channels().size()),
                     .compression = static_cast<std::uint32_t>(named - compressions_.begin()),
                     .schemas = schemas_.size(),
                     .channel_records = channel_records_.size()});
  for (ChannelInChunk channel : batch.channels()) {
    channel.index_offset += placed.body_offset;
    channels_.push_back(channel);
  }
  ends_in_chunk_ = true;
  const std::size_t from = batch.last_record() / kBlock * kBlock;
  end_.offset = placed.body_offset + from;
  end_.bytes.assign(batch.body().data() + from, batch.body().data() + body_bytes);
  end_.last_record = batch.last_record() - from;
  placed.end = end_;
  return placed;
}

std::uint64_t SeamLayout::most_trailer_bytes() const noexcept {
  constexpr std::uint64_t kPerChunk = 96;           // a ChunkIndex with the name of its compression
  constexpr std::uint64_t kPerChannelInChunk = 10;  // its number and its index's offset
  constexpr std::uint64_t kRest = 16 << 10;         // statistics, footer, names of metadata, the seam before it
  return kRest + 2 * described_bytes_ + kPerChunk * chunks_.size() + kPerChannelInChunk * channels_.size() +
         kPerChannelInChunk * channel_records_.size() +
         256 * (metadata_.size() + later_metadata_.size() + attachments_.size());
}

SeamLayout::Trailer SeamLayout::finish(std::size_t chunks, const Seam& end,
                                       const std::vector<mcap::Metadata>& metadata) const {
  Trailer trailer;
  trailer.offset = end.offset;
  mcap::Bytes bytes = end.bytes;
  mcap::Summary summary;
  // Those that came with chunks which do not count are not in the file.
  const bool all = chunks == chunks_.size();
  const std::size_t schemas = all ? schemas_.size() : chunks == 0 ? 0 : chunks_[chunks - 1].schemas;
  const std::size_t channels = all ? channel_records_.size() : chunks == 0 ? 0 : chunks_[chunks - 1].channel_records;
  for (std::size_t i = 0; i < schemas; ++i) summary.add(schemas_[i]);
  for (std::size_t i = 0; i < channels; ++i) summary.add(channel_records_[i]);
  if (all) mcap::detail::put(bytes, mcap::View(records_));
  for (const mcap::AttachmentIndex& index : attachments_) summary.add(index);
  for (mcap::MetadataIndex index : metadata_) {
    if (chunks > 0 && index.offset == metadata_.back().offset) index.length += preamble_gap_;
    summary.add(index);
  }
  for (const MetadataEntry& entry : later_metadata_)
    if (entry.chunk < chunks) summary.add(entry.index);
  for (const mcap::Metadata& record : metadata) {
    const std::size_t at = bytes.size();
    mcap::append(bytes, record);
    summary.add(mcap::MetadataIndex{.offset = end.offset + at, .length = bytes.size() - at, .name = record.name});
  }
  mcap::Statistics statistics = summary.statistics();
  for (std::size_t i = 0; i < chunks; ++i) {
    const ChunkEntry& c = chunks_[i];
    mcap::ChunkIndex index{.message_start_time = c.first_time,
                           .message_end_time = c.last_time,
                           .chunk_start_offset = c.offset,
                           .chunk_length = c.length,
                           .message_index_length = c.index_length,
                           .compression = compressions_[c.compression],
                           .compressed_size = c.records,
                           .uncompressed_size = c.uncompressed};
    // After the last one that counts another may have been placed, for which it was to be extended.
    if (i + 1 == chunks) index.message_index_length = end.offset + end.bytes.size() - c.offset - c.length;
    statistics.message_start_time =
        statistics.message_count == 0 ? c.first_time : std::min(statistics.message_start_time, c.first_time);
    statistics.message_end_time =
        statistics.message_count == 0 ? c.last_time : std::max(statistics.message_end_time, c.last_time);
    for (std::uint32_t k = c.first_channel; k < c.first_channel + c.channels; ++k) {
      const ChannelInChunk& channel = channels_[k];
      index.message_index_offsets[channel.channel] = channel.index_offset;
      statistics.message_count += channel.messages;
      statistics.channel_message_counts[channel.channel] += channel.messages;
    }
    ++statistics.chunk_count;
    summary.add(std::move(index));
  }
  summary.set(statistics);
  mcap::append(bytes, mcap::DataEnd{});
  summary.append_to(bytes, end.offset + bytes.size());
  trailer.bytes.append(bytes);
  trailer.file_bytes = end.offset + bytes.size();
  trailer.statistics = std::move(statistics);
  return trailer;
}

}  // namespace cardan::record
