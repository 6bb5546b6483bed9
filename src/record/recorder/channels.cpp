// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/channels.hpp"

#include <span>
#include <utility>

#include "src/record/causes.hpp"
#include "src/record/metadata.hpp"

namespace cardan::record {

std::uint16_t Channels::ensure_schema(Segment& segment, const std::string& type, const char* encoding,
                                      std::string_view schema) {
  const auto [known, is_new] = schemas_.try_emplace(type + '\n' + encoding + '\n' + std::string(schema),
                                                    static_cast<std::uint16_t>(schemas_.size() + 1));
  if (is_new) schema_in_segment_.push_back(~std::uint64_t{0});
  if (std::exchange(schema_in_segment_[known->second - std::size_t{1}], segment.number()) != segment.number()) {
    const auto text = std::as_bytes(std::span(schema));
    segment.add(mcap::Schema{
        .id = known->second, .name = type, .encoding = encoding, .data = mcap::Bytes(text.begin(), text.end())});
  }
  return known->second;
}

void Channels::ensure(Segment& segment, TopicQueue& topic) {
  if (std::exchange(topic.known_in_segment, segment.number()) == segment.number()) return;
  const TopicSource& source = topic.source();
  segment.add(
      mcap::Channel{.id = static_cast<std::uint16_t>(topic.number + 1),
                    .schema_id = ensure_schema(segment, source.type, topic.framing().schema_encoding(), source.schema),
                    .topic = source.name,
                    .message_encoding = topic.framing().message_encoding(),
                    .metadata = topic.channel_metadata()});
}

void Channels::ensure_causes(Segment& segment) {
  if (std::exchange(causes_in_segment_, segment.number()) == segment.number()) return;
  const std::string type(kCausesType);
  segment.add(mcap::Channel{
      .id = kCausesChannel,
      .schema_id = ensure_schema(segment, type, "ros2msg", kCausesSchema),
      .topic = std::string(kCausesTopic),
      .message_encoding = "cdr",
      .metadata = {{kQosKey, offered_qos(1)}, {kRosTypeHashKey, ros_type_hash(type, std::string(kCausesSchema))}}});
}

}  // namespace cardan::record
