// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/foxglove_bridge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/bridge/foxglove/log_channel.hpp"
#include "src/bridge/foxglove/page.hpp"
#include "src/bridge/log_line.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr std::size_t kMostPast = 4096;
constexpr std::size_t kMostDepth = 32;  ///< large messages that wait for a client; each is a slot
constexpr int kFramesOfOneTurn = 32;
constexpr std::size_t kMostOfPlaces = 256 << 10;  ///< bytes of a message on /tf_static that is kept
constexpr std::size_t kBytesOfPlaces = 4 << 20;   ///< of all that are kept
/// ns that a topic stays subscribed without clients: one that comes and goes all the time costs no handshake each time.
constexpr std::int64_t kLinger = 1'000'000'000;
constexpr std::int64_t kWhenMemoryRunsOut = 10'000'000;  ///< ns until the next try
constexpr std::int64_t kPageAsks = 5'000'000'000;        ///< ns that a question of the page counts for

ServerOptions server_options(const FoxgloveRules& rules) {
  return {.address = rules.address,
          .port = static_cast<std::uint16_t>(rules.port),
          .max_clients = rules.max_clients,
          .origins = rules.origins,
          .hosts = rules.hosts};
}

/// A message in one piece, which holds no slot.
FramePtr copy_of(const OutgoingFrame& frame) {
  auto copy = std::make_shared<OutgoingFrame>();
  copy->publish_ns = frame.publish_ns;
  copy->steady_ns = frame.steady_ns;
  copy->source_ns = frame.source_ns;
  copy->sequence = frame.sequence;
  copy->cdr.prefix = frame.cdr.joined();
  return copy;
}

/// The time of a rosgraph_msgs/msg/Clock: two numbers after the header of CDR.
std::optional<std::int64_t> time_of_clock(const OutgoingFrame& frame) {
  std::int32_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  const auto& bytes = frame.cdr.prefix;
  if (bytes.size() < 12) return std::nullopt;
  std::memcpy(&seconds, &bytes[4], sizeof(seconds));
  std::memcpy(&nanoseconds, &bytes[8], sizeof(nanoseconds));
  return std::int64_t{seconds} * 1'000'000'000 + nanoseconds;
}

TopicReport report_of(const Channel& c) {
  return {.topic = c.out.topic().name,
          .beyond = c.out.beyond(),
          .type = c.out.topic().type,
          .in = false,
          .receivers = c.viewers.size(),
          .counts = c.out.counts(),
          .note = c.trouble};
}

}  // namespace

FoxgloveBridge::FoxgloveBridge(Rules rules, std::string network, bool page_first, std::unique_ptr<Playback> playback)
    : playback_(std::move(playback)),
      rules_(std::move(rules)),
      network_(std::move(network)),
      session_(fmt::format("{}-{}", ::getpid(), wall_now())),
      page_first_(page_first),
      catalogue_(rules_, Catalogue::Owners::Marked, kLog.name),
      server_(std::make_unique<SocketServer>(server_options(rules_.foxglove), static_cast<Application&>(*this))),
      inquirer_(std::make_unique<Inquirer>(rules_)),
      preview_maker_(std::make_unique<PreviewMaker>()) {
  changes_watch_ = server_->watch(catalogue_.fd(), [this] { look_at_changes(); });
  results_watch_ = server_->watch(inquirer_->fd(), [this] { look_at_results(); });
  page_watch_ = server_->watch(-1, [this] { wants_changed(); });
  linger_watch_ = server_->watch(-1, [this] { close_unwanted(); });
  previews_watch_ = server_->watch(preview_maker_->fd(), [this] { look_at_previews(); });
  playback_watch_ = server_->watch(-1, [this] { look_at_playback(); });
  begin_services();
  look_at_changes();
  results_watch_->arm();
  previews_watch_->arm();
}

