// SPDX-License-Identifier: Apache-2.0
// `cardan run`: starts what a configuration file describes, and keeps it running.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/command.hpp"
#include "apps/component/components.hpp"
#include "apps/configuration_file.hpp"
#include "apps/run/apply.hpp"
#include "apps/run/component_watch.hpp"
#include "apps/run/run_log.hpp"
#include "apps/run/run_parts.hpp"
#include "apps/run/run_view.hpp"
#include "apps/run/try_paths.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/base/output_file.hpp"
#include "src/system/launcher/declare.hpp"
#include "src/system/launcher/launcher_control.hpp"
#include "src/system/launcher/supervisor.hpp"
#include "src/system/launcher/system_lock.hpp"
#include "src/system/plan/plan.hpp"
#include "src/transport/signal_echo.hpp"
#if defined(CARDAN_HAS_RECORD_COMMANDS)
#include "apps/run/run_from_options.hpp"
#include "apps/run/run_from_python.hpp"
#include "src/base/text_of_json.hpp"
#endif

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

constexpr const char* kRunExamples = R"(Examples:
  cardan run street.json
  cardan run street.json --one-process                all components in one process: samples move as pointers
  cardan run street.json --set detector/threshold=0.4 --set camera/device=/dev/video2
  cardan run car.json --var lidar=true                variables of the file, which `when` and ${…} in it use
  cardan run street.json --remap /camera/front:=/front    topics get other names
  cardan run street.json --crash detector@5           makes it crash after 5 s, to show the recovery
  cardan run street.json --seconds 30 --no-view --json summary.json
  cardan run street.json --log run.log --log-size 10M --log-level warning --log-level detector=info
  cardan run street.json --from drive.mcap --without camera --without lidar --output out.mcap    replays a recording, with the same result each time
  cardan run --restart perception                     in the running system; also one that was given up or stopped
  cardan run --stop perception planning
  cardan run --apply street.json                      makes the running system do what the edited file says; shows what differs first, and asks

It first does what `cardan check` does, and refuses a file with errors (with --from: only the text is checked). Processes that crash are restarted by
the file's rules; each crash is reported in a file in --reports. The state of the system is published on /cardan/state. Ctrl-C ends all processes in
the reverse order of their start, a second Ctrl-C at once. From another terminal: cardan component stats, cardan topic list.
With --from, Ctrl-C gives a callback that hangs --grace seconds. A system runs only once in a domain: to run a second one, give it another --domain.
Exit codes: 0 all ended in order, 1 `check` refuses the file, the system runs already, a process was given up, did not start or had to be killed (also for
--stop, --restart and --apply), an order was not carried out, lines of the log could not be written, or with --from a callback did not come back; 2 wrong options, a file that does not exist, or a path of
--json or --reports that cannot be written; 3 done, but exceptions left callbacks (not: late publications at the end of a chain), or with --from no component got a message of the recording, or
a part of the recording is damaged or could not be used; a signal's code with --from: a component crashed.)";

/// Options that `--apply` goes together with.
constexpr std::string_view kWithApply[] = {"--help", "file",         "--apply",       "--yes",
                                           "--json", "--no-check",   "--domain",      "--var",
                                           "--set",  "--parameters", "--one-process", "--remap"};

struct RunOptions {
  std::string file, json, crash, reports = "out";
  plan::PlanOptions changes{};
  std::vector<std::string> stop, restart;
  bool apply = false, yes = false;
  launcher::LogFileOptions log{};
  bool no_view = false, no_check = false;
  bool reports_given = false;
  double seconds = 0, grace = 5;
#if defined(CARDAN_HAS_RECORD_COMMANDS)
  replay::RunFromOptions recording{};
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
    std::signal(SIGPIPE, SIG_IGN);  // a vanished reader of the log must not end us
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() { told_by_signals = nullptr; }
};

