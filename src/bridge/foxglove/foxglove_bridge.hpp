// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/bridge/bridge.hpp"
#include "src/bridge/catalogue.hpp"
#include "src/bridge/foxglove/inquirer.hpp"
#include "src/bridge/foxglove/playback.hpp"
#include "src/bridge/foxglove/preview_maker.hpp"
#include "src/bridge/foxglove/socket_server.hpp"
#include "src/bridge/foxglove/viewer.hpp"
#include "src/bridge/rules.hpp"
#include "src/bridge/service_caller.hpp"

namespace cardan::bridge::foxglove {

/// The bridge to Foxglove, Lichtblick and browsers: a WebSocket server that speaks Foxglove's protocol.
class FoxgloveBridge final : public Bridge, private Application, private Hub {
 public:
  /// Listens. `network`: of the loop guard. `page_first`: the title gives the page's address. `playback`: a recording
  /// that is shown instead of what runs. Throws Error as SocketServer and Catalogue do.
  FoxgloveBridge(Rules rules, std::string network, bool page_first = false, std::unique_ptr<Playback> playback = {});
  ~FoxgloveBridge() override;

  void turn(std::chrono::nanoseconds timeout) override;
  void finish() override;
  [[nodiscard]] bool is_whole() const override { return is_whole_; }
  [[nodiscard]] std::vector<TopicReport> topics() const override;
  [[nodiscard]] std::string title() const override;
  [[nodiscard]] std::vector<std::string> notes() const override;
  [[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }

 private:
  // Application
  [[nodiscard]] std::unique_ptr<Client> connected(Connection& connection) override;
  [[nodiscard]] std::optional<Page> page(std::string_view path) override;
  // Hub
  Channel* channel(std::uint32_t id) override;
  void subscribe(Viewer& viewer, Channel& channel) override;
  void unsubscribe(Viewer& viewer, std::uint32_t channel) override;
  void ready(Channel& channel) override { make_previews(channel); }
  Incoming* advertise(const Advertise::Channel& channel, std::string& why) override;
  void unadvertise(Incoming& incoming) noexcept override;
  bool ask(Inquirer::Question question) override { return inquirer_->ask(std::move(question)); }
  [[nodiscard]] bool may_set_parameters() const override { return rules_.foxglove.set_parameters; }
  [[nodiscard]] std::shared_ptr<const Look> look() const override { return look_; }
  void wants_changed() override;
  void gone(Viewer& viewer) noexcept override;
  [[nodiscard]] ServiceCaller* services() override { return caller_.get(); }
  [[nodiscard]] const LocalService* service(std::uint32_t id) const override;
  [[nodiscard]] Playback* playback() override { return playback_.get(); }
  void played_otherwise(Viewer& viewer, bool did_seek, const std::string& request) override;

  void look_at_changes();
  void add(const Catalogue::Change& change);
  void remove(const std::string& topic);
  void look_at_results();
  void take(Inquirer::Result& result);
  [[nodiscard]] bool is_wanted(const Channel& channel) const;
  void open_or_close(Channel& channel);
  void close_unwanted();
  void pump(Channel& channel);
  void deliver(Channel& channel, FramePtr frame);
  // foxglove_previews.cpp
  /// Lets go of the message for previews if nobody wants any.
  void forget_unwanted_previews(Channel& channel);
  void offer_for_previews(Channel& channel, const FramePtr& frame);
  /// Gives viewers what is made of the newest message, and starts to make what they wait for, unless another message is
  /// in work.
  void make_previews(Channel& channel);
  void give_preview(Viewer& viewer, Channel& channel, std::uint64_t number, const FramePtr& made);
  void look_at_previews();
  // foxglove_services.cpp
  void begin_services();
  void look_at_services();
  // foxglove_playback.cpp
  void look_at_playback();
  void say_what_is_played(ServerInfo& info) const;
  void show_playback(Viewer& viewer);
  /// In a pause nothing comes for a client that subscribes then.
  static void keep_for_a_pause(Channel& channel, const FramePtr& frame);
  static void keep_places(Channel& channel, const FramePtr& frame);
  /// Whether it is later than what is shown: it was played before somebody went back.
  [[nodiscard]] bool is_later(const OutgoingFrame& frame) const;
  /// The counts of a topic before it went, so that nothing that was lost is forgotten.
  void keep(TopicReport report);

  const std::unique_ptr<Playback> playback_;  ///< first: the topics are gone before it
  PlaybackState played_{};                    ///< as the viewers know it
  bool is_whole_ = true;
  const Rules rules_;
  const std::string network_;
  const std::string session_;
  const bool page_first_;
  Catalogue catalogue_;
  std::unique_ptr<SocketServer> server_;
  std::unique_ptr<Inquirer> inquirer_;
  std::unique_ptr<PreviewMaker> preview_maker_;
  std::unique_ptr<ServiceCaller> caller_;  ///< null: clients may not call services
  std::map<std::uint32_t, LocalService> services_;
  std::map<std::uint32_t, Channel> channels_;
  std::map<std::string, std::uint32_t> by_name_;  ///< channels by the topic's name here
  std::map<std::string, Incoming> incoming_;      ///< by the topic's name here
  std::map<std::uint64_t, Viewer*> viewers_;
  std::map<std::pair<std::string, bool>, TopicReport> past_;
  std::shared_ptr<const Look> look_;
  std::string system_json_ = "{}", chains_json_ = "{}";
  /// When the page asked for a look, for the system and for the chains.
  std::int64_t page_asked_ns_ = 0, system_asked_ns_ = 0, chains_asked_ns_ = 0;
  std::map<std::uint32_t, std::int64_t> unwanted_;  ///< open channels without viewers, and when they close
  std::uint32_t last_channel_ = 0;
  std::uint64_t last_viewer_ = 0;
  std::unique_ptr<SocketServer::Watch> changes_watch_, results_watch_, page_watch_, linger_watch_, previews_watch_,
      playback_watch_, services_watch_;
};

}  // namespace cardan::bridge::foxglove