FoxgloveBridge::~FoxgloveBridge() {
  server_->end();
  changes_watch_.reset();
  results_watch_.reset();
  page_watch_.reset();
  linger_watch_.reset();
  previews_watch_.reset();
  playback_watch_.reset();
  services_watch_.reset();
  preview_maker_.reset();  // before the channels, whose messages it has
  channels_.clear();
}

// ---- topics

void FoxgloveBridge::look_at_changes() {
  try {
    catalogue_.each_change([this](const Catalogue::Change& change) {
      if (change.added)
        add(change);
      else
        remove(change.topic.name);
    });
  } catch (const std::bad_alloc&) {  // again, soon
    changes_watch_->arm_at(steady_now() + kWhenMemoryRunsOut);
    return;
  }
  for (auto& [number, viewer] : viewers_) viewer->flush();
  changes_watch_->arm();
}

void FoxgloveBridge::add(const Catalogue::Change& change) {
  const LocalTopic& topic = change.topic;
  const bool log = is_log(topic);
  if (topic.name == kLog.name && !log) return;
  const TopicRule& rule = *change.rule;
  const std::size_t depth = std::clamp<std::size_t>(rule.depth, 1, kMostDepth);
  // One that is being taken, those that wait, those that clients get by reference, one that gets another preview, and
  // of a recording the newest.
  const OutgoingOptions options{.domain = rules_.domain,
                                .access = rules_.access,
                                .holds = static_cast<std::uint32_t>(
                                    depth + kByReference + 1 + (has_preview(topic.type) ? 1 : 0) + (playback_ ? 1 : 0)),
                                .reliable = rule.reliable.value_or(false),
                                .source_times = playback_ != nullptr};
  const std::uint32_t id = ++last_channel_;
  try {
    OutgoingTopic out(topic, rule, options);
    ChannelInfo info{.id = id, .topic = out.beyond(), .type = topic.type, .schema = topic.schema};
    if (log) std::tie(info.type, info.schema) = std::pair(kRosLogType, kRosLogDefinition);
    Channel& channel = channels_.try_emplace(id, std::move(info), std::move(out)).first->second;
    channel.depth = log ? kKeptLogLines : depth;
    channel.is_log = log;
    channel.is_owners = change.is_owners;
    channel.is_places = !rule.latched && topic.type == "tf2_msgs/msg/TFMessage" && topic.name.ends_with("/tf_static");
    channel.is_clock = !playback_ && topic.name == "/clock" && topic.type == "rosgraph_msgs/msg/Clock";
    by_name_[topic.name] = id;
    for (auto& [number, viewer] : viewers_) viewer->advertise(channel);
  } catch (const std::bad_alloc&) {  // it comes again, and nothing is left of this try
    for (auto& [number, viewer] : viewers_) viewer->unadvertise(id);
    by_name_.erase(topic.name);
    channels_.erase(id);
    throw;
  } catch (const Error& e) {
    keep({.topic = topic.name, .beyond = topic.name, .type = topic.type, .note = e.what()});
  }
}

void FoxgloveBridge::remove(const std::string& topic) {
  const auto name = by_name_.find(topic);
  if (name == by_name_.end()) return;
  Channel& channel = channels_.at(name->second);
  for (auto& [number, viewer] : viewers_) viewer->unadvertise(channel.info.id);
  channel.viewers.clear();
  channel.watch.reset();
  channel.out.close();
  keep(report_of(channel));
  channels_.erase(name->second);
  by_name_.erase(name);
}

Channel* FoxgloveBridge::channel(std::uint32_t id) {
  const auto it = channels_.find(id);
  return it == channels_.end() ? nullptr : &it->second;
}

bool FoxgloveBridge::is_wanted(const Channel& channel) const {
  return !channel.viewers.empty() ||
         (channel.is_clock && std::any_of(viewers_.begin(), viewers_.end(),
                                          [&](const auto& viewer) { return viewer.second->wants_time(channel); }));
}

