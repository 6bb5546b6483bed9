// SPDX-License-Identifier: Apache-2.0
#include "src/terminal/output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <utility>

#include "cardan/stop.hpp"
#include "src/base/printable.hpp"

namespace cardan::terminal {
namespace {

std::string three_digits(double value, const char* unit) {
  const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, unit);
}

struct OutputState {
  bool failed = false;
  bool reader_gone = false;
};
OutputState output_state;
std::atomic<bool> progress_is_shown{false};

bool reader_has_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

}  // namespace

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> kUnits{" B", " KiB", " MiB", " GiB", " TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : three_digits(bytes, kUnits[unit]);
}

std::string time_text(double ns) {
  if (ns < 0) return "-";
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return three_digits(ns / 1e3, " µs");
  if (ns < 1e9) return three_digits(ns / 1e6, " ms");
  return three_digits(ns / 1e9, " s");
}

std::string count_text(double number) {
  if (number < 1e4) return number == std::floor(number) ? fmt::format("{:.0f}", number) : three_digits(number, "");
  if (number < 1e6) return three_digits(number / 1e3, "k");
  return three_digits(number / 1e6, "M");
}

std::string number_of(std::size_t number, std::string_view what, std::string_view ending) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : ending);
}

std::string printable(std::string_view text) { return detail::printable(text); }
std::string printable_lines(std::string_view text) { return detail::printable_lines(text); }

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

bool emit(std::string_view text) {
  erase_progress();
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
  output_failed(errno);
  return false;
}

void output_failed(int error) {
  // A reader that has gone, as `head`, is nothing to tell.
  if (error == EPIPE)
    output_state.reader_gone = true;
  else if (!std::exchange(output_state.failed, true))
    warn(fmt::format("cannot write standard output: {}", std::generic_category().message(error)));
}

int finish_output(int code) {
  errno = 0;
  // Also what others have printed, as the street's library: of that only the stream knows that it failed.
  if (std::fflush(stdout) != 0)
    output_failed(errno);
  else if (std::ferror(stdout) != 0 && !output_state.failed && !output_state.reader_gone && !reader_has_gone())
    output_failed(EIO);
  return output_state.failed && (code == kOk || code == kLoss) ? kFailed : code;
}

void complain(std::string_view text) noexcept {
  // Not fmt::print(): it throws where standard error is closed or its disk is full, and the command would abort.
  [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
}

void warn(std::string_view text) {
  erase_progress();
  complain(fmt::format("cardan: {}\n", printable(text)));
}

void show_progress(std::string_view line) {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  if (!terminal) return;
  progress_is_shown = true;
  complain(fmt::format("\r{}\x1b[K", line));
}

void erase_progress() noexcept {
  if (progress_is_shown.exchange(false)) complain("\r\x1b[K");
}

bool sleep_for(std::chrono::nanoseconds duration) {
  timespec left{.tv_sec = duration.count() / 1'000'000'000, .tv_nsec = duration.count() % 1'000'000'000};
  while (!stopping() && ::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
  return !stopping();
}

}  // namespace cardan::terminal
