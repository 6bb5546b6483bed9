// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/bridge/foxglove/client_queue.hpp"
#include "src/bridge/foxglove/inquirer.hpp"
#include "src/bridge/foxglove/playback.hpp"
#include "src/bridge/foxglove/preview_cache.hpp"
#include "src/bridge/foxglove/protocol.hpp"
#include "src/bridge/foxglove/socket_server.hpp"
#include "src/bridge/incoming_topic.hpp"
#include "src/bridge/outgoing_topic.hpp"
#include "src/bridge/service_caller.hpp"

namespace cardan::bridge::foxglove {

class Viewer;

/// Large messages of a channel that are sent straight from the publisher's memory at once. Further clients get a copy,
/// so that slow ones hold no more slots than were announced.
inline constexpr std::size_t kByReference = 2;

/// A topic that clients can subscribe to.
struct Channel {
  Channel(ChannelInfo i, OutgoingTopic topic) : info(std::move(i)), out(std::move(topic)) {}
  ChannelInfo info;
  OutgoingTopic out;
  std::size_t depth = 1;   ///< large messages that wait for a client
  bool is_owners = false;  ///< clients of other users do not get it
  bool is_clock = false;
  bool is_log = false;         ///< of `cardan run`
  bool is_places = false;      ///< /tf_static
  std::int64_t opened_ns = 0;  ///< steady clock
  std::set<Viewer*> viewers{};
  std::deque<FramePtr> latched{};
  std::map<const OutgoingFrame*, std::size_t> under_way{};  ///< large ones that clients get by reference
  PreviewCache previews{};
  bool making = false;  ///< previews of a message are being made
  std::string trouble{};
  std::unique_ptr<SocketServer::Watch> watch{};
};

/// A topic that clients may publish.
struct Incoming {
  explicit Incoming(IncomingTopic in, std::size_t most) : topic(std::move(in)), max_bytes(most) {}
  IncomingTopic topic;
  std::size_t max_bytes;
  std::size_t clients = 0;
};

/// For the bridge's report. Any thread; does not block.
[[nodiscard]] TopicReport report_of(const Incoming& incoming);

/// The common part of the clients: the bridge.
class Hub {
 public:
  virtual ~Hub() = default;
  virtual Channel* channel(std::uint32_t id) = 0;
  virtual void subscribe(Viewer& viewer, Channel& channel) = 0;
  virtual void unsubscribe(Viewer& viewer, std::uint32_t channel) = 0;
  /// A viewer has drawn the last preview that it got of the channel.
  virtual void ready(Channel& channel) = 0;
  /// Null: it may not come in, and `why` says so.
  virtual Incoming* advertise(const Advertise::Channel& channel, std::string& why) = 0;
  virtual void unadvertise(Incoming& incoming) noexcept = 0;
  virtual bool ask(Inquirer::Question question) = 0;
  [[nodiscard]] virtual bool may_set_parameters() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const Look> look() const = 0;
  virtual void wants_changed() = 0;
  /// Null: clients may not call services.
  [[nodiscard]] virtual ServiceCaller* services() { return nullptr; }
  /// Null: its server has ended.
  [[nodiscard]] virtual const LocalService* service(std::uint32_t /*id*/) const { return nullptr; }
  /// The recording that is shown; null: what runs is.
  [[nodiscard]] virtual Playback* playback() { return nullptr; }
  /// A viewer has changed how it is played. `request`: what it is to be answered with.
  virtual void played_otherwise(Viewer& /*viewer*/, bool /*did_seek*/, const std::string& /*request*/) {}
  virtual void gone(Viewer& viewer) noexcept = 0;
};

/// One client: what it asked for, and what goes to it next.
/// Thread safety: none. No function blocks.
class Viewer final : public Client {
 public:
  Viewer(std::uint64_t number, Hub& hub, Connection& connection, const ServerInfo& info);
  ~Viewer() override;

  // Client
  void text(std::string_view text) override;
  void binary(std::span<const std::byte> bytes) override;
  [[nodiscard]] std::size_t most_binary_bytes() const noexcept override;
  [[nodiscard]] bool publishes() const noexcept override { return !publishes_.empty(); }
  void sent() override;

