// SPDX-License-Identifier: Apache-2.0
// `cardan component`: what the components of `cardan run` are, and what their callbacks cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/command.hpp"
#include "apps/component/component_chains.hpp"
#include "apps/component/component_fusions.hpp"
#include "apps/component/components.hpp"
#include "apps/component/others.hpp"
#include "apps/decode.hpp"
#include "apps/report_json.hpp"
#include "apps/terminal/losses.hpp"
#include "apps/terminal/output.hpp"
#include "apps/verb.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/config/suggest.hpp"
#include "src/system/plan/adjust.hpp"

namespace cardan::apps {
namespace {

using host::CallbackReport;
using host::ComponentReport;
using host::OutputReport;
using nlohmann::ordered_json;

constexpr const char* kComponentExamples = R"(Examples:
  cardan component list                               what runs, in which process
  cardan component stats                              latencies and drops of all callbacks, live
  cardan component stats detector --once
  cardan component restart detector                   restarts it; the rest of its process keeps running
  cardan component log detector warning               only warnings and errors from now on)";

constexpr const char* kComponentListExamples = R"(Examples:
  cardan component list
  cardan component list --json | jq '.components[] | {component, callbacks}'

A component whose process was stopped, was given up, has ended or waits for its restart is listed with this state (with
--json under "down").)";

constexpr const char* kComponentStatsExamples = R"(Examples:
  cardan component stats                              live, refreshed each second
  cardan component stats detector --once              measures for two seconds, prints, ends
  cardan component stats --once --seconds 10 --json

Three latencies of each callback, as p50 / p99 of the measurement, and the longest since its start:
  TRANSPORT  published → in the component's queue
  WAITING    in the queue (a timer: due) → a worker starts
  RUNNING    started → done
DROPPED: newer samples pushed them out of the queue, or the component keeps too many samples (kept). MISSED: lost before
they arrived. A sample is skipped if its callback failed on it before a restart, or if its process crashed on it twice.
Of a service: questions that were overdue or cancelled before their turn are unanswered. Of a client: all that got no
answer; TRANSPORT is the time from the question to the answer in its queue.
LATE: how often a publisher of another process missed the topic's deadline.
A fusion has its own line (RATE: sets) and one for each input (RATE: samples, QUEUE: in the queue, + those that wait for
partners, DROPPED: also what no set used, and why). A fusion that gets samples but makes no set is listed below the
table, with the reason. ⇒ CHAIN: a chain that ends here (RATE: publications at its end, AGE: of the information, LONGEST:
the greatest age since the start, LATE: publications that exceeded the budget). On a terminal with less than 120 columns, latencies are p99 only.
The figures are always counted; the command only asks the components for them.
Exit codes: 0 ok, 1 no such component, 2 wrong options, 3 done, but samples were dropped or missed meanwhile.)";

constexpr const char* kRestartExamples = R"(Examples:
  cardan component restart detector

Its groups pause until it has started; samples for their other components wait meanwhile. It starts with the
parameters of the file and options of `cardan run`.
If it does not start, its process ends and is restarted by its rule. To restart a process: cardan run --restart PROCESS.
If its process is down (stopped or given up), the process is restarted, with all its components.
Exit codes: 0 it runs again, 1 it was not restarted, 2 wrong options.)";

constexpr const char* kLogExamples = R"(Examples:
  cardan component log detector warning               no information messages any more
  cardan component log detector info                  all but debug messages, as at the start
  cardan component log detector debug                 all

The level holds until the component restarts. To set it permanently: cardan run FILE --log-level detector=warning.
Exit codes: 0 ok, 1 no such component, 2 wrong options.)";

struct ComponentOptions {
  std::string domain, component, level;
  double seconds = 0;
  bool json = false, names = false, once = false;
};

ordered_json runs_for_ms(const CallbackReport& callback) {
  return callback.running_since == 0 ? ordered_json(nullptr)
                                     : ordered_json(static_cast<double>(callback.running_since) / 1e6);
}

