// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/summary.hpp"

#include <algorithm>

namespace cardan::mcap {

bool Summary::afford(std::size_t bytes) {
  constexpr std::size_t kMostDefinitions = std::size_t{256} << 20;
  if (bytes > kMostDefinitions - definition_bytes_) return false;
  definition_bytes_ += bytes;
  return true;
}

void Summary::add(const Schema& schema) {
  if (!schemas_.contains(schema.id) && afford(schema.name.size() + schema.encoding.size() + schema.data.size()))
    schemas_.emplace(schema.id, schema);
}

void Summary::add(const Channel& channel) {
  if (channels_.contains(channel.id)) return;
  std::size_t bytes = channel.topic.size() + channel.message_encoding.size();
  for (const auto& [key, value] : channel.metadata) bytes += key.size() + value.size();
  if (afford(bytes)) channels_.emplace(channel.id, channel);
}

void Summary::count(std::uint16_t channel, std::uint64_t log_time) {
  Statistics& s = statistics_;
  s.message_start_time = s.message_count == 0 ? log_time : std::min(s.message_start_time, log_time);
  s.message_end_time = s.message_count == 0 ? log_time : std::max(s.message_end_time, log_time);
  ++s.message_count;
  ++s.channel_message_counts[channel];
}

void Summary::add(AttachmentIndex index) {
  ++statistics_.attachment_count;
  attachments_.push_back(std::move(index));
}

void Summary::add(MetadataIndex index) {
  ++statistics_.metadata_count;
  metadata_.push_back(std::move(index));
}

void Summary::append_to(Bytes& out, std::uint64_t file_offset, const SummaryOptions& options) const {
  const std::size_t begin = out.size();
  const auto position = [&] { return file_offset + (out.size() - begin); };
  const View extra = options.extra;

  std::vector<SummaryOffset> groups;
  const auto group = [&](Opcode opcode, bool wanted, auto&& append_records) {
    if (!wanted) return;
    const std::uint64_t start = position();
    append_records();
    if (position() > start)
      groups.push_back({.group_opcode = static_cast<std::uint8_t>(opcode),
                        .group_start = start,
                        .group_length = position() - start});
  };
  const auto all_of = [&](const auto& records) {
    return [&] {
      for (const auto& record : records) append(out, record, extra);
    };
  };
  const auto values_of = [&](const auto& records) {
    return [&] {
      for (const auto& [id, record] : records) append(out, record, extra);
    };
  };
  group(Opcode::Schema, options.schemas, values_of(schemas_));
  group(Opcode::Channel, options.channels, values_of(channels_));
  group(Opcode::Statistics, options.statistics, [&] {
    Statistics s = statistics_;
    s.schema_count = static_cast<std::uint16_t>(schemas_.size());
    s.channel_count = static_cast<std::uint32_t>(channels_.size());
    append(out, s, extra);
  });
  group(Opcode::MetadataIndex, options.metadata_indexes, all_of(metadata_));
  group(Opcode::AttachmentIndex, options.attachment_indexes, all_of(attachments_));
  group(Opcode::ChunkIndex, options.chunk_indexes, all_of(chunks_));

  Footer footer;
  if (!groups.empty()) footer.summary_start = file_offset;
  if (options.offsets && !groups.empty()) {
    footer.summary_offset_start = position();
    for (const SummaryOffset& g : groups) append(out, g, extra);
  }
  // The footer's own checksum covers the footer's bytes before it, too.
  Bytes bare;
  append(bare, footer);
  const View before_crc = View(bare).first(bare.size() - sizeof footer.summary_crc);
  footer.summary_crc = crc32(before_crc, crc32(View(out).subspan(begin)));
  append(out, footer);
  detail::put(out, std::as_bytes(std::span(kMagic)));
}

}  // namespace cardan::mcap
