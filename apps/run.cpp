// SPDX-License-Identifier: Apache-2.0
// `cardan run`: starts what a configuration file describes, and keeps it running.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/component_watch.hpp"
#include "apps/configuration_file.hpp"
#include "apps/output.hpp"
#include "apps/run_view.hpp"
#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/runtime/config/check.hpp"
#include "cardan/runtime/launcher/adjust.hpp"
#include "cardan/runtime/launcher/crash.hpp"
#include "cardan/runtime/launcher/supervisor.hpp"
#include "cardan/transport/stop.hpp"
#if defined(CARDAN_HAS_RECORD_COMMANDS)
#include "apps/play.hpp"
#endif

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

constexpr const char* kExamples = R"(Examples:
  cardan run street.json
  cardan run street.json --one-process                all components in one process: samples move as pointers
  cardan run street.json --set detector/threshold=0.4 --set camera/device=/dev/video2
  cardan run car.json --var lidar=true                variables of the file, which `when` and ${…} in it use
  cardan run street.json --crash detector@5           what happens when it crashes after 5 s?
  cardan run street.json --seconds 30 --no-view --json summary.json
  cardan run street.json --from drive.mcap --without camera --without lidar       on a recording, the same each time

Processes that crash are restarted by the file's rules; the report of each crash is a file in --reports. The state of the
system is published on /cardan/state. Ctrl-C ends all in the reverse order of their start, a second one at once. `cardan
check` finds what only the components know; from another terminal: cardan component stats, cardan topic list.
Exit codes: 0 all ended in order, 1 a process was given up, did not start or had to be killed, 2 wrong options or file; with
--from 3: done, but a callback threw, or something of the recording is damaged or could not be used.)";

struct Options {
  std::string file, json, crash, reports = "out";
  std::vector<std::string> set, variables;
  bool one_process = false, no_view = false;
  double seconds = 0, grace = 5;
#if defined(CARDAN_HAS_RECORD_COMMANDS)
  RunFromOptions recording{};
#endif
};

std::atomic<launcher::Supervisor*> told_by_signals{nullptr};
detail::SignalEcho signal_echo;

/// Signals go to this supervisor as long as it lives.
class Signals {
 public:
  explicit Signals(launcher::Supervisor& supervisor) {
    told_by_signals = &supervisor;
    struct sigaction action{};
    action.sa_handler = [](int) {
      if (signal_echo.is_echo(steady_now())) return;
      if (launcher::Supervisor* s = told_by_signals) s->stop();
    };
    ::sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);  // whoever read the log has gone: that is no reason to end
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() { told_by_signals = nullptr; }
};

ordered_json summary(const Options& o, const launcher::Supervisor& s, std::int64_t begun_ns, int code) {
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  ordered_json processes = ordered_json::array();
  for (const launcher::ProcessStatus& p : s.processes()) {
    ordered_json outages = ordered_json::array();
    for (const launcher::Outage& outage : p.outages) {
      ordered_json one = {{"cause", outage.cause}, {"at_ms", ms(outage.noticed_ns - begun_ns)}};
      one["report"] = outage.report.empty() ? ordered_json(nullptr) : ordered_json(outage.report);
      const bool again = outage.ready_ns != 0;
      one["down_ms"] = again ? ordered_json(ms(outage.ready_ns - outage.noticed_ns)) : ordered_json(nullptr);
      one["start_up_ms"] = again ? ordered_json(ms(outage.ready_ns - outage.started_ns)) : ordered_json(nullptr);
      outages.push_back(std::move(one));
    }
    processes.push_back({{"process", p.name},
                         {"state", launcher::name_of(p.phase)},
                         {"restarts", p.restarts},
                         {"killed", p.killed},
                         {"outages", outages}});
  }
  ordered_json changes = ordered_json::array();
  for (const auto& change : s.changes())
    if (change.from != change.to)
      changes.push_back({{"from", config::name_of(change.from)},
                         {"to", config::name_of(change.to)},
                         {"at_ms", ms(change.at_ns - begun_ns)},
                         {"reason", change.reason}});
  return {{"system", s.configuration().name},
          {"file", o.file},
          {"seconds", ms(steady_now() - begun_ns) / 1e3},
          {"exit_code", code},
          {"processes", processes},
          {"states", changes}};
}

/// "NAME" or "NAME@SECONDS": a process or component that is to crash.
class PlannedCrash {
 public:
  PlannedCrash(const std::string& text, const config::Configuration& configuration) {
    if (text.empty()) return;
    const std::size_t at = text.find('@');
    const std::string name = text.substr(0, at);
    if (const config::Process* owner = configuration.process_of(name)) process_ = owner->name;
    if (configuration.process(name) != nullptr) process_ = name;
    if (process_.empty())
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("--crash {}: the file has no such process or component", name), "see: cardan graph FILE");
    double seconds = kDefaultSeconds;
    if (at != std::string::npos) {
      const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), seconds);
      if (error != std::errc{} || end != text.data() + text.size() || !(seconds >= 0) || seconds > 1e6)
        throw Error(ErrorCode::InvalidArgument, fmt::format("--crash {}: the part after '@' is no time", text),
                    "give seconds from 0 to 1e6, as in detector@5");
    }
    due_ns_ = steady_now() + static_cast<std::int64_t>(seconds * 1e9);
  }
  /// Lets it crash once its time has come and it runs.
  void look(const launcher::Supervisor& supervisor) {
    if (process_.empty() || steady_now() < due_ns_) return;
    for (const launcher::ProcessStatus& status : supervisor.processes())
      if (status.name == process_ && status.phase == launcher::Phase::Running && launcher::crash(status.pid))
        process_.clear();
  }

 private:
  static constexpr double kDefaultSeconds = 5;
  std::string process_;
  std::int64_t due_ns_ = 0;
};

