// SPDX-License-Identifier: Apache-2.0
#include "cardan_rclcpp/detail/waitable.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cardan/clock.hpp"
#include "rcl/error_handling.h"
#include "rclcpp/exceptions.hpp"
#include "rclcpp/logging.hpp"

namespace cardan::ros::detail {

SubscriptionWaitable::SubscriptionWaitable(const NodeParts& node, std::string topic, bool reentrant)
    : topic_(std::move(topic)),
      logger_(node.logging->get_logger()),
      reentrant_(reentrant),
      ring_(std::make_shared<Ring>(node.base->get_context())),
      bell_(Bell::get()) {}

SubscriptionWaitable::~SubscriptionWaitable() = default;

void SubscriptionWaitable::listen(int fd) { number_ = bell_->add(fd, ring_); }

void SubscriptionWaitable::stop_listening() noexcept {
  const std::lock_guard lock(take_);
  if (number_ != 0) bell_->remove(std::exchange(number_, 0));
}

// Not by GuardCondition::add_to_wait_set: in Humble it refuses a second wait set, so that a node could not move from
// one executor to another.
void SubscriptionWaitable::join(rcl_wait_set_t& wait_set) {
  rcl_guard_condition_t& guard = ring_->guard().get_rcl_guard_condition();
  const rcl_ret_t result = rcl_wait_set_add_guard_condition(&wait_set, &guard, nullptr);
  if (result != RCL_RET_OK) rclcpp::exceptions::throw_from_rcl_error(result, "cardan_rclcpp: cannot join a wait set");
  if (ring_->due()) ring_->ring();  // what an earlier wait has swallowed, or left over
}

std::shared_ptr<void> SubscriptionWaitable::take_data() {
  const std::lock_guard lock(take_);
  // Before the look, so that what comes after the look rings again.
  ring_->clear();
  if (number_ == 0) return nullptr;  // the subscription has ended; this executor does not know it yet
  Reason why = Reason::None;
  std::shared_ptr<void> box;
  if (given_back_.empty()) {
    box = take_one(why);
  } else {
    box = std::move(given_back_.front());
    given_back_.erase(given_back_.begin());
  }
  if (box) {
    // There may be more, and only an empty look lets the publisher ring again. In an exclusive group nobody may take it
    // before the callback has ended; an executor that was rung earlier would look again and again.
    if (reentrant_) ring_->ring();
    auto taken = std::make_shared<Taken>();
    taken_.push_back(taken.get());
    taken->from = weak_from_this();  // from here on it takes the lock when it goes
    taken->box = std::move(box);
    return taken;
  }
  if (why == Reason::Limit) {
    held_up_.fetch_add(1, std::memory_order_relaxed);
    complain_about_holds();
    bell_->ring_later(number_);
  } else {
    while (const std::optional<Event> event = next_event()) report(*event);
    bell_->arm(number_);
  }
  return nullptr;
}

void SubscriptionWaitable::run(const std::shared_ptr<void>& data) {
  if (!data) return;
  auto& taken = *static_cast<Taken*>(data.get());
  taken.executed = true;
  // The sample leaves with this function, not with what the executor keeps for longer: a slot is free at once.
  std::shared_ptr<void> box;
  {
    const std::lock_guard lock(take_);
    box = std::move(taken.box);
  }
  if (!box || !begin_call()) return;
  struct Ending {
    SubscriptionWaitable& waitable;
    ~Ending() { waitable.end_call(); }
  } const ending{*this};
  call(box.get());
}

SubscriptionWaitable::Taken::~Taken() {
  if (const auto waitable = from.lock()) waitable->finished(*this);
}

void SubscriptionWaitable::finished(Taken& taken) noexcept {
  {
    const std::lock_guard lock(take_);
    std::erase(taken_, &taken);
    if (number_ == 0) return;
    if (!taken.executed)
      given_back_.push_back(std::move(taken.box));
    else if (reentrant_)
      return;  // it was rung when the sample was taken
  }
  ring_->ring();
}

void SubscriptionWaitable::set_on_ready_callback(std::function<void(std::size_t, int)> callback) {
  if (!callback) return clear_on_ready_callback();
  // However often it was rung, one look is enough to begin with: take_data rings again while there is more.
  ring_->guard().set_on_trigger_callback([callback = std::move(callback)](std::size_t) { callback(1, 0); });
  ring_->ring();
}

void SubscriptionWaitable::clear_on_ready_callback() { ring_->guard().set_on_trigger_callback(nullptr); }

bool SubscriptionWaitable::begin_call() {
  const std::lock_guard lock(calls_mutex_);
  if (ended_) return false;
  calls_.push_back(std::this_thread::get_id());
  return true;
}

void SubscriptionWaitable::end_call() noexcept {
  {
    const std::lock_guard lock(calls_mutex_);
    calls_.erase(std::find(calls_.begin(), calls_.end(), std::this_thread::get_id()));
  }
  calls_done_.notify_all();
}

void SubscriptionWaitable::end() noexcept {
  {
    std::unique_lock lock(calls_mutex_);
    ended_ = true;
    // A callback that ends its own subscription must not wait for itself.
    const std::thread::id self = std::this_thread::get_id();
    calls_done_.wait(lock, [&] {
      return std::all_of(calls_.begin(), calls_.end(), [&](std::thread::id thread) { return thread == self; });
    });
  }
  stop_listening();
  // These go without the lock: the bell waits for its thread, and a callback may own anything.
  std::shared_ptr<Bell> bell;
  std::array<std::shared_ptr<void>, 2> owned;
  const std::lock_guard lock(take_);
  bell.swap(bell_);
  owned = let_go();
  given_back_.clear();
  for (Taken* taken : taken_) taken->box.reset();
}

void SubscriptionWaitable::complain_about_holds() {
  constexpr std::int64_t kPause = 10'000'000'000;
  const std::int64_t now = steady_now();
  if (complained_at_ != 0 && now - complained_at_ < kPause) return;
  complained_at_ = now;
  RCLCPP_WARN(logger_,
              "%s: a sample waits, because this node holds as many as it announced — drop them earlier, or raise "
              ".endpoint.holds of the subscription",
              topic_.c_str());
}

void SubscriptionWaitable::report(const Event& event) const {
  switch (event.kind) {
    case Event::Kind::Joined:
    case Event::Kind::Left:
      RCLCPP_DEBUG(logger_, "%s: %s: %s", topic_.c_str(), to_string(event.kind), event.text.c_str());
      return;
    default:
      RCLCPP_WARN(logger_, "%s: %s: %s", topic_.c_str(), to_string(event.kind), event.text.c_str());
  }
}

}  // namespace cardan::ros::detail
