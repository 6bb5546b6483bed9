// SPDX-License-Identifier: Apache-2.0
#include "apps/bridge/foxglove/open_page.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "src/system/launcher/python_program.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kOpener = "xdg-open";

bool has_screen() {
  for (const char* const name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return true;
  return false;
}

}  // namespace

std::string open_in_browser(const std::string& address) {
  if (!has_screen()) return "this session has no screen (DISPLAY, WAYLAND_DISPLAY)";
  const std::string program = launcher::interpreter_file(kOpener);
  if (program.empty()) return std::string(kOpener) + " is not installed (the package xdg-utils)";
  struct sigaction forget{};  // its end does not matter
  forget.sa_handler = SIG_DFL;
  forget.sa_flags = SA_NOCLDWAIT;
  ::sigaction(SIGCHLD, &forget, nullptr);
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t how{};
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);  // Ctrl-C here does not end the browser
  for (const int fd : {0, 1, 2})
    ::posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  std::string name = kOpener, word = address;
  const std::array<char*, 3> words{name.data(), word.data(), nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, program.c_str(), &files, &how, words.data(), environ);
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  return failed == 0 ? std::string() : program + ": " + std::strerror(failed);
}

}  // namespace cardan::apps
