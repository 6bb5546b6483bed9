// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace cardan::bench {
namespace {

// A line longer than the screen would wrap, and the next one could not overwrite it.
std::string cut_to_screen(const std::string& words) {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 10) return words;
  std::string out;
  unsigned columns = 0;
  for (const char c : words) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // inside a UTF-8 character
    if (!continues && ++columns >= size.ws_col) break;
    out.push_back(c);
  }
  return out;
}

}  // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (dirty_) fmt::print(stderr, "\r\033[K");
  dirty_ = false;
  std::fflush(stderr);
}

void Progress::now(const std::string& words) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K{}", cut_to_screen(words));
  std::fflush(stderr);
  dirty_ = true;
}

void Progress::line(const std::string& words) {
  clear();
  fmt::print(stderr, "{}\n", words);
}

void Progress::plain(const std::string& words) {
  if (!terminal_) line(words);
}

}  // namespace cardan::bench
