// SPDX-License-Identifier: Apache-2.0
// The helper thread's half of a publisher: the entries of the table, and when the memory of removed ones may be
// unmapped.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/barrier.hpp"
#include "src/transport/endpoint/foreign.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::detail {

namespace {
constexpr std::uint32_t kMaxStrikes = 6;
constexpr std::size_t kStrikesKept = 64;
}  // namespace

/// Another user gets its share and no more. All other users together leave a quarter to our own user and root. A user
/// whose subscriber was cut off must wait for a while.
void PublisherCore::refuse_more_of(const Attached& subscriber) const {
  const auto strike =
      std::find_if(strikes_.begin(), strikes_.end(), [&](const Strike& s) { return s.uid == subscriber.uid; });
  const std::int64_t left = strike == strikes_.end() ? 0 : strike->until_ns - steady_now();
  if (left > 0 || std::any_of(attached_.begin(), attached_.end(), [&](const auto& a) {
        return a->uid == subscriber.uid && a->liar.load(std::memory_order_relaxed);
      }))
    throw Error(
        ErrorCode::Limit,
        fmt::format("user {} was cut off from topic '{}': it held more samples than it announced", subscriber.uid,
                    topic_),
        fmt::format("it may attach again in {:.1f} s", static_cast<double>(std::max<std::int64_t>(left, 0)) / 1e9));
  // A subscriber that has left keeps its place in the table until the publishing thread has passed a quiescent point.
  std::uint32_t count = 1;
  std::uint32_t all = 1;
  const auto stays = [&](const Attached& a) {
    if (!a.foreign) return;
    ++all;
    if (a.uid == subscriber.uid) ++count;
  };
  std::uint32_t slots = subscriber.announced;
  std::uint32_t slots_of_all = subscriber.announced;
  std::uint32_t threads = subscriber.threads;
  for (const Leaving& l : leaving_) stays(*l.subscriber);
  for (const auto& a : attached_) {
    stays(*a);
    if (a->foreign) slots_of_all += a->announced;
    if (a->uid != subscriber.uid) continue;
    slots += a->announced;
    threads += a->threads;
  }
  const std::uint32_t room = header_->max_slots - options_.depth - options_.loans - 1;
  if (count > kMaxSubscribers / 2 || slots > room / 2)
    throw Error(ErrorCode::Limit,
                fmt::format("user {} already holds half of the room of topic '{}'", subscriber.uid, topic_),
                "announce fewer holds, or raise the topic's max_memory");
  if (all > kMaxSubscribers / 4 * 3 || slots_of_all > room - room / 4)
    throw Error(ErrorCode::Limit,
                fmt::format("other users already hold three quarters of the room of topic '{}'", topic_),
                "announce fewer holds, or raise the topic's max_memory");
  if (threads > kForeignThreads)
    throw Error(ErrorCode::Limit,
                fmt::format("user {} would wait for topic '{}' with {} threads, but another user may have at most {}",
                            subscriber.uid, topic_, threads, kForeignThreads),
                "announce fewer threads, or let several readers share one process or component");
}

Attached* PublisherCore::attach(std::unique_ptr<Attached> subscriber) {
  const std::lock_guard lock(mutex_);
  subscriber->foreign = subscriber->bell->foreign;
  if (subscriber->foreign) refuse_more_of(*subscriber);
  commit_slots(options_.depth + options_.loans + 1 + announced_ + subscriber->announced);
  for (std::uint32_t i = 0; i < kMaxSubscribers; ++i) {
    if (table_.entry[i].load(std::memory_order_relaxed) != nullptr) continue;
    // A liar's entry is cleared before it is detached.
    if (std::any_of(leaving_.begin(), leaving_.end(), [i](const Leaving& l) { return l.subscriber->index == i; }) ||
        std::any_of(attached_.begin(), attached_.end(), [i](const auto& a) { return a->index == i; }))
      continue;
    subscriber->index = i;
    subscriber->patience = patience_with(*subscriber);
    announced_ += subscriber->announced;
    if (subscriber->prewake) wants_prewake_.fetch_add(1, std::memory_order_relaxed);
    if (subscriber->reliable) reliable_readers_.fetch_add(1, std::memory_order_relaxed);
    table_.enter(i, subscriber.get());
    attached_.push_back(std::move(subscriber));
    note_lines();
    return attached_.back().get();
  }
  throw Error(ErrorCode::Limit, fmt::format("topic '{}' already has {} subscribers", topic_, kMaxSubscribers),
              "let several readers share one process or component");
}

std::shared_ptr<Patience> PublisherCore::patience_with(const Attached& subscriber) {
  if (!subscriber.foreign || !subscriber.reliable) return std::make_shared<Patience>();
  for (const auto& [uid, patience] : patience_)
    if (uid == subscriber.uid) return patience;
  if (patience_.size() >= kStrikesKept)
    if (const auto unused =
            std::find_if(patience_.begin(), patience_.end(), [](const auto& p) { return p.second.use_count() == 1; });
        unused != patience_.end())
      patience_.erase(unused);
  return patience_.emplace_back(subscriber.uid, std::make_shared<Patience>()).second;
}

void PublisherCore::hold_own(std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  commit_slots(options_.depth + options_.loans + 1 + announced_ + count);
  own_.make(header_->max_slots);
  announced_ += count;
}

