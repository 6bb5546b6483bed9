// SPDX-License-Identifier: Apache-2.0
// Orders of operators to a supervisor while it runs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cardan/clock.hpp"
#include "src/config/suggest.hpp"
#include "src/system/launcher/supervisor.hpp"

namespace cardan::launcher {
namespace {

constexpr std::size_t kMostOrders = 256;  ///< that wait to be looked at

Error has_ended() { return {ErrorCode::Unavailable, "the system has ended", "start it again: cardan run FILE"}; }

}  // namespace

std::future<OrderAnswer> Supervisor::order(Order order) {
  Given given{.order = std::move(order), .answer = {}};
  std::future<OrderAnswer> future = given.answer.get_future();
  {
    const std::lock_guard lock(orders_mutex_);
    if (!takes_orders_) {
      given.answer.set_value({.error = has_ended()});
      return future;
    }
    if (orders_.size() >= kMostOrders) {
      given.answer.set_value(
          {.error = Error(ErrorCode::Limit, "too many orders wait for the launcher", "try again in a second")});
      return future;
    }
    orders_.push_back(std::move(given));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_fd_.get(), &one, sizeof(one));
  return future;
}

void Supervisor::take_orders() {
  std::vector<Given> given;
  {
    const std::lock_guard lock(orders_mutex_);
    given.swap(orders_);
  }
  for (Given& one : given) obey(std::move(one));
}

void Supervisor::close_orders() {
  std::vector<Given> given;
  {
    const std::lock_guard lock(orders_mutex_);
    takes_orders_ = false;
    given.swap(orders_);
  }
  for (Given& one : given) one.answer.set_value({.error = has_ended()});
  for (std::size_t i = 0; i < slots_.size(); ++i) answer(i, has_ended());
  if (applying_) finish_apply();
}

void Supervisor::obey(Given given) {
  const Order& order = given.order;
  const auto refuse = [&](ErrorCode code, const std::string& cause, const std::string& remedy) {
    given.answer.set_value({.error = Error(code, cause, remedy)});
  };
  if (order.what == Order::What::Look) return given.answer.set_value({.error = {}, .processes = status_});
  if (order.what == Order::What::Apply) return apply(std::move(given));
  const auto found =
      std::find_if(status_.begin(), status_.end(), [&](const ProcessStatus& p) { return p.name == order.process; });
  if (found == status_.end()) {
    std::vector<std::string> names;
    for (const ProcessStatus& p : status_) names.push_back(p.name);
    return refuse(ErrorCode::InvalidArgument,
                  fmt::format("system '{}' has no process '{}'", plan_->configuration.name, order.process),
                  config::suggestion(order.process, names, "cardan graph FILE shows them"));
  }
  if (order.until_ns != 0 && steady_now() > order.until_ns)
    return refuse(ErrorCode::Unavailable, "the order came too late, and was not carried out", "give it again");
  if (stopping_)
    return refuse(ErrorCode::Unavailable, "the system is being stopped", "start it again: cardan run FILE");
  if (between_plans())
    return refuse(ErrorCode::Unavailable, "another plan is being applied", "wait until that is done");
  const auto index = static_cast<std::size_t>(found - status_.begin());
  Slot& slot = slots_[index];
  if (slot.asked == Order::What::Apply)
    answer(index, Error(ErrorCode::Unavailable, order.process + " had not started when an operator ended it",
                        "cardan component list shows what runs"));
  if (slot.asked)
    return refuse(ErrorCode::Unavailable, fmt::format("{} is already being stopped or restarted", order.process),
                  "wait until that is done");
  slot.asked = order.what;
  slot.order_killed = false;
  slot.answer = std::move(given.answer);
  say(LogLevel::Info,
      fmt::format("an operator {} {}", order.what == Order::What::Stop ? "stops" : "restarts", found->name));
  if (order.what == Order::What::Restart) slot.policy.forgive();
  if (slot.child)
    end_for_operator(index);
  else
    obeyed(index, false);
}

void Supervisor::end_for_operator(std::size_t index) {
  Slot& slot = slots_[index];
  slot.told_to_end = true;
  slot.slow_ns = 0;
  slot.kill_ns = steady_now() + options_.grace.count();
  status_[index].phase = Phase::Stopping;
  slot.child->signal(SIGTERM);
}

/// The process is down, and the order continues from there. `crashed`: an outage was noted.
void Supervisor::obeyed(std::size_t index, bool crashed) {
  Slot& slot = slots_[index];
  ProcessStatus& status = status_[index];
  const std::int64_t now = steady_now();
  slot.restart_ns = 0;
  if (slot.asked == Order::What::Apply) return ended_for_plan(index, crashed);
  if (slot.asked == Order::What::Stop) {
    slot.held = true;
    say(LogLevel::Info,
        fmt::format("{} is stopped{}; cardan run --restart {} starts it again", status.name,
                    slot.order_killed ? ": it did not end by itself, and was killed" : "", status.name));
    change(index, Phase::Stopped, Unit::Stopped, "an operator stopped it");
    answer(index, {});
    return;
  }
  if (!crashed)
    status.outages.push_back({.cause = slot.order_killed
                                           ? "was restarted by an operator, did not end by itself, and was killed"
                                           : "was restarted by an operator",
                              .noticed_ns = now});
  slot.restart_ns = std::max<std::int64_t>(now, 1);
  change(index, Phase::Waiting, Unit::Down, "an operator restarts it");
}

void Supervisor::answer(std::size_t index, std::optional<Error> error) {
  Slot& slot = slots_[index];
  if (!slot.asked) return;
  if (slot.asked == Order::What::Apply) return applied(index, std::move(error));
  slot.asked.reset();
  slot.answer.set_value({.error = std::move(error), .killed = slot.order_killed, .processes = status_});
}

}  // namespace cardan::launcher