/// Counts of the chains that have a budget, and the lines about late ones.
std::pair<ordered_json, ordered_json> chains_of(const launcher::Supervisor& s, std::int64_t begun_ns) {
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  ordered_json chains = ordered_json::array();
  for (const config::Chain& chain : s.configuration().chains) {
    if (chain.budget.count() == 0) continue;
    const auto found = s.chains().find(chain.name);
    const launcher::ChainStatus status = found == s.chains().end() ? launcher::ChainStatus{} : found->second;
    chains.push_back({{"name", chain.name},
                      {"from", chain.from},
                      {"to", chain.to},
                      {"budget_ms", ms(chain.budget.count())},
                      {"publications", status.publications},
                      {"late", status.late},
                      {"unknown", status.unknown}});
  }
  ordered_json late = ordered_json::array();
  for (const launcher::LateChain& one : s.late_chains())
    late.push_back({{"chain", one.chain},
                    {"at_ms", ms(one.at_ns - begun_ns)},
                    {"age_ms", ms(one.age_ns)},
                    {"component", one.component.empty() ? ordered_json() : ordered_json(one.component)},
                    {"component_ms", one.component.empty() ? ordered_json() : ordered_json(ms(one.hop_ns))},
                    {"late", one.times}});
  return {std::move(chains), std::move(late)};
}

ordered_json summary(const RunOptions& o, const launcher::Supervisor& s, std::int64_t begun_ns, int code) {
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
    ordered_json exceptions = ordered_json::array();
    for (const auto& [component, number] : p.exceptions)
      exceptions.push_back({{"component", component}, {"exceptions", number}});
    ordered_json skipped = ordered_json::array();
    for (const PoisonSample& sample : p.skipped)
      skipped.push_back(
          {{"component", sample.component}, {"callback", sample.callback}, {"sequence", sample.sequence}});
    processes.push_back({{"process", p.name},
                         {"state", launcher::name_of(p.phase)},
                         {"restarts", p.restarts},
                         {"killed", p.killed},
                         {"exceptions", exceptions},
                         {"skipped", skipped},
                         {"outages", outages}});
  }
  ordered_json changes = ordered_json::array();
  for (const auto& change : s.changes())
    if (change.from != change.to)
      changes.push_back({{"from", config::name_of(change.from)},
                         {"to", config::name_of(change.to)},
                         {"at_ms", ms(change.at_ns - begun_ns)},
                         {"reason", change.reason}});
  auto [chains, late] = chains_of(s, begun_ns);
  return {{"system", s.configuration().name},
          {"file", o.file},
          {"seconds", ms(steady_now() - begun_ns) / 1e3},
          {"exit_code", code},
          {"processes", processes},
          {"states", changes},
          {"chains", std::move(chains)},
          {"late", std::move(late)}};
}

/// Paths that are written at the end, or after a crash, are tried now.
void try_paths(const RunOptions& o, const OwnLines* log) {
  if (!o.json.empty()) try_file(o.json, "--json");
  try {
    try_folder(o.reports, "--reports");
  } catch (const Error& e) {
    if (o.reports_given) throw;
    if (log != nullptr) log->say(LogLevel::Warning, e.what());
  }
}

#if defined(CARDAN_HAS_RECORD_COMMANDS)
/// On a recording: no processes are started, and no CPUs are shared out.
int run_on_recording(const RunOptions& o) {
  std::vector<config::Problem> problems;
  const plan::Plan plan = plan::make_plan(o.file, o.changes, problems);
  show(problems, o.file);
  if (config::has_errors(problems)) return kFailed;
  replay::RunFromOptions recording = o.recording;
  if (o.seconds > 0) recording.seconds = o.seconds;
  recording.json = o.json;
  recording.reports = o.reports;
  recording.grace = o.grace;
  try_paths(o, nullptr);
  replay_in_python(plan, recording);
  return replay::run_from(plan.configuration, recording);
}
#endif

/// The plan that runs.
struct Prepared {
  std::vector<config::Problem> problems{};
  plan::Plan plan{};
  std::optional<PlannedCrash> crash{};
};

void prepare(const RunOptions& o, Prepared& p) {
  p.plan = plan::make_plan(o.file, o.changes, p.problems);
  if (config::has_errors(p.problems)) return;
  // A wrong name is the command line's fault, whatever the file says.
  p.crash.emplace(o.crash, p.plan.configuration, p.plan.configuration.domain);
}

