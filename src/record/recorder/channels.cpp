// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/channels.hpp"

#include <span>

namespace cardan::record {

void Channels::ensure(Segment& segment, TopicQueue& topic) {
  if (topic.known_in_segment == segment.number()) return;
  topic.known_in_segment = segment.number();
  const TopicSource& source = topic.source();
  const auto [schema, is_new] =
      schemas_.try_emplace(source.type + '\n' + topic.framing().schema_encoding() + '\n' + source.schema,
                           static_cast<std::uint16_t>(schemas_.size() + 1));
  if (is_new) schema_in_segment_.push_back(~std::uint64_t{0});
  std::uint64_t& last = schema_in_segment_[schema->second - std::size_t{1}];
  if (last != segment.number()) {
    last = segment.number();
    const auto text = std::as_bytes(std::span(source.schema));
    segment.add(mcap::Schema{.id = schema->second,
                             .name = source.type,
                             .encoding = topic.framing().schema_encoding(),
                             .data = mcap::Bytes(text.begin(), text.end())});
  }
  segment.add(mcap::Channel{.id = static_cast<std::uint16_t>(topic.number + 1),
                            .schema_id = schema->second,
                            .topic = source.name,
                            .message_encoding = topic.framing().message_encoding(),
                            .metadata = topic.channel_metadata()});
}

}  // namespace cardan::record
