// SPDX-License-Identifier: Apache-2.0
// Foxglove's WebSocket protocol: JSON texts and binary frames. It knows no sockets. Source:
// https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cardan/configuration.hpp"
#include "src/bridge/foxglove/playback.hpp"
#include "src/bridge/foxglove/preview.hpp"
#include "src/bridge/local_service.hpp"

namespace cardan::bridge::foxglove {

/// The subprotocols that Foxglove and Lichtblick offer. Both have the same bytes.
inline constexpr std::string_view kNewProtocol = "foxglove.sdk.v1";
inline constexpr std::string_view kOldProtocol = "foxglove.websocket.v1";
/// The one to answer to the header Sec-WebSocket-Protocol. Empty: none of them is offered.
[[nodiscard]] std::string_view choose_protocol(std::string_view offered);

// ---- from the server

struct ServerInfo {
  std::string name, session;
  bool publish = false;                           ///< some topics may come in
  bool time = false;                              ///< there is a /clock
  bool services = false;                          ///< they may be called
  std::map<std::string, std::string> metadata{};  ///< what the page may ask for
  /// Of a recording that the client may control: log times of its first and last message.
  std::optional<std::pair<std::int64_t, std::int64_t>> playback{};
};
[[nodiscard]] std::string server_info_text(const ServerInfo& info);

struct ChannelInfo {
  std::uint32_t id = 0;
  std::string topic{}, type{}, schema{};
};
[[nodiscard]] std::string advertise_text(const std::vector<const ChannelInfo*>& channels);
[[nodiscard]] std::string advertise_services_text(const std::vector<const LocalService*>& services);
[[nodiscard]] std::string unadvertise_services_text(const std::set<std::uint32_t>& ids);
[[nodiscard]] std::vector<std::byte> service_answer(std::uint32_t service, std::uint32_t call,
                                                    std::span<const std::byte> cdr);
[[nodiscard]] std::string service_failure_text(std::uint32_t service, std::uint32_t call, const std::string& why);
[[nodiscard]] std::string unadvertise_text(const std::vector<std::uint32_t>& ids);

enum class Level : std::uint8_t { Info, Warning, Error };
[[nodiscard]] std::string status_text(Level level, const std::string& message);

using Parameters = std::map<std::string, config::Value>;
[[nodiscard]] std::string parameters_text(const Parameters& parameters, const std::string& request);

/// Topic → the programs that publish or subscribe it.
using Ends = std::map<std::string, std::set<std::string>>;
struct Graph {
  Ends published{}, subscribed{};
  bool operator==(const Graph&) const = default;
};
/// The changes. Empty: nothing.
[[nodiscard]] std::string graph_text(const Graph& before, const Graph& now);

/// In front of a message's bytes, and the message "time". A preview has the number kPreviewMessage, which
/// Foxglove's protocol does not use.
inline constexpr std::byte kPreviewMessage{0x80};
[[nodiscard]] std::array<std::byte, 13> message_head(std::uint32_t subscription, std::int64_t time_ns) noexcept;
[[nodiscard]] std::array<std::byte, 9> time_message(std::int64_t time_ns) noexcept;
/// `request`: whose answer it is; empty: of none.
[[nodiscard]] std::vector<std::byte> playback_message(const PlaybackState& state, bool did_seek,
                                                      const std::string& request);
/// A recording's contents; of the page alone.
[[nodiscard]] std::string recording_text(const std::string& contents);

// ---- from a client

struct Subscribe {
  struct One {
    std::uint32_t id = 0, channel = 0;
    std::optional<Preview> preview{};  ///< of the page alone; Foxglove's protocol has none
  };
  std::vector<One> subscriptions{};
};
struct Unsubscribe {
  std::vector<std::uint32_t> ids{};
};
struct Advertise {
  struct Channel {
    std::uint32_t id = 0;
    std::string topic{}, encoding{}, type{}, schema{}, schema_encoding{};
  };
  std::vector<Channel> channels{};
};
struct Unadvertise {
  std::vector<std::uint32_t> ids{};
};
struct GetParameters {
  std::set<std::string> names{};  ///< empty: all
  std::string request{};
};
struct SetParameters {
  Parameters parameters{};
  std::string request{};
};
struct WatchParameters {
  bool on = false;
  std::set<std::string> names{};  ///< empty: all
};
struct WatchGraph {
  bool on = false;
};
/// The page has drawn what it got of these subscriptions, which have a preview.
struct Ready {
  std::vector<std::uint32_t> ids{};
};
/// Plays a number of messages of a recording; only the page sends it.
struct Step {
  std::uint32_t messages = 1;
};
struct Malformed {
  std::string why{};
};
using Request = std::variant<Malformed, Subscribe, Unsubscribe, Advertise, Unadvertise, GetParameters, SetParameters,
                             WatchParameters, WatchGraph, Ready, Step>;

/// The deepest nesting of lists and objects in a client's text.
inline constexpr int kMostNested = 8;
/// Reads a text that may be hostile. Never throws for what it says. Any thread; does not block.
[[nodiscard]] Request parse_request(std::string_view text);

struct ClientMessage {
  std::uint32_t channel = 0;
  std::span<const std::byte> data{};
};
/// Empty: it is not a message of a client.
[[nodiscard]] std::optional<ClientMessage> parse_binary(std::span<const std::byte> bytes) noexcept;

/// A question to a service.
struct ServiceCall {
  std::uint32_t service = 0, number = 0;
  std::string_view encoding{};
  std::span<const std::byte> question{};
};
/// The first byte of such a message, and of its head.
inline constexpr std::byte kServiceCall{2};
inline constexpr std::size_t kServiceCallHead = 13;
/// Empty: it is not one. Valid as long as `bytes`.
[[nodiscard]] std::optional<ServiceCall> parse_service_call(std::span<const std::byte> bytes) noexcept;

struct PlaybackRequest {
  bool plays = false;
  float speed = 1;  ///< within kLeastSpeed and kMostSpeed
  std::optional<std::int64_t> seek_ns{};
  std::string id{};
};
inline constexpr float kLeastSpeed = 0.01F, kMostSpeed = 100;
/// The first byte of a binary message that controls a recording.
inline constexpr std::byte kPlaybackRequest{3};
/// Empty: it is not such a message, or says what no player can do.
[[nodiscard]] std::optional<PlaybackRequest> parse_playback(std::span<const std::byte> bytes);

}  // namespace cardan::bridge::foxglove
