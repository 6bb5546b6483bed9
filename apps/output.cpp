// SPDX-License-Identifier: Apache-2.0
#include "apps/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "cardan/transport/printable.hpp"
#include "cardan/transport/stop.hpp"

namespace cardan::apps {
namespace {

/// Letters on the screen: bytes of UTF-8 that begin one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string three_digits(double value, const char* unit) {
  const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, unit);
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

std::string printable(std::string_view text) { return detail::printable(text); }
std::string printable_lines(std::string_view text) { return detail::printable_lines(text); }

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(columns_[c].head);
    for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
  }
  std::string all;
  const auto line = [&](const auto& cell) {
    std::string out;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string text = cell(c);
      const std::string gap(widths[c] - width_of(text), ' ');
      out += columns_[c].right ? gap + text : text + gap;
      out += "  ";
    }
    out.erase(out.find_last_not_of(' ') + 1);
    all += out + "\n";
  };
  line([&](std::size_t c) { return columns_[c].head; });
  for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
  return all;
}

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

bool emit(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

void warn(std::string_view text) { fmt::print(stderr, "cardan: {}\n", printable(text)); }

bool sleep_for(std::chrono::nanoseconds duration) {
  timespec left{.tv_sec = duration.count() / 1'000'000'000, .tv_nsec = duration.count() % 1'000'000'000};
  while (!stopping() && ::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
  return !stopping();
}

}  // namespace cardan::apps
