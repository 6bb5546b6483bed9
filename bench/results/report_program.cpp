// SPDX-License-Identifier: Apache-2.0
#include "bench/results/report_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cardan/error.hpp"
#include "src/base/program_folder.hpp"
#include "src/system/launcher/python_program.hpp"

namespace cardan::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy =
    "on Debian and Ubuntu: sudo apt-get install python3-numpy python3-scipy python3-matplotlib; in an environment of "
    "yours: pip install numpy scipy matplotlib, and name its interpreter: CARDAN_PYTHON=/path/to/python3";

/// In a build tree, or as it is installed.
std::string report_folder() {
  std::error_code ignored;
  const fs::path prefix = cardan::program_folder().parent_path();
  for (const fs::path& folder :
       {prefix / "lib" / "cardan-bench" / "report", prefix.parent_path() / CARDAN_BENCH_DATA / "bench-report"})
    if (fs::is_regular_file(folder / "__main__.py", ignored)) return folder.string();
  throw Error(ErrorCode::Unavailable, "cardan-bench does not find the program that makes the report",
              "build or install Cardan again");
}

/// The folder of the program is what Python searches first, not the working folder, which may be another user's.
int run(const std::string& interpreter, const std::vector<std::string>& words, bool quiet) {
  if (const std::string folders = launcher::python_path(); folders.empty())
    ::unsetenv("PYTHONPATH");
  else
    ::setenv("PYTHONPATH", folders.c_str(), 1);
  std::vector<std::string> all{interpreter, "-B", report_folder()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_init(&files);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  if (quiet)
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, interpreter.c_str(), &files, &attributes, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    throw Error(ErrorCode::Unavailable, fmt::format("{} cannot be started: {}", interpreter, std::strerror(failed)),
                kRemedy);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

std::string report_interpreter() {
  const char* const named = std::getenv("CARDAN_PYTHON");
  // The packages of Debian and Ubuntu are there for /usr/bin/python3 alone.
  const std::vector<std::string> names = named != nullptr && *named != '\0'
                                             ? std::vector<std::string>{named}
                                             : std::vector<std::string>{"python3", "/usr/bin/python3"};
  std::vector<std::string> tried;
  for (const std::string& name : names) {
    const std::string file = launcher::interpreter_file(name);
    if (file.empty() || ::access(file.c_str(), X_OK) != 0) continue;
    if (std::find(tried.begin(), tried.end(), file) != tried.end()) continue;
    if (run(file, {"check"}, true) == 0) return file;
    tried.push_back(file);
  }
  throw Error(ErrorCode::Unavailable,
              tried.empty() ? fmt::format("the report needs Python, and {} was not found", names.front())
                            : fmt::format("the report needs Python with NumPy, SciPy and Matplotlib, and {} lacks them",
                                          fmt::join(tried, " and ")),
              kRemedy);
}

int run_report_program(const std::vector<std::string>& words) { return run(report_interpreter(), words, false); }

}  // namespace cardan::bench
