// SPDX-License-Identifier: Apache-2.0
#include "bench/actor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr std::int64_t kReadyWithin = 30'000'000'000;
constexpr std::int64_t kLook = 200'000'000;  // between two looks at Ctrl-C

}  // namespace

Actor::Actor(const char* bench, const nlohmann::json& job, const std::string& run_dir)
    : part_(job.at("part")),
      helper_({.program = "/proc/self/exe",
               .arguments = {"cardan", "bench", bench, "--part", job.dump()},
               .environment = {{"CARDAN_RUN_DIR", run_dir}}}) {}

void Actor::failed(const std::string& how) const {
  throw Error(ErrorCode::System, fmt::format("{} {}: {}", part_, how, helper_.last_line()), {});
}

void Actor::await(std::size_t words, std::int64_t until, Stopped stopped, const Look& look, const char* what) {
  while (helper_.ready_bytes() < words) {
    if (stopped()) return;
    if (look) look();
    const bool is_late = now_ns() >= until;
    // Its output meanwhile counts, if this process slept longer than it wanted to.
    const std::int64_t rest = is_late ? now_ns() + kLook : std::min(until, now_ns() + kLook);
    if (const auto ending = helper_.wait(rest, true)) failed(text(*ending));
    if (is_late && helper_.ready_bytes() < words) failed(fmt::format("was not {} in time", what));
  }
}

void Actor::await_ready(Stopped stopped) { await(1, now_ns() + kReadyWithin, stopped, {}, "ready"); }
void Actor::await_done(std::int64_t until, Stopped stopped, const Look& look) {
  await(2, until, stopped, look, "done");
}

void Actor::go() const noexcept { helper_.child().signal(SIGUSR1); }
void Actor::end() const noexcept { helper_.child().signal(SIGTERM); }

nlohmann::json Actor::await_result(std::int64_t until, const Look& look) {
  std::optional<launcher::Ending> ending;
  while (!ending && now_ns() < until) {
    if (look) look();
    ending = helper_.wait(std::min(until, now_ns() + kLook));
  }
  if (!ending) failed("did not end in time");
  if (!ending->in_order()) failed(text(*ending));
  try {
    return nlohmann::json::parse(helper_.child().report());
  } catch (const nlohmann::json::exception&) {
    failed("left no result");
  }
}

}  // namespace cardan::bench
