// SPDX-License-Identifier: Apache-2.0
#include "apps/top/full_terminal.hpp"

#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "apps/terminal/output.hpp"

namespace cardan::apps::top {
namespace {

constexpr std::string_view kEnterScreen = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[J";
constexpr std::string_view kLeaveScreen = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT};

// Data of the handlers; written before they are set.
termios terminal_before{};
bool has_terminal_before = false;
std::atomic<bool> was_stopped{false};
alignas(16) std::array<std::byte, 65536> crash_stack;

/// In handlers too.
void write_out(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t wrote = ::write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void restore_terminal() noexcept {
  write_out(kLeaveScreen);
  if (has_terminal_before) ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

void on_crash(int signal) {
  restore_terminal();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void on_terminal_stop(int /*signal*/) {
  const int error = errno;
  termios now{};
  const bool known = has_terminal_before && ::tcgetattr(STDIN_FILENO, &now) == 0;
  restore_terminal();
  std::raise(SIGSTOP);
  if (known) ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  write_out(kEnterScreen);
  was_stopped = true;
  errno = error;
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

bool can_draw() {
  const char* const terminal = std::getenv("TERM");
  return stdout_is_terminal() && terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

bool wants_colours() {
  const char* const no = std::getenv("NO_COLOR");
  return no == nullptr || *no == '\0';
}

FullTerminal::FullTerminal() {
  has_terminal_before = ::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &terminal_before) == 0;
  stack_t stack{};
  stack.ss_sp = crash_stack.data();
  stack.ss_size = crash_stack.size();
  ::sigaltstack(&stack, nullptr);
  for (const int signal : kCrashes) handle(signal, on_crash, SA_ONSTACK | SA_NODEFER);
  handle(SIGTSTP, on_terminal_stop, SA_RESTART);
  write_out(kEnterScreen);
}

FullTerminal::~FullTerminal() {
  std::signal(SIGTSTP, SIG_DFL);
  write_out(kLeaveScreen);
  for (const int signal : kCrashes) std::signal(signal, SIG_DFL);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

bool FullTerminal::draw(const std::vector<std::string>& lines) {
  std::string out = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "" : "\n") + lines[i] + "\x1b[K";
  return emit(out + "\x1b[J");
}

bool FullTerminal::came_back() noexcept { return was_stopped.exchange(false); }

}  // namespace cardan::apps::top
