// SPDX-License-Identifier: Apache-2.0
#include "apps/check/check_programs.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include "cardan/error.hpp"
#include "src/base/output_file.hpp"
#include "src/system/launcher/program_file.hpp"

namespace cardan::apps {
namespace {

#if defined(CARDAN_HAS_RECORD_COMMANDS)
constexpr bool kHasRecorder = true;
#else
constexpr bool kHasRecorder = false;
#endif

}  // namespace

std::vector<config::Problem> check_programs(const config::Configuration& configuration) {
  std::vector<config::Problem> problems;
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string();
  for (const config::Process& process : configuration.processes) {
    const auto add = [&](const std::string& pointer, const std::string& cause, const std::string& remedy) {
      problems.push_back(config::problem_at(configuration, pointer, config::Severity::Error, cause, remedy));
    };
    if (process.record && !kHasRecorder)
      add(process.record->pointer, "this build has no recorder",
          "scripts/setup.sh installs what it needs; then build again");
    try {
      if (process.record && !process.record->output.empty()) refuse_output_of_others(process.record->output);
    } catch (const Error& e) {
      add(process.record->pointer + "/output", e.cause(), e.remedy());
    }
    try {
      if (!process.command.empty() && !process.command.front().empty())
        (void)launcher::program_file(configuration, here, process);
    } catch (const Error& e) {
      add(config::join(process.pointer, "command") + "/0", e.cause(), e.remedy());
    }
  }
  return problems;
}

}  // namespace cardan::apps
