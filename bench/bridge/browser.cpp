// SPDX-License-Identifier: Apache-2.0
// A client of the Foxglove bridge: Boost.Beast as a client, which shares no code with the bridge's own protocol.
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/bridge/parts.hpp"
#include "bench/stage.hpp"
#include "cardan/clock.hpp"

namespace cardan::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Socket = beast::websocket::stream<asio::ip::tcp::socket>;

// Of a message: its kind, the subscription, the time; then CDR: its head, and the stamp as the first of
// sensor_msgs/Image.
constexpr std::size_t kHead = 1 + 4 + 8;
constexpr std::size_t kStamp = kHead + 4;

Socket open(asio::io_context& context, int port) {
  Socket socket(context);
  socket.next_layer().connect({asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(port)});
  socket.set_option(beast::websocket::stream_base::decorator(
      [](beast::websocket::request_type& request) { request.set("Sec-WebSocket-Protocol", "foxglove.sdk.v1"); }));
  socket.read_message_max(256U << 20U);
  socket.handshake("127.0.0.1", "/");
  return socket;
}

void subscribe(Socket& socket) {
  beast::flat_buffer buffer;
  for (;;) {
    buffer.clear();
    socket.read(buffer);
    if (!socket.got_text()) continue;
    const auto text = nlohmann::json::parse(beast::buffers_to_string(buffer.data()));
    if (text.at("op") != "advertise") continue;
    for (const auto& channel : text.at("channels")) {
      if (channel.at("topic") != "/camera") continue;
      socket.text(true);
      const nlohmann::json one{{"id", 1}, {"channelId", channel.at("id")}};
      socket.write(
          asio::buffer(nlohmann::json{{"op", "subscribe"}, {"subscriptions", nlohmann::json::array({one})}}.dump()));
      return;
    }
  }
}

}  // namespace

void play_browser(const nlohmann::json& job) {
  Stage stage;
  asio::io_context context;
  Socket socket = open(context, job.at("port"));
  subscribe(socket);
  const std::chrono::milliseconds pause(job.value("pause_ms", 0));
  std::vector<std::int64_t> latency_ns;
  beast::flat_buffer buffer;
  stage.ready();
  // The bridge's end ends it: until then it may wait for a message.
  for (beast::error_code ended; !stage.end_asked();) {
    buffer.clear();
    socket.read(buffer, ended);
    if (ended) break;
    const auto* const bytes = static_cast<const std::byte*>(buffer.data().data());
    if (socket.got_text() || buffer.size() < kStamp + 8) continue;
    std::int32_t seconds = 0;
    std::uint32_t nanoseconds = 0;
    std::memcpy(&seconds, bytes + kStamp, 4);
    std::memcpy(&nanoseconds, bytes + kStamp + 4, 4);
    if (seconds == 0 && nanoseconds == 0) continue;
    latency_ns.push_back(wall_now() - (seconds * std::int64_t{1'000'000'000} + nanoseconds));
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  }
  stage.wait_for_end();
  Stage::report({{"received", latency_ns.size()}, {"latency_ns", latency_ns}});
}

}  // namespace cardan::bench
