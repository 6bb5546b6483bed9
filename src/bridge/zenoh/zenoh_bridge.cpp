// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/zenoh/zenoh_bridge.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/bridge/zenoh/rules_json.hpp"

namespace cardan::bridge::zenoh {
namespace {

using nlohmann::json;

TopicReport topic_of(const json& j) {
  return {.topic = j.at("topic"),
          .beyond = j.at("beyond"),
          .type = j.at("type"),
          .in = j.at("direction") == "in",
          .receivers = j.at("receivers"),
          .counts = {.carried = j.at("carried"),
                     .bytes = j.at("bytes"),
                     .copied = j.at("copied_bytes"),
                     .thinned = j.at("thinned"),
                     .lost = j.at("lost"),
                     .refused = j.at("refused")},
          .note = j.value("note", "")};
}

std::string clock_note(const json& peer) {
  const double ahead = peer.at("clock_offset_ns").get<double>() / 1e6;
  return fmt::format("the clock of bridge {} is {:.3f} ms {} (round trip {:.1f} ms)", peer.at("id").get<std::string>(),
                     ahead < 0 ? -ahead : ahead, ahead < 0 ? "behind" : "ahead",
                     peer.at("round_trip_ns").get<double>() / 1e6);
}

}  // namespace

ZenohBridge::ZenohBridge(const Rules& rules, const std::string& program) : child_(program, rules_json(rules)) {}

void ZenohBridge::turn(std::chrono::nanoseconds timeout) {
  for (const std::string& line : child_.lines(timeout)) read(line);
  if (!child_.ended() || stopping()) return;
  (void)child_.end();
  throw Error(ErrorCode::Unavailable, fmt::format("cardan-zenoh ended (code {})", child_.code()),
              "its own message, above, says why");
}

void ZenohBridge::finish() {
  for (const std::string& line : child_.end()) read(line);
}

void ZenohBridge::read(const std::string& line) {
  try {
    const json report = json::parse(line);
    std::vector<TopicReport> topics;
    for (const json& topic : report.at("topics")) topics.push_back(topic_of(topic));
    std::vector<std::string> notes;
    for (const json& peer : report.at("peers")) notes.push_back(clock_note(peer));
    for (const json& note : report.at("notes")) notes.push_back(note);
    title_ = report.at("bridge");
    topics_ = std::move(topics);
    notes_ = std::move(notes);
  } catch (const json::exception&) {
    notes_ = {"a report of cardan-zenoh cannot be read: it is of another version than this command (make zenoh)"};
  }
}

}  // namespace cardan::bridge::zenoh
