// SPDX-License-Identifier: Apache-2.0
#include "src/replay/replay_crash.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/host/crash_report.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/crash_details.hpp"
#include "src/system/launcher/crash_report.hpp"
#include "src/terminal/output.hpp"

namespace cardan::replay {
namespace {

using terminal::kOk;
using terminal::warn;

constexpr const char* kProcess = "replay";
constexpr std::size_t kMostWords = std::size_t{1} << 20U;

}  // namespace

void report_crashes_of_replay(const std::string& system, const std::string& folder, const std::string& command) {
  const int file = ::memfd_create("cardan-report", MFD_CLOEXEC);
  if (file < 0)
    throw Error(ErrorCode::Limit, "cannot make a file in memory: " + std::generic_category().message(errno),
                "raise the limit of open descriptors (ulimit -n)");
  host::crash_report::install(kProcess, file);
  host::crash_report::then_run({command, "host", system, "--write-report", folder, system, std::to_string(::getpid()),
                                std::to_string(steady_now())});
}

void crashes_are_of(const Runtime* runtime) { host::crash_report::know(runtime); }

int write_replay_report(const std::vector<std::string>& words) {
  const std::string& folder = words.at(0);
  const launcher::Ending ending{.signal = std::stoi(words.at(4))};
  std::string own(kMostWords, '\0');
  std::size_t size = 0;
  while (size < own.size()) {
    const ssize_t got = ::pread(STDIN_FILENO, own.data() + size, own.size() - size, static_cast<off_t>(size));
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  own.resize(size);
  const launcher::CrashDetails known = launcher::read_crash(own);
  const auto pid = static_cast<pid_t>(std::stol(words.at(2)));
  const std::string cause = launcher::text(ending, known);
  std::string place;
  if (!known.callback.empty())
    place = fmt::format(" in callback '{}' of component '{}'", known.callback, known.component);
  std::string where;
  try {
    where = "; report: " + launcher::write({.system = words.at(1),
                                            .process = kProcess,
                                            .pid = pid,
                                            .ending = cause,
                                            .remedy = launcher::remedy(ending, known),
                                            .wall_ns = wall_now(),
                                            .lived_ns = steady_now() - std::stoll(words.at(3)),
                                            .own_words = own,
                                            .keeps_lines = false},
                                           folder);
  } catch (const Error& e) {
    where = fmt::format("; {}", e.what());
  }
  warn(fmt::format("{} (pid {}) {}{}{}", kProcess, pid, cause, place, where));
  return kOk;
}

}  // namespace cardan::replay