int supervise(const RunOptions& o, Prepared& p, RunView& view, OwnLines& own,
              const std::function<void(const launcher::LogLine&)>& on_line, launcher::LogFile* log, bool live,
              PublishedLog* published) {
  launcher::LauncherOptions options{.reports = o.reports};
  options.duration = std::chrono::nanoseconds(static_cast<std::int64_t>(o.seconds * 1e9));
  options.grace = std::chrono::nanoseconds(static_cast<std::int64_t>(o.grace * 1e9));
  options.tick = std::chrono::milliseconds(100);
  std::unique_ptr<ComponentWatch> components;
  launcher::Supervisor* running = nullptr;
  bool log_is_whole = true;
  const auto rows = [&] { return components ? components->rows() : std::vector<ComponentRow>(); };
  options.on_line = on_line;
  options.on_plan = [published](const plan::Plan& plan) {
    if (published != nullptr) published->know(plan.configuration);
  };
  options.on_tick = [&] {
    p.crash->look(*running);
    own.pump();
    if (const std::string trouble = log != nullptr ? log->trouble() : std::string(); !trouble.empty()) {
      log_is_whole = false;
      own.say(LogLevel::Error, trouble);
    }
    view.tick(*running, rows());
  };
  const std::string domain = p.plan.configuration.domain;
  launcher::Supervisor supervisor(std::move(p.plan), options);
  running = &supervisor;
  const Signals signals(supervisor);
  const launcher::LauncherControl control(supervisor, domain);
  if (live) components = std::make_unique<ComponentWatch>(domain);
  const std::int64_t begun = steady_now();
  int code = supervisor.run();
  own.pump();
  log_is_whole = view.finish(supervisor, rows()) && log_is_whole;
  if (const std::string trouble = log != nullptr ? log->close() : std::string(); !trouble.empty()) {
    log_is_whole = false;
    warn(trouble);
  }
  if (!log_is_whole && (code == kOk || code == kLoss)) code = kFailed;
  if (!o.json.empty()) write_output(o.json, text_of_json(summary(o, supervisor, begun, code), 2) + "\n");
  return code;
}

/// A name that no component has was probably misspelt.
void warn_of_remaps(const plan::Plan& plan, const std::vector<std::string>& remap,
                    const std::function<void(LogLevel, const std::string&)>& say) {
  for (const std::string& pair : remap) {
    const std::string to = pair.substr(pair.find(":=") + 2);
    const bool used = std::any_of(plan.declared.begin(), plan.declared.end(), [&](const auto& component) {
      const std::vector<std::string>& topics = component.second.topics;
      return std::find(topics.begin(), topics.end(), to) != topics.end();
    });
    if (!used) say(LogLevel::Warning, fmt::format("--remap {}: no component uses such a topic", pair));
  }
}

int run_system(const RunOptions& o) {
  Prepared p;
  prepare(o, p);
  const bool terminal = stdout_is_terminal();
  const bool live = terminal && !o.no_view;
  std::unique_ptr<launcher::SystemLock> lock;
  // Before its components are asked anything: those of the other one may have what they need.
  const config::Configuration& configuration = p.plan.configuration;
  if (!config::has_errors(p.problems))
    lock = std::make_unique<launcher::SystemLock>(configuration.name, configuration.domain);
  std::unique_ptr<launcher::LogFile> log;
  if (!o.log.path.empty()) log = std::make_unique<launcher::LogFile>(o.log);
  RunView view(configuration, live, terminal);
  std::unique_ptr<PublishedLog> published;
  if (lock) published = std::make_unique<PublishedLog>(configuration, configuration.domain);
  const auto on_line = [&](const launcher::LogLine& line) {
    if (log) log->add(file_text(line));
    if (published) published->add(line);
    view.line(line);
  };
  OwnLines own(on_line);
  try {
    try_paths(o, &own);
    const auto say = [&](LogLevel level, const std::string& text) {
      own.say(level, text);
      view.show();  // it supervises nothing yet that would draw it
    };
    const auto refuse = [&](const std::string& text) {
      if (log) log->add(file_text(own_line(LogLevel::Error, text)));
    };
    config::Declarations declared;
    if (!passes_check(configuration, std::move(p.problems), o.file, !o.no_check, say, refuse, &declared))
      return kFailed;
    if (!o.no_check) {
      launcher::keep_declared(p.plan, declared);
      warn_of_remaps(p.plan, o.changes.remap, say);
    }
    return supervise(o, p, view, own, on_line, log.get(), live, published.get());
  } catch (const std::exception& e) {  // main() says it on standard error
    if (log) log->add(file_text(own_line(LogLevel::Error, e.what())));
    throw;
  }
}

}  // namespace