int list_components(const ComponentOptions& o) {
  const host::DomainComponents there = components_there(o.domain, true);
  const std::vector<ComponentReport>& all = there.components;
  if (o.names) {
    std::string names;
    for (const ComponentReport& c : all) names += printable(c.name) + "\n";
    for (const host::DownComponent& c : there.down) names += printable(c.name) + "\n";
    return emit(names) ? kOk : kFailed;
  }
  if (o.json) {
    ordered_json components = ordered_json::array();
    for (const ComponentReport& c : all) {
      ordered_json callbacks = ordered_json::array();
      for (const CallbackReport& x : c.callbacks)
        callbacks.push_back({{"callback", x.name},
                             {"kind", host::name_of(x.kind)},
                             {"topic", x.topic.empty() ? ordered_json(nullptr) : ordered_json(x.topic)},
                             {"group", x.group},
                             {"priority", x.priority},
                             {"runs_for_ms", runs_for_ms(x)}});
      ordered_json outputs = ordered_json::array();
      for (const OutputReport& x : c.outputs) outputs.push_back({{"topic", x.topic}, {"type", x.type}});
      components.push_back({{"component", c.name},
                            {"class", c.class_name},
                            {"library", c.library},
                            {"process", c.process},
                            {"pid", c.pid},
                            {"restarts", c.restarts},
                            {"callbacks", callbacks},
                            {"outputs", outputs}});
    }
    ordered_json down = ordered_json::array();
    for (const host::DownComponent& c : there.down)
      down.push_back({{"component", c.name},
                      {"class", c.class_name},
                      {"library", c.library},
                      {"process", c.process.name},
                      {"state", c.process.state}});
    ordered_json changed = ordered_json::array();
    for (const host::ChangedFiles& files : there.changed)
      for (const plan::ChangedFile& file : files.changed)
        changed.push_back({{"system", files.system}, {"file", file.path}, {"what", file.what}});
    return emit(one_line({{"components", components}, {"down", down}, {"changed_files", changed}}) + "\n") ? kOk
                                                                                                           : kFailed;
  }
  for (const host::ChangedFiles& files : there.changed)
    for (const plan::ChangedFile& file : files.changed)
      warn(fmt::format("{} {}, and system '{}' runs as before — cardan run --apply {} shows what differs",
                       printable(file.path),
                       file.what == "changed" ? "has changed since the system was given it" : file.what,
                       printable(files.system), printable(files.file)));
  if (all.empty() && there.down.empty() && !there.problems.empty())
    return emit("no component answers: the processes above do not, and what they run is not known\n") ? kOk : kFailed;
  if (all.empty() && there.down.empty())
    return emit(fmt::format("no components run — {}\n", why_none(there.others, kStartSome))) ? kOk : kFailed;
  Table table(
      {{"COMPONENT"}, {"CLASS"}, {"PROCESS"}, {"STATE"}, {"PID", true}, {"READS"}, {"PUBLISHES"}, {"RESTARTS", true}});
  for (const ComponentReport& c : all) {
    std::vector<std::string> reads;
    std::vector<std::string> publishes;
    for (const CallbackReport& x : c.callbacks)
      if (!x.topic.empty()) reads.push_back(x.topic);
    for (const OutputReport& x : c.outputs) publishes.push_back(x.topic);
    const auto joined = [](const auto& names) {
      return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
    };
    table.row({printable(c.name), printable(c.class_name), printable(c.process), "running", std::to_string(c.pid),
               printable(joined(reads)), printable(joined(publishes)), std::to_string(c.restarts)});
  }
  for (const host::DownComponent& c : there.down)
    table.row({printable(c.name), printable(c.class_name), printable(c.process.name), printable(c.process.state), "-",
               "-", "-", "-"});
  return emit(table.shown() + hanging_callbacks(all)) ? kOk : kFailed;
}

class ComponentStats {
 public:
  explicit ComponentStats(const ComponentOptions& o) : o_(o), seconds_(o.seconds > 0 ? o.seconds : o.once ? 2 : 1) {}