void FoxgloveBridge::open_or_close(Channel& channel) {
  if (is_wanted(channel) == channel.out.is_open()) return;
  if (channel.out.is_open()) {
    const std::int64_t due = steady_now() + kLinger;
    if (unwanted_.empty()) linger_watch_->arm_at(due);
    unwanted_.emplace(channel.info.id, due);
    return;
  }
  try {
    channel.opened_ns = steady_now();
    channel.out.open();
    channel.watch = server_->watch(channel.out.fd(), [this, &channel] { pump(channel); });
    channel.trouble.clear();
    channel.watch->arm();
  } catch (const Error& e) {
    channel.watch.reset();
    channel.out.close();
    channel.trouble = e.what();
    for (Viewer* viewer : channel.viewers) viewer->tell(Level::Error, channel.info.topic + ": " + channel.trouble);
  }
}

void FoxgloveBridge::close_unwanted() {
  const std::int64_t now = steady_now();
  std::int64_t next = 0;
  for (auto it = unwanted_.begin(); it != unwanted_.end();) {
    Channel* const there = channel(it->first);
    const bool keeps = there != nullptr && there->out.is_open() && !is_wanted(*there);
    if (keeps && it->second > now) {
      next = next == 0 ? it->second : std::min(next, it->second);
      ++it;
      continue;
    }
    if (keeps) {
      there->watch.reset();
      there->latched.clear();
      there->previews.clear();
      there->out.close();
    }
    it = unwanted_.erase(it);
  }
  if (next != 0) linger_watch_->arm_at(next);
}

void FoxgloveBridge::subscribe(Viewer& viewer, Channel& channel) {
  channel.viewers.insert(&viewer);
  if (viewer.wish(channel.info.id) != nullptr) {
    if (!channel.previews.newest() && !channel.latched.empty()) offer_for_previews(channel, channel.latched.back());
    make_previews(channel);
    return open_or_close(channel);
  }
  for (const FramePtr& frame : channel.latched) viewer.offer(channel, frame);
  open_or_close(channel);
}

void FoxgloveBridge::unsubscribe(Viewer& viewer, std::uint32_t id) {
  Channel* const there = channel(id);
  if (there == nullptr) return;
  there->viewers.erase(&viewer);
  forget_unwanted_previews(*there);
  open_or_close(*there);
}

void FoxgloveBridge::pump(Channel& channel) {
  const std::int64_t now = steady_now();
  for (int i = 0; i < kFramesOfOneTurn; ++i) {
    try {
      FramePtr frame = channel.out.next(now);
      if (!frame) break;
      if (is_later(*frame)) {
        channel.out.thinned();
        continue;
      }
      if (channel.is_log) frame = log_frame(*frame);
      if (!frame) {
        channel.out.refused();
        continue;
      }
      deliver(channel, std::move(frame));
    } catch (const std::bad_alloc&) {
      channel.out.lost();
      break;
    }
  }
  for (Viewer* const viewer : channel.viewers) viewer->flush();
  if (channel.is_clock)
    for (auto& [number, viewer] : viewers_) viewer->flush();
  if (channel.out.due_ns() > now)
    channel.watch->arm_at(channel.out.due_ns());
  else
    channel.watch->arm();
}

void FoxgloveBridge::deliver(Channel& channel, FramePtr frame) {
  if (frame->size() <= kSmallBytes) frame = copy_of(*frame);
  for (Viewer* const viewer : channel.viewers) {
    if (viewer->wish(channel.info.id) != nullptr) continue;
    try {
      viewer->offer(channel, frame);
    } catch (const std::bad_alloc&) {  // the others get it
      channel.out.lost();
    }
  }
  offer_for_previews(channel, frame);
  if (channel.is_clock)
    if (const auto time = time_of_clock(*frame))
      for (auto& [number, viewer] : viewers_)
        if (viewer->wants_time(channel)) viewer->time(*time);
  if (channel.is_log || channel.out.rule().latched.value_or(false)) {
    channel.latched.push_back(frame);
    if (channel.latched.size() > channel.depth) channel.latched.pop_front();
  } else if (playback_) {
    keep_for_a_pause(channel, frame);
  } else if (channel.is_places) {
    keep_places(channel, frame);
  }
}

