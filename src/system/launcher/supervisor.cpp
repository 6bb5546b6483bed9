// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/supervisor.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/crash_report.hpp"

namespace cardan::launcher {
namespace {

constexpr std::uint64_t kStop = ~std::uint64_t{0};
constexpr std::uint64_t kTimer = kStop - 1;
constexpr std::size_t kLastLines = 40;

Fd checked(int fd, const char* what) {
  if (fd < 0)
    throw Error(ErrorCode::Limit, fmt::format("cannot make {}: {}", what, std::generic_category().message(errno)),
                "raise the limit of open descriptors (ulimit -n)");
  return Fd{fd};
}

std::chrono::nanoseconds look_every(const config::Configuration& configuration) {
  std::chrono::nanoseconds shortest = std::chrono::seconds{2};
  for (const config::Transition& t : configuration.transitions)
    if (t.when.is_of_topics()) shortest = std::min(shortest, t.when.lasting);
  return std::max<std::chrono::nanoseconds>(shortest / 4, std::chrono::milliseconds{20});
}

}  // namespace

std::string_view name_of(Phase phase) noexcept {
  constexpr std::array<std::string_view, 7> kStateNames{"starting", "running",  "waiting", "finished",
                                                        "given up", "stopping", "stopped"};
  return kStateNames[static_cast<std::size_t>(phase)];
}

Supervisor::Supervisor(plan::Plan plan, LauncherOptions options)
    : plan_(std::make_shared<const plan::Plan>(std::move(plan))),
      options_(std::move(options)),
      sealed_(plan::seal(*plan_)),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "an epoll")),
      timer_(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "a timer")),
      stop_fd_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "an event")),
      machine_(machine_of(plan_->configuration)) {
  if (options_.host_command.empty())
    throw Error(ErrorCode::InvalidArgument, "no command to start a process is set", "set host_command");
  for (const config::Process& process : plan_->configuration.processes) {
    slots_.emplace_back().policy = RestartPolicy(process.restart);
    status_.push_back({.name = process.name});
  }
  stop_at_ = slots_.size();
  for (const auto& [fd, tag] : {std::pair{stop_fd_.get(), kStop}, std::pair{timer_.get(), kTimer}}) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = tag}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) (void)checked(-1, "an entry of an epoll");
  }
  publisher_ =
      std::make_unique<Publisher<SystemState>>(kSystemState, PublisherOptions{.domain = plan_->configuration.domain});
  frames_.prepare(plan_->configuration);
  silence_ = watch_of(plan_->configuration, machine_);
}

Supervisor::~Supervisor() = default;

StateMachine Supervisor::machine_of(const config::Configuration& configuration) {
  return StateMachine(configuration, steady_now(),
                      [this](const std::string& topic) { return silence_ ? silence_->last_published(topic) : 0; });
}

std::unique_ptr<SilenceWatch> Supervisor::watch_of(const config::Configuration& configuration,
                                                   const StateMachine& machine) {
  const std::vector<std::string> topics = machine.watched_topics();
  if (topics.empty()) return {};
  return std::make_unique<SilenceWatch>(topics, configuration.domain, look_every(configuration));
}

std::shared_ptr<const plan::Plan> Supervisor::plan() const {
  const std::lock_guard lock(plan_mutex_);
  return plan_;
}

void Supervisor::stop() noexcept {
  const int saved = errno;
  stops_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_fd_.get(), &one, sizeof(one));
  errno = saved;
}

