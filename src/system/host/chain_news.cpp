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
  for (const auto& core : runtime_.components()) {
    std::size_t number = 0;
    for (const auto& declared : core->declared()) {
      ++number;
      if (!declared.output || declared.out == nullptr || declared.out->chain_ends() == nullptr) continue;
      for (const detail::ChainEnd& end : declared.out->chain_ends()->all()) {
        if (end.chain().budget.count() == 0) continue;
        any = true;
        Told& told = told_[{core->name(), number, end.chain().name}];
        const Told now_told{.in_time = end.in_time(), .unknown = end.unknown(), .late = end.late()};
        if (now_told.in_time < told.in_time || now_told.unknown < told.unknown || now_told.late < told.late)
          told = {};  // the component was restarted
        const Told fresh{.in_time = now_told.in_time - told.in_time,
                         .unknown = now_told.unknown - told.unknown,
                         .late = now_told.late - told.late};
        const std::uint64_t publications = fresh.in_time + fresh.unknown + fresh.late;
        if (publications == 0) continue;
        const detail::ChainEnd::Hop* const hop = end.last_late_hop();
        say_(fmt::format("{} {} {} {} {} {} {}", publications, fresh.unknown, fresh.late, end.last_late_age(),
                         end.last_late_hop_ns(), end.chain().name, hop == nullptr ? "-" : hop->component));
        told = now_told;
      }
    }
  }
  next_ns_ = any ? now + kDistance : 0;
  return next_ns_;
}

}  // namespace cardan::host