/// As ROS 2 has it for /tf_static: a client that comes later gets what all publishers have sent. The copies hold no
/// slot.
void FoxgloveBridge::keep_places(Channel& channel, const FramePtr& frame) {
  if (frame->size() > kMostOfPlaces) return;
  channel.latched.push_back(frame->size() <= kSmallBytes ? frame : copy_of(*frame));
  std::size_t bytes = 0;
  for (const FramePtr& one : channel.latched) bytes += one->size();
  while (channel.latched.size() > kSmallOfOneChannel || bytes > kBytesOfPlaces) {
    bytes -= channel.latched.front()->size();
    channel.latched.pop_front();
  }
}

// ---- clients

std::unique_ptr<Client> FoxgloveBridge::connected(Connection& connection) {
  const auto clock = by_name_.find("/clock");
  Channel* const time = clock == by_name_.end() ? nullptr : &channels_.at(clock->second);
  const bool plays = playback_ && connection.is_ours();
  ServerInfo info{.name = "Cardan",
                  .session = session_,
                  .publish = !rules_.in.empty(),
                  .time = time != nullptr && time->is_clock && (connection.is_ours() || !time->is_owners),
                  .services = caller_ != nullptr,
                  .metadata = {{"cardan.pictures", makes_pictures() ? "yes" : "no"},
                               {"cardan.points", "yes"},
                               {"cardan.set_parameters", rules_.foxglove.set_parameters ? "yes" : "no"}}};
  const bool wants_clock = info.time;
  if (plays) say_what_is_played(info);
  auto viewer = std::make_unique<Viewer>(++last_viewer_, static_cast<Hub&>(*this), connection, info);
  if (plays) show_playback(*viewer);
  for (const auto& [id, channel] : channels_) viewer->advertise(channel);
  for (const auto& [id, service] : services_) viewer->advertise(service);
  viewers_.emplace(viewer->number(), viewer.get());
  if (wants_clock) open_or_close(*time);
  viewer->flush();
  return viewer;
}

void FoxgloveBridge::gone(Viewer& viewer) noexcept {
  viewers_.erase(viewer.number());
  for (auto& [id, channel] : channels_) {
    channel.viewers.erase(&viewer);
    forget_unwanted_previews(channel);
  }
  try {
    for (auto& [id, channel] : channels_) open_or_close(channel);
    wants_changed();
  } catch (const std::bad_alloc&) {  // what nobody wants stays open until the next one leaves
  }
}

std::optional<Page> FoxgloveBridge::page(std::string_view path) {
  if (path == "/look.json") {
    page_asked_ns_ = steady_now();
    wants_changed();
    return Page{.type = "application/json", .body = look_ ? look_->json : "{}"};
  }
  if (path == "/system.json") {
    system_asked_ns_ = steady_now();
    wants_changed();
    return Page{.type = "application/json", .body = system_json_};
  }
  if (path == "/chains.json") {
    chains_asked_ns_ = steady_now();
    wants_changed();
    return Page{.type = "application/json", .body = chains_json_};
  }
  const PageFile* const file = page_file(path);
  if (file == nullptr) return std::nullopt;
  return Page{.type = file->type, .body = std::string(file->body)};
}

void FoxgloveBridge::wants_changed() {
  const auto asked = [now = steady_now()](std::int64_t at) { return at != 0 && now - at < kPageAsks; };
  const bool page = asked(page_asked_ns_), system = asked(system_asked_ns_), chains = asked(chains_asked_ns_);
  const auto any = [this](bool (Viewer::*wants)() const noexcept) {
    return std::any_of(viewers_.begin(), viewers_.end(), [&](const auto& v) { return (v.second->*wants)(); });
  };
  inquirer_->want({.looks = page || any(&Viewer::wants_graph),
                   .parameters = any(&Viewer::wants_parameters),
                   .system = system,
                   .chains = chains});
  if (!chains) chains_json_ = "{}";
  if ((page || system || chains) && page_watch_)
    page_watch_->arm_at(std::max({page_asked_ns_, system_asked_ns_, chains_asked_ns_}) + kPageAsks);
}

