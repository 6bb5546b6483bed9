// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/protocol.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include "src/base/text_of_json.hpp"
#include "src/system/plan/value_json.hpp"

namespace cardan::bridge::foxglove {
namespace {

using nlohmann::json;

constexpr std::uint32_t kMostSteps = 1000;
constexpr std::size_t kLongestId = 256;

static_assert(std::endian::native == std::endian::little, "the wire is little-endian");

std::string dump(const json& value) { return text_of_json(value); }

template <class Number>
void put(std::byte* at, Number number) noexcept {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(Number)>>(number);
  std::copy(bytes.begin(), bytes.end(), at);
}

/// The parser does not recurse, but the result of deep nesting costs memory and time.
bool too_deep(std::string_view text) noexcept {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostNested) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

/// The name of the member that is wrong.
struct Wrong {
  std::string what;
};

const json& list(const json& in, const char* name) {
  const auto it = in.find(name);
  if (it == in.end() || !it->is_array()) throw Wrong{name};
  return *it;
}

std::uint32_t number(const json& value, const char* name) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX) throw Wrong{name};
  return static_cast<std::uint32_t>(value.get<std::uint64_t>());
}

std::uint32_t number_in(const json& in, const char* name) {
  if (!in.is_object() || !in.contains(name)) throw Wrong{name};
  return number(in.at(name), name);
}

std::string word(const json& in, const char* name, bool needed = true) {
  if (!in.is_object()) throw Wrong{name};
  const auto it = in.find(name);
  if (it != in.end() && it->is_string()) return it->get<std::string>();
  if (needed || (it != in.end() && !it->is_null())) throw Wrong{name};
  return {};
}

std::vector<std::uint32_t> numbers(const json& in, const char* name) {
  std::vector<std::uint32_t> all;
  for (const json& value : list(in, name)) all.push_back(number(value, name));
  return all;
}

std::set<std::string> words(const json& in, const char* name) {
  std::set<std::string> all;
  if (!in.contains(name)) return all;
  for (const json& value : list(in, name)) {
    if (!value.is_string()) throw Wrong{name};
    all.insert(value.get<std::string>());
  }
  return all;
}

Subscribe subscribe(const json& in) {
  Subscribe request;
  for (const json& one : list(in, "subscriptions")) {
    Subscribe::One& to =
        request.subscriptions.emplace_back(Subscribe::One{number_in(one, "id"), number_in(one, "channelId"), {}});
    if (!one.contains("preview")) continue;
    to.preview = preview_named(word(one, "preview"), number_in(one, "most"));
    if (!to.preview) throw Wrong{"preview"};
  }
  return request;
}

Advertise advertise(const json& in) {
  Advertise request;
  for (const json& one : list(in, "channels"))
    request.channels.push_back({.id = number_in(one, "id"),
                                .topic = word(one, "topic"),
                                .encoding = word(one, "encoding"),
                                .type = word(one, "schemaName"),
                                .schema = word(one, "schema", false),
                                .schema_encoding = word(one, "schemaEncoding", false)});
  return request;
}

SetParameters set_parameters(const json& in) {
  SetParameters request{.request = word(in, "id", false)};
  for (const json& one : list(in, "parameters")) {
    const std::string name = word(one, "name");
    const auto value = one.find("value");
    if (value == one.end()) throw Wrong{"value"};
    config::Value& to = request.parameters[name];
    const auto too_large = [](const json& j) {
      return j.is_number_unsigned() && j.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    };
    if (value->is_number_integer() && (word(one, "type", false) == "float64" || too_large(*value))) {
      to = value->get<double>();
      continue;
    }
    if (value->is_array() && std::any_of(value->begin(), value->end(), too_large)) throw Wrong{"value"};
    const auto read = plan::value_of(*value);
    if (!read) throw Wrong{"value"};
    to = *read;
  }
  return request;
}

