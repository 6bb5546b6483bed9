// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/chain_news.hpp"

#include <fmt/format.h>

#include "src/runtime/executor/chain_end.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::host {

std::int64_t ChainNews::tell(std::int64_t now, bool at_once) {
  constexpr std::int64_t kDistance = 100'000'000;
  if (now < next_ns_ && !at_once) return next_ns_;
  bool any = false;
  for (const auto& core : runtime_.components())
    for (const auto& declared : core->declared()) {
      if (!declared.output || declared.out == nullptr || declared.out->chain_ends() == nullptr) continue;
      for (const detail::ChainEnd& end : declared.out->chain_ends()->all()) {
        if (end.chain().budget.count() == 0) continue;
        any = true;
        Told& told = told_[{core->name(), end.chain().name}];
        // Late ones first: each of them was counted as a publication before.
        const std::uint64_t late = end.late();
        const std::uint64_t unknown = end.unknown();
        const std::uint64_t publications = end.publications();
        if (publications < told.publications || unknown < told.unknown || late < told.late)
          told = {};  // the component was restarted
        if (publications == told.publications) continue;
        const detail::ChainEnd::Hop* const hop = end.last_late_hop();
        say_(fmt::format("{} {} {} {} {} {} {}", publications - told.publications, unknown - told.unknown,
                         late - told.late, end.last_late_age(), end.last_late_hop_ns(), end.chain().name,
                         hop == nullptr ? "-" : hop->component));
        told = {publications, unknown, late};
      }
    }
  next_ns_ = any ? now + kDistance : 0;
  return next_ns_;
}

}  // namespace cardan::host
