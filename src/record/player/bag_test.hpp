// SPDX-License-Identifier: Apache-2.0
// Small recordings for the tests of the player.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/messages.hpp"
#include "src/mcap/sample_file_test.hpp"
#include "src/record/metadata.hpp"
#include "src/record/player/message_form.hpp"

namespace cardan::record::test {

inline constexpr std::uint64_t kSecond = 1'000'000'000;
inline constexpr std::uint64_t kBegin = 1'700'000'000 * kSecond;

/// A type that only this test was compiled with.
struct Wheel {
  std::uint8_t number = 0;
  double speed = 0;
  FixedString<12> name;
  shm::vector<float> ranges;
};

/// A recording in memory.
class Bag {
 public:
  explicit Bag(mcap::WriterOptions options = {.chunk_bytes = 2000})
      : writer_([this](mcap::View bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); },
                std::move(options)) {}

  template <Message T>
  std::uint16_t add(const std::string& topic, bool with_hash = true) {
    using Traits = message_traits<T>;
    return add(topic, std::string(Traits::type_name()), "ros2msg", Traits::schema(), "cdr",
               with_hash ? std::map<std::string, std::string>{{kTypeHashKey, type_hash_text(Traits::type_hash())}}
                         : std::map<std::string, std::string>{});
  }
  std::uint16_t add(const std::string& topic, const std::string& type, const std::string& schema_encoding,
                    std::string_view schema, const std::string& encoding, std::map<std::string, std::string> metadata) {
    const auto id = ++channels_;
    const auto text = std::as_bytes(std::span(schema));
    writer_.add(mcap::Schema{
        .id = id, .name = type, .encoding = schema_encoding, .data = mcap::Bytes(text.begin(), text.end())});
    writer_.add(mcap::Channel{
        .id = id, .schema_id = id, .topic = topic, .message_encoding = encoding, .metadata = std::move(metadata)});
    return id;
  }

  /// As a recorder writes it whose computer had been up for this time at kBegin.
  void up_for(std::uint64_t nanoseconds) {
    writer_.add(mcap::Metadata{.name = std::string(kCardanMetadata),
                               .metadata = {{std::string(kWallClockAheadKey), std::to_string(kBegin - nanoseconds)}}});
  }
  /// `at`: nanoseconds after kBegin; `source_time`: the publisher's own stamp, 0: none.
  void write(std::uint16_t channel, std::uint64_t at, mcap::View data, std::int64_t source_time = 0) {
    writer_.write({.channel_id = channel,
                   .sequence = ++messages_,
                   .log_time = kBegin + at,
                   .publish_time = kBegin + at - 1000,
                   .data = data,
                   .source_time = source_time});
  }
  template <Message T>
  void write(std::uint16_t channel, std::uint64_t at, const T& message, std::int64_t source_time = 0) {
    write(channel, at, to_cdr(message), source_time);
  }

  /// The finished file.
  const mcap::Bytes& bytes() {
    if (!std::exchange(closed_, true)) writer_.close();
    return bytes_;
  }

 private:
  mcap::Bytes bytes_;
  mcap::Writer writer_;
  std::uint16_t channels_ = 0;
  std::uint32_t messages_ = 0;
  bool closed_ = false;
};

}  // namespace cardan::record::test

CARDAN_MESSAGE(cardan::record::test::Wheel, "player_test_msgs/msg/Wheel", number, speed, name, ranges);