Request request_of(const json& in) {
  if (!in.is_object()) return Malformed{"a request is not a JSON object"};
  const std::string op = word(in, "op");
  if (op == "subscribe") return subscribe(in);
  if (op == "unsubscribe") return Unsubscribe{numbers(in, "subscriptionIds")};
  if (op == "advertise") return advertise(in);
  if (op == "unadvertise") return Unadvertise{numbers(in, "channelIds")};
  if (op == "getParameters")
    return GetParameters{.names = words(in, "parameterNames"), .request = word(in, "id", false)};
  if (op == "setParameters") return set_parameters(in);
  if (op == "subscribeParameterUpdates") return WatchParameters{.on = true, .names = words(in, "parameterNames")};
  if (op == "unsubscribeParameterUpdates") return WatchParameters{.on = false, .names = words(in, "parameterNames")};
  if (op == "subscribeConnectionGraph") return WatchGraph{true};
  if (op == "unsubscribeConnectionGraph") return WatchGraph{false};
  if (op == "cardanStep") {
    const Step step{number_in(in, "messages")};
    if (step.messages == 0 || step.messages > kMostSteps) throw Wrong{"messages"};
    return step;
  }
  if (op == "cardanReady") return Ready{numbers(in, "subscriptionIds")};
  constexpr std::size_t kShown = 40;
  return Malformed{"this server does not know the request '" + op.substr(0, kShown) + "'"};
}

json value_json(const config::Value& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

/// The topics whose ends have changed go into `changed`, and those that have no ends now into `removed`.
void compare(const Ends& before, const Ends& now, const char* ids, json& changed, std::set<std::string>& removed) {
  for (const auto& [topic, programs] : now) {
    const auto old = before.find(topic);
    if (old == before.end() || old->second != programs) changed.push_back({{"name", topic}, {ids, programs}});
  }
  for (const auto& [topic, programs] : before)
    if (!now.contains(topic)) {
      changed.push_back({{"name", topic}, {ids, json::array()}});
      removed.insert(topic);
    }
}

}  // namespace

std::string_view choose_protocol(std::string_view offered) {
  bool old = false;
  while (!offered.empty()) {
    const std::size_t comma = std::min(offered.find(','), offered.size());
    std::string_view one = offered.substr(0, comma);
    offered.remove_prefix(std::min(comma + 1, offered.size()));
    while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) one.remove_prefix(1);
    while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) one.remove_suffix(1);
    if (one == kNewProtocol) return kNewProtocol;
    old = old || one == kOldProtocol;
  }
  return old ? kOldProtocol : std::string_view();
}

namespace {

json time_json(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {{"sec", std::clamp<std::int64_t>(ns / kSecond, 0, UINT32_MAX)},
          {"nsec", std::max<std::int64_t>(0, ns) % kSecond}};
}

}  // namespace

std::string server_info_text(const ServerInfo& info) {
  json capabilities{"connectionGraph", "parameters", "parametersSubscribe"};
  if (info.publish) capabilities.push_back("clientPublish");
  if (info.time) capabilities.push_back("time");
  if (info.services) capabilities.push_back("services");
  if (info.playback) capabilities.push_back("playbackControl");
  json text{{"op", "serverInfo"},
            {"name", info.name},
            {"capabilities", capabilities},
            {"metadata", info.metadata},
            {"sessionId", info.session}};
  if (info.publish || info.services) text["supportedEncodings"] = {"cdr"};
  if (info.playback) {
    text["dataStartTime"] = time_json(info.playback->first);
    text["dataEndTime"] = time_json(info.playback->second);
  }
  return dump(text);
}

std::string advertise_text(const std::vector<const ChannelInfo*>& channels) {
  json all = json::array();
  for (const ChannelInfo* c : channels)
    all.push_back({{"id", c->id},
                   {"topic", c->topic},
                   {"encoding", "cdr"},
                   {"schemaName", c->type},
                   {"schema", c->schema},
                   {"schemaEncoding", "ros2msg"}});
  return dump({{"op", "advertise"}, {"channels", std::move(all)}});
}