int Supervisor::run() {
  const std::int64_t begin = steady_now();
  tick_ns_ = begin + options_.tick.count();
  end_ns_ = options_.duration.count() > 0 ? begin + options_.duration.count() : 0;
  publish({config::State::Starting, config::State::Starting, begin, "cardan run starts"});
  frames_.publish();
  for (std::size_t i = 0; i < slots_.size(); ++i) start(i);
  while (!over()) {
    arm_timer();
    std::array<epoll_event, 32> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
      std::uint64_t number = 0;
      [[maybe_unused]] ssize_t got = 0;
      if (tag == kStop)
        got = ::read(stop_fd_.get(), &number, sizeof(number));
      else if (tag == kTimer)
        got = ::read(timer_.get(), &number, sizeof(number));
      else
        serve(static_cast<std::size_t>(tag));
    }
    due(steady_now());
  }
  const std::int64_t end = steady_now();
  if (stop_reason_.empty()) stop_reason_ = "all processes have ended";
  const auto last = machine_.stop(end, stop_reason_);
  const bool threw = say_exceptions();
  say_chains();
  publish(last);
  close_orders();
  return failed_ ? 1 : threw ? 3 : 0;
}

bool Supervisor::over() const {
  const bool ended = std::all_of(status_.begin(), status_.end(), [](const ProcessStatus& p) {
    return p.phase == Phase::Finished || p.phase == Phase::GivenUp || p.phase == Phase::Stopped;
  });
  // An operator that stopped a process may want to start it again, or to mend the plan with which it does not start.
  return ended && !applying_ &&
         (stopping_ || std::none_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.held || s.unstarted; }));
}

void Supervisor::due(std::int64_t now) {
  const std::uint32_t stops = stops_.load(std::memory_order_relaxed);
  if (stops != stops_seen_) {
    if (stops_seen_ == 0) begin_stop("it was requested");
    if (stops > 1) kill_all();
    stops_seen_ = stops;
  }
  if (end_ns_ != 0 && now >= end_ns_ && !stopping_) begin_stop("the given time is over");
  advance();  // what has happened until now is not undone by an order before anybody saw it
  take_orders();
  if (between_plans() && applying_->waiting == 0) switch_plan();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.restart_ns != 0 && now >= slot.restart_ns && !between_plans()) start(i);
    if (slot.slow_ns != 0 && now >= slot.slow_ns) say_slow(i, now);
    if (slot.kill_ns == 0 || now < slot.kill_ns) continue;
    slot.kill_ns = 0;
    if (slot.child) kill(i);
  }
  if (kill_ns_ != 0 && now >= kill_ns_) {
    kill_ns_ = 0;
    kill(stop_at_);
  }
  advance();
  if (now >= tick_ns_) {
    tick_ns_ = now + options_.tick.count();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      say_left_out(i, now);
      look_stopped(i, now);
    }
    if (options_.on_tick) options_.on_tick();
  }
}

void Supervisor::arm_timer() {
  std::int64_t at = tick_ns_;
  const auto earlier = [&at](std::int64_t other) {
    if (other != 0 && other < at) at = other;
  };
  if (!stopping_) earlier(end_ns_);
  earlier(kill_ns_);
  for (const Slot& slot : slots_)
    for (const std::int64_t due : {between_plans() ? 0 : slot.restart_ns, slot.slow_ns, slot.kill_ns}) earlier(due);
  if (!stopping_) earlier(machine_.next().value_or(0));
  itimerspec when{};
  at = std::max<std::int64_t>(at, 1);  // 0 would disarm it
  when.it_value = {.tv_sec = at / 1'000'000'000, .tv_nsec = at % 1'000'000'000};
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void Supervisor::advance() {
  if (stopping_) return;
  for (const StateMachine::Change& change : machine_.advance(steady_now())) {
    publish(change);
    if (change.to == config::State::Stopped) begin_stop(change.reason);
  }
}

void Supervisor::publish(const StateMachine::Change& change) {
  changes_.push_back(change);
  SystemState message;
  message.since_ns = change.at_ns;
  message.state = change.to;
  message.previous = change.from;
  message.system = FixedString<64>(std::string_view(plan_->configuration.name));
  message.reason = FixedString<400>(std::string_view(change.reason));
  publisher_->publish(message);
  const bool bad = change.to == config::State::Degraded || change.to == config::State::SafeStop;
  if (change.from != change.to)
    say(bad ? LogLevel::Warning : LogLevel::Info,
        fmt::format("state: {} → {}: {}", config::name_of(change.from), config::name_of(change.to), change.reason));
  if (options_.on_state) options_.on_state(change);
}

void Supervisor::begin_stop(const std::string& reason) {
  if (stopping_) return;
  stopping_ = true;
  stop_reason_ = reason;
  say(LogLevel::Info, "stopping: " + reason);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].restart_ns = slots_[i].kill_ns = 0;
    answer(i,
           Error(ErrorCode::Unavailable, "the system is being stopped: " + reason, "start it again: cardan run FILE"));
    if (!slots_[i].child && status_[i].phase == Phase::Waiting) status_[i].phase = Phase::Stopped;
  }
  if (applying_) finish_apply();
  stop_next();
}