#if defined(CARDAN_HAS_RECORD_COMMANDS)
/// On a recording: no processes are started, and no CPUs are shared out.
int run_on_recording(const Options& o) {
  std::vector<config::Problem> problems;
  config::Configuration configuration = config::read_configuration(o.file, problems, {.variables = o.variables});
  show(problems, o.file);
  if (config::has_errors(problems)) return kUsage;
  for (const std::string& assignment : o.set) launcher::set_parameter(configuration, assignment);
  RunFromOptions recording = o.recording;
  if (o.seconds > 0) recording.seconds = o.seconds;
  recording.json = o.json;
  return run_from(configuration, recording);
}
#endif

int run(const Options& o) {
  std::vector<config::Problem> problems;
  config::Configuration configuration = config::read_configuration(o.file, problems, {.variables = o.variables});
  if (!config::has_errors(problems)) {
    const auto more = config::check_machine(configuration, config::this_machine());
    problems.insert(problems.end(), more.begin(), more.end());
  }
  show(problems, o.file);
  if (config::has_errors(problems)) return kUsage;
  launcher::LauncherOptions options{.host_command = {"/proc/self/exe", "host", o.file},
                                    .domain = launcher::domain_of(configuration),
                                    .reports = o.reports};
  for (const std::string& variable : o.variables)
    options.host_command.insert(options.host_command.end(), {"--var", variable});
  for (const std::string& assignment : o.set) {
    launcher::set_parameter(configuration, assignment);
    options.host_command.insert(options.host_command.end(), {"--set", assignment});
  }
  if (o.one_process) {
    configuration = launcher::one_process(std::move(configuration));
    options.host_command.emplace_back("--one-process");
  }
  const bool terminal = stdout_is_terminal();
  const bool live = terminal && !o.no_view;
  options.duration = std::chrono::nanoseconds(static_cast<std::int64_t>(o.seconds * 1e9));
  options.grace = std::chrono::nanoseconds(static_cast<std::int64_t>(o.grace * 1e9));
  options.tick = std::chrono::milliseconds(100);

  RunView view(configuration, live, terminal);
  std::unique_ptr<ComponentWatch> components;
  launcher::Supervisor* running = nullptr;
  const auto rows = [&] { return components ? components->rows() : std::vector<ComponentRow>(); };
  options.on_line = [&](const launcher::LogLine& line) { view.line(line); };
  PlannedCrash crash(o.crash, configuration);
  options.on_tick = [&] {
    crash.look(*running);
    view.tick(*running, rows());
  };
  launcher::Supervisor supervisor(std::move(configuration), options);
  running = &supervisor;
  const Signals signals(supervisor);
  if (live) components = std::make_unique<ComponentWatch>(options.domain);
  const std::int64_t begun = steady_now();
  const int code = supervisor.run();
  view.finish(supervisor, rows());
  if (!o.json.empty())
    write_file(o.json,
               summary(o, supervisor, begun, code).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  return code;
}

}  // namespace

void add_run_command(CLI::App& app) {
  auto* const command = app.add_subcommand("run", "Start the processes of a configuration file, and keep them running");
  command->footer(kExamples);
  auto o = std::make_shared<Options>();
  command->add_option("file", o->file, "The configuration")->required();
  command->add_flag("--one-process", o->one_process, "All components in one process");
  command->add_flag("--no-view", o->no_view, "No live table, only the merged log");
  command->add_option("--json", o->json, "Write a summary to this file at the end");
  command->add_option("--reports", o->reports, "Folder of the crash reports")->capture_default_str();
  command->add_option("--seconds", o->seconds, "End after so long (default: run until Ctrl-C)")
      ->check(CLI::Range(0.001, 1e9));
  command->add_option("--grace", o->grace, "Seconds that each process gets to end, before it is killed")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  command->add_option(
      "--crash", o->crash,
      "NAME[@SECONDS]: make this process or component crash (SIGSEGV) after so long (5), to see what follows");
  command->add_option("--set", o->set, "component/parameter=value, instead of what the file says")
      ->allow_extra_args(false);
  add_variables_option(*command, o->variables);
#if defined(CARDAN_HAS_RECORD_COMMANDS)
  add_run_from_options(*command, o->recording);
#endif
  command->callback([o] {
#if defined(CARDAN_HAS_RECORD_COMMANDS)
    const int code = o->recording.files.empty() ? run(*o) : run_on_recording(*o);
#else
    const int code = run(*o);
#endif
    if (code != 0) throw CLI::RuntimeError(code);
  });
}

}  // namespace cardan::apps