  int run() {
    now_ = look();
    if (!o_.component.empty() && now_.empty()) return no_such_component(there_, o_.component);
    const bool live = !o_.once && !o_.json && stdout_is_terminal();
    if (live) emit("\x1b[2J");
    std::uint64_t lost = 0;
    do {
      const std::int64_t until = measured_at_ + static_cast<std::int64_t>(seconds_ * 1e9);
      const bool whole = sleep_for(std::chrono::nanoseconds(std::max<std::int64_t>(0, until - steady_now())));
      if (!whole) {
        if (!o_.once) break;
        warn("interrupted: the figures cover a shorter time");
      }
      measure();
      for (const ComponentReport& c : figures_)
        for (const CallbackReport& x : c.callbacks) lost += lost_of(x);
      if (!(o_.json ? emit(json()) : live ? emit(screen()) : emit(table()))) return kFailed;
    } while (!o_.once && !stopping());
    return lost != 0 ? kLoss : kOk;
  }

 private:
  std::vector<ComponentReport> look() {
    if (client_ == nullptr && !nothing_runs_yet())
      client_ = std::make_unique<host::ControlClient>(host::ControlOptions{.domain = o_.domain});
    if (client_ != nullptr) there_ = client_->components();
    for (const std::string& problem : there_.problems) warn(problem);
    if (std::exchange(first_, false)) warn_of_others(there_.others);
    measured_at_ = steady_now();
    std::vector<ComponentReport> all = there_.components;
    if (!o_.component.empty()) std::erase_if(all, [&](const auto& c) { return c.name != o_.component; });
    return all;
  }

  void measure() {
    const std::int64_t begun = measured_at_;
    const std::vector<ComponentReport> before = std::exchange(now_, look());
    took_ = static_cast<double>(measured_at_ - begun) / 1e9;
    figures_ = now_;
    for (ComponentReport& c : figures_) {
      const auto old = std::find_if(before.begin(), before.end(), [&](const auto& b) {
        return b.name == c.name && b.host == c.host && b.restarts == c.restarts;
      });
      if (old == before.end()) continue;
      for (CallbackReport& x : c.callbacks)
        for (const CallbackReport& y : old->callbacks)
          if (y.name == x.name) x = apps::less(std::move(x), y);
      for (host::FusionReport& x : c.fusions)
        for (const host::FusionReport& y : old->fusions)
          if (y.name == x.name) x = apps::less(std::move(x), y);
      for (OutputReport& x : c.outputs)
        for (const OutputReport& y : old->outputs)
          if (y.topic == x.topic) x.published -= std::min(x.published, y.published);
      subtract(c.chains, old->chains);
    }
  }

