// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/runtime/executor/await_recorders.hpp"
#include "src/runtime/executor/life_step.hpp"
#include "src/runtime/parameter_words.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan {

using detail::Channel;
using detail::ComponentCore;
using detail::Group;

namespace {

/// Publishers that are asked at the same time when components start.
constexpr std::size_t kMostAtOnce = 32;

RealtimeOptions realtime_of(const std::vector<int>& cpus, config::Policy policy, int priority, int nice) {
  RealtimeOptions options;
  options.nice = nice;
  options.cpus = cpus;
  if (policy == config::Policy::Fifo || policy == config::Policy::RoundRobin) options.priority = priority;
  if (policy == config::Policy::RoundRobin) options.policy = RealtimeOptions::Policy::RoundRobin;
  return options;
}

GroupOptions group_options(const config::Group& group) {
  GroupOptions options;
  options.name = group.name;
  options.workers = static_cast<std::uint32_t>(group.workers.value_or(1));
  options.one_to_one = group.affinity.value_or(config::Affinity::Range) == config::Affinity::OneToOne;
  options.realtime = realtime_of(group.cpus, group.policy.value_or(config::Policy::Other), group.priority.value_or(0),
                                 group.nice.value_or(0));
  options.spin = group.spin.value_or(std::chrono::nanoseconds{0});
  return options;
}

}  // namespace

Runtime::Runtime(RuntimeOptions options) : options_(std::move(options)) {
  std::set<std::string> beginnings;
  for (const config::Chain& chain : options_.chains) beginnings.insert(chain.from);
  chain_entries_ = static_cast<std::uint32_t>(std::min(beginnings.size(), config::kMaxChainBeginnings));
  if (options_.simulated_time) clock_.simulate(*options_.simulated_time);
  for (const config::Group& group : options_.groups) make_group(group_options(group));
}

Runtime::~Runtime() {
  stop();
  while (!components_.empty()) {  // in the reverse order
    const std::string name = components_.back()->name();
    const detail::LifeStep step(name.c_str(), "destructor");
    components_.pop_back();
  }
}

void Runtime::add(config::Component settings, std::shared_ptr<Component> component) {
  const auto same = [&](const auto& c) { return c->name() == settings.name; };
  if (std::any_of(components_.begin(), components_.end(), same))
    throw Error(ErrorCode::NameTaken, fmt::format("two components are named '{}'", settings.name),
                "give one of them another name");
  if (component == nullptr) {
    if (!settings.library.empty()) {
      const detail::LifeStep step(settings.name.c_str(), "load of the library");
      load_component_library(settings.library);
    }
    const detail::LifeStep step(settings.name.c_str(), "constructor");
    component = make_component(settings.class_name);
  }
  auto core = std::make_unique<ComponentCore>(*this, std::move(settings));
  core->component = std::move(component);
  components_.push_back(std::move(core));
}

namespace {
void end(ComponentCore& core) noexcept {
  const detail::LifeStep step(core.name().c_str(), "on_stop");
  try {
    core.component->on_stop();
  } catch (const std::exception& e) {
    detail::log(LogLevel::Error, fmt::format("{}: on_stop failed: {}", core.name(), e.what()));
  } catch (...) {
    detail::log(LogLevel::Error, fmt::format("{}: on_stop failed", core.name()));
  }
}
}  // namespace

void Runtime::mark_cycle(ComponentCore& core) {
  try {
    core.mark_cycle(options_.domain);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::InvalidArgument) {
      end(core);
      throw;
    }
    // The component works without: only a recorder knows less.
    detail::log(LogLevel::Warning, fmt::format("{}: its cycle is not marked: {}", core.name(), e.what()));
  }
}