std::string unadvertise_text(const std::vector<std::uint32_t>& ids) {
  return dump({{"op", "unadvertise"}, {"channelIds", ids}});
}

namespace {

json side_of_service(const std::string& type, const std::string& definition) {
  return {{"encoding", "cdr"}, {"schemaName", type}, {"schemaEncoding", "ros2msg"}, {"schema", definition}};
}

}  // namespace

std::string advertise_services_text(const std::vector<const LocalService*>& services) {
  json all = json::array();
  for (const LocalService* s : services)
    all.push_back({{"id", s->id},
                   {"name", s->beyond},
                   {"type", s->type.empty() ? s->question_type : s->type},
                   {"request", side_of_service(s->question_type, s->question_definition)},
                   {"response", side_of_service(s->answer_type, s->answer_definition)}});
  return dump({{"op", "advertiseServices"}, {"services", std::move(all)}});
}

std::string unadvertise_services_text(const std::set<std::uint32_t>& ids) {
  return dump({{"op", "unadvertiseServices"}, {"serviceIds", ids}});
}

std::vector<std::byte> service_answer(std::uint32_t service, std::uint32_t call, std::span<const std::byte> cdr) {
  constexpr std::string_view kEncoding = "cdr";
  std::vector<std::byte> message(kServiceCallHead + kEncoding.size());
  message.reserve(message.size() + cdr.size());
  message[0] = std::byte{3};
  put(&message[1], service);
  put(&message[5], call);
  put(&message[9], static_cast<std::uint32_t>(kEncoding.size()));
  const auto encoding = std::as_bytes(std::span(kEncoding));
  std::copy(encoding.begin(), encoding.end(), message.begin() + kServiceCallHead);
  message.insert(message.end(), cdr.begin(), cdr.end());
  return message;
}

std::string service_failure_text(std::uint32_t service, std::uint32_t call, const std::string& why) {
  return dump({{"op", "serviceCallFailure"}, {"serviceId", service}, {"callId", call}, {"message", why}});
}

std::string status_text(Level level, const std::string& message) {
  return dump({{"op", "status"}, {"level", static_cast<int>(level)}, {"message", message}});
}

std::string parameters_text(const Parameters& parameters, const std::string& request) {
  json all = json::array();
  for (const auto& [name, value] : parameters) {
    json one{{"name", name}, {"value", value_json(value)}};
    // 1.0 is 1 in JSON: without the word the viewer takes it for a whole number.
    if (const auto* d = std::get_if<double>(&value); d != nullptr) {
      if (!std::isfinite(*d)) continue;  // JSON has no form for it
      one["type"] = "float64";
    }
    if (const auto* list = std::get_if<std::vector<double>>(&value); list != nullptr) {
      if (!std::all_of(list->begin(), list->end(), [](double d) { return std::isfinite(d); })) continue;
      one["type"] = "float64_array";
    }
    all.push_back(std::move(one));
  }
  json text{{"op", "parameterValues"}, {"parameters", std::move(all)}};
  if (!request.empty()) text["id"] = request;
  return dump(text);
}

std::string graph_text(const Graph& before, const Graph& now) {
  json published = json::array(), subscribed = json::array();
  std::set<std::string> unpublished, unsubscribed, removed;
  compare(before.published, now.published, "publisherIds", published, unpublished);
  compare(before.subscribed, now.subscribed, "subscriberIds", subscribed, unsubscribed);
  if (published.empty() && subscribed.empty()) return {};
  for (const std::string& topic : unpublished)
    if (!now.subscribed.contains(topic)) removed.insert(topic);
  for (const std::string& topic : unsubscribed)
    if (!now.published.contains(topic)) removed.insert(topic);
  return dump({{"op", "connectionGraphUpdate"},
               {"publishedTopics", std::move(published)},
               {"subscribedTopics", std::move(subscribed)},
               {"advertisedServices", json::array()},
               {"removedTopics", removed},
               {"removedServices", json::array()}});
}

