// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/service/client_callback.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cardan/detail/basis.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan::detail {
namespace {

/// 0: never.
std::int64_t after(std::int64_t now, std::chrono::nanoseconds timeout) noexcept {
  if (timeout.count() > std::numeric_limits<std::int64_t>::max() - now) return 0;
  return std::max<std::int64_t>(1, now + std::max<std::int64_t>(0, timeout.count()));
}

}  // namespace

ClientCallback::~ClientCallback() {
  kept_.reset();
  for (std::size_t i = next_; i < done_.size(); ++i)
    if (done_[i].outcome.block != nullptr) drop(done_[i].outcome.block);
  if (picked_.outcome.block != nullptr) drop(picked_.outcome.block);
}

std::uint64_t ClientCallback::ask(Filled filled, std::chrono::nanoseconds timeout, Call call) {
  AskedQuestion asked{.number = 0, .reason = NoAnswer::NoServer};
  bool is_first = false;  ///< its time is over before that of the others
  AskingEnd* const to = end();
  if (to == nullptr) {
    filled.core->abandon(filled.slot);
  } else {
    const std::lock_guard lock(mutex_);  // its answer may come before its function is there
    waiting_.reserve(waiting_.size() + 1);
    const std::int64_t now = group().clock().now();
    const std::int64_t deadline = after(now, timeout), first = to->next_deadline();
    is_first = deadline != 0 && (first == 0 || deadline < first);
    asked = to->ask(std::move(filled), deadline);
    if (asked.number != 0) waiting_.push_back({asked.number, now, std::exchange(call, nullptr)});
  }
  if (asked.number == 0)
    report(asked.reason, std::move(call));
  else if (is_first)
    group().look_again();
  return asked.number;
}

void ClientCallback::fail(Call call) { report(has_server() ? NoAnswer::Full : NoAnswer::NoServer, std::move(call)); }

void ClientCallback::report(NoAnswer reason, Call call) {
  const AskingEnd* const to = end();
  Done done{.outcome = {.reason = reason, .text = to == nullptr ? text_of(reason) : to->why_not_asked(reason)},
            .call = std::move(call)};
  group().offer(*this, [&]() noexcept { put(std::move(done)); });
}

void ClientCallback::cancel(std::uint64_t number) {
  // The destructor of its function is the component's code, and may ask or cancel: it runs without a lock.
  Done cancelled;
  {
    const std::lock_guard lock(mutex_);
    const auto it =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.number == number; });
    if (it != waiting_.end()) {
      cancelled.call = std::move(it->call);
      waiting_.erase(it);
      end()->cancel(number);
      return;
    }
  }
  group().with_lock([&]() noexcept {
    for (std::size_t i = next_; i < done_.size(); ++i)
      if (number != 0 && done_[i].number == number) {
        cancelled.outcome.block = std::exchange(done_[i].outcome.block, nullptr);
        cancelled.call = std::exchange(done_[i].call, nullptr);
      }
    return 0;
  });
  if (cancelled.outcome.block != nullptr) drop(cancelled.outcome.block);
}

/// Number 0: none.
ClientCallback::Done ClientCallback::next_done() {
  const std::lock_guard lock(mutex_);
  AskingEnd::Done ended = end()->next_done(group().clock().now());
  Done done{.number = ended.number, .outcome = std::move(ended.outcome)};
  const auto it =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.number == done.number; });
  if (it == waiting_.end()) return done;
  done.asked_ns = it->asked_ns;
  done.call = std::move(it->call);
  waiting_.erase(it);
  return done;
}

void ClientCallback::put(Done&& done) {
  constexpr std::size_t kMostBehind = 64;
  if (next_ >= kMostBehind || next_ == done_.size()) {
    done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }
  done.since_ns = group().clock().now();
  done_.push_back(std::move(done));
  show_queued();
}

void ClientCallback::collect() {
  for (Done done = next_done(); done.number != 0; done = next_done())
    group().offer(*this, [&]() noexcept { put(std::move(done)); });
}

bool ClientCallback::has_work() noexcept { return core_->has_news(); }

void ClientCallback::drain(QuietOffer& offer) noexcept {
  (void)core_->receive();
  if (core_->answers().reason() == Reason::Limit)
    stuck();
  else
    not_stuck();
  for (Done done = next_done(); done.number != 0; done = next_done())
    offer(*this, [&]() noexcept { put(std::move(done)); });
}

void ClientCallback::show_queued() noexcept {
  statistics().queued.store(static_cast<std::uint32_t>(done_.size() - next_), std::memory_order_relaxed);
}

void ClientCallback::pick(std::int64_t now) noexcept {
  picked_ = std::move(done_[next_++]);
  statistics().waiting.add(std::max<std::int64_t>(0, now - picked_.since_ns));
  if (picked_.outcome.block != nullptr)
    statistics().transport.add(std::max<std::int64_t>(0, picked_.since_ns - picked_.asked_ns));
  else if (picked_.call)
    statistics().unanswered.fetch_add(1, std::memory_order_relaxed);
  show_queued();
}

void ClientCallback::invoke() {
  Done done = std::exchange(picked_, {});
  if (!done.call) return;  // cancelled
  if (CallbackBasis* const basis = CallbackBasis::here(); basis != nullptr && done.outcome.block != nullptr)
    basis->triggered_by(*done.outcome.block);
  done.call(std::move(done.outcome));
}

}  // namespace cardan::detail
