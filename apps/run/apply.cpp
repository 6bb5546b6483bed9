// SPDX-License-Identifier: Apache-2.0
// `cardan run --apply FILE`: lets a system that runs do what its file says now.
#include "apps/run/apply.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "apps/component/others.hpp"
#include "apps/run/run_parts.hpp"
#include "apps/run/try_paths.hpp"
#include "apps/run_place.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/base/output_file.hpp"
#include "src/base/text_of_json.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/launcher/declare.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr auto kFindTime = 20s;    ///< for a `cardan run` that is busy
constexpr auto kApplyTime = 120s;  ///< for processes to end, and to start

std::string text_of(const plan::Difference& d) {
  std::string text;
  const auto line = [&](std::string_view what, const std::string& name, const std::string& why) {
    text += fmt::format("  {:<8} {}{}{}\n", what, printable(name), why.empty() ? "" : ": ", printable(why));
  };
  for (const std::string& name : d.stop) line("stop", name, "the file does not have it");
  for (const plan::Difference::Changed& one : d.restart)
    line("restart", one.process, fmt::format("{}", fmt::join(one.why, ", ")));
  for (const std::string& name : d.start) line("start", name, "it is new");
  for (const plan::Difference::Set& one : d.set)
    line("set", fmt::format("{}/{}", one.component, one.parameter),
         one.before ? fmt::format("{} → {}", config::text(*one.before), config::text(one.after))
                    : config::text(one.after));
  for (const std::string& what : d.others) line("change", what, "");
  return text;
}

/// The system that runs; absent: none does, and `why`.
std::optional<host::LauncherReport> find(host::ControlClient& client, const std::string& system, std::string& why) {
  const std::int64_t until = steady_now() + std::chrono::nanoseconds(kFindTime).count();
  host::DomainLaunchers all = client.launchers();
  const auto is_there = [&] {
    return std::any_of(all.launchers.begin(), all.launchers.end(), [&](const auto& l) { return l.system == system; });
  };
  while (!all.problems.empty() && !is_there() && steady_now() < until && !stopping()) all = client.launchers();
  for (const std::string& problem : all.problems) warn(problem);
  warn_of_others(all.others);
  std::string names;
  for (const host::LauncherReport& launcher : all.launchers) {
    if (launcher.system == system) return launcher;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", printable(launcher.system));
  }
  if (!all.problems.empty()) {
    why = fmt::format("system '{}' is not among the systems that answer — try again", system);
    return {};
  }
  why = names.empty()
            ? fmt::format("system '{}' does not run — {}", system,
                          why_none(all.others, "start it: cardan run FILE; else check CARDAN_RUN_DIR and the domain"))
            : fmt::format(
                  "system '{}' does not run here, but {} does — the name of a system cannot change while it "
                  "runs: end it, and start it with the file",
                  system, names);
  return {};
}

enum class Consent : std::uint8_t { Yes, No, Interrupted };

Consent ask_for_consent() {
  (void)emit("Do this? [y/N] ");
  std::string line;
  while (line.find('\n') == std::string::npos && line.size() < 64) {
    if (stopping()) return Consent::Interrupted;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, 100) <= 0) continue;
    char c = 0;
    if (::read(STDIN_FILENO, &c, 1) <= 0) break;  // Ctrl-D
    line += c;
  }
  return line == "y\n" || line == "Y\n" || line == "yes\n" ? Consent::Yes : Consent::No;
}

class Apply {
 public:
  explicit Apply(const ApplyOptions& o) : o_(o) {}

  int run() {
    if (!o_.json.empty()) try_file(o_.json, "--json");
    const int code = work();
    if (!o_.json.empty()) write_output(o_.json, text_of_json(summary(code), 2) + "\n");
    return code;
  }

 private:
  int work() {
    std::vector<config::Problem> problems;
    // cardan run has another working directory, so the path must be absolute.
    std::error_code ignored;
    const std::string file = std::filesystem::absolute(o_.file, ignored).lexically_normal().string();
    plan::Plan plan = plan::make_plan(file, o_.changes, problems);
    const auto say = [](LogLevel, const std::string& text) { warn(text); };
    config::Declarations declared;
    if (!passes_check(
            plan.configuration, std::move(problems), o_.file, o_.check, say, [](const std::string&) {}, &declared))
      return fail("nothing is changed: the file has errors");
    if (o_.check) launcher::keep_declared(plan, declared);
    system_ = plan.configuration.name;
    refuse_missing_run_directory();
    stop_on_signals();
    host::ControlClient client({.domain = plan.configuration.domain, .timeout = 5s});
    std::string why;
    const std::optional<host::LauncherReport> launcher = find(client, system_, why);
    if (!launcher) return fail(why);
    try {
      const host::ControlClient::Offered offered = client.offer_plan(*launcher, plan);
      difference_ = offered.difference;
      if (const int code = difference_.empty() ? kOk : agree(); code != kOk) return code;
      const auto done = client.apply_plan(*launcher, offered.offer, kApplyTime);
      applied_ = true;
      if (done.killed)
        return fail(
            "the plan holds now, but a process did not end in time and was killed — the log of cardan run names the "
            "process");
    } catch (const Error& e) {  // an error of the launcher, not of the command line
      try {                     // a process that did not start does not bring the old plan back
        applied_ = client.offer_plan(*launcher, plan).difference.empty();
      } catch (const Error&) {
        applied_ = false;
      }
      return fail(e.what());
    }
    return emit(difference_.empty()
                    ? fmt::format("system '{}' runs as {} says: nothing to do\n", printable(system_), o_.file)
                    : fmt::format("system '{}' now runs as {} says\n", printable(system_), o_.file))
               ? kOk
               : kFailed;
  }

  /// kOk: it is to be done.
  int agree() {
    if (!emit(fmt::format("system '{}', to run as {} says:\n{}", printable(system_), o_.file, text_of(difference_))))
      return kFailed;
    if (o_.yes) return kOk;
    if (::isatty(STDIN_FILENO) != 1 || !stdout_is_terminal()) {
      fail("nothing is changed: the question needs a terminal — --yes applies it without asking");
      return kUsage;
    }
    switch (ask_for_consent()) {
      case Consent::Yes:
        return kOk;
      case Consent::No:
        return fail("nothing is changed");
      case Consent::Interrupted:
        break;
    }
    (void)emit("\n");
    return fail("interrupted: nothing is changed");
  }

  int fail(const std::string& why) {
    error_ = why;
    warn(why);
    return kFailed;
  }

  [[nodiscard]] ordered_json summary(int code) const {
    ordered_json all = {{"system", system_}, {"file", o_.file}, {"applied", applied_}, {"exit_code", code}};
    all["error"] = error_.empty() ? ordered_json(nullptr) : ordered_json(error_);
    all.update(ordered_json::parse(plan::to_json(difference_)));
    return all;
  }

  const ApplyOptions& o_;
  std::string system_, error_;
  plan::Difference difference_;
  bool applied_ = false;
};

}  // namespace

int apply_plan(const ApplyOptions& options) { return Apply(options).run(); }

}  // namespace cardan::apps
