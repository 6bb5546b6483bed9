// SPDX-License-Identifier: Apache-2.0
#include "src/record/chunks/batch.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cardan/detail/checksum.hpp"
#include "cardan/mcap/codec.hpp"
#include "src/mcap/source_times.hpp"

namespace cardan::record {

void append_message_head(mcap::Bytes& out, const MessageHead& head, std::uint64_t data_bytes) {
  namespace d = mcap::detail;
  d::put(out, static_cast<std::uint8_t>(mcap::Opcode::Message));
  d::put(out, std::uint64_t{mcap::kMessageHeaderBytes} + data_bytes);
  d::put(out, head.channel);
  d::put(out, head.sequence);
  d::put(out, head.log_time);
  d::put(out, head.publish_time);
}

Batch::Index& Batch::index_of(std::uint16_t channel) {
  if (channel >= place_of_.size()) place_of_.resize(channel + std::size_t{1});
  std::uint32_t& place = place_of_[channel];
  if (place != 0) return indexes_[place - 1];
  if (used_ == indexes_.size()) indexes_.emplace_back();
  Index& fresh = indexes_[used_++];
  fresh.messages.channel_id = channel;
  fresh.messages.records.clear();
  fresh.source_times.clear();
  place = static_cast<std::uint32_t>(used_);
  return fresh;
}

void Batch::add(const MessageHead& head, mcap::View a, mcap::View b, mcap::View c, const Keep& keep) {
  Index& index = index_of(head.channel);
  if (keep.depth != 0) candidates_.push_back({head.channel, keep, body_.size(), head.source_time});
  index.messages.records.emplace_back(head.log_time, body_.size());
  index.source_times.push_back(head.source_time);
  first_ = messages_ == 0 ? head.log_time : std::min(first_, head.log_time);
  last_ = messages_ == 0 ? head.log_time : std::max(last_, head.log_time);
  ++messages_;
  scratch_.clear();
  append_message_head(scratch_, head, a.size() + b.size() + c.size());
  body_.append(scratch_);
  for (const mcap::View part : {a, b, c}) body_.append(part);
}

/// Of each publisher the last ones, up to one that is not kept whole.
void Batch::keep_last() {
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::uint32_t> left;
  for (auto candidate = candidates_.rbegin(); candidate != candidates_.rend(); ++candidate) {
    const Keep& keep = candidate->keep;
    const auto number = left.try_emplace({candidate->channel, keep.stream}, keep.depth).first;
    if (number->second == 0) continue;
    number->second = keep.whole ? number->second - 1 : 0;
    mcap::View at = body_.view().subspan(static_cast<std::size_t>(candidate->place));
    const auto record = mcap::take_record(at);
    const auto message = mcap::decode<mcap::Message>(record->content);
    KeptMessage kept{.head = {.channel = message->channel_id,
                              .sequence = message->sequence,
                              .log_time = message->log_time,
                              .publish_time = message->publish_time,
                              .source_time = candidate->source_time},
                     .stream = keep.stream,
                     .whole = keep.whole};
    if (keep.whole) kept.data.assign(message->data.begin(), message->data.end());
    kept_.push_back(std::move(kept));
  }
  std::reverse(kept_.begin(), kept_.end());
}

void Batch::close(mcap::Compressor& compressor, bool checksum) {
  keep_last();
  uncompressed_bytes_ = body_.size();
  checksum_ = checksum ? mcap::crc32(body_.view()) : 0;
  compression_ = mcap::name_of(compressor.kind());
  if (compressor.kind() != mcap::Compression::None) {
    packed_.clear();
    compressor.append(packed_, body_.view());
    body_.clear();
    body_.append(packed_);
  }
  records_bytes_ = body_.size();
  // The last index is written again with the next chunk's head: let that be a short one.
  std::sort(indexes_.begin(), indexes_.begin() + static_cast<std::ptrdiff_t>(used_),
            [](const Index& x, const Index& y) { return x.messages.records.size() > y.messages.records.size(); });
  for (std::size_t i = 0; i < used_; ++i) {
    last_record_ = body_.size();
    const mcap::MessageIndex& messages = indexes_[i].messages;
    channels_.push_back({messages.channel_id, static_cast<std::uint32_t>(messages.records.size()), last_record_});
    scratch_.clear();
    stamps_.clear();
    mcap::append_source_times(stamps_, indexes_[i].source_times);
    mcap::append(scratch_, messages, stamps_);
    body_.append(scratch_);
  }
}

void Batch::clear() {
  body_.clear();
  channels_.clear();
  candidates_.clear();
  kept_.clear();
  for (std::size_t i = 0; i < used_; ++i) place_of_[indexes_[i].messages.channel_id] = 0;
  used_ = 0;
  messages_ = 0;
}

}  // namespace cardan::record