void PublisherCore::hold_own_less(std::uint32_t count) noexcept {
  const std::lock_guard lock(mutex_);
  announced_ -= std::min(announced_, count);
}

void PublisherCore::detach(const Attached* subscriber) {
  const std::lock_guard lock(mutex_);
  const auto it =
      std::find_if(attached_.begin(), attached_.end(), [&](const auto& a) { return a.get() == subscriber; });
  if (it == attached_.end()) return;
  if ((*it)->foreign && (*it)->liar.load(std::memory_order_relaxed)) strike((*it)->uid);
  announced_ -= (*it)->announced;
  if ((*it)->prewake) wants_prewake_.fetch_sub(1, std::memory_order_relaxed);
  if ((*it)->reliable) reliable_readers_.fetch_sub(1, std::memory_order_relaxed);
  // The barrier pairs with the plain store in Inside.
  const std::uint64_t epoch = table_.clear((*it)->index, [] { expedited_barrier(); });
  leaving_.push_back({std::move(*it), epoch});
  attached_.erase(it);
  note_lines();
}

void PublisherCore::connect_notify(Attached& subscriber, Fd socket) {
  // Accepts only one end of a socket pair that the subscriber's own user made. On any other descriptor, such as a
  // socket that is connected to another process, a write with our rights could have a meaning. For a pair the kernel
  // records its creator; for a datagram socket that was connected by name it does not. Processes of our own user and of
  // root may have changed their user since they attached.
  int domain = 0;
  int type = 0;
  ucred maker{};
  sockaddr_un name{};
  socklen_t length = sizeof(domain);
  socklen_t type_length = sizeof(type);
  socklen_t maker_length = sizeof(maker);
  socklen_t name_length = sizeof(name);
  if (subscriber.notify_socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 ||
      domain != AF_UNIX || ::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &type_length) != 0 ||
      type != SOCK_DGRAM || ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &maker, &maker_length) != 0 ||
      (is_foreign(subscriber.uid) && socket::user_of(maker.uid) != subscriber.uid) ||
      ::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&name), &name_length) != 0 ||
      name_length > sizeof(sa_family_t))
    return;
  subscriber.notify_socket = BoundFd(std::move(socket));
  subscriber.notify.store(subscriber.notify_socket.get(), std::memory_order_seq_cst);
  ::send(subscriber.notify_socket.get(), "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);  // for earlier publications
}

bool PublisherCore::collect() {
  const std::lock_guard lock(mutex_);
  std::erase_if(leaving_, [this](const Leaving& l) { return table_.has_passed(l.epoch); });
  return leaving_.empty();
}

void PublisherCore::close() noexcept {
  closed_.store(true, std::memory_order_relaxed);
  hot_->closed.store(1, std::memory_order_release);
}

std::uint64_t PublisherCore::floor_for_late_joiner() const noexcept {
  const std::uint64_t n = protocol::unpack(ring_.latest->load(std::memory_order_acquire)).sequence;
  return n - std::min<std::uint64_t>(n, options_.depth);
}

std::shared_ptr<BellLine> PublisherCore::bell_for(uid_t uid, const std::shared_ptr<BellBoard>& board, bool background) {
  background = background && !is_foreign(uid);  // another user has one bell
  const std::lock_guard lock(mutex_);
  std::erase_if(bells_, [](const auto& weak) { return weak.expired(); });
  const auto find = [&](bool of_background) -> std::shared_ptr<BellLine> {
    for (const auto& weak : bells_)
      if (auto bell = weak.lock();
          bell && bell->uid == uid && bell->background == of_background && uid != socket::kUnmapped)
        return bell;
    return nullptr;
  };
  if (auto bell = find(background)) return bell;
  const int index = board->allocate();
  if (index < 0) {
    if (auto bell = background ? find(false) : nullptr) return bell;
    throw Error(ErrorCode::Limit, fmt::format("this process already rings {} bells for one user", layout::kBells),
                "spread the topics over more processes");
  }
  auto bell = std::make_shared<BellLine>(board, index, uid);
  bell->phase = bell->word().load(std::memory_order_relaxed);
  bell->foreign = is_foreign(uid);
  bell->background = background;
  bells_.push_back(bell);
  return bell;
}

PublisherCore::Attention PublisherCore::take_attention() {
  attention_.exchange(false, std::memory_order_seq_cst);  // what is raised later is handled later
  const std::lock_guard lock(mutex_);
  Attention all;
  for (const auto& a : attached_) {
    if (a->liar.load(std::memory_order_relaxed)) all.liars.push_back(a.get());
    const bool demoted = a->demoted.load(std::memory_order_relaxed);
    if (demoted && !a->demotion_told) all.demoted.push_back(a.get());
    a->demotion_told = demoted;
  }
  return all;
}

/// A liar takes free slots from the publisher until it is cut off. To prevent it from doing so all the time, its user
/// must wait: 1 s, 2 s, up to a minute.
void PublisherCore::strike(uid_t uid) {
  auto it = std::find_if(strikes_.begin(), strikes_.end(), [uid](const Strike& s) { return s.uid == uid; });
  if (it == strikes_.end()) {
    if (strikes_.size() == kStrikesKept) strikes_.erase(strikes_.begin());
    it = strikes_.insert(strikes_.end(), {uid, 0, 0});
  }
  it->until_ns = steady_now() + (std::int64_t{1'000'000'000} << std::min(it->count, kMaxStrikes));
  ++it->count;
}

}  // namespace cardan::detail
