// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/writer.hpp"

#include <algorithm>

#include "src/mcap/ros2_profile.hpp"
#include "src/mcap/source_times.hpp"

namespace cardan::mcap {

Writer::Writer(Write write, WriterOptions options)
    : write_(std::move(write)), options_(std::move(options)), compressor_(options_.compression, options_.level) {
  detail::put(out_, std::as_bytes(std::span(kMagic)));
  if (options_.overwrite && options_.profile.empty())
    append_header(out_, false, options_.library);
  else
    append(out_, Header{.profile = options_.profile, .library = options_.library}, options_.summary.extra);
  flush();
}

void Writer::flush() {
  if (options_.data_crc) data_crc_ = crc32(out_, data_crc_);
  write_(out_);
  position_ += out_.size();
  out_.clear();
}

// Into the chunk if there are chunks; what readers must know before the messages goes where those go.
template <class Record>
void Writer::append_record(const Record& record) {
  if (options_.chunks) {
    append(records_, record);
    return;
  }
  append(out_, record, options_.summary.extra);
  flush();
}

void Writer::add(const Schema& schema) {
  summary_.add(schema);
  append_record(schema);
}

void Writer::add(const Channel& channel) {
  summary_.add(channel);
  const auto schema = summary_.schemas().find(channel.schema_id);
  ros2_ = ros2_ && schema != summary_.schemas().end() && as_ros2_writes(channel, schema->second);
  append_record(channel);
}

void Writer::write(const Message& message) {
  if (options_.chunks) {
    const auto [at, is_new] = index_of_.try_emplace(message.channel_id, indexes_.size());
    if (is_new) {
      indexes_.push_back({.channel_id = message.channel_id});
      source_times_.emplace_back();
    }
    indexes_[at->second].records.emplace_back(message.log_time, records_.size());
    source_times_[at->second].push_back(message.source_time);
    first_ = messages_ == 0 ? message.log_time : std::min(first_, message.log_time);
    last_ = messages_ == 0 ? message.log_time : std::max(last_, message.log_time);
    ++messages_;
    append(records_, message);
  } else {
    append(out_, message);
    flush();
  }
  summary_.count(message.channel_id, message.log_time);
  if (records_.size() >= options_.chunk_bytes) end_chunk();
}

void Writer::add(const Attachment& attachment) {
  append(out_, attachment, options_.summary.extra);
  summary_.add(AttachmentIndex{.offset = position_,
                               .length = out_.size(),
                               .log_time = attachment.log_time,
                               .create_time = attachment.create_time,
                               .data_size = attachment.data.size(),
                               .name = attachment.name,
                               .media_type = attachment.media_type});
  flush();
}

void Writer::add(const Metadata& metadata) {
  append(out_, metadata, options_.summary.extra);
  summary_.add(MetadataIndex{.offset = position_, .length = out_.size(), .name = metadata.name});
  flush();
}

void Writer::end_chunk() {
  if (records_.empty()) return;
  packed_.clear();
  Chunk chunk{.message_start_time = first_,
              .message_end_time = last_,
              .uncompressed_size = records_.size(),
              .uncompressed_crc = options_.chunk_crc ? crc32(records_) : 0,
              .compression = std::string(name_of(compressor_.kind())),
              .records = records_};
  if (compressor_.kind() != Compression::None) {
    compressor_.append(packed_, records_);
    chunk.records = packed_;
  }
  ChunkIndex index{.message_start_time = first_,
                   .message_end_time = last_,
                   .chunk_start_offset = position_,
                   .compression = chunk.compression,
                   .compressed_size = chunk.records.size(),
                   .uncompressed_size = chunk.uncompressed_size};
  append(out_, chunk);
  index.chunk_length = out_.size();
  if (options_.message_index) {
    for (std::size_t i = 0; i < indexes_.size(); ++i) {
      index.message_index_offsets[indexes_[i].channel_id] = position_ + out_.size();
      packed_.clear();
      append_source_times(packed_, source_times_[i]);
      detail::put(packed_, View(options_.summary.extra));
      append(out_, indexes_[i], packed_);
    }
    index.message_index_length = out_.size() - index.chunk_length;
  }
  summary_.count_chunk();
  summary_.add(std::move(index));
  flush();
  records_.clear();
  indexes_.clear();
  source_times_.clear();
  index_of_.clear();
  messages_ = first_ = last_ = 0;
}

void Writer::close() {
  end_chunk();
  append(out_, DataEnd{.data_section_crc = data_crc_});
  summary_.append_to(out_, position_ + out_.size(), options_.summary);
  write_(out_);
  position_ += out_.size();
  out_.clear();
  if (!options_.overwrite || !options_.profile.empty() || !ros2_) return;
  append_header(out_, true, options_.library);
  options_.overwrite(kMagic.size(), out_);
  out_.clear();
}

}  // namespace cardan::mcap
