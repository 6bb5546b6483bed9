// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/fusion/fusion_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "cardan/base/log.hpp"

namespace cardan::detail {
namespace {

std::string seconds_text(std::uint64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  return seconds < 1e-3  ? fmt::format("{:.3f} µs", seconds * 1e6)
         : seconds < 1   ? fmt::format("{:.3f} ms", seconds * 1e3)
         : seconds < 1e5 ? fmt::format("{:.3f} s", seconds)
                         : fmt::format("{:.0f} days", seconds / 86400);
}

const char* stamp_text(FusionTime time) { return time == FusionTime::HeaderStamp ? "header.stamp" : "source stamp"; }

}  // namespace

const char* name_of(const FusionPolicy& policy) noexcept {
  if (std::holds_alternative<PrimaryOptions>(policy)) return "primary";
  return std::holds_alternative<ApproximateOptions>(policy) ? "approximate" : "exact";
}

const char* name_of(FusionTime time) noexcept {
  switch (time) {
    case FusionTime::Source:
      return "source";
    case FusionTime::Publish:
      return "publish";
    case FusionTime::HeaderStamp:
      return "header.stamp";
  }
  return "unknown";
}

FusionTime time_of(const FusionPolicy& policy) noexcept {
  if (const auto* p = std::get_if<PrimaryOptions>(&policy)) return p->time;
  if (const auto* a = std::get_if<ApproximateOptions>(&policy)) return a->time;
  if (const auto* e = std::get_if<ExactOptions>(&policy)) return e->time;
  return FusionTime::Source;
}

FusionWatch::FusionWatch(std::string component, std::string name, FusionPolicy policy, std::vector<std::string> inputs)
    : component_(std::move(component)),
      name_(std::move(name)),
      policy_(std::move(policy)),
      inputs_(std::move(inputs)) {}

void FusionWatch::fired(std::int64_t now) noexcept {
  for (auto& offered : offered_) offered.store(0, std::memory_order_relaxed);
  offered_in_all_ = 0;
  since_ = now;
  if (!silent_.load(std::memory_order_relaxed)) return;
  silent_.store(false, std::memory_order_relaxed);
  log(LogLevel::Info, fmt::format("{}: fusion '{}' makes sets again", component_, name_));
}

bool FusionWatch::offered(std::size_t input, std::int64_t now) noexcept {
  if (offered_in_all_++ == 0) since_ = now;
  offered_[input].store(offered_[input].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (offered_in_all_ < kFewest || now - since_ < kPatience || silent_.load(std::memory_order_relaxed)) return false;
  silent_.store(true, std::memory_order_relaxed);
  return true;
}

void FusionWatch::tell(const FusionStatistics& statistics) const {
  log(LogLevel::Warning,
      fmt::format("{}: fusion '{}' ({} by {}) of {} gets samples but makes no set: {}", component_, name_,
                  name_of(policy_), name_of(time_of(policy_)), fmt::join(inputs_, ", "), why(statistics)));
}

std::string FusionWatch::why(const FusionStatistics& statistics) const {
  const std::size_t count = inputs_.size();
  std::vector<std::string> absent, stamped, unstamped;
  std::uint64_t offered = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const FusionInputStatistics& in = statistics.inputs[i];
    const std::uint64_t since = offered_[i].load(std::memory_order_relaxed);
    offered += since;
    if (since == 0) {
      absent.push_back(inputs_[i]);
      continue;
    }
    (in.unstamped >= in.offered ? unstamped : stamped).push_back(inputs_[i]);
  }
  if (offered == 0) return {};
  const auto* primary = std::get_if<PrimaryOptions>(&policy_);
  if (!absent.empty()) return fmt::format("no samples of {} arrived", fmt::join(absent, ", "));
  const FusionTime time = time_of(policy_);
  if (time != FusionTime::Publish && !stamped.empty() && !unstamped.empty())
    return fmt::format(
        "samples of {} have no {}, so their publish times are compared with the stamps of {}; stamp all by one clock, "
        "or use FusionTime::Publish for the fusion",
        fmt::join(unstamped, ", "), stamp_text(time), fmt::join(stamped, ", "));
  if (primary != nullptr)
    return "the samples of its other inputs are older than its max_age when a sample of the primary input comes";
  std::size_t first = 0, last = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (statistics.inputs[i].newest < statistics.inputs[first].newest) first = i;
    if (statistics.inputs[i].newest > statistics.inputs[last].newest) last = i;
  }
  const std::uint64_t apart = static_cast<std::uint64_t>(statistics.inputs[last].newest) -
                              static_cast<std::uint64_t>(statistics.inputs[first].newest);
  std::uint64_t tolerance = 0;
  if (const auto* approximate = std::get_if<ApproximateOptions>(&policy_))
    tolerance = static_cast<std::uint64_t>(approximate->tolerance.count());
  std::uint64_t overtaken = 0, pushed_out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    overtaken += statistics.inputs[i].overtaken;
    pushed_out += statistics.inputs[i].pushed_out;
  }
  return fmt::format(
      "no samples of all inputs have {}; the newest of {} is {} before that of {}; {} samples found no partners, {} "
      "were pushed out of a full queue: check which clock stamps which input, the tolerance and the queue",
      tolerance == 0 ? std::string("the same time")
                     : fmt::format("times within the tolerance of {}", seconds_text(tolerance)),
      inputs_[first], seconds_text(apart), inputs_[last], overtaken, pushed_out);
}

}  // namespace cardan::detail