void Runtime::begin(ComponentCore& core) {
  core.make_context();
  if (options_.on_begin) options_.on_begin(core.name());
  try {
    const detail::LifeStep step(core.name().c_str(), "on_start");
    core.component->on_start(*core.context);
    core.all_is_declared();
    for (const auto& [name, value] : core.settings().parameters)
      if (!core.parameters().contains(name)) {
        end(core);
        throw Error(ErrorCode::InvalidArgument, fmt::format("it has no parameter '{}'", name),
                    "cardan param list shows its parameters");
      }
    if (options_.cycles && process() != nullptr) mark_cycle(core);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("component '{}' did not start: {}", core.name(), e.cause()), e.remedy());
  } catch (const std::exception& e) {
    throw Error(ErrorCode::System, fmt::format("component '{}' did not start: {}", core.name(), e.what()), "");
  }
}

void Runtime::start() {
  std::size_t begun = 0;
  if (process() != nullptr) recorder_gate_.shut(options_.domain, options_.await_recorders);
  try {
    for (; begun < components_.size(); ++begun) begin(*components_[begun]);
    connect_remotes(nullptr);
    connect_services(nullptr);
    for (const auto& core : components_) stop_keeping_for_nobody(*core);
    await_recorders();
    recorder_gate_.open();
    started_ = true;
    if (options_.on_change) options_.on_change(true);
    for (const auto& group : groups_) group->start();
  } catch (...) {
    recorder_gate_.open();
    if (!started_)  // those after it have not begun, and the one that failed has nothing to stop
      while (begun > 0) end(*components_[--begun]);
    else
      stop();
    started_ = false;
    throw;
  }
}

void Runtime::await_recorders() const {
  if (options_.await_recorders.count() <= 0 || process() == nullptr) return;
  std::vector<std::shared_ptr<detail::PublisherCore>> outputs;
  std::int64_t announced_ns = 0;
  for (const auto& core : components_)
    for (const auto& d : core->declared()) {
      if (d.out == nullptr || d.out->publisher() == nullptr || d.options.process_private) continue;
      outputs.push_back(d.out->publisher());
      announced_ns = std::max(announced_ns, d.out->announced_ns());
    }
  detail::await_recorders(options_.domain, outputs, announced_ns, options_.await_recorders);
}

void Runtime::stop() noexcept {
  if (!std::exchange(started_, false)) return;
  for (const auto& group : groups_) group->stop();
  say_rest_of_failures();
  for (auto it = components_.rbegin(); it != components_.rend(); ++it) end(**it);
}

namespace {
StillRunning still_running(const std::string& component, const Group& group) {
  std::string which = "a callback of its executor group";
  for (const auto& doing : group.doing())
    if (doing.callback != nullptr)
      which = fmt::format("callback '{}' of component '{}' has been running for {:.1f} s, and", doing.callback->name(),
                          doing.callback->component(), static_cast<double>(steady_now() - doing.since) / 1e9);
  return {ErrorCode::Unavailable, fmt::format("component '{}' cannot be stopped: {} does not end", component, which),
          "cardan component stats shows what runs; cardan run --restart PROCESS restarts its whole process"};
}
}  // namespace

void Runtime::restart(const std::string& component, RestartCause cause, std::chrono::nanoseconds pause) {
  const auto named = [&](const auto& c) { return c->name() == component; };
  const auto place = std::find_if(components_.begin(), components_.end(), named);
  if (place == components_.end() || (*place)->settings().class_name.empty())
    throw Error(ErrorCode::InvalidArgument, fmt::format("there is no component '{}' to restart", component),
                "cardan component list shows the components");
  const config::Component settings = (*place)->settings();
  const auto index = place - components_.begin();
  std::vector<Group*> paused = (*place)->groups();
  const auto go_on = [&] {
    if (options_.on_change) options_.on_change(true);
    for (Group* group : paused) {
      group->remotes().keep_unused(false);
      group->resume();
    }
  };
  const std::int64_t until = steady_now() + pause.count();
  for (auto group = paused.begin(); group != paused.end(); ++group) {
    if (!(*group)->stop_within(std::chrono::nanoseconds{until - steady_now()})) {
      StillRunning error = still_running(component, **group);
      paused.erase(group, paused.end());
      for (Group* stopped : paused) {
        stopped->remotes().keep_unused(false);
        stopped->resume();
      }
      throw error;
    }
    (*group)->remotes().keep_unused(true);
  }
  end(**place);
  auto failed_on = cause == RestartCause::Failure ? (*place)->failed_on() : ComponentCore::FailedSamples{};
  if (options_.on_change) options_.on_change(false);
  auto old = std::move(*place);
  components_.erase(place);  // until the new one has started
  {
    const detail::LifeStep step(settings.name.c_str(), "destructor");
    old.reset();
  }
  try {
    const std::size_t groups_before = groups_.size();
    auto core = std::make_unique<ComponentCore>(*this, settings);
    core->remember_failures(std::move(failed_on));
    {
      const detail::LifeStep step(settings.name.c_str(), "constructor");
      core->component = make_component(settings.class_name);
    }
    begin(*core);
    try {
      connect_remotes(core.get());
      connect_services(core.get());
    } catch (...) {
      end(*core);
      throw;
    }
    stop_keeping_for_nobody(*core);
    components_.insert(components_.begin() + index, std::move(core));
    for (std::size_t i = groups_before; i < groups_.size(); ++i) paused.push_back(groups_[i].get());
  } catch (...) {
    go_on();
    throw;
  }
  go_on();
}

