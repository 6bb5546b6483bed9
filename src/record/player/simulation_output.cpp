// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/simulation_output.hpp"

#include <fmt/format.h>

#include <limits>
#include <span>
#include <utility>

#include "cardan/error.hpp"
#include "src/messages/layout_cdr.hpp"
#include "src/record/metadata.hpp"
#include "src/record/player/message_form.hpp"
#include "src/runtime/encoded_form.hpp"

namespace cardan::record {
namespace {

mcap::Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

SimulationOutput::SimulationOutput(const std::string& path, bool replace, std::int64_t shift) : shift_(shift) {
  if (path.empty()) return;
  file_ = std::make_unique<mcap::NewFile>(path, replace);
  writer_ =
      std::make_unique<mcap::Writer>([this](mcap::View bytes) { file_->write(bytes); },
                                     mcap::WriterOptions{.overwrite = [this](std::uint64_t offset, mcap::View bytes) {
                                       file_->overwrite(offset, bytes);
                                     }});
}

void SimulationOutput::write(const detail::Channel& channel, const detail::SampleBlock& sample) noexcept {
  if (failure_) return;
  try {
    write_sample(channel, sample);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void SimulationOutput::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

SimulationOutput::Topic& SimulationOutput::topic_of(const detail::Channel& channel) {
  const auto [at, is_new] = topics_.try_emplace(channel.topic());
  if (is_new) describe(channel, at->second);
  return at->second;
}

void SimulationOutput::describe(const detail::Channel& channel, Topic& topic) {
  const detail::PayloadType& type = channel.type();
  topic.report.topic = channel.topic();
  if (!type.shared) {
    topic.report.type = type.cpp.name();
    topic.report.failure = "objects without a codec have no form in files";
    return;
  }
  topic.report.type = type.shared->name;
  if (writer_ == nullptr) return;
  if (type.native) topic.layout = find_layout(type.shared->name, type.shared->hash, type.shared->schema);
  if (type.native ? topic.layout == nullptr : type.encode == nullptr) {
    topic.report.failure =
        fmt::format("the memory layout of {} does not follow from its schema (alignas, bit fields)", type.shared->name);
    return;
  }
  if (channels_ == std::numeric_limits<std::uint16_t>::max())
    throw Error(ErrorCode::Limit, "more than 65,535 topics in one file", "leave components out");
  topic.channel = ++channels_;
  const std::string& schema = type.shared->schema;
  const std::string encoding = type.native ? "cdr" : detail::codec_encoding(schema);
  writer_->add(mcap::Schema{.id = topic.channel,
                            .name = type.shared->name,
                            .encoding = schema.empty() ? ""
                                        : type.native  ? "ros2msg"
                                                       : encoding,
                            .data = bytes_of(schema)});
  writer_->add(mcap::Channel{.id = topic.channel,
                             .schema_id = topic.channel,
                             .topic = channel.topic(),
                             .message_encoding = encoding,
                             .metadata = {{kTypeHashKey, type_hash_text(type.shared->hash)}}});
}

void SimulationOutput::write_sample(const detail::Channel& channel, const detail::SampleBlock& sample) {
  Topic& topic = topic_of(channel);
  ++topic.report.messages;
  if (topic.channel == 0) {
    if (writer_ != nullptr) ++topic.report.failed;
    return;
  }
  bytes_.clear();
  if (topic.layout != nullptr) {
    frame_cdr(*topic.layout, static_cast<const std::byte*>(sample.message), frame_);
    bytes_.reserve(frame_.size());
    bytes_.insert(bytes_.end(), frame_.prefix.begin(), frame_.prefix.end());
    bytes_.insert(bytes_.end(), frame_.payload.begin(), frame_.payload.end());
    bytes_.insert(bytes_.end(), frame_.suffix.begin(), frame_.suffix.end());
  } else if (!channel.type().encode(sample.message, bytes_)) {
    if (topic.report.failed++ == 0) topic.report.failure = "it cannot be encoded";
    return;
  }
  writer_->write({.channel_id = topic.channel,
                  .sequence = static_cast<std::uint32_t>(sample.sequence),
                  .log_time = log_time_of(sample.publish_ns, shift_),
                  .publish_time = log_time_of(sample.publish_ns, shift_),
                  .data = mcap::View(bytes_),
                  .source_time = sample.source_ns});
}

std::uint64_t SimulationOutput::finish() {
  if (writer_ == nullptr) return 0;
  writer_->close();
  file_->finish();
  return writer_->bytes();
}

std::vector<SimulatedTopic> SimulationOutput::topics() const {
  std::vector<SimulatedTopic> all;
  for (const auto& [name, topic] : topics_) all.push_back(topic.report);
  return all;
}

}  // namespace cardan::record
