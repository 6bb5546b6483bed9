// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/system.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/helper.hpp"
#include "bench/temporary_folder.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/launcher/own_program.hpp"
#include "src/system/launcher/supervisor.hpp"
#include "src/system/launcher/usage.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::bench {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

Json node(const std::string& outputs, const std::string& inputs, std::int64_t period_us, std::int64_t bytes) {
  return {{"library", "libcardan_bench_nodes.so"},
          {"class", "Node"},
          {"parameters", {{"outputs", outputs}, {"inputs", inputs}, {"period_us", period_us}, {"bytes", bytes}}}};
}

/// A launcher on a file that is gone with it, in its own domain. step() is called each few ms on its thread.
class System {
 public:
  explicit System(Json configuration) : domain_(fmt::format("bench-{}-{}", ::getpid(), ++made)) {
    configuration["domain"] = domain_;
    std::ofstream(file()) << configuration.dump(1);
    plan_ = plan::make_plan(file());
  }

  void run(std::chrono::nanoseconds tick, const std::function<void(launcher::Supervisor&)>& step) {
    launcher::Supervisor* running = nullptr;
    launcher::LauncherOptions options{.host_command = {launcher::own_program("cardan"), "host"},
                                      .reports = folder_.path(),
                                      .tick = tick,
                                      .on_tick = [&] { step(*running); }};
    launcher::Supervisor supervisor(plan_, options);
    running = &supervisor;
    static_cast<void>(supervisor.run());
  }

  [[nodiscard]] const std::string& domain() const noexcept { return domain_; }

 private:
  static inline int made = 0;
  [[nodiscard]] std::string file() const { return folder_.path() + "/system.json"; }
  TemporaryFolder folder_;
  std::string domain_;
  plan::Plan plan_;
};

bool all_ready(const launcher::Supervisor& supervisor) {
  const auto& all = supervisor.processes();
  return std::all_of(all.begin(), all.end(), [](const auto& p) { return p.ready_ns != 0; });
}

bool failed(const launcher::Supervisor& supervisor) {
  const auto& all = supervisor.processes();
  return std::any_of(all.begin(), all.end(), [](const auto& p) { return p.phase == launcher::Phase::GivenUp; });
}

double cpu_seconds(const launcher::Supervisor& supervisor) {
  double sum = 0;
  for (const launcher::ProcessStatus& p : supervisor.processes())
    if (const auto usage = launcher::usage_of(p.pid)) sum += usage->cpu_seconds;
  return sum;
}

/// Asks for all statistics once a second, as `cardan component stats` and the live table do.
class Looker {
 public:
  explicit Looker(std::string domain) : thread_([this, domain = std::move(domain)] { look(domain); }) {}
  Looker(const Looker&) = delete;
  Looker& operator=(const Looker&) = delete;
  ~Looker() {
    ends_ = true;
    thread_.join();
  }

