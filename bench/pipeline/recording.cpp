// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/recording.hpp"

#include <fmt/format.h>

#include "cardan/error.hpp"
#ifdef CARDAN_HAS_RECORD_BENCH
#include <set>

#include "cardan/mcap/reader.hpp"
#endif

namespace cardan::bench::perception {

#ifdef CARDAN_HAS_RECORD_BENCH
namespace {

constexpr std::size_t kMostNames = 5;  // in a sentence

bool fits(const mcap::Summary& summary, const mcap::Channel& channel, std::string_view type) {
  const auto schema = summary.schemas().find(channel.schema_id);
  return channel.message_encoding == "cdr" && schema != summary.schemas().end() && schema->second.name == type;
}

std::string list_of(const std::set<std::string>& topics) {
  std::string out;
  std::size_t named = 0;
  for (const std::string& topic : topics) {
    if (named++ == kMostNames) return out + " …";
    out += (out.empty() ? "" : ", ") + topic.substr(0, 64);
  }
  return out;
}

/// The topic that is read: the one that was given, or the only one of the type.
std::string choose(const std::string& file, const std::string& topic, std::string_view type,
                   const mcap::Summary& summary) {
  std::set<std::string> good;
  bool is_there = false;
  for (const auto& [id, channel] : summary.channels()) {
    is_there = is_there || channel.topic == topic;
    if (fits(summary, channel, type)) good.insert(channel.topic);
  }
  if (good.empty())
    throw Error(ErrorCode::InvalidArgument, fmt::format("--from {}: no topic has {} as CDR", file, type),
                "look at it with `cardan bag info`, and give a recording of that sensor");
  if (topic.empty() && good.size() > 1)
    throw Error(ErrorCode::InvalidArgument, fmt::format("--from {} has several topics of {}", file, type),
                "choose one with --topic: " + list_of(good));
  if (!topic.empty() && !good.contains(topic))
    throw Error(ErrorCode::InvalidArgument,
                is_there ? fmt::format("--topic {} does not have {} as CDR in {}", topic, type, file)
                         : fmt::format("--topic {} is not in {}", topic, file),
                "give one of these: " + list_of(good));
  return topic.empty() ? *good.begin() : topic;
}

}  // namespace

void read_recording(const std::string& file, const std::string& topic, std::string_view type,
                    const std::function<bool(std::span<const std::byte>)>& use) {
  const mcap::Reader reader(file);
  const std::string chosen = choose(file, topic, type, reader.summary());
  auto messages = reader.messages({.wanted = [&](const mcap::Channel& channel) {
    return channel.topic == chosen && fits(reader.summary(), channel, type);
  }});
  std::size_t count = 0;
  while (const auto message = messages.next()) {
    ++count;
    if (!use(std::span<const std::byte>(message->message.data.data(), message->message.data.size()))) return;
  }
  if (count == 0)
    throw Error(ErrorCode::InvalidArgument, fmt::format("--from {}: topic {} has no message", file, chosen),
                "give another recording; `cardan bag info` counts its messages");
}
#else
void read_recording(const std::string& file, const std::string&, std::string_view,
                    const std::function<bool(std::span<const std::byte>)>&) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("--from {}: this build reads no recordings", file),
              "scripts/setup.sh --for build installs what the recorder needs; then build again");
}
#endif

}  // namespace cardan::bench::perception
