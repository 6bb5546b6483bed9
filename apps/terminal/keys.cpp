// SPDX-License-Identifier: Apache-2.0
#include "apps/terminal/keys.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace cardan::apps {

namespace {

/// "\x1b[5~": keys that terminals number, as all but old ones do.
void add_numbered(std::string_view number, std::vector<char32_t>& keys) {
  if (number == "5") keys.push_back(kPageUp);
  if (number == "6") keys.push_back(kPageDown);
  if (number == "1" || number == "7") keys.push_back(kHome);
  if (number == "4" || number == "8") keys.push_back(kEnd);
}

/// Of a sequence that is not whole; a longer one is invalid.
constexpr std::size_t kLongestSequence = 32;

}  // namespace

std::vector<char32_t> keys_in(std::string& bytes) {
  std::vector<char32_t> keys;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const char first = bytes[at];
    if (first != '\x1b') {
      keys.push_back(static_cast<unsigned char>(first));
      ++at;
      continue;
    }
    if (at + 1 == bytes.size()) {  // the key Escape: terminals send the others' sequences in one piece
      keys.push_back(kEscape);
      ++at;
      continue;
    }
    if (bytes[at + 1] != '[' && bytes[at + 1] != 'O') {
      keys.push_back(kEscape);
      ++at;
      continue;
    }
    std::size_t end = at + 2;
    while (end < bytes.size() && (bytes[end] < '@' || bytes[end] > '~')) ++end;
    if (end == bytes.size() && end - at <= kLongestSequence) break;
    if (end == bytes.size()) {
      at = end;
      continue;
    }
    switch (bytes[end]) {
      case 'A':
        keys.push_back(kUp);
        break;
      case 'B':
        keys.push_back(kDown);
        break;
      case 'C':
        keys.push_back(kRight);
        break;
      case 'D':
        keys.push_back(kLeft);
        break;
      case 'H':
        keys.push_back(kHome);
        break;
      case 'F':
        keys.push_back(kEnd);
        break;
      case '~':
        add_numbered(std::string_view(bytes).substr(at + 2, end - at - 2), keys);
        break;
      default:
        break;
    }
    at = end + 1;
  }
  bytes.erase(0, at);
  return keys;
}

Keyboard::Keyboard() {
  if (::isatty(STDIN_FILENO) != 1 || ::tcgetattr(STDIN_FILENO, &before_) != 0) return;
  // In the background a change of the terminal would stop us.
  if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return;
  termios one_by_one = before_;
  one_by_one.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  one_by_one.c_cc[VMIN] = 0;
  one_by_one.c_cc[VTIME] = 0;
  changed_ = there_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &one_by_one) == 0;
}

Keyboard::~Keyboard() {
  if (changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::vector<char32_t> Keyboard::wait(std::chrono::milliseconds timeout) {
  pollfd wanted{.fd = there_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
  if (::poll(&wanted, 1, static_cast<int>(timeout.count())) <= 0) return {};
  std::array<char, 64> buffer{};
  const ssize_t bytes = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (bytes > 0) {
    bytes_.append(buffer.data(), static_cast<std::size_t>(bytes));
  } else if (bytes == 0 ? (wanted.revents & POLLHUP) != 0 : errno != EINTR && errno != EAGAIN) {
    there_ = false;  // the terminal is gone; without POLLHUP, another program was faster
  }
  return keys_in(bytes_);
}

std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace cardan::apps
