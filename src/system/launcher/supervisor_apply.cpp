// SPDX-License-Identifier: Apache-2.0
// Another plan for a system that runs: what differs ends, then starts; all other processes continue.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <set>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/supervisor.hpp"

namespace cardan::launcher {

void Supervisor::apply(Given given) {
  const PlanChange& change = *given.order.change;
  const auto refuse = [&](ErrorCode code, const std::string& cause, const std::string& remedy) {
    given.answer.set_value({.error = Error(code, cause, remedy)});
  };
  if (stopping_)
    return refuse(ErrorCode::Unavailable, "the system is being stopped", "start it again: cardan run FILE");
  if (given.order.until_ns != 0 && steady_now() > given.order.until_ns)
    return refuse(ErrorCode::Unavailable, "the order came too late, and was not carried out", "give it again");
  if (between_plans() ||
      std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.asked && s.asked != Order::What::Apply; }))
    return refuse(ErrorCode::Unavailable, "another order is being carried out", "wait until that is done");
  if (change.from != plan_)
    return refuse(ErrorCode::Unavailable, "the plan was changed meanwhile",
                  "give the order again: it shows what differs now");
  Applying next{.change = given.order.change, .names = {}};
  try {  // all that can fail comes before anything is ended
    const config::Configuration& configuration = change.to->configuration;
    next.sealed = plan::seal(*change.to);
    next.machine = std::make_unique<StateMachine>(machine_of(configuration));
    next.same_topics = next.machine->watched_topics() == machine_.watched_topics();
    if (!next.same_topics) next.silence = watch_of(configuration, *next.machine);
    frames_.prepare(configuration);
  } catch (const Error& e) {
    return refuse(e.code(), e.cause(), e.remedy());
  }
  next.answer = std::move(given.answer);
  // A plan with a process that hangs in its start does not keep the next one waiting.
  for (std::size_t i = 0; i < slots_.size(); ++i)
    answer(i, Error(ErrorCode::Unavailable, fmt::format("{} had not started when the next plan came", status_[i].name),
                    "the log of cardan run shows when it runs"));
  applying_.emplace(std::move(next));
  say(LogLevel::Info, "an operator changes the plan");
  std::set<std::string>& names = applying_->names;
  names.insert(change.difference.stop.begin(), change.difference.stop.end());
  for (const plan::Difference::Changed& changed : change.difference.restart) names.insert(changed.process);
  for (const plan::Difference::Set& set : change.difference.set) {
    // It crashed, and starts with the old values: nobody could set them yet.
    const auto is = std::find_if(status_.begin(), status_.end(), [&](const auto& p) { return p.name == set.process; });
    if (is != status_.end() && is->pid != 0 && is->ready_ns == 0) names.insert(set.process);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!names.contains(status_[i].name)) continue;
    slots_[i].restart_ns = 0;
    if (!slots_[i].child) continue;
    slots_[i].asked = Order::What::Apply;
    slots_[i].order_killed = false;
    ++applying_->waiting;
    end_for_operator(i);
  }
}

void Supervisor::ended_for_plan(std::size_t index, bool crashed) {
  Slot& slot = slots_[index];
  slot.asked.reset();
  if (!applying_) return;
  applying_->killed = applying_->killed || slot.order_killed;
  --applying_->waiting;  // due() switches: here events of this turn still have the old numbers
  if (!crashed)
    status_[index].outages.push_back({.cause = slot.order_killed
                                                   ? "was ended for another plan, did not end by itself, and was killed"
                                                   : "was ended for another plan",
                                      .noticed_ns = steady_now()});
  status_[index].phase = Phase::Stopped;
  // One that the new plan does not have is not down: nothing follows from its end.
  if (applying_->change->to->configuration.process(status_[index].name) != nullptr)
    change(index, Phase::Stopped, Unit::Down, "the plan is changed");
}

void Supervisor::switch_plan() {
  const std::shared_ptr<const PlanChange> change = applying_->change;
  const std::vector<config::Process>& before = change->from->configuration.processes;
  std::vector<Slot> slots;
  std::vector<ProcessStatus> status;
  std::vector<std::size_t> starts;
  for (const config::Process& process : change->to->configuration.processes) {
    const auto old = std::find_if(before.begin(), before.end(), [&](const auto& p) { return p.name == process.name; });
    const bool fresh = old == before.end();
    const auto at = static_cast<std::size_t>(old - before.begin());
    Slot& slot = slots.emplace_back();
    if (!fresh) slot = std::move(slots_[at]);
    if (!fresh) forget_changed(slot, *old, process);
    status.push_back(fresh ? ProcessStatus{.name = process.name} : std::move(status_[at]));
    if (!fresh && !applying_->names.contains(process.name)) continue;
    if (fresh || old->restart != process.restart) slot.policy = RestartPolicy(process.restart);
    slot.policy.forgive();
    slot.was_up = slot.unstarted = false;  // what is refused now is the plan's fault
    if (!slot.held) starts.push_back(slots.size() - 1);
  }
  slots_ = std::move(slots);
  status_ = std::move(status);
  stop_at_ = slots_.size();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const ChildProcess* const child = slots_[i].child.get();
    if (child == nullptr) continue;
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    for (const int fd : {child->end_fd(), child->output_fd(), child->error_fd(), child->ready_fd()})
      if (fd >= 0) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
  }
  {
    const std::lock_guard lock(plan_mutex_);
    plan_ = change->to;
  }
  sealed_ = std::move(applying_->sealed);
  applying_->machine->resume(machine_, steady_now());
  machine_ = std::move(*applying_->machine);
  if (!applying_->same_topics) {
    if (silence_ && applying_->silence) applying_->silence->know(*silence_);
    silence_ = std::move(applying_->silence);
  }
  frames_.publish();
  applying_->switched = true;
  applying_->waiting = starts.size();
  if (options_.on_plan) options_.on_plan(*plan_);
  say(LogLevel::Info, fmt::format("the plan of {} holds now", plan_->configuration.source.file_name));
  if (starts.empty()) finish_apply();
  for (const std::size_t i : starts) {
    slots_[i].asked = Order::What::Apply;
    slots_[i].order_killed = false;
    start(i);
  }
}

/// One of the processes that the plan starts is there, or is not; or the system is being stopped.
void Supervisor::applied(std::size_t index, std::optional<Error> error) {
  slots_[index].asked.reset();
  if (!applying_) return;
  slots_[index].unstarted = applying_->switched && error.has_value();
  if (error && applying_->error)
    applying_->error = Error(error->code(), applying_->error->cause() + "; " + error->cause(), error->remedy());
  else if (error)
    applying_->error = std::move(error);
  if (--applying_->waiting == 0 && applying_->switched) finish_apply();
}

void Supervisor::finish_apply() {
  Applying done = std::move(*applying_);
  applying_.reset();
  if (!done.switched && !done.error)
    done.error = Error(ErrorCode::Unavailable, "the system is being stopped", "start it again: cardan run FILE");
  done.answer.set_value({.error = std::move(done.error), .killed = done.killed, .processes = status_});
}

}  // namespace cardan::launcher