void FoxgloveBridge::look_at_results() {
  for (Inquirer::Result& result : inquirer_->results()) {
    try {
      take(result);
    } catch (const std::bad_alloc&) {  // this client gets no answer; it may ask again
    }
  }
  results_watch_->arm();
}

void FoxgloveBridge::take(Inquirer::Result& result) {
  if (auto* const answer = std::get_if<Inquirer::Answer>(&result)) {
    const auto viewer = viewers_.find(answer->client);
    if (viewer == viewers_.end()) return;
    viewer->second->answered();
    if (answer->text.empty()) return;  // there was no memory for it
    viewer->second->push(std::move(answer->text));
    viewer->second->flush();
  } else if (auto* const system = std::get_if<Inquirer::System>(&result)) {
    system_json_ = std::move(system->json);
  } else if (auto* const chains = std::get_if<Inquirer::Chains>(&result)) {
    chains_json_ = std::move(chains->json);
  } else if (auto* const look = std::get_if<std::shared_ptr<const Look>>(&result)) {
    look_ = *look;
    for (auto& [number, viewer] : viewers_) viewer->flush();
  } else {
    const auto& all = std::get<std::shared_ptr<const Parameters>>(result);
    for (auto& [number, viewer] : viewers_)
      if (viewer->wants_parameters()) viewer->parameters(all);
  }
}

// ---- reports

void FoxgloveBridge::keep(TopicReport report) {
  auto key = std::pair(report.topic, report.in);
  if (!past_.contains(key) && past_.size() >= kMostPast) {
    report.topic = report.beyond = "(others)";
    key.first = report.topic;
  }
  const auto [it, is_new] = past_.try_emplace(key, report);
  if (!is_new) {
    it->second.counts += report.counts;
    it->second.note = report.note;
  }
  it->second.receivers = 0;
}

std::vector<TopicReport> FoxgloveBridge::topics() const {
  auto all = past_;
  const auto add = [&](TopicReport report) {
    if (const auto it = all.find({report.topic, report.in}); it != all.end()) report.counts += it->second.counts;
    all[{report.topic, report.in}] = std::move(report);
  };
  for (const auto& [id, channel] : channels_) add(report_of(channel));
  for (const auto& [name, incoming] : incoming_) add(report_of(incoming));
  std::vector<TopicReport> list;
  for (auto& [key, report] : all) list.push_back(std::move(report));
  return list;
}

std::string FoxgloveBridge::title() const {
  const std::size_t clients = server_->clients();
  return fmt::format("{}://{}, {} client{}{}", page_first_ ? "Page http" : "Foxglove ws", server_->where(), clients,
                     clients == 1 ? "" : "s", playback_ ? ", recording " + playback_->name() : "");
}

std::vector<std::string> FoxgloveBridge::notes() const {
  std::vector<std::string> all;
  const auto& address = rules_.foxglove.address;
  if (!address.starts_with("127.") && address != "::1")
    all.push_back(fmt::format(
        "every computer that reaches {} can read these topics, except those of access 'owner' that no rule sends: the "
        "bridge asks for no password, and nothing is encrypted",
        server_->where()));
  const auto owners = [](const auto& channel) { return channel.second.is_owners; };
  const auto others = [](const auto& viewer) { return !viewer.second->is_ours(); };
  if (std::any_of(channels_.begin(), channels_.end(), owners) && std::any_of(viewers_.begin(), viewers_.end(), others))
    all.emplace_back(
        "clients of other users or computers do not get topics of access 'owner' — name them in full in 'topics' "
        "(--topic), or set 'owner' in the rule (--owner)");
  for (const auto& [topic, why] : catalogue_.problems()) all.push_back(fmt::format("{}: {}", topic, why));
  for (std::string& note : server_->notes()) all.push_back(std::move(note));
  return all;
}

}  // namespace cardan::bridge::foxglove