  /// Whether it may know the channel.
  [[nodiscard]] bool sees(const Channel& channel) const noexcept { return !channel.is_owners || is_ours(); }
  [[nodiscard]] bool is_ours() const noexcept { return connection_.is_ours(); }
  /// Only if it sees the channel.
  void advertise(const Channel& channel);
  void unadvertise(std::uint32_t channel);
  void advertise(const LocalService& service);
  void unadvertise_service(std::uint32_t id);
  /// The answer to a question of its.
  void answer(ServiceCaller::Answer&& answer);
  /// A message of a channel to which it subscribes.
  void offer(Channel& channel, const FramePtr& frame);
  /// The preview that it gets of a channel instead of the messages; null: it gets the messages.
  struct Wish {
    Preview preview{};
    bool ready = true;        ///< it has drawn what it got
    std::uint64_t given = 0;  ///< the number of the last message that it got, from 1
  };
  [[nodiscard]] Wish* wish(std::uint32_t channel);
  void time(std::int64_t ns) { time_ns_ = ns; }
  /// Of what waits, the newest state is sent, with the newest request.
  void playback(const PlaybackState& state, bool did_seek, const std::string& request);
  /// Nothing, if too much waits already, or after some of one text, which may ask for ten thousand of these.
  void tell(Level level, const std::string& message);
  void push(std::string text);
  void parameters(const std::shared_ptr<const Parameters>& all);
  /// Sends what waits, unless a message is under way. If memory runs out, the connection ends; nobody else notices.
  void flush() noexcept;

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] bool wants_time(const Channel& clock) const noexcept { return wants_time_ && sees(clock); }
  [[nodiscard]] bool wants_graph() const noexcept { return wants_graph_; }
  [[nodiscard]] bool wants_parameters() const noexcept { return watched_.has_value(); }
  void answered() noexcept { questions_ -= questions_ != 0 ? 1 : 0; }

 private:
  void handle(const Malformed& request);
  void handle(const Subscribe& request);
  void handle(const Unsubscribe& request);
  void handle(const Advertise& request);
  void handle(const Unadvertise& request);
  void handle(const GetParameters& request);
  void handle(const SetParameters& request);
  void handle(const WatchParameters& request);
  void handle(const WatchGraph& request);
  void handle(const Ready& request);
  void handle(const Step& request);
  void control(std::span<const std::byte> bytes);
  void call(std::span<const std::byte> bytes);
  [[nodiscard]] std::vector<std::byte> next_answer();
  /// Empty: nothing is to be said of services.
  [[nodiscard]] std::string next_services_text();
  /// Null: the client may not control it, and has its answer.
  [[nodiscard]] Playback* controls();
  void ask(Inquirer::Question question);
  void send_next();
  /// Makes the next text. Empty: no text waits.
  std::string next_text();
  void send_text(std::string text);
  void send_frame(const ClientQueue::Next& next);
  void release_frame();

  const std::uint64_t number_;
  Hub& hub_;
  Connection& connection_;
  ClientQueue queue_;
  std::map<std::uint32_t, Wish> wishes_;  ///< by channel
  std::deque<std::string> texts_;
  std::size_t text_bytes_ = 0;  ///< of `texts_`
  std::size_t told_ = 0;        ///< of the text that is being handled
  std::set<std::uint32_t> to_advertise_, to_unadvertise_, advertised_;
  std::map<std::uint32_t, Incoming*> publishes_;  ///< by the client's channel
  struct Services {
    std::set<std::uint32_t> to_advertise{}, to_unadvertise{}, advertised{};
    std::deque<ServiceCaller::Answer> answers{};
    std::size_t answer_bytes = 0;  ///< of `answers`
    std::size_t calls = 0;         ///< without an answer
  } services_;
  std::optional<std::int64_t> time_ns_;
  struct News {
    PlaybackState state{};
    bool did_seek = false;
    std::string request{};
  };
  std::optional<News> playback_;
  std::shared_ptr<const Look> shown_;
  std::optional<std::set<std::string>> watched_;  ///< parameters; empty set: all
  Parameters known_;
  std::size_t questions_ = 0;
  bool wants_time_ = false, wants_graph_ = false, told_of_skips_ = false, told_of_refusals_ = false,
       told_of_owners_ = false, told_of_controls_ = false;

  // Under way.
  std::string text_;
  std::array<std::byte, 13> head_{};
  std::vector<std::byte> copy_;
  FramePtr frame_;
  std::uint32_t frame_channel_ = 0;
};

}  // namespace cardan::bridge::foxglove
