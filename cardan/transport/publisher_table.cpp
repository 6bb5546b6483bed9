// SPDX-License-Identifier: Apache-2.0
// The helper thread's half of a publisher: who is in the table, and when what left it may be unmapped.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "cardan/memory/barrier.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/transport/publisher_core.hpp"

namespace cardan::detail {

Attached* PublisherCore::attach(std::unique_ptr<Attached> subscriber) {
  const std::lock_guard lock(mutex_);
  if (subscriber->uid != ::geteuid()) {  // another user can use up half of the room at most
    std::uint32_t count = 1;
    std::uint32_t slots = subscriber->announced;
    for (const auto& a : attached_)
      if (a->uid == subscriber->uid) {
        ++count;
        slots += a->announced;
      }
    if (count > kMaxSubscribers / 2 || slots > (header_->max_slots - options_.depth - options_.loans - 1) / 2)
      throw Error(ErrorCode::Limit,
                  fmt::format("user {} holds half of the room of topic '{}' already", subscriber->uid, topic_),
                  "announce fewer holds, or raise the topic's max_memory");
  }
  commit_slots(options_.depth + options_.loans + 1 + announced_ + subscriber->announced);
  for (std::uint32_t i = 0; i < kMaxSubscribers; ++i) {
    if (table_[i].load(std::memory_order_relaxed) != nullptr) continue;
    const auto being_left = [i](const Leaving& l) { return l.subscriber->index == i; };
    if (std::any_of(leaving_.begin(), leaving_.end(), being_left)) continue;
    subscriber->index = i;
    announced_ += subscriber->announced;
    if (subscriber->prewake) wants_prewake_.fetch_add(1, std::memory_order_relaxed);
    if (subscriber->reliable) reliable_readers_.fetch_add(1, std::memory_order_relaxed);
    liar_[i].store(false, std::memory_order_relaxed);
    if (table_end_.load(std::memory_order_relaxed) < i + 1) Native::store<Site::A2>(table_end_, i + 1);
    Native::store<Site::A1>(table_[i], subscriber.get());
    attached_.push_back(std::move(subscriber));
    note_lines();
    return attached_.back().get();
  }
  throw Error(ErrorCode::Limit, fmt::format("topic '{}' has {} subscribers already", topic_, kMaxSubscribers),
              "let several readers share one process or component");
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
  table_[(*it)->index].store(nullptr, std::memory_order_seq_cst);
  announced_ -= (*it)->announced;
  if ((*it)->prewake) wants_prewake_.fetch_sub(1, std::memory_order_relaxed);
  if ((*it)->reliable) reliable_readers_.fetch_sub(1, std::memory_order_relaxed);
  expedited_barrier();  // pairs with the plain store in Inside
  leaving_.push_back({std::move(*it), Native::load<Site::E3>(epoch_)});
  attached_.erase(it);
  note_lines();
}

void PublisherCore::connect_notify(Attached& subscriber, Fd socket) {
  // Nothing but one end of a local socket pair: on any other descriptor a write with our rights could mean something.
  int domain = 0;
  socklen_t length = sizeof(domain);
  if (subscriber.notify_socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 ||
      domain != AF_UNIX)
    return;
  subscriber.notify_socket = BoundFd(std::move(socket));
  subscriber.notify.store(subscriber.notify_socket.get(), std::memory_order_seq_cst);
  ::send(subscriber.notify_socket.get(), "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);  // for what came before
}

bool PublisherCore::collect() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = Native::load<Site::E3>(epoch_);
  std::erase_if(leaving_, [now](const Leaving& l) { return l.epoch % 2 == 0 || l.epoch != now; });
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

std::shared_ptr<BellLine> PublisherCore::bell_for(uid_t uid, const std::shared_ptr<BellBoard>& board) {
  const std::lock_guard lock(mutex_);
  std::erase_if(bells_, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : bells_)
    if (auto bell = weak.lock(); bell && bell->uid == uid && uid != socket::kUnmapped) return bell;
  const int index = board->allocate();
  if (index < 0)
    throw Error(ErrorCode::Limit, fmt::format("this process rings {} bells for one user already", layout::kBells),
                "spread the topics over more processes");
  auto bell = std::make_shared<BellLine>(board, index, uid);
  bell->phase = bell->word().load(std::memory_order_relaxed);
  bells_.push_back(bell);
  return bell;
}

PublisherCore::Attention PublisherCore::take_attention() {
  attention_.store(false, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  Attention all;
  for (const auto& a : attached_) {
    if (liar_[a->index].load(std::memory_order_relaxed)) all.liars.push_back(a.get());
    const bool demoted = a->demoted.load(std::memory_order_relaxed);
    if (demoted && !a->demotion_told) all.demoted.push_back(a.get());
    a->demotion_told = demoted;
  }
  return all;
}

}  // namespace cardan::detail
