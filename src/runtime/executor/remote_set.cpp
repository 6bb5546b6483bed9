// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/remote_set.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/base/futex.hpp"
#include "src/runtime/executor/port.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"
#include "src/transport/endpoint/trace.hpp"
#include "src/transport/endpoint/waiting.hpp"

namespace cardan::detail {
namespace {

constexpr int kMostOfOne = 64;  ///< a flood on one topic must not keep the others waiting

/// 0: never.
std::int64_t sooner(std::int64_t a, std::int64_t b) noexcept { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

}  // namespace

void Watched::stuck() noexcept {
  constexpr std::int64_t kRetry = 1'000'000;
  stuck_until_ns_ = steady_now() + kRetry;
}

RemoteSource::RemoteSource(Process& process, SubscriberCore* subscriber, Convert convert, const void* runtime)
    : process_(process), subscriber_(subscriber), convert_(std::move(convert)) {
  subscriber_->leave_out_outputs_of(runtime);
  try {
    process_.add(subscriber_);
  } catch (...) {
    subscriber_->drop_reference();
    throw;
  }
}

RemoteSource::~RemoteSource() {
  if (is_forked_child()) return;
  process_.remove(subscriber_);
  subscriber_->drop_reference();
}

SampleBlock* RemoteSource::converted(SampleBlock* block) noexcept {
  const std::uint64_t lost = block->missed + 1;
  const std::uint64_t sequence = block->sequence;
  if (SampleBlock* object = convert_(block)) return object;
  for (Port* port : ports) port->statistics().missed.fetch_add(lost, std::memory_order_relaxed);
  if (std::exchange(told_undecodable_, true)) return nullptr;
  try {
    log(LogLevel::Warning, fmt::format("{}: sample {} cannot be decoded as {} and is lost; this and all that follow "
                                       "are counted as missed (cardan component stats)",
                                       subscriber_->topic(), sequence, subscriber_->type().name));
  } catch (const std::exception&) {  // no memory for a line
  }
  return nullptr;
}

bool RemoteSource::has_work() noexcept { return subscriber_->ready_streams() != 0; }

/// The next sample, or null. Samples that cannot be converted count as missed by its ports, and are reported once.
SampleBlock* RemoteSource::take() noexcept {
  int malformed = 0;
  constexpr int kMostMalformed = 64;  // at once: the rest is still there the next time
  for (int attempt = 0; attempt < 2; ++attempt) {
    while (SampleBlock* block = subscriber_->take()) {
      not_stuck();
      if (!convert_) return block;
      if (SampleBlock* object = converted(block)) return object;
      if (++malformed == kMostMalformed) return nullptr;
    }
    if (subscriber_->reason() != Reason::Limit) return nullptr;
    // The inputs' queues are within what was announced, so callbacks keep more samples than that. The queues make way:
    // what is fresh is worth more.
    bool gave_up = false;
    for (Port* port : ports) gave_up = port->give_up_oldest() || gave_up;
    if (!gave_up) break;
  }
  stuck();
  return nullptr;
}

void RemoteSource::drain(QuietOffer& offer) noexcept {
  for (int i = 0; i < kMostOfOne; ++i) {
    SampleBlock* block = take();
    if (block == nullptr) return;
    const std::int64_t now = steady_now();
    for (Port* port : ports) port->push(*block, now, offer);
    drop(block);
  }
}

void RemoteSet::add(std::unique_ptr<RemoteSource> source) {
  sources_.reserve(sources_.size() + 1);
  watch(*source);
  sources_.push_back(std::move(source));
}

void RemoteSet::add(Watched& end) {
  ends_.reserve(ends_.size() + 1);
  watch(end);
  ends_.push_back(&end);
}

void RemoteSet::remove(Watched& end) noexcept {
  if (std::erase(ends_, &end) != 0) unwatch(end);
}

void RemoteSet::watch(Watched& one) {
  watched_.reserve(watched_.size() + 1);
  if (epoll_) watch_descriptor(one);
  watched_.push_back(&one);
  if (one.subscriber().waiting().kind == Waiting::Kind::Prewake) prewakes_ = true;
  std::size_t streams = watched_.size() / 2;  // some topics have several publishers
  for (const Watched* known : watched_) streams += known->streams();
  if (epoll_ || can_watch_word(streams)) return;
  try {
    use_descriptors();
  } catch (...) {
    watched_.pop_back();
    epoll_ = BoundFd();
    event_fd_ = BoundFd();
    throw;
  }
}

void RemoteSet::unwatch(Watched& one) noexcept {
  std::erase(watched_, &one);
  // Samples that are kept keep the descriptor too.
  if (epoll_) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one.subscriber().fd(), nullptr);
}

void RemoteSet::remove(const Port& port) {
  for (auto& source : sources_) std::erase(source->ports, &port);
  if (!keep_unused_) end_unused();
}

void RemoteSet::keep_unused(bool keep) {
  keep_unused_ = keep;
  if (!keep) end_unused();
}

void RemoteSet::end_unused() {
  std::erase_if(sources_, [this](const auto& source) {
    if (!source->ports.empty()) return false;
    unwatch(*source);
    return true;
  });
}

RemoteSource* RemoteSet::find(const Port& port) const noexcept {
  const auto it = std::find_if(sources_.begin(), sources_.end(), [&](const auto& source) {
    return std::find(source->ports.begin(), source->ports.end(), &port) != source->ports.end();
  });
  return it == sources_.end() ? nullptr : it->get();
}

RemoteSource* RemoteSet::find(const std::string& topic) const noexcept {
  const auto it = std::find_if(sources_.begin(), sources_.end(),
                               [&](const auto& source) { return source->subscriber().topic() == topic; });
  return it == sources_.end() ? nullptr : it->get();
}

void RemoteSet::use_descriptors() {
  epoll_ = BoundFd(::epoll_create1(EPOLL_CLOEXEC));
  event_fd_ = BoundFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event own{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (!epoll_ || !event_fd_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event_fd_.get(), &own) != 0)
    throw Error(ErrorCode::Limit, std::string("cannot wait for this many topics: ") + std::strerror(errno),
                "raise ulimit -n");
  for (Watched* one : watched_) watch_descriptor(*one);
}

void RemoteSet::watch_descriptor(Watched& one) const {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &one}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, one.subscriber().fd(), &event) != 0)
    throw Error(ErrorCode::Limit, std::string("cannot wait for one more topic: ") + std::strerror(errno),
                "raise ulimit -n");
}

