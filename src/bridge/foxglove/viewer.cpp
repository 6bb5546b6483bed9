// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/viewer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace cardan::bridge::foxglove {
namespace {

constexpr std::size_t kMostTextBytes = 1 << 20;  ///< answers that wait; then nothing more is read from the client
constexpr std::size_t kChannelsOfOneText = 64;
constexpr std::size_t kMostPublished = 64;
constexpr std::size_t kMostQuestionsOfOne = 8;
constexpr std::size_t kUnexpectedBytes = 64 << 10;
constexpr std::size_t kWatchedNames = 4096;
constexpr std::size_t kToldOfOneText = 16;

std::span<const std::byte> bytes_of_text(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<std::uint32_t> take_some(std::set<std::uint32_t>& from, std::size_t most) {
  std::vector<std::uint32_t> some;
  while (!from.empty() && some.size() < most) some.push_back(from.extract(from.begin()).value());
  return some;
}

}  // namespace

Viewer::Viewer(std::uint64_t number, Hub& hub, Connection& connection, const ServerInfo& info)
    : number_(number), hub_(hub), connection_(connection), wants_time_(info.time) {
  push(server_info_text(info));
}

Viewer::~Viewer() {
  release_frame();
  for (auto& [id, incoming] : publishes_) hub_.unadvertise(*incoming);
  if (ServiceCaller* const caller = hub_.services(); caller != nullptr && services_.calls != 0) caller->forget(number_);
  hub_.gone(*this);
}

void Viewer::push(std::string text) {
  text_bytes_ += text.size();
  texts_.push_back(std::move(text));
  if (text_bytes_ > kMostTextBytes) connection_.pause();
}

void Viewer::tell(Level level, const std::string& message) {
  if (++told_ <= kToldOfOneText && text_bytes_ <= kMostTextBytes) push(status_text(level, message));
}

void Viewer::advertise(const Channel& channel) {
  if (sees(channel))
    to_advertise_.insert(channel.info.id);
  else if (!std::exchange(told_of_owners_, true))
    tell(Level::Info,
         "Topics of access 'owner' are not shown to other users and computers, unless the server's rules say so.");
}

void Viewer::unadvertise(std::uint32_t channel) {
  queue_.drop(channel);
  wishes_.erase(channel);
  to_advertise_.erase(channel);  // one that was advertised may be about to be so again
  if (advertised_.erase(channel) != 0) to_unadvertise_.insert(channel);
}

Viewer::Wish* Viewer::wish(std::uint32_t channel) {
  const auto it = wishes_.find(channel);
  return it == wishes_.end() ? nullptr : &it->second;
}

void Viewer::offer(Channel& channel, const FramePtr& frame) {
  const std::size_t skipped = queue_.offer(channel.info.id, frame);
  // A message from before anybody subscribed that gives way at once is not a loss.
  if (skipped == 0 || frame->steady_ns < channel.opened_ns) return;
  if (hub_.playback() != nullptr) return channel.out.thinned(skipped);  // the recording still has it
  channel.out.lost(skipped);
  if (std::exchange(told_of_skips_, true)) return;
  tell(Level::Warning,
       "This client is too slow for " + channel.info.topic + ": it gets the newest messages, and others are skipped.");
}

// ---- requests

void Viewer::text(std::string_view text) {
  told_ = 0;
  std::visit([this](const auto& request) { handle(request); }, parse_request(text));
  if (const std::size_t more = std::max(told_, kToldOfOneText) - kToldOfOneText; more != 0) {
    told_ = 0;
    tell(Level::Warning, fmt::format("The request has {} more problems.", more));
  }
  told_ = 0;
  flush();
}

void Viewer::handle(const Malformed& request) { tell(Level::Error, request.why); }

void Viewer::handle(const Subscribe& request) {
  for (const Subscribe::One& one : request.subscriptions) {
    Channel* const channel = hub_.channel(one.channel);
    if (channel == nullptr || !sees(*channel)) {
      // It may have been withdrawn while the request was on its way.
      tell(Level::Warning, fmt::format("Channel {} does not exist.", one.channel));
      continue;
    }
    if (one.preview && !has_preview(channel->info.type, one.preview->kind)) {
      tell(Level::Error, fmt::format("{} has no such preview on this server.", channel->info.topic));
      continue;
    }
    switch (queue_.subscribe(one.id, one.channel, channel->depth)) {
      case ClientQueue::Subscribed::Yes:
        if (one.preview) wishes_.emplace(one.channel, Wish{.preview = *one.preview});
        hub_.subscribe(*this, *channel);
        break;
      case ClientQueue::Subscribed::IdIsTaken:
        tell(Level::Error, fmt::format("Subscription {} already exists.", one.id));
        break;
      case ClientQueue::Subscribed::ChannelIsTaken:
        tell(Level::Error, fmt::format("The client already subscribes to channel {}.", one.channel));
        break;
    }
  }
}

void Viewer::handle(const Unsubscribe& request) {
  for (const std::uint32_t id : request.ids) {
    if (const auto channel = queue_.unsubscribe(id)) {
      wishes_.erase(*channel);
      hub_.unsubscribe(*this, *channel);
    } else {
      tell(Level::Warning, fmt::format("Subscription {} does not exist.", id));
    }
  }
}

void Viewer::handle(const Advertise& request) {
  for (const Advertise::Channel& channel : request.channels) {
    if (publishes_.contains(channel.id)) {
      tell(Level::Error, fmt::format("The client already publishes a channel {}.", channel.id));
      continue;
    }
    if (publishes_.size() >= kMostPublished) {
      tell(Level::Error, fmt::format("A client publishes at most {} channels.", kMostPublished));
      return;
    }
    std::string why;
    if (Incoming* const incoming = hub_.advertise(channel, why))
      publishes_.emplace(channel.id, incoming);
    else
      tell(Level::Error, why);
  }
}

void Viewer::handle(const Unadvertise& request) {
  for (const std::uint32_t id : request.ids) {
    const auto it = publishes_.find(id);
    if (it == publishes_.end()) continue;  // refused before; the client was told then
    hub_.unadvertise(*it->second);
    publishes_.erase(it);
  }
}

void Viewer::ask(Inquirer::Question question) {
  if (questions_ >= kMostQuestionsOfOne || !hub_.ask(std::move(question)))
    return tell(Level::Error, "Too many requests for parameters are pending: wait for their answers, then try again.");
  ++questions_;
}

void Viewer::handle(const GetParameters& request) { ask({.client = number_, .what = request}); }

void Viewer::handle(const SetParameters& request) {
  if (!hub_.may_set_parameters())
    return tell(Level::Error, "This server does not let clients set parameters (\"set_parameters\" of its rules).");
  ask({.client = number_, .what = request});
}

void Viewer::handle(const WatchParameters& request) {
  if (!watched_) known_.clear();
  if (request.on && request.names.size() > kWatchedNames) {
    tell(Level::Error, fmt::format("A client watches at most {} parameters by name.", kWatchedNames));
  } else if (request.on && (request.names.empty() || !watched_)) {
    watched_ = request.names;
  } else if (request.on) {
    if (!watched_->empty() && watched_->size() + request.names.size() <= kWatchedNames)
      watched_->insert(request.names.begin(), request.names.end());
  } else if (request.names.empty()) {
    watched_.reset();
  } else if (watched_) {
    for (const std::string& name : request.names) watched_->erase(name);
    if (watched_->empty()) watched_.reset();
  }
  hub_.wants_changed();
}

void Viewer::parameters(const std::shared_ptr<const Parameters>& all) {
  Parameters changed, now;
  for (const auto& [name, value] : *all) {
    if (!watched_->empty() && !watched_->contains(name)) continue;
    now.emplace(name, value);
    if (const auto old = known_.find(name); old == known_.end() || old->second != value) changed.emplace(name, value);
  }
  known_ = std::move(now);
  if (!changed.empty()) push(parameters_text(changed, {}));
  flush();
}

void Viewer::handle(const WatchGraph& request) {
  wants_graph_ = request.on;
  shown_.reset();
  hub_.wants_changed();
}

void Viewer::handle(const Ready& request) {
  for (const std::uint32_t id : request.ids) {
    const auto number = queue_.channel_of(id);
    Channel* const channel = number ? hub_.channel(*number) : nullptr;
    Wish* const there = number ? wish(*number) : nullptr;
    if (channel == nullptr || there == nullptr) continue;  // withdrawn while the word was on its way
    there->ready = true;
    hub_.ready(*channel);
  }
}

// ---- a recording

Playback* Viewer::controls() {
  Playback* const playback = hub_.playback();
  if (playback != nullptr && is_ours()) return playback;
  if (!std::exchange(told_of_controls_, true))
    tell(Level::Error, playback == nullptr ? "This server plays no recording."
                                           : "Only clients of the user that opened the recording may control it.");
  return nullptr;
}

void Viewer::control(std::span<const std::byte> bytes) {
  Playback* const playback = controls();
  if (playback == nullptr) return;
  const auto request = parse_playback(bytes);
  if (!request) return tell(Level::Error, "A request to control the recording is malformed.");
  playback->set_speed(request->speed);
  if (request->seek_ns) playback->seek(*request->seek_ns);
  request->plays ? playback->play(!request->seek_ns) : playback->pause();
  hub_.played_otherwise(*this, request->seek_ns.has_value(), request->id);
}

void Viewer::handle(const Step& request) {
  Playback* const playback = controls();
  if (playback == nullptr) return;
  playback->step(request.messages);
  hub_.played_otherwise(*this, false, {});
}

void Viewer::playback(const PlaybackState& state, bool did_seek, const std::string& request) {
  if (!playback_) playback_ = News{};  // emplace() asks for a constructor before the class is complete
  playback_->state = state;
  playback_->did_seek = playback_->did_seek || did_seek;
  if (!request.empty()) playback_->request = request;
}

std::size_t Viewer::most_binary_bytes() const noexcept {
  std::size_t most = kUnexpectedBytes;
  for (const auto& [id, incoming] : publishes_) most = std::max(most, incoming->max_bytes + 5);
  if (hub_.services() != nullptr) most = std::max(most, ServiceCaller::kMostQuestionBytes + kServiceCallHead + 16);
  return most;
}

void Viewer::binary(std::span<const std::byte> bytes) {
  if (!bytes.empty() && bytes.front() == kPlaybackRequest) {
    told_ = 0;
    control(bytes);
    return flush();
  }
  if (!bytes.empty() && bytes.front() == kServiceCall) {
    told_ = 0;
    call(bytes);
    return flush();
  }
  const auto message = parse_binary(bytes);
  const auto it = message ? publishes_.find(message->channel) : publishes_.end();
  std::string why;
  if (it == publishes_.end())
    why = "A message arrived for a channel that the client has not advertised.";
  else if (const std::uint64_t before = it->second->topic.counts().refused;
           !it->second->topic.deliver(message->data, 0) && it->second->topic.counts().refused != before)
    why = it->second->topic.note();
  if (!why.empty() && !std::exchange(told_of_refusals_, true)) tell(Level::Error, why);
  flush();
}

// ---- what goes out

void Viewer::release_frame() {
  if (Channel* const channel = frame_ ? hub_.channel(frame_channel_) : nullptr) {
    const auto it = channel->under_way.find(frame_.get());
    if (it != channel->under_way.end() && --it->second == 0) channel->under_way.erase(it);
  }
  frame_.reset();
}

void Viewer::sent() {
  release_frame();
  copy_ = {};
  text_ = {};
  flush();
}

void Viewer::flush() noexcept {
  try {
    send_next();
  } catch (const std::exception&) {
    connection_.give_up();
  }
}

void Viewer::send_next() {
  if (connection_.is_busy()) return;
  if (std::string text = next_text(); !text.empty()) return send_text(std::move(text));
  if (!services_.answers.empty()) {
    copy_ = next_answer();
    return connection_.send(true, {std::span<const std::byte>(copy_)});
  }
  if (playback_) {
    copy_ = playback_message(playback_->state, playback_->did_seek, playback_->request);
    playback_.reset();
    return connection_.send(true, {std::span<const std::byte>(copy_)});
  }
  if (time_ns_) {
    const auto message = time_message(*time_ns_);
    std::copy(message.begin(), message.end(), head_.begin());
    time_ns_.reset();
    return connection_.send(true, {std::span<const std::byte>(head_.data(), message.size())});
  }
  if (const auto next = queue_.next()) send_frame(*next);
}

std::string Viewer::next_text() {
  if (!texts_.empty()) {
    std::string text = std::move(texts_.front());
    texts_.pop_front();
    text_bytes_ -= text.size();
    if (text_bytes_ <= kMostTextBytes) connection_.resume();
    return text;
  }
  if (!to_unadvertise_.empty()) return unadvertise_text(take_some(to_unadvertise_, 1024));
  if (!to_advertise_.empty()) {
    std::vector<const ChannelInfo*> infos;
    for (const std::uint32_t id : take_some(to_advertise_, kChannelsOfOneText)) {
      advertised_.insert(id);
      infos.push_back(&hub_.channel(id)->info);
    }
    return advertise_text(infos);
  }
  if (std::string text = next_services_text(); !text.empty()) return text;
  if (const auto look = hub_.look(); wants_graph_ && look && look != shown_) {
    std::string text = graph_text(shown_ ? shown_->graph : Graph{}, look->graph);
    shown_ = look;
    return text;
  }
  return {};
}

void Viewer::send_text(std::string text) {
  text_ = std::move(text);
  connection_.send(false, {bytes_of_text(text_)});
}

void Viewer::send_frame(const ClientQueue::Next& next) {
  Channel& channel = *hub_.channel(next.channel);
  const OutgoingFrame& frame = *next.frame;
  head_ = message_head(next.id, frame.publish_ns);
  if (wish(next.channel) != nullptr) {
    // It holds no slot: it is ours until it is sent.
    head_[0] = kPreviewMessage;
    frame_ = next.frame;
    frame_channel_ = 0;
    connection_.send(true, {head_, frame.cdr.prefix});
    return channel.out.carried(frame, 0);
  }
  std::size_t copied = 0;
  const bool large = frame.size() > kSmallBytes;
  const bool refers = !large || channel.under_way.contains(&frame) || channel.under_way.size() < kByReference;
  if (refers) {
    if (large) ++channel.under_way[&frame];
    frame_ = next.frame;
    frame_channel_ = next.channel;
    connection_.send(true, {head_, frame.cdr.prefix, frame.cdr.payload, frame.cdr.suffix});
  } else {
    copied = frame.size();
    try {
      copy_.reserve(copied);
    } catch (const std::bad_alloc&) {  // this client does not get this one
      return channel.out.lost();
    }
    for (const std::span<const std::byte> part : {std::span<const std::byte>(frame.cdr.prefix), frame.cdr.payload,
                                                  std::span<const std::byte>(frame.cdr.suffix)})
      copy_.insert(copy_.end(), part.begin(), part.end());
    connection_.send(true, {head_, copy_});
  }
  channel.out.carried(frame, copied);
}

}  // namespace cardan::bridge::foxglove
