// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/publisher_table.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::detail {

void PublisherTable::call_attention() noexcept {
  attention_.store(true, std::memory_order_release);
  if (poke_helper_) poke_helper_();
}

/// The descriptor belongs to the connection as long as the entry may be read.
bool PublisherTable::cut_off(Attached& liar) noexcept {
  if (!liar.connection) return false;
  ::shutdown(liar.connection->get(), SHUT_RDWR);
  liar.liar.store(true, std::memory_order_relaxed);
  call_attention();
  return true;
}

void PublisherTable::demote(Attached& slow) noexcept {
  slow.demoted.store(true, std::memory_order_relaxed);
  call_attention();
}

CARDAN_PUBLISH_PATH bool PublisherTable::ask_helper() noexcept {
  if (helper_asked_.exchange(true, std::memory_order_seq_cst) || !poke_helper_) return false;
  poke_helper_();
  return true;
}

void PublisherTable::admit(Attached& subscriber, const PublisherContract& contract, std::uint32_t room) {
  subscriber.foreign = subscriber.bell->foreign;
  if (subscriber.foreign) {
    Admission::Taken by_user;
    Admission::Taken by_all;
    const auto count = [&](const Attached& a) {
      if (!a.foreign) return;
      by_all.add(a);
      if (a.uid == subscriber.uid) by_user.add(a);
    };
    count(subscriber);
    for (const auto& a : attached_) count(*a);
    // A subscriber that has left keeps its place until the publishing thread has passed a quiescent point.
    for (const Leaving& l : leaving_) {
      if (!l.subscriber->foreign) continue;
      ++by_all.places;
      if (l.subscriber->uid == subscriber.uid) ++by_user.places;
    }
    admission_.check(contract, subscriber.uid, by_user, by_all, room);
  }
  subscriber.index = free_place();
  if (subscriber.index == kMaxSubscribers)
    throw Error(ErrorCode::Limit, fmt::format("topic '{}' already has {} subscribers", contract.topic, kMaxSubscribers),
                "let several readers share one process or component");
  subscriber.patience = admission_.patience_with(subscriber);
}

/// A place is not free before its subscriber has been freed: a liar's entry is cleared before that.
std::uint32_t PublisherTable::free_place() const noexcept {
  std::array<bool, kMaxSubscribers> used{};
  for (const auto& a : attached_) used[a->index] = true;
  for (const Leaving& l : leaving_) used[l.subscriber->index] = true;
  return static_cast<std::uint32_t>(std::find(used.begin(), used.end(), false) - used.begin());
}

Attached* PublisherTable::add(std::unique_ptr<Attached> subscriber) {
  Attached& added = *attached_.emplace_back(std::move(subscriber));
  if (added.prewake) prewaking_.fetch_add(1, std::memory_order_relaxed);
  if (added.reliable) reliable_.fetch_add(1, std::memory_order_relaxed);
  entries_.enter(added.index, &added);
  return &added;
}

std::uint32_t PublisherTable::remove(const Attached* subscriber) {
  const auto it =
      std::find_if(attached_.begin(), attached_.end(), [&](const auto& a) { return a.get() == subscriber; });
  if (it == attached_.end()) return 0;
  const Attached& a = **it;
  if (a.foreign && a.liar.load(std::memory_order_relaxed)) admission_.strike(a.uid);
  if (a.prewake) prewaking_.fetch_sub(1, std::memory_order_relaxed);
  if (a.reliable) reliable_.fetch_sub(1, std::memory_order_relaxed);
  // The barrier pairs with the plain store in Inside.
  const std::uint64_t epoch = entries_.clear(a.index, [] { expedited_barrier(); });
  leaving_.push_back({std::move(*it), epoch});
  attached_.erase(it);
  return a.announced;
}

bool PublisherTable::collect() {
  std::erase_if(leaving_, [this](const Leaving& l) { return entries_.has_passed(l.epoch); });
  return leaving_.empty();
}

PublisherTable::Attention PublisherTable::take_attention() {
  attention_.exchange(false, std::memory_order_seq_cst);  // what is raised later is handled later
  Attention all;
  for (const auto& a : attached_) {
    if (a->liar.load(std::memory_order_relaxed)) all.liars.push_back(a.get());
    const bool demoted = a->demoted.load(std::memory_order_relaxed);
    if (demoted && !a->demotion_told) all.demoted.push_back(a.get());
    a->demotion_told = demoted;
  }
  return all;
}

void PublisherTable::describe_lines(WarmSet& lines) const noexcept {
  constexpr std::size_t kFirst = 2;  // subscribers; with more, the first is not woken later
  for (std::size_t i = 0; i < kFirst && i < attached_.size(); ++i) {
    const Attached& a = *attached_[i];
    lines.add(&a.page->waiting);
    lines.add(&a, 2 * layout::kLine);
    lines.add(a.bell.get(), sizeof(BellLine));
    lines.add(&a.bell->word());
  }
}

}  // namespace cardan::detail