bool RemoteSet::something_new() const noexcept {
  // One that may not take more would seem new for ever.
  return std::any_of(watched_.begin(), watched_.end(),
                     [](Watched* one) { return one->stuck_until() == 0 && one->has_work(); });
}

std::int64_t RemoteSet::due() const noexcept {
  std::int64_t first = 0;
  for (const Watched* end : ends_) first = sooner(first, end->due());
  return first;
}

void RemoteSet::sleep(futex::Watch own, std::int64_t until, std::int64_t spin_ns) noexcept {
  until = sooner(until, due());
  if (spin_ns > 0) {
    const std::int64_t spin_until = steady_now() + spin_ns;
    for (std::uint32_t turn = 1;; ++turn) {
      if (own.word->load(std::memory_order_acquire) != own.expected) return;
      if (something_new()) return;
      cpu_relax();
      if (turn % 16 != 0) continue;
      const std::int64_t spun_to = steady_now();
      if (until != 0 && spun_to >= until) return;
      if (spun_to >= spin_until) break;
    }
  }
  const std::int64_t now = steady_now();
  if (epoll_) {
    bool stuck = false;
    for (const Watched* one : watched_)
      if (one->stuck_until() > now) {
        stuck = true;
        until = sooner(until, one->stuck_until());
      }
    timespec left{};
    if (until != 0) {
      const std::int64_t ns = std::max<std::int64_t>(0, until - now);
      left = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    }
    if (own.word->load(std::memory_order_acquire) != own.expected) return;
    // ppoll() and not epoll_pwait2(): its time-out is as fine, and no container's filter forbids it. While a source is
    // stuck, its descriptor stays readable: then only the own one counts.
    std::array<pollfd, 2> fds{{{.fd = event_fd_.get(), .events = POLLIN, .revents = 0},
                               {.fd = stuck ? -1 : epoll_.get(), .events = POLLIN, .revents = 0}}};
    eventfd_t count = 0;
    const trace::Asleep asleep;
    if (::ppoll(fds.data(), fds.size(), until != 0 ? &left : nullptr, nullptr) > 0 && fds[0].revents != 0)
      ::eventfd_read(event_fd_.get(), &count);
    return;  // take_all() asks again which ports are ready
  }
  // A subscriber that may not take more is left out, or it would keep us awake.
  std::array<SubscriberCore*, 64> watched;
  std::size_t count = 0;
  for (const Watched* one : watched_) {
    if (one->stuck_until() > now)
      until = sooner(until, one->stuck_until());
    else if (count < watched.size())
      watched[count++] = &one->subscriber();
  }
  const std::span<SubscriberCore* const> all{watched.data(), count};
  sleep_on(all, {}, until, prewakes_, own);
  if (!prewakes_ || own.word->load(std::memory_order_acquire) != own.expected || something_new()) return;
  for (SubscriberCore* s : all)
    if (s->waiting().kind == Waiting::Kind::Prewake) s->spin_while_filling(until);
}

std::size_t RemoteSet::take_all(Group& group) noexcept {
  QuietOffer offer(group);
  if (epoll_) {
    std::array<epoll_event, 64> events;
    const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < n; ++i)
      if (auto* one = static_cast<Watched*>(events[static_cast<std::size_t>(i)].data.ptr)) one->drain(offer);
  } else {
    const std::int64_t now = watched_.empty() ? 0 : steady_now();
    for (Watched* one : watched_)
      if (one->stuck_until() <= now && one->has_work()) one->drain(offer);
  }
  if (const std::int64_t first = due(); first != 0 && first <= steady_now())
    for (Watched* end : ends_) end->drain(offer);
  return offer.ready();
}

}  // namespace cardan::detail