 private:
  void look(const std::string& domain) {
    host::ControlClient client({.domain = domain});
    for (int turn = 0; !ends_; ++turn) {
      if (turn % 10 == 0) static_cast<void>(client.components());
      std::this_thread::sleep_for(100ms);
    }
  }
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace

std::optional<StartFigures> measure_start(const std::function<bool()>& stopped, const Tell& tell) {
  StartFigures figures;
  const int each = figures.components / figures.processes;
  Json processes;
  // Each component publishes on two or three topics, and reads two of the next component's.
  const auto topics_of = [&](int component) {
    std::string names;
    for (int t = component * figures.topics / figures.components;
         t < (component + 1) * figures.topics / figures.components; ++t)
      names += fmt::format("/bench/{} ", t);
    return names;
  };
  for (int p = 0; p < figures.processes; ++p)
    for (int c = p * each; c < (p + 1) * each; ++c) {
      const std::string next = topics_of((c + each) % figures.components);  // in another process
      processes[fmt::format("p{}", p)]["components"][fmt::format("c{}", c)] =
          node(topics_of(c), next.substr(0, next.find(' ', next.find(' ') + 1)), 0, 0);
    }
  System system({{"name", "start"}, {"processes", processes}});

  constexpr std::int64_t kSettle = 1'000'000'000;
  constexpr std::int64_t kLength = 10'000'000'000;  // the kernel counts in ticks of 10 ms
  std::int64_t ready = 0;
  double before = 0;
  std::optional<Looker> looker;
  int phase = 0;
  bool done = false;
  const std::int64_t begun = steady_now();
  tell(fmt::format("{} components and {} topics in {} processes", figures.components, figures.topics,
                   figures.processes));
  system.run(20ms, [&](launcher::Supervisor& supervisor) {
    const std::int64_t now = steady_now();
    if (done) return;
    if (stopped() || failed(supervisor) || now - begun > 60'000'000'000) {
      done = true;
      supervisor.stop();
      return;
    }
    const double used = cpu_seconds(supervisor);
    if (phase == 0 && all_ready(supervisor)) {
      for (const auto& p : supervisor.processes()) ready = std::max(ready, p.ready_ns);
      figures.ready_ms = ms(ready - begun);
      phase = 1;
    } else if (phase == 1 && now - ready > kSettle) {
      before = used;
      phase = 2;
    } else if (phase == 2 && now - ready > kSettle + kLength) {
      figures.idle_cpu_percent = 100 * (used - before) * 1e9 / kLength;
      looker.emplace(system.domain());
      phase = 3;
    } else if (phase == 3 && now - ready > 2 * kSettle + kLength) {
      before = used;
      phase = 4;
    } else if (phase == 4 && now - ready > 2 * kSettle + 2 * kLength) {
      figures.looking_cpu_percent = 100 * (used - before) * 1e9 / kLength;
      phase = 5;
      done = true;
      looker.reset();
      supervisor.stop();
    }
  });
  if (phase != 5) return {};
  return figures;
}

namespace {
/// Counts the messages that the processes without the victim got from each other.
void count_between_others(const std::string& domain, CrashFigures& figures) {
  host::ControlClient client({.domain = domain});
  for (const host::ComponentReport& component : client.components().components) {
    if (component.name == "victim") continue;
    for (const host::CallbackReport& callback : component.callbacks) {
      if (callback.topic.empty() || callback.topic == "/bench/found") continue;
      figures.between_others += callback.calls;
      figures.lost += callback.missed + callback.queue_full + callback.kept;
    }
  }
}
}  // namespace

std::optional<CrashFigures> measure_crash(int crashes, const std::function<bool()>& stopped, const Tell& tell) {
  constexpr std::int64_t kFrame = 1 << 20;
  Json processes;
  // A camera for three readers, one of which (the victim) feeds the last.
  processes["camera"]["components"]["camera"] = node("/bench/image", "", 10'000, kFrame);
  processes["recorder"]["components"]["recorder"] = node("", "/bench/image", 0, kFrame);
  processes["victim"]["components"]["victim"] = node("/bench/found", "/bench/image", 10'000, 1024);
  processes["tracker"]["components"]["tracker"] = node("/bench/track", "/bench/image", 10'000, kFrame);
  processes["planner"]["components"]["planner"] = node("", "/bench/track /bench/found", 0, kFrame);
  // Each crash is measured as the first one: without this the pause before a restart would double with each.
  const Json restart = {{"limit", 1000}, {"backoff_ms", 20}, {"backoff_max_ms", 20}};
  for (auto& process : processes) process["restart"] = restart;
  System system({{"name", "crash"},
                 {"processes", processes},
                 {"topics", {{"/bench/image", {{"depth", 8}}}, {"/bench/track", {{"depth", 8}}}}}});

  CrashFigures figures;
  std::int64_t next = 0;
  std::int64_t killed = 0;
  bool done = false;
  const std::int64_t begun = steady_now();
  system.run(5ms, [&](launcher::Supervisor& supervisor) {
    const std::int64_t now = steady_now();
    if (done) return;
    const auto& all = supervisor.processes();
    const auto victim = std::find_if(all.begin(), all.end(), [](const auto& p) { return p.name == "victim"; });
    if (stopped() || failed(supervisor) || now - begun > 60'000'000'000) {
      done = true;
      supervisor.stop();
    } else if (killed != 0) {
      if (victim->outages.empty() || victim->outages.back().noticed_ns < killed || victim->outages.back().ready_ns == 0)
        return;
      const launcher::Outage& outage = victim->outages.back();
      figures.noticed_ms.push_back(ms(outage.noticed_ns - killed));
      figures.again_ms.push_back(ms(outage.ready_ns - killed));
      figures.own_start_ms.push_back(ms(outage.ready_ns - outage.started_ns));
      killed = 0;
      next = now + 300'000'000;
    } else if (next == 0) {
      if (all_ready(supervisor)) next = now + 1'000'000'000;
    } else if (now >= next && figures.noticed_ms.size() < static_cast<std::size_t>(crashes)) {
      tell(fmt::format("crash {} of {} of one of five processes", figures.noticed_ms.size() + 1, crashes));
      killed = steady_now();
      ::kill(victim->pid, SIGKILL);
    } else if (now >= next) {
      count_between_others(system.domain(), figures);
      done = true;
      supervisor.stop();
    }
  });
  if (figures.noticed_ms.size() < static_cast<std::size_t>(crashes)) return {};
  return figures;
}

}  // namespace cardan::bench