std::shared_ptr<Channel> Runtime::channel(const std::string& topic, const detail::PayloadType& type,
                                          const std::string& component) {
  auto& channel = channels_[topic];
  if (!channel) {
    channel = std::make_shared<Channel>(topic, type, options_.on_publish ? &options_.on_publish : nullptr);
    return channel;
  }
  const detail::PayloadType& known = channel->type();
  // Two languages have different C++ types for one message; one language, the same for all its messages.
  const bool both_native = known.native && type.native;
  if (both_native ? known.shared->hash != type.shared->hash : known.cpp != type.cpp) {
    const auto name_of = [](const detail::PayloadType& t) { return t.shared ? t.shared->name : t.cpp.name(); };
    throw Error(ErrorCode::Incompatible,
                fmt::format("topic '{}' carries {}, but component '{}' expects {}", topic, name_of(known), component,
                            name_of(type)),
                "use one type on both sides, or rename one of the topics in the configuration");
  }
  return channel;
}

Group& Runtime::make_group(GroupOptions options) {
  options.process = options_.process;
  if (!options_.threads) {
    options.workers = 0;
    options.one_to_one = false;
  }
  groups_.push_back(std::make_unique<Group>(std::move(options), clock_,
                                            [this](detail::Callback& c, const std::string& what) { failed(c, what); }));
  return *groups_.back();
}

Group& Runtime::group(const std::string& name) {
  if (!options_.threads && !groups_.empty()) return *groups_.front();  // one order for all
  for (const auto& group : groups_)
    if (group->options().name == name) return *group;
  if (name != config::kDefaultGroup)
    throw Error(ErrorCode::InvalidArgument, fmt::format("there is no executor group '{}'", name),
                "name it under the process's \"groups\"");
  return make_group({.name = name});
}

Group& Runtime::own_thread(const std::string& name, const config::Thread& thread) {
  if (!options_.threads) return group(std::string(config::kDefaultGroup));
  for (const auto& group : groups_)
    if (group->options().name == name) return *group;
  GroupOptions options{.name = name, .realtime = realtime_of(thread.cpus, thread.policy, thread.priority, thread.nice)};
  if (thread.policy == config::Policy::Deadline) {
    options.realtime.policy = RealtimeOptions::Policy::Deadline;
    options.realtime.runtime = thread.runtime;
    options.realtime.period = thread.period;
  }
  return make_group(std::move(options));
}

TopicOptions Runtime::options_of(const std::string& topic, TopicOptions in_code) const {
  const auto settings = options_.topics.find(topic);
  return settings == options_.topics.end() ? in_code : config::apply(settings->second, in_code);
}

detail::Process* Runtime::process() const {
  return options_.transport ? &detail::Process::of(options_.domain) : nullptr;
}

