// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/first_answers.hpp"

#include <utility>

namespace cardan::detail {

void FirstAnswers::open(const SubscriberCore& subscriber, Answer* answer) {
  Waiter& waiter = waiters_[&subscriber];
  waiter.answer = answer;
  waiter.open = 1;
}

void FirstAnswers::asked(const SubscriberCore& subscriber) {
  if (const auto it = waiters_.find(&subscriber); it != waiters_.end()) ++it->second.open;
}

void FirstAnswers::answered(const SubscriberCore& subscriber, bool attached, std::exception_ptr error) {
  const auto it = waiters_.find(&subscriber);
  if (it == waiters_.end()) return;
  Waiter& w = it->second;
  if (attached) ++w.attached;
  if (error && !w.error) w.error = std::move(error);
  if (--w.open != 0) return;
  Answer& answer = *w.answer;
  if (w.attached == 0) answer.error = std::move(w.error);
  waiters_.erase(it);
  answer.given.set_value();
}

}  // namespace cardan::detail