  [[nodiscard]] std::string json() const {
    ordered_json components = ordered_json::array();
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      const ComponentReport& c = figures_[i];
      ordered_json callbacks = ordered_json::array();
      for (std::size_t k = 0; k < c.callbacks.size(); ++k) {
        const CallbackReport& x = c.callbacks[k];
        const auto latency = [](const LatencyHistogram& histogram, std::int64_t longest) -> ordered_json {
          ordered_json all = latency_json(histogram);
          if (all.is_object()) all["max_ever"] = static_cast<double>(longest) / 1e3;
          return all;
        };
        callbacks.push_back({{"callback", x.name},
                             {"kind", host::name_of(x.kind)},
                             {"topic", x.topic.empty() ? ordered_json(nullptr) : ordered_json(x.topic)},
                             {"group", x.group},
                             {"rate_hz", static_cast<double>(x.calls) / took_},
                             {"calls", x.calls},
                             {"transport_us", latency(x.transport, x.longest_transport)},
                             {"waiting_us", latency(x.waiting, x.longest_waiting)},
                             {"running_us", latency(x.running, x.longest_running)},
                             {"age_us", latency(x.age, x.greatest_age)},
                             {"ages_unknown", x.unknown_ages},
                             {"queued", x.queued},
                             {"queue", x.capacity},
                             {"dropped", {{"queue_full", x.queue_full}, {"kept", x.kept}}},
                             {"missed", x.missed},
                             {"failures", x.failures},
                             {"overruns", x.overruns},
                             {"skipped", x.skipped},
                             {"unanswered", x.unanswered},
                             {"late", x.late},
                             {"runs_for_ms", runs_for_ms(x)},
                             {"calls_total", now_[i].callbacks[k].calls},
                             {"failures_total", now_[i].callbacks[k].failures}});
      }
      ordered_json outputs = ordered_json::array();
      for (std::size_t k = 0; k < c.outputs.size(); ++k)
        outputs.push_back({{"topic", c.outputs[k].topic},
                           {"rate_hz", static_cast<double>(c.outputs[k].published) / took_},
                           {"published", c.outputs[k].published},
                           {"published_total", now_[i].outputs[k].published},
                           {"readers_here", c.outputs[k].readers_here},
                           {"readers_outside", c.outputs[k].readers_outside}});
      ordered_json fusions = ordered_json::array();
      for (std::size_t k = 0; k < c.fusions.size(); ++k)
        fusions.push_back(fusion_json(c.fusions[k], now_[i].fusions[k], took_));
      ordered_json chains = ordered_json::array();
      for (std::size_t k = 0; k < c.chains.size(); ++k) chains.push_back(chain_json(c.chains[k], now_[i].chains[k]));
      components.push_back({{"component", c.name},
                            {"process", c.process},
                            {"pid", c.pid},
                            {"restarts", c.restarts},
                            {"callbacks", callbacks},
                            {"fusions", fusions},
                            {"outputs", outputs},
                            {"chains", chains}});
    }
    return one_line({{"time_ns", wall_now()}, {"seconds", took_}, {"components", components}}) + "\n";
  }

  /// As much as has `room`, where it is given.
  [[nodiscard]] std::string table(const std::optional<Room>& room = {}) const {
    if (figures_.empty() && o_.component.empty() && !there_.problems.empty())
      return "no component answers: the processes named above do not\n";
    if (figures_.empty())
      return o_.component.empty() ? fmt::format("no components run — {}\n", why_none(there_.others, kStartSome))
                                  : fmt::format("component '{}' does not run\n", printable(o_.component));
    Table t({{"COMPONENT"},
             {"CALLBACK"},
             {"RATE Hz", true},
             {"TRANSPORT", true},
             {"WAITING", true},
             {"RUNNING", true},
             {"LONGEST", true},
             {"AGE", true},
             {"QUEUE", true},
             {"DROPPED", true},
             {"MISSED", true},
             {"FAILED", true},
             {"LATE", true}});
    t.trouble({"DROPPED", "MISSED", "FAILED"});
    t.keep({"COMPONENT", "CALLBACK", "RATE Hz", "RUNNING", "TRANSPORT", "AGE", "LATE", "LONGEST", "QUEUE", "WAITING"});
    t.carry_down(1);
    const bool narrow = room && room->columns < kColumnsOfTwo;
    for (const ComponentReport& c : figures_) {
      std::string name = printable(c.name);
      for (const CallbackReport& x : c.callbacks) {
        if (is_of_a_fusion(c, x)) continue;
        std::vector<std::string> cells = callback_cells(x, took_, narrow);
        cells.insert(cells.begin(), {std::exchange(name, ""), printable(x.name)});
        t.row(std::move(cells));
      }
      for (const host::FusionReport& x : c.fusions) add_fusion_rows(t, x, c, took_, narrow, name);
      for (const OutputReport& x : c.outputs)
        t.row({std::exchange(name, ""), "→ " + printable(x.topic), count_text(static_cast<double>(x.published) / took_),
               "", "", "", "", "", "", "", "", "", ""});
      add_chain_rows(t, c.chains, took_, narrow, name);
    }
    return (room ? text_of(t.lines(*room)) : t.text()) + silent_fusions(figures_) + hanging_callbacks(figures_);
  }

  [[nodiscard]] std::string screen() const {
    return full_screen(fmt::format("cardan component stats, {}, last {:.1f} s{} — Ctrl-C ends",
                                   number_of(figures_.size(), "component"), took_,
                                   terminal_size().columns < kColumnsOfTwo ? ", latencies p99" : ""),
                       [&](Room room) { return table(room); });
  }

  static constexpr std::size_t kColumnsOfTwo = 120;  ///< from which on there is room for two percentiles

  const ComponentOptions& o_;
  double seconds_;
  std::unique_ptr<host::ControlClient> client_;  ///< null: nothing runs yet
  std::int64_t measured_at_ = 0;
  double took_ = 1;  ///< seconds
  host::DomainComponents there_;
  bool first_ = true;
  std::vector<ComponentReport> now_, figures_;
};

