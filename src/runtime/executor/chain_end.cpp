// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/chain_end.hpp"

#include <algorithm>
#include <utility>

namespace cardan::detail {
namespace {

void count_one(Atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

ChainEnd::ChainEnd(config::Chain chain, const std::vector<std::string>& components)
    : chain_(std::move(chain)), from_(ChainRole::key(chain_.from)) {
  for (const std::string& name : components) {
    Hop& hop = hops_.emplace_back();
    hop.key = ChainRole::key(name);
    hop.component = name;
  }
}

ChainEnd::Hop* ChainEnd::hop(std::uint32_t key) noexcept {
  const auto found = std::find_if(hops_.begin(), hops_.end(), [&](const Hop& hop) { return hop.key == key; });
  return found == hops_.end() ? nullptr : &*found;
}

void ChainEnd::published(std::span<const ChainGround> grounds, std::int64_t now) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  const auto ground =
      std::find_if(grounds.begin(), grounds.end(), [&](const ChainGround& g) { return g.from == from_; });
  if (ground == grounds.end()) return;
  if (ground->origin_ns == kUnknownOrigin) return count_one(unknown_);
  const std::int64_t age = std::max<std::int64_t>(0, now - ground->origin_ns);
  age_.add(age);
  Hop* const longest = hop(ground->hop);
  const bool late = chain_.budget.count() > 0 && age > chain_.budget.count();
  if (longest != nullptr) {
    count_one(longest->longest);
    if (late) count_one(longest->late);
    if (ground->hop_ns > longest->longest_ns.load(relaxed)) longest->longest_ns.store(ground->hop_ns, relaxed);
  }
  if (!late) return count_one(in_time_);
  last_late_age_.store(age, relaxed);
  last_late_hop_.store(longest, relaxed);
  last_late_hop_ns_.store(ground->hop_ns, relaxed);
  last_late_ns_.store(now, relaxed);
  late_.store(late_.load(relaxed) + 1, std::memory_order_release);  // last: it announces the others
}

ChainEnds::ChainEnds(const std::string& topic, const std::vector<config::Chain>& chains,
                     const std::vector<std::string>& components) {
  for (const config::Chain& chain : chains)
    if (chain.to == topic) ends_.emplace_back(chain, components);
}

}  // namespace cardan::detail
