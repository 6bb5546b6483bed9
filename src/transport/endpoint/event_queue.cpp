// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/event_queue.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cardan/clock.hpp"
#include "cardan/log.hpp"
#include "src/base/socket.hpp"

namespace cardan {

const char* to_string(Event::Kind kind) noexcept {
  switch (kind) {
    case Event::Kind::Joined:
      return "joined";
    case Event::Kind::Left:
      return "left";
    case Event::Kind::Died:
      return "died";
    case Event::Kind::DeadlineMissed:
      return "deadline_missed";
    case Event::Kind::Incompatible:
      return "incompatible";
    case Event::Kind::Refused:
      return "refused";
    case Event::Kind::Demoted:
      return "demoted";
    case Event::Kind::Misbehaved:
      return "misbehaved";
    case Event::Kind::Shallow:
      return "shallow";
  }
  return "?";
}

namespace detail {
namespace {
constexpr std::size_t kKept = 256;
}

bool EventQueue::emit(Event event, std::optional<uid_t> whose) {
  if (whose) {
    const std::int64_t now = steady_now();
    strangers_.ended(now);  // starts new windows
    if (!strangers_.allow({"streams", *whose}, now)) {
      log(LogLevel::Warning, Cause{"events left out", *whose},
          fmt::format("events of '{}' are left out: {} causes more than {} in ten seconds", topic_,
                      socket::name_of_user(*whose), kForeignEvents));
      return false;
    }
  }
  if (on_event_) {
    try {
      on_event_(event);
    } catch (const std::exception& e) {  // the callback runs on the thread that serves everything else
      log(LogLevel::Error, Cause{"on_event", ::geteuid()}, fmt::format("on_event of '{}' threw: {}", topic_, e.what()));
    } catch (...) {
      log(LogLevel::Error, Cause{"on_event", ::geteuid()}, fmt::format("on_event of '{}' threw", topic_));
    }
  }
  const std::lock_guard lock(mutex_);
  if (queue_.size() == kKept) {  // nobody reads the events
    const auto first = foreign_ == 0
                           ? queue_.begin()
                           : std::find_if(queue_.begin(), queue_.end(), [](const Queued& q) { return q.foreign; });
    foreign_ -= first->foreign ? 1U : 0U;
    queue_.erase(first);
  }
  foreign_ += whose ? 1U : 0U;
  queue_.push_back({std::move(event), whose.has_value()});
  some_.store(true, std::memory_order_release);
  return true;
}

std::optional<Event> EventQueue::next() {
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) return std::nullopt;
  Event event = std::move(queue_.front().event);
  foreign_ -= queue_.front().foreign ? 1U : 0U;
  queue_.pop_front();
  some_.store(!queue_.empty(), std::memory_order_release);
  return event;
}

}  // namespace detail
}  // namespace cardan