std::array<std::byte, 13> message_head(std::uint32_t subscription, std::int64_t time_ns) noexcept {
  std::array<std::byte, 13> head{};
  head[0] = std::byte{1};
  put(&head[1], subscription);
  put(&head[5], time_ns);
  return head;
}

std::array<std::byte, 9> time_message(std::int64_t time_ns) noexcept {
  std::array<std::byte, 9> message{};
  message[0] = std::byte{2};
  put(&message[1], time_ns);
  return message;
}

std::vector<std::byte> playback_message(const PlaybackState& state, bool did_seek, const std::string& request) {
  std::vector<std::byte> message(19 + request.size());
  message[0] = std::byte{5};
  message[1] = static_cast<std::byte>(state.status);
  put(&message[2], state.time_ns);
  put(&message[10], state.speed);
  message[14] = static_cast<std::byte>(did_seek);
  put(&message[15], static_cast<std::uint32_t>(request.size()));
  const auto id = std::as_bytes(std::span(request));
  std::copy(id.begin(), id.end(), message.begin() + 19);
  return message;
}

std::string recording_text(const std::string& contents) {
  return R"({"op":"cardanRecording","recording":)" + contents + "}";
}

Request parse_request(std::string_view text) {
  if (too_deep(text)) return Malformed{"the text is nested too deeply"};
  const json in = json::parse(text, nullptr, false);
  if (in.is_discarded()) return Malformed{"the text is not JSON"};
  try {
    return request_of(in);
  } catch (const Wrong& wrong) {
    return Malformed{"'" + wrong.what + "' of a request is missing or has the wrong type"};
  }
}

std::optional<ClientMessage> parse_binary(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < 5 || bytes[0] != std::byte{1}) return std::nullopt;
  std::array<std::byte, 4> channel{};
  std::copy_n(bytes.begin() + 1, 4, channel.begin());
  return ClientMessage{.channel = std::bit_cast<std::uint32_t>(channel), .data = bytes.subspan(5)};
}

std::optional<ServiceCall> parse_service_call(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < kServiceCallHead || bytes[0] != kServiceCall) return std::nullopt;
  const auto get = [&](std::size_t at) {
    std::uint32_t number = 0;
    std::memcpy(&number, &bytes[at], sizeof number);
    return number;
  };
  const std::size_t length = get(9);
  if (length > bytes.size() - kServiceCallHead) return std::nullopt;
  const auto* const encoding = reinterpret_cast<const char*>(bytes.data()) + kServiceCallHead;
  return ServiceCall{.service = get(1),
                     .number = get(5),
                     .encoding = {encoding, length},
                     .question = bytes.subspan(kServiceCallHead + length)};
}

std::optional<PlaybackRequest> parse_playback(std::span<const std::byte> bytes) {
  constexpr std::size_t kHead = 19;
  if (bytes.size() < kHead || bytes[0] != kPlaybackRequest || bytes[1] > std::byte{1}) return std::nullopt;
  const auto get = [&](std::size_t at, auto number) {
    std::memcpy(&number, &bytes[at], sizeof(number));
    return number;
  };
  PlaybackRequest request{.plays = bytes[1] == std::byte{0}, .speed = get(2, float{})};
  if (!(request.speed >= kLeastSpeed && request.speed <= kMostSpeed)) return std::nullopt;  // nor is it NaN
  if (bytes[6] != std::byte{0})
    request.seek_ns = static_cast<std::int64_t>(
        std::min<std::uint64_t>(get(7, std::uint64_t{}), std::numeric_limits<std::int64_t>::max()));
  const std::size_t length = get(15, std::uint32_t{});
  if (length > kLongestId || length > bytes.size() - kHead) return std::nullopt;
  request.id.assign(reinterpret_cast<const char*>(bytes.data()) + kHead, length);
  return request;
}

}  // namespace cardan::bridge::foxglove