void Supervisor::stop_next() {
  kill_ns_ = 0;
  while (stop_at_ > 0) {
    --stop_at_;
    Slot& slot = slots_[stop_at_];
    if (!slot.child) continue;
    status_[stop_at_].phase = Phase::Stopping;
    slot.told_to_end = true;
    slot.child->signal(SIGTERM);
    kill_ns_ = steady_now() + options_.grace.count();
    return;
  }
}

void Supervisor::kill(std::size_t index) {
  ProcessStatus& status = status_[index];
  slots_[index].killed = status.killed = failed_ = true;
  slots_[index].order_killed = slots_[index].asked.has_value();
  say(LogLevel::Error, fmt::format("{} (pid {}) did not end within {:g} s after SIGTERM, and is killed", status.name,
                                   status.pid, static_cast<double>(options_.grace.count()) / 1e9));
  slots_[index].child->signal(SIGKILL);
}

void Supervisor::kill_all() {
  kill_ns_ = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].child) continue;
    say(LogLevel::Warning, fmt::format("{} (pid {}) is killed: second request", status_[i].name, status_[i].pid));
    status_[i].phase = Phase::Stopping;
    slots_[i].killed = status_[i].killed = failed_ = true;
    slots_[i].told_to_end = true;
    slots_[i].child->signal(SIGKILL);
  }
}

void Supervisor::change(std::size_t index, Phase phase, Unit unit, const std::string& why) {
  status_[index].phase = phase;
  machine_.process(status_[index].name, unit, steady_now(), why);
}

void Supervisor::line(std::size_t index, LogLine::Source source, std::string_view text) {
  auto& last = slots_[index].last_lines;
  last.emplace_back(text);
  if (last.size() > kLastLines) last.pop_front();
  Slot& slot = slots_[index];
  const auto logs = slot.rates.find(text.substr(0, text.find(": ")));  // as Context::log() writes it
  if (!(logs == slot.rates.end() ? slot.rate : logs->second).allow(text.size(), steady_now())) return;
  if (options_.on_line)
    options_.on_line({.name = status_[index].name, .source = source, .wall_ns = wall_now(), .text = text});
}

void Supervisor::say_left_out(std::size_t index, std::int64_t now, bool at_once) {
  constexpr std::int64_t kDistance = 5'000'000'000;
  Slot& slot = slots_[index];
  if (!at_once && now - slot.told_ns < kDistance) return;
  const auto tell = [&](const std::string& name, LogRate& rate) {
    const LogRate::LeftOut left = rate.take();
    if (left.lines == 0) return;
    slot.told_ns = now;
    say(LogLevel::Warning,
        fmt::format(
            "{}: {} lines ({:.1f} MiB) are left out of the log: it writes more than {} lines or {} KiB a second", name,
            left.lines, static_cast<double>(left.bytes) / (1 << 20), LogRate::kLines, LogRate::kBytes / 1024));
  };
  tell(status_[index].name, slot.rate);
  for (auto& [component, rate] : slot.rates) tell(fmt::format("{}/{}", status_[index].name, component), rate);
}

void Supervisor::say(LogLevel level, const std::string& text) const {
  if (options_.on_line)
    options_.on_line(
        {.name = "cardan", .source = LogLine::Source::Launcher, .level = level, .wall_ns = wall_now(), .text = text});
}

}  // namespace cardan::launcher
