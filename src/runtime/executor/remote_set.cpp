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

SampleBlock* RemoteSource::take() noexcept {
  int malformed = 0;
  constexpr int kMostMalformed = 64;  // at once: the rest is still there the next time
  for (int attempt = 0; attempt < 2; ++attempt) {
    while (SampleBlock* block = subscriber_->take()) {
      stuck_until_ns_ = 0;
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
  constexpr std::int64_t kRetry = 1'000'000;
  stuck_until_ns_ = steady_now() + kRetry;  // until the component drops one: nothing would tell us
  return nullptr;
}

void RemoteSet::add(std::unique_ptr<RemoteSource> source) {
  subscribers_.push_back(&source->subscriber());
  if (source->subscriber().waiting().kind == Waiting::Kind::Prewake) prewakes_ = true;
  sources_.push_back(std::move(source));
  if (!epoll_ && !can_watch_word(sources_.size() + sources_.size() / 2))  // some topics have several publishers
    use_descriptors();
  else if (epoll_)
    watch_descriptor(*sources_.back());
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
    std::erase(subscribers_, &source->subscriber());
    // Samples that are kept keep the descriptor too.
    if (epoll_) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, source->subscriber().fd(), nullptr);
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
  for (const auto& source : sources_) watch_descriptor(*source);
}

void RemoteSet::watch_descriptor(RemoteSource& source) const {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &source}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, source.subscriber().fd(), &event) != 0)
    throw Error(ErrorCode::Limit, std::string("cannot wait for one more topic: ") + std::strerror(errno),
                "raise ulimit -n");
}

bool RemoteSet::something_new() const noexcept {
  // One that may not take more would seem new for ever.
  return std::any_of(sources_.begin(), sources_.end(), [](const auto& source) {
    return source->stuck_until() == 0 && source->subscriber().ready_streams();
  });
}

void RemoteSet::sleep(futex::Watch own, std::int64_t until, std::int64_t spin_ns) noexcept {
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
    for (const auto& source : sources_)
      if (source->stuck_until() > now) {
        stuck = true;
        until = until == 0 ? source->stuck_until() : std::min(until, source->stuck_until());
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
  for (const auto& source : sources_) {
    if (source->stuck_until() > now)
      until = until == 0 ? source->stuck_until() : std::min(until, source->stuck_until());
    else if (count < watched.size())
      watched[count++] = &source->subscriber();
  }
  const std::span<SubscriberCore* const> all{watched.data(), count};
  sleep_on(all, {}, until, prewakes_, own);
  if (!prewakes_ || own.word->load(std::memory_order_acquire) != own.expected || something_new()) return;
  for (SubscriberCore* s : all)
    if (s->waiting().kind == Waiting::Kind::Prewake) s->spin_while_filling(until);
}

std::size_t RemoteSet::take_all(Group& group) noexcept {
  constexpr int kMostOfOne = 64;  // a flood on one topic must not keep the others waiting
  std::size_t ready = 0;
  const auto offer = [&](Callback& callback, auto add) noexcept {
    if (group.offer_quietly(callback, add)) ++ready;
  };
  const auto drain = [&](RemoteSource& source) noexcept {
    for (int i = 0; i < kMostOfOne; ++i) {
      SampleBlock* block = source.take();
      if (block == nullptr) return;
      const std::int64_t now = steady_now();
      for (Port* port : source.ports) port->push(*block, now, offer);
      drop(block);
    }
  };
  if (epoll_) {
    std::array<epoll_event, 64> events;
    const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < n; ++i)
      if (auto* source = static_cast<RemoteSource*>(events[static_cast<std::size_t>(i)].data.ptr)) drain(*source);
  } else {
    const std::int64_t now = sources_.empty() ? 0 : steady_now();
    for (const auto& source : sources_)
      if (source->stuck_until() <= now && source->subscriber().ready_streams()) drain(*source);
  }
  return ready;
}

}  // namespace cardan::detail
