// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_from_python.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apps/become.hpp"
#include "cardan/error.hpp"
#include "src/config/python_component.hpp"
#include "src/system/launcher/python_program.hpp"

namespace cardan::apps {
namespace {

bool is_in_replay(const config::Process& process, const config::Component& component, const replay::RunFromOptions& o) {
  const auto left_out = [&](const std::string& name) {
    return std::find(o.without.begin(), o.without.end(), name) != o.without.end();
  };
  return config::is_python(component) && !left_out(component.name) && !left_out(process.name);
}

/// The interpreter that the replay's processes in Python ask for, which is one here.
class Interpreter {
 public:
  void add(const config::Process& process) {
    used_ = true;
    if (const auto found = process.environment.find("CARDAN_PYTHON"); found != process.environment.end()) {
      if (!of_.empty() && found->second != name_)
        throw Error(ErrorCode::InvalidArgument,
                    fmt::format("a replay has one interpreter, but process '{}' names {} and process '{}' names {}",
                                of_, name_, process.name, found->second),
                    "leave one of them out (--without NAME), or give both the same CARDAN_PYTHON");
      name_ = found->second;
      of_ = process.name;
    }
    const auto path = process.environment.find("PYTHONPATH");
    if (path != process.environment.end() && std::find(paths_.begin(), paths_.end(), path->second) == paths_.end())
      paths_.push_back(path->second);
  }
  [[nodiscard]] bool used() const noexcept { return used_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Changes this process's environment to the interpreter's.
  void set_environment(const std::filesystem::path& command) const {
    const auto add = [](const char* variable, const std::string& more, bool last) {
      const char* const old = std::getenv(variable);
      const std::string before = launcher::without_empty(old == nullptr ? "" : old);
      const std::string all = before.empty() ? more : last ? before + ":" + more : more + ":" + before;
      ::setenv(variable, all.c_str(), 1);
    };
    for (const std::string& path : paths_) add("PYTHONPATH", path, false);
    ::setenv("PYTHONHASHSEED", "0", 0);  // else sets of texts have another order in each run
    // component_library_path() looks next to this program for a library that is not next to the file.
    const std::filesystem::path lib = command.parent_path().parent_path() / "lib";
    add("LD_LIBRARY_PATH", lib.string() + ":" + (lib / "cardan").string(), true);
  }

 private:
  bool used_ = false;
  std::string name_, of_;
  std::vector<std::string> paths_;
};

}  // namespace

void replay_in_python(const plan::Plan& plan, const replay::RunFromOptions& o) {
  Interpreter interpreter;
  for (const config::Process& process : plan.configuration.processes)
    if (std::any_of(process.components.begin(), process.components.end(),
                    [&](const config::Component& component) { return is_in_replay(process, component, o); }))
      interpreter.add(process);
  if (!interpreter.used()) return;
  std::error_code ignored;
  const std::filesystem::path command = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const Fd sealed = plan::seal(plan);
  if (::fcntl(sealed.get(), F_SETFD, 0) != 0) throw Error(ErrorCode::System, "cannot hand over the plan", "");
  std::vector<std::string> words{"--plan-fd", std::to_string(sealed.get())};
  const auto add = [&](const char* option, const std::string& value) {
    words.push_back(fmt::format("{}={}", option, value));
  };
  for (const std::string& bag : o.files) add("--from", bag);
  for (const std::string& name : o.without) add("--without", name);
  if (!o.output.empty()) add("--output", o.output);
  if (o.force) words.emplace_back("--force");
  if (!o.start.text.empty()) add("--start", o.start.text);
  if (o.until) add("--until", o.until->text);
  add("--max-gap", fmt::format("{}", o.max_gap));
  if (o.seconds) add("--seconds", fmt::format("{}", *o.seconds));
  if (!o.json.empty()) add("--json", o.json);
  add("--reports", o.reports);
  add("--grace", fmt::format("{}", o.grace));
  add("--command", command.string());
  interpreter.set_environment(command);
  become_interpreter(interpreter.name(), "cardan.component", words, {.process = true});
}

}  // namespace cardan::apps
