// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/fusion/fusion_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "cardan/detail/fusion_rule.hpp"
#include "cardan/log.hpp"

namespace cardan::detail {
namespace {

const char* stamp_text(FusionTime time) { return time == FusionTime::HeaderStamp ? "header.stamp" : "source stamp"; }

}  // namespace

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
                  policy_.name(), name_of(policy_.time()), fmt::join(inputs_, ", "), why(statistics)));
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
  if (!absent.empty()) return fmt::format("no samples of {} arrived", fmt::join(absent, ", "));
  const FusionTime time = policy_.time();
  if (time != FusionTime::Publish && !stamped.empty() && !unstamped.empty())
    return fmt::format(
        "samples of {} have no {}, so their publish times are compared with the stamps of {}; stamp all by one clock, "
        "or use FusionTime::Publish for the fusion",
        fmt::join(unstamped, ", "), stamp_text(time), fmt::join(stamped, ", "));
  return policy_.rule().why_silent(statistics, inputs_);
}

}  // namespace cardan::detail
