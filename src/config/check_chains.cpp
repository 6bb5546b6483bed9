// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "src/config/chain_way.hpp"
#include "src/config/check_parts.hpp"

namespace cardan::config {

void check_chains(const Configuration& configuration, ProblemList& problems) {
  std::set<std::string> beginnings;
  for (const Chain& chain : configuration.chains) {
    if (chain.from.empty() || chain.to.empty()) continue;  // reported
    if (chain.from == chain.to)
      problems.error(chain.pointer + "/to", fmt::format("chain '{}' begins and ends on '{}'", chain.name, chain.to),
                     "write the topic where it ends");
    if (beginnings.insert(chain.from).second && beginnings.size() == kMaxChainBeginnings + 1)
      problems.error(chain.pointer + "/from",
                     fmt::format("the chains begin on more than {} topics", kMaxChainBeginnings),
                     "remove chains, or let some begin on the same topic");
  }
}

void check_chain_ways(const Configuration& configuration, const Declarations& declared, ProblemList& problems) {
  if (!declared.unknown.empty()) return;  // a component that could not be asked may be on the way
  for (const Chain& chain : configuration.chains) {
    if (chain.from.empty() || chain.to.empty() || chain.from == chain.to) continue;  // reported
    const ChainWay way = way_of(configuration, declared, chain);
    if (way.hops.empty())
      problems.error(
          chain.pointer,
          fmt::format("chain '{}': no way leads from '{}' to '{}': {}", chain.name, chain.from, chain.to, way.gap),
          way.remedy);
  }
}

}  // namespace cardan::config
