// SPDX-License-Identifier: Apache-2.0
#include "cardan/log.hpp"

#include <fmt/format.h>

#include <mutex>

#include "cardan/clock.hpp"
#include "src/base/bound_fd.hpp"
#include "src/base/error_output.hpp"
#include "src/base/limiter.hpp"
#include "src/base/socket.hpp"

namespace cardan {
namespace {

constexpr std::uint32_t kAtOnce = 5;

struct Log {
  std::mutex sink_mutex;  ///< held while the sink runs: after set_log() the old one is not used any more
  std::function<void(LogLevel, const std::string&)> sink;
  std::mutex limiter_mutex;
  detail::Limiter limiter{kAtOnce};
};
Log& the_log() {
  static auto* const log = new Log;  // never destroyed: helper threads may still log during exit
  return *log;
}

void to_standard_error(LogLevel level, const std::string& text) noexcept {
  static constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  try {
    detail::write_error_line(
        fmt::format("cardan: {}: {}", kNames[static_cast<int>(level) - static_cast<int>(LogLevel::Debug)], text));
  } catch (...) {  // no memory for a line
  }
}

}  // namespace

void set_log(std::function<void(LogLevel, const std::string&)> sink) {
  if (is_forked_child()) return;  // there, standard error is used
  const std::lock_guard lock(the_log().sink_mutex);
  the_log().sink = std::move(sink);
}

void detail::log(LogLevel level, const std::string& text) {
  // A thread that does not exist in a forked child may have held the mutex.
  if (is_forked_child()) return to_standard_error(level, text);
  {
    const std::lock_guard lock(the_log().sink_mutex);
    if (the_log().sink) {
      try {
        return the_log().sink(level, text);
      } catch (...) {  // the line goes to standard error instead
      }
    }
  }
  to_standard_error(level, text);
}

void detail::log(LogLevel level, const Cause& cause, const std::string& text) {
  if (is_forked_child()) return;
  {
    const std::lock_guard lock(the_log().limiter_mutex);
    if (!the_log().limiter.allow(cause, steady_now())) return;
  }
  log(level, text);
}

std::int64_t detail::log_left_out(std::int64_t now) {
  if (is_forked_child()) return 0;
  std::vector<Limiter::LeftOut> ended;
  std::int64_t next = 0;
  {
    const std::lock_guard lock(the_log().limiter_mutex);
    ended = the_log().limiter.ended(now);
    next = the_log().limiter.next_end();
  }
  for (const auto& left_out : ended)
    log(LogLevel::Warning,
        fmt::format("… and {} more of the kind '{}' from {} within {} s", left_out.count, left_out.what,
                    left_out.uid == Limiter::kSeveral ? "several users" : socket::name_of_user(left_out.uid),
                    Limiter::kWindow / 1'000'000'000));
  return next;
}

}  // namespace cardan
