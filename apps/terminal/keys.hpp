// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cardan::apps {

/// A key that was pressed: a letter as it is, or one of these.
enum Key : char32_t { kLeft = 0x110000, kRight, kUp, kDown, kEscape, kPageUp, kPageDown, kHome, kEnd };

/// The keys of the bytes that a terminal sends; an incomplete sequence stays in `bytes`.
[[nodiscard]] std::vector<char32_t> keys_in(std::string& bytes);

/// A terminal whose keys come one by one, without being shown, for as long as this lives. Signals stay signals. One
/// thread.
class Keyboard {
 public:
  /// Does nothing unless standard input is a terminal.
  Keyboard();
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  [[nodiscard]] bool is_there() const noexcept { return there_; }
  /// Returns the keys that were pressed. Waits for a key until the time is over; without a keyboard it waits that long.
  [[nodiscard]] std::vector<char32_t> wait(std::chrono::milliseconds timeout);

 private:
  bool there_ = false;
  bool changed_ = false;  ///< the terminal: `before_` is to be restored
  termios before_{};
  std::string bytes_;
};

/// Columns of the terminal of standard error; 80 if it does not say.
[[nodiscard]] std::size_t columns();

}  // namespace cardan::apps