void Runtime::connect_remotes(const ComponentCore* only) {
  struct Wanted {
    const ComponentCore::Declared* declared;
    std::vector<detail::Port*> ports;
  };
  std::map<std::pair<Group*, std::string>, Wanted> wanted;
  std::vector<const ComponentCore*> cores;
  if (only != nullptr) cores = {only};
  if (only == nullptr)
    for (const auto& core : components_) cores.push_back(core.get());
  for (const ComponentCore* core : cores)
    for (const auto& d : core->declared()) {
      if (d.port == nullptr || d.options.process_private || !d.type.shared || process() == nullptr) continue;
      Wanted& w = wanted[{&d.port->group(), d.topic}];
      w.declared = &d;
      w.ports.push_back(d.port);
    }
  // A publisher that does not answer (a stopped process) costs a second. Side by side, all of them cost one.
  const auto launch = wanted.size() < 2 ? std::launch::deferred : std::launch::async | std::launch::deferred;
  std::vector<std::future<std::unique_ptr<detail::RemoteSource>>> connecting;
  for (const auto& [key, w] : wanted) {
    if (connecting.size() >= kMostAtOnce) connecting[connecting.size() - kMostAtOnce].wait();
    connecting.push_back(std::async(launch, [this, &port = w] { return connect_remote(*port.declared, port.ports); }));
  }
  std::size_t next = 0;
  for (auto& [key, w] : wanted) {
    detail::RemoteSet& remotes = key.first->remotes();
    // One of its own also where others of the group read the topic: it joins late, and the others did not.
    try {
      remotes.add(connecting[next++].get());
    } catch (const Error&) {
      if (only == nullptr) throw;
      remotes.keep_unused(false);  // perhaps there is no room for the old one's samples and the new one's
      connect_in_need(remotes, *w.declared, w.ports);
    }
  }
}

void Runtime::connect_in_need(detail::RemoteSet& remotes, const detail::ComponentCore::Declared& declared,
                              const std::vector<detail::Port*>& ports) {
  try {
    remotes.add(connect_remote(declared, ports));
  } catch (const Error& e) {
    // The publisher has no memory for one reader more. The group's other inputs of the topic have one that announced
    // what the old component held too: better what comes from now on than a component, or its process, less.
    detail::RemoteSource* const shared = remotes.find(declared.topic);
    if (shared == nullptr) throw;
    shared->ports.insert(shared->ports.end(), ports.begin(), ports.end());
    detail::log(
        LogLevel::Warning,
        fmt::format(
            "{}: input '{}' gets samples that are published on '{}' from now on, but not the last ones before: {}; {}",
            ports.front()->component(), ports.front()->name(), declared.topic, e.cause(), e.remedy()));
  }
}

std::unique_ptr<detail::RemoteSource> Runtime::connect_remote(const detail::ComponentCore::Declared& declared,
                                                              const std::vector<detail::Port*>& ports) {
  std::uint32_t held = 1;
  TopicOptions contract = declared.options;
  for (const detail::Port* port : ports) {
    held += port->held_at_most();
    contract.depth = std::max(contract.depth, port->capacity());
  }
  SubscriberOptions options;
  options.domain = options_.domain;
  options.holds = std::min(held, layout::kMaxHolds);
  if (contract.waiting.kind == Waiting::Kind::Anticipate) {
    contract.waiting = block();
    detail::log(LogLevel::Info,
                fmt::format("{}: {} waits for '{}' without `anticipate`: a worker of a group waits for many topics and "
                            "timers at once, and cannot spin for one of them; \"spin\" of the group hides the wake-up",
                            ports.front()->component(), ports.front()->name(), declared.topic));
  }
  auto missed = std::make_shared<Atomic<std::uint64_t>>(0);
  options.on_event = [missed](const Event& e) {
    if (e.kind == Event::Kind::DeadlineMissed) missed->fetch_add(1, std::memory_order_relaxed);
    if (e.kind != Event::Kind::Joined && e.kind != Event::Kind::Left) detail::log(LogLevel::Warning, e.text);
  };
  auto* subscriber = detail::SubscriberCore::create(declared.topic, *declared.type.shared, declared.type.adopt,
                                                    contract, std::move(options));
  subscriber->begin_chain(chain_beginning(declared.topic));
  auto source = std::make_unique<detail::RemoteSource>(*process(), subscriber, declared.convert, &clock_);
  source->ports = ports;
  source->deadlines_missed = std::move(missed);
  return source;
}

