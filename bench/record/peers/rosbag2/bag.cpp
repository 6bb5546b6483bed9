// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/rosbag2/bag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::rosbag2 {
namespace {

constexpr const char* kSchema = "byte[] data\n";
constexpr std::size_t kMessageRecordBytes = mcap::kPrefixBytes + mcap::kMessageHeaderBytes;

mcap::Bytes bytes_of(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

}  // namespace

Bag::Bag(const std::string& path, const std::vector<std::string>& topics) : file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr)
    throw Error(ErrorCode::System, fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                "choose another folder with --folder");
  mcap::detail::put(head_, std::as_bytes(std::span(mcap::kMagic)));
  mcap::append(head_, mcap::Header{.profile = "ros2", .library = "rosbag2 re-implemented by cardan bench"});
  put(head_);
  const mcap::Schema schema{.id = 1,
                            .name = "rosbag2_performance_benchmarking_msgs/msg/ByteArray",
                            .encoding = "ros2msg",
                            .data = bytes_of(kSchema)};
  summary_.add(schema);
  mcap::append(chunk_, schema);
  for (std::size_t i = 0; i < topics.size(); ++i) {
    const mcap::Channel channel{.id = static_cast<std::uint16_t>(i + 1),
                                .schema_id = 1,
                                .topic = topics[i],
                                .message_encoding = "cdr",
                                .metadata = {{"offered_qos_profiles", ""}}};
    summary_.add(channel);
    mcap::append(chunk_, channel);
  }
  indexes_.resize(topics.size());
}

void Bag::put(mcap::View bytes) {
  const std::int64_t before = now_ns();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) failed_ = true;
  fwrite_ns_ += now_ns() - before;
  position_ += bytes.size();
}

void Bag::write(const Message& message) {
  // One that does not fit any more ends the chunk, so that large ones have one of their own.
  if (in_chunk_ > 0 && chunk_.size() + kMessageRecordBytes + message.bytes > kChunkBytes) end_chunk();
  const auto time = static_cast<std::uint64_t>(message.time_ns);
  indexes_.at(message.topic).records.emplace_back(time, chunk_.size());
  first_ = in_chunk_ == 0 ? time : std::min(first_, time);
  last_ = in_chunk_ == 0 ? time : std::max(last_, time);
  ++in_chunk_;
  ++messages_;
  const auto channel = static_cast<std::uint16_t>(message.topic + 1);
  mcap::append(chunk_, mcap::Message{.channel_id = channel,
                                     .sequence = 0,  // rosbag2 writes none
                                     .log_time = time,
                                     .publish_time = time,
                                     .data = mcap::View(message.data.get(), message.bytes)});
  summary_.count(channel, time);
  if (chunk_.size() >= kChunkBytes) end_chunk();
}

void Bag::end_chunk() {
  if (chunk_.empty()) return;
  // The chunk's own head, then its records from where they are: no second copy of them.
  head_.clear();
  head_.push_back(static_cast<std::byte>(mcap::Opcode::Chunk));
  mcap::detail::put(head_, std::uint64_t{mcap::kChunkHeaderBytes + chunk_.size()});
  for (const std::uint64_t field : {first_, last_, std::uint64_t{chunk_.size()}}) mcap::detail::put(head_, field);
  mcap::detail::put(head_, std::uint32_t{0});  // no checksum
  mcap::detail::put(head_, std::uint32_t{0});  // no compression
  mcap::detail::put(head_, std::uint64_t{chunk_.size()});
  mcap::ChunkIndex index{.message_start_time = first_,
                         .message_end_time = last_,
                         .chunk_start_offset = position_,
                         .chunk_length = head_.size() + chunk_.size(),
                         .compressed_size = chunk_.size(),
                         .uncompressed_size = chunk_.size()};
  put(head_);
  put(chunk_);
  head_.clear();
  for (std::size_t topic = 0; topic < indexes_.size(); ++topic) {
    if (indexes_[topic].records.empty()) continue;
    indexes_[topic].channel_id = static_cast<std::uint16_t>(topic + 1);
    index.message_index_offsets[indexes_[topic].channel_id] = position_ + head_.size();
    mcap::append(head_, indexes_[topic]);
    indexes_[topic].records.clear();
  }
  index.message_index_length = head_.size();
  put(head_);
  summary_.count_chunk();
  summary_.add(std::move(index));
  chunk_.clear();
  in_chunk_ = 0;
  first_ = last_ = 0;
}

void Bag::close() {
  end_chunk();
  head_.clear();
  mcap::append(head_, mcap::DataEnd{});
  summary_.append_to(head_, position_ + head_.size());
  put(head_);
  const bool closed = std::fclose(file_.release()) == 0;
  if (failed_ || !closed)
    throw Error(ErrorCode::System, "the disk took not all that the rosbag2 peer wrote", "is it full?");
}

}  // namespace cardan::bench::rosbag2
