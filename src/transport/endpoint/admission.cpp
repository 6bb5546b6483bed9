// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/admission.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::detail {
namespace {
constexpr std::uint32_t kMaxStrikes = 6;
constexpr std::size_t kUsersKept = 64;
}  // namespace

void Admission::Taken::add(const Attached& a) noexcept {
  ++places;
  slots += a.announced;
  threads += a.threads;
  liar = liar || a.liar.load(std::memory_order_relaxed);
}

void Admission::check(const PublisherContract& contract, uid_t uid, const Taken& by_user, const Taken& by_all,
                      std::uint32_t room) const {
  const auto refuse = [](const std::string& cause, const std::string& remedy) {
    throw Error(ErrorCode::Limit, cause, remedy);
  };
  const auto strike = std::find_if(strikes_.begin(), strikes_.end(), [uid](const Strike& s) { return s.uid == uid; });
  const std::int64_t left = strike == strikes_.end() ? 0 : strike->until_ns - steady_now();
  if (left > 0 || by_user.liar)
    refuse(
        fmt::format("user {} was cut off from topic '{}': it held more samples than it announced", uid, contract.topic),
        fmt::format("it may attach again in {:.1f} s", static_cast<double>(std::max<std::int64_t>(left, 0)) / 1e9));
  if (by_user.places > kMaxSubscribers / 2 || by_user.slots > room / 2)
    refuse(fmt::format("user {} already holds half of the room of topic '{}'", uid, contract.topic),
           "announce fewer holds, or raise the topic's max_memory");
  if (by_all.places > kMaxSubscribers / 4 * 3 || by_all.slots > room - room / 4)
    refuse(fmt::format("other users already hold three quarters of the room of topic '{}'", contract.topic),
           "announce fewer holds, or raise the topic's max_memory");
  if (by_user.threads > kForeignThreads)
    refuse(fmt::format("user {} would wait for topic '{}' with {} threads, but another user may have at most {}", uid,
                       contract.topic, by_user.threads, kForeignThreads),
           "announce fewer threads, or let several readers share one process or component");
}

void Admission::strike(uid_t uid) {
  auto it = std::find_if(strikes_.begin(), strikes_.end(), [uid](const Strike& s) { return s.uid == uid; });
  if (it == strikes_.end()) {
    if (strikes_.size() == kUsersKept) strikes_.erase(strikes_.begin());
    it = strikes_.insert(strikes_.end(), {uid, 0, 0});
  }
  it->until_ns = steady_now() + (std::int64_t{1'000'000'000} << std::min(it->count, kMaxStrikes));
  ++it->count;
}

std::shared_ptr<Patience> Admission::patience_with(const Attached& subscriber) {
  if (!subscriber.foreign || !subscriber.reliable) return std::make_shared<Patience>();
  for (const auto& [uid, patience] : patience_)
    if (uid == subscriber.uid) return patience;
  if (patience_.size() >= kUsersKept)
    if (const auto unused =
            std::find_if(patience_.begin(), patience_.end(), [](const auto& p) { return p.second.use_count() == 1; });
        unused != patience_.end())
      patience_.erase(unused);
  return patience_.emplace_back(subscriber.uid, std::make_shared<Patience>()).second;
}

}  // namespace cardan::detail
