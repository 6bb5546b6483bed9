// SPDX-License-Identifier: Apache-2.0
#include "src/replay/recorded_time.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string_view>

namespace cardan::replay {
namespace {

constexpr double kMostSeconds = 4e9;
constexpr std::uint64_t kOneSecond = 1'000'000'000;

/// Takes a number of that many digits, and what follows it.
bool take(std::string_view& text, std::size_t digits, int& number, std::string_view behind = {}) {
  if (text.size() < digits || text.substr(0, digits).find_first_not_of("0123456789") != std::string_view::npos)
    return false;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  if (behind.empty()) return true;
  if (text.empty() || behind.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Nanoseconds of ".123"; the rest of the text stays.
std::uint64_t take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return 0;
  text.remove_prefix(1);
  std::uint64_t fraction = 0;
  for (std::uint64_t unit = kOneSecond / 10; !text.empty() && text.front() >= '0' && text.front() <= '9'; unit /= 10) {
    fraction += unit * static_cast<std::uint64_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  return fraction;
}

/// Seconds that local time is ahead of UTC: "Z", "+02:00".
std::optional<int> take_zone(std::string_view& text) {
  if (text == "Z" || text == "z") return 0;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0, minutes = 0;
  if (!take(text, 2, hours, ":") || !take(text, 2, minutes) || !text.empty() || hours > 23 || minutes > 59)
    return std::nullopt;
  return sign * (hours * 3600 + minutes * 60);
}

std::optional<std::uint64_t> date_in(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!take(text, 4, year, "-") || !take(text, 2, month, "-") || !take(text, 2, day, "Tt ") ||
      !take(text, 2, hour, ":") || !take(text, 2, minute, ":") || !take(text, 2, second))
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const std::uint64_t fraction = take_fraction(text);
  const auto zone = take_zone(text);
  if (!date.ok() || year < 1970 || year > 2500 || hour > 23 || minute > 59 || second > 60 || !zone) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = days * 86'400 + hour * 3600 + minute * 60 + second - *zone;
  if (seconds < 0) return std::nullopt;
  return static_cast<std::uint64_t>(seconds) * kOneSecond + fraction;
}

}  // namespace

std::uint64_t RecordedTime::log_time(std::uint64_t first) const {
  if (at) return *at;
  if (seconds <= 0) return first;
  return first + static_cast<std::uint64_t>(std::llround(std::min(seconds, kMostSeconds) * 1e9));
}

std::optional<RecordedTime> recorded_time(const std::string& text) {
  RecordedTime time{.text = text};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time.seconds);
  if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(time.seconds)) return time;
  time.seconds = 0;
  time.at = date_in(text);
  return time.at ? std::optional(time) : std::nullopt;
}

std::string problem_of_recorded_time(const std::string& text) {
  const auto time = recorded_time(text);
  if (time && time->seconds >= 0 && time->seconds <= kMostSeconds) return {};
  return text + " is neither seconds from the first message, 0 or more, nor a date as 2026-11-22T10:02:01Z";
}

bool lexical_cast(const std::string& text, RecordedTime& time) {
  auto read = recorded_time(text);
  if (!read) return false;
  time = *std::move(read);
  return true;
}

}  // namespace cardan::replay
