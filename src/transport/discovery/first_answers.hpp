// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <future>
#include <map>

namespace cardan::detail {

class SubscriberCore;

/// The results of subscribers' first attachments, for the threads that wait for them. Helper thread only.
class FirstAnswers {
 public:
  struct Answer {
    std::promise<void> given;
    /// Set if the only answers were refusals. The waiting thread owns it once the answer is given.
    std::exception_ptr error{};
  };

  /// From now on one answer is open: that of the look for publishers.
  void open(const SubscriberCore& subscriber, Answer* answer);
  /// One more publisher was asked.
  void asked(const SubscriberCore& subscriber);
  /// One answer came. The waiting thread gets the result when it was the last that was open.
  void answered(const SubscriberCore& subscriber, bool attached, std::exception_ptr error);
  /// An error without an answer; of several the first counts.
  template <class MakeError>
  void failed(const SubscriberCore& subscriber, MakeError error) {
    const auto it = waiters_.find(&subscriber);
    if (it != waiters_.end() && !it->second.error) it->second.error = std::make_exception_ptr(error());
  }
  void forget(const SubscriberCore& subscriber) { waiters_.erase(&subscriber); }

 private:
  struct Waiter {
    Answer* answer = nullptr;
    std::size_t open = 0;
    std::size_t attached = 0;
    std::exception_ptr error;
  };
  std::map<const SubscriberCore*, Waiter> waiters_;
};

}  // namespace cardan::detail