void Runtime::stop_keeping_for_nobody(const ComponentCore& core) const {
  for (const auto& d : core.declared())
    if (d.output) d.out->stop_waiting_for_inputs();
}

void Runtime::failed(detail::Callback& callback, const std::string& what) {
  if (auto* port = dynamic_cast<detail::Port*>(&callback)) port->note_failure();
  const std::string& component = callback.component();
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(failures_mutex_);
    lines = failures_.failed(component, callback.name(), what, steady_now());
  }
  for (const std::string& line : lines) detail::log(LogLevel::Error, line);
  if (options_.on_failure) options_.on_failure(component, callback.name(), what);
}

std::int64_t Runtime::say_repeated_failures() {
  std::vector<std::string> lines;
  std::int64_t next = 0;
  {
    const std::lock_guard lock(failures_mutex_);
    lines = failures_.over(steady_now());
    next = failures_.next();
  }
  for (const std::string& line : lines) detail::log(LogLevel::Error, line);
  return next;
}

void Runtime::say_rest_of_failures() noexcept {
  try {
    const std::lock_guard lock(failures_mutex_);
    for (const std::string& line : failures_.rest()) detail::log(LogLevel::Error, line);
  } catch (const std::exception&) {  // no memory for a line
  }
}

void Runtime::set_parameter(const std::string& component, const std::string& parameter, ParameterValue value,
                            std::chrono::nanoseconds timeout) {
  const auto named = [&](const auto& c) { return c->name() == component; };
  const auto core = std::find_if(components_.begin(), components_.end(), named);
  if (core == components_.end())
    throw Error(ErrorCode::InvalidArgument, fmt::format("there is no component '{}' here", component),
                "cardan component list shows them");
  const auto found = (*core)->parameters().find(parameter);
  if (found == (*core)->parameters().end())
    throw Error(ErrorCode::InvalidArgument, fmt::format("component '{}' has no parameter '{}'", component, parameter),
                "cardan param list shows its parameters");
  const std::shared_ptr<detail::ParameterCore> p = found->second;
  const std::string what = fmt::format("parameter '{}' of component '{}'", parameter, component);
  if (p->fixed)
    throw Error(ErrorCode::Refused, what + " cannot be changed while running", "set it in the configuration");
  if (const std::string why = p->refusal(value); !why.empty())
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", what, why), detail::wanted_by(*p));
  // Decided once, by the first of two: the component that takes the value over, or the caller whose time is up. So
  // a change that was reported as timed out does not take effect later.
  struct Change {
    std::promise<std::string> answer;
    Atomic<bool> decided{false};
  };
  auto change = std::make_shared<Change>();
  auto future = change->answer.get_future();
  (*core)->errand().post([p, value, change] {
    try {
      if (change->decided.load()) return;  // without asking the component
      const std::string refusal = p->accept ? p->accept(value) : std::string();
      if (change->decided.exchange(true)) return;
      if (refusal.empty()) p->store(value);
      change->answer.set_value(refusal);
    } catch (...) {
      if (!change->decided.exchange(true)) change->answer.set_exception(std::current_exception());
    }
  });
  while (!options_.threads && run_one()) {
  }
  if (future.wait_for(timeout) != std::future_status::ready && !change->decided.exchange(true))
    throw Error(ErrorCode::Unavailable,
                what + " is not changed: the component does not answer, because one of its callbacks still runs",
                "cardan component stats shows which; set the parameter again when that callback has ended");
  if (const std::string refusal = future.get(); !refusal.empty())
    throw Error(ErrorCode::Refused, fmt::format("{} is not changed: {}", what, refusal), p->description);
}

}  // namespace cardan