int stats(const ComponentOptions& o) {
  stop_on_signals();
  return ComponentStats(o).run();
}

/// The one component of this name; else the reason was printed.
std::optional<ComponentReport> find_component(const host::DomainComponents& there, const std::string& name) {
  std::vector<const ComponentReport*> found;
  for (const ComponentReport& c : there.components)
    if (c.name == name) found.push_back(&c);
  if (found.size() == 1) return *found.front();
  if (found.empty())
    no_such_component(there, name);
  else
    warn(fmt::format("{} components are called '{}' — give each `cardan run` of this computer its own domain",
                     found.size(), name));
  return {};
}

int restart(const ComponentOptions& o) { return restart_component(o.domain, o.component, o.json); }

int log_level(const ComponentOptions& o) {
  const LogLevel level = plan::log_level_of(o.level);
  host::ControlClient client({.domain = o.domain});
  const auto component = find_component(components_there(client), o.component);
  if (!component) return kFailed;
  try {
    client.set_log_level(*component, level);
  } catch (const Error& e) {
    warn(e.what());
    return kFailed;
  }
  return emit(fmt::format("{}: {}\n", printable(component->name), o.level)) ? kOk : kFailed;
}

}  // namespace

std::string hanging_callbacks(const std::vector<ComponentReport>& components) {
  std::string out;
  for (const ComponentReport& c : components)
    for (const CallbackReport& x : c.callbacks)
      if (hangs(x))
        out += fmt::format("{}: callback '{}' has been running for {}, in process {} (pid {})\n", printable(c.name),
                           printable(x.name), time_text(static_cast<double>(x.running_since)), printable(c.process),
                           c.pid);
  return out;
}

static void add_component_command(CLI::App& app) {
  auto* const group = app.add_subcommand("component", "Components that run: list, stats, restart, log");
  group->footer(kComponentExamples);
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, const char* examples, int (*run)(const ComponentOptions&)) {
    auto o = std::make_shared<ComponentOptions>();
    auto* const command = add_verb(group, name, what, examples);
    add_domain_option(command, o->domain);
    list_with(command, run, o, [name = std::string(name)](const ComponentOptions& given) {
      return !given.component.empty() || (name != "list" && name != "stats");
    });
    return std::pair(command, o);
  };
  const auto [list_command, list_options] =
      add("list", "List components, their processes and topics", kComponentListExamples, list_components);
  list_command->add_flag("--json", list_options->json, "One JSON object");
  list_command->add_flag("--names", list_options->names, "Only the names, one per line");
  const auto [stats_command, stats_options] =
      add("stats", "Latencies, rates, queues and drops of callbacks", kComponentStatsExamples, stats);
  stats_command->add_option("component", stats_options->component, "Only this component");
  stats_command->add_flag("--once", stats_options->once, "Measure once, print, end");
  stats_command
      ->add_option("--seconds", stats_options->seconds, "Length of a measurement (default: 2 with --once, 1 live)")
      ->check(CLI::Range(0.1, 3600.0));
  stats_command->add_flag("--json", stats_options->json, "One JSON object per measurement, one per line");
  const auto [restart_command, restart_options] =
      add("restart", "Restart a component while its process keeps running", kRestartExamples, restart);
  restart_command->add_option("component", restart_options->component, "Name of the component")->required();
  restart_command->add_flag("--json", restart_options->json, "One JSON object");
  const auto [log_command, log_options] =
      add("log", "Set the least level of a component's log messages", kLogExamples, log_level);
  log_command->add_option("component", log_options->component, "Name of the component")->required();
  log_command->add_option("level", log_options->level, "debug, info, warning or error")->required();
}

const Command kComponentCommand{230, add_component_command};

}  // namespace cardan::apps