static void add_run_command(CLI::App& app) {
  auto* const command = app.add_subcommand("run", "Start the processes of a configuration file, and keep them running");
  command->footer(kRunExamples);
  auto o = std::make_shared<RunOptions>();
  auto* const file = command->add_option("file", o->file, "The configuration");
  command->add_flag("--no-view", o->no_view, "No live table, only the merged log");
  command->add_option("--json", o->json, "Write a summary to this file at the end");
  auto* const reports =
      command->add_option("--reports", o->reports, "Folder of the crash reports")->capture_default_str();
  command->add_option("--seconds", o->seconds, "End after this many seconds (default: run until Ctrl-C)")
      ->check(CLI::Range(0.001, 1e9));
  command
      ->add_option("--grace", o->grace,
                   "Seconds that each process (with --from: a callback) has to end before it is killed")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  command->add_option(
      "--crash", o->crash,
      "NAME[@SECONDS]: make this process or component crash (SIGSEGV) after this time (5), to see the recovery");
  add_plan_options(*command, o->changes);
  auto* const apply = command->add_flag(
      "--apply", o->apply, "Make the running system do what the edited file says: shows what differs, and asks");
  command->add_flag("--yes", o->yes, "With --apply: do not ask")->needs(apply);
  command->add_flag("--no-check", o->no_check,
                    "Do not first find out what the components declare, as `cardan check` does");
  auto* const log =
      command->add_option("--log", o->log.path, "Also write the merged log to this file, and continue it");
  command->add_option("--log-size", o->log.bytes, "Bytes after which a new log file starts (as 10M)")
      ->default_str("10M")
      ->needs(log)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(1024.0, 1e12));
  command->add_option("--log-files", o->log.files, "Older log files to keep, as FILE.1 (the newest), FILE.2 …")
      ->capture_default_str()
      ->needs(log)
      ->check(CLI::Range(0, 1000));
  auto* const stop = command->add_option("--stop", o->stop, "End these processes of the running system, in order");
  auto* const restart =
      command->add_option("--restart", o->restart, "End these processes of the running system, and start them again");
  for (auto* const order : {stop, restart}) order->expected(1, 1024)->excludes(file);
  stop->excludes(restart);
#if defined(CARDAN_HAS_RECORD_COMMANDS)
  add_run_from_options(*command, o->recording);
#endif
  // An option is refused where it has no effect: --stop and --restart ask a system that runs, and with --from there
  // are neither processes nor an end to wait for.
  for (CLI::Option* const option : command->get_options()) {
    const std::string& name = option->get_name();
    if (name == "--help" || name == "--domain" || option == stop || option == restart || option == file) continue;
    stop->excludes(option);
    restart->excludes(option);
  }
  for (const CLI::Option* const other : command->get_options()) {
    const std::string& name = other->get_name();
    if (std::find(std::begin(kWithApply), std::end(kWithApply), name) == std::end(kWithApply))
      apply->excludes(command->get_option(name));
  }
#if defined(CARDAN_HAS_RECORD_COMMANDS)
  for (const char* const name : {"--one-process", "--no-view", "--crash", "--domain", "--no-check", "--log",
                                 "--log-size", "--log-files", "--log-level"})
    command->get_option("--from")->excludes(command->get_option(name));
#endif
  command->callback([o, reports] {
    o->reports_given = reports->count() > 0;
    if (!o->stop.empty() || !o->restart.empty()) {
      const bool starts = o->stop.empty();
      const int code = order_processes(o->changes.domain, starts ? o->restart : o->stop, starts);
      if (code != 0) throw CLI::RuntimeError(code);
      return;
    }
    if (o->file.empty()) throw CLI::RequiredError("file");
    if (o->apply) {
      if (const int code = apply_plan(
              {.file = o->file, .changes = o->changes, .json = o->json, .yes = o->yes, .check = !o->no_check});
          code != 0)
        throw CLI::RuntimeError(code);
      return;
    }
#if defined(CARDAN_HAS_RECORD_COMMANDS)
    const int code = o->recording.files.empty() ? run_system(*o) : run_on_recording(*o);
#else
    const int code = run_system(*o);
#endif
    if (code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kRunCommand{200, add_run_command};

}  // namespace cardan::apps
