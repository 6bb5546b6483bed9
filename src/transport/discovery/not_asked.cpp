// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/not_asked.hpp"

#include <algorithm>

namespace cardan::detail {
namespace {
constexpr std::int64_t kFullTry = 2'000'000'000;  ///< after a refusal for lack of room
constexpr std::size_t kForNow = 4096;
constexpr std::size_t kTries = 1024;
}  // namespace

void Declined::insert_for_now(const Offer& offer, std::int64_t now) {
  all_.insert(offer);
  if (for_now_.size() >= kForNow) return;
  for_now_.insert(offer);
  if (due_at_ == 0) due_at_ = now + kFullTry;
}

void Declined::release_due(std::int64_t now) {
  if (due_at_ == 0 || now < due_at_) return;
  due_at_ = 0;
  all_.erase_if([this](const Offer& p) { return for_now_.contains(p); });
  for_now_.clear();
}

void Declined::forget(const SubscriberCore& subscriber) {
  const auto its = [&](const Offer& p) { return p.subscriber == &subscriber; };
  all_.erase_if(its);
  std::erase_if(for_now_, its);
}

std::int64_t Tries::failed(const std::string& process, std::int64_t first, std::int64_t now) {
  if (all_.size() >= kTries && !all_.contains(process))
    std::erase_if(all_, [now](const auto& t) { return t.second.at <= now; });
  if (all_.size() >= kTries && !all_.contains(process)) return kLongest;
  Try& again = all_[process];
  again.delay = again.delay == 0 ? first : std::min(again.delay * 2, kLongest);
  again.at = now + again.delay;
  return again.delay;
}

std::int64_t Tries::wait_for(const std::string& process, std::int64_t now) const {
  const auto it = all_.find(process);
  return it == all_.end() ? 0 : std::max<std::int64_t>(it->second.at - now, 0);
}

}  // namespace cardan::detail
