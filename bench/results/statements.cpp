// SPDX-License-Identifier: Apache-2.0
#include "bench/results/statements.hpp"

#include <algorithm>
#include <set>

#include "bench/results/statistics.hpp"

namespace cardan::bench {

std::string_view name_of(Judgement judgement) noexcept {
  switch (judgement) {
    case Judgement::Holds:
      return "holds";
    case Judgement::DoesNotHold:
      return "does not hold";
    case Judgement::NotMeasured:
      break;
  }
  return "not measured in this run";
}

std::vector<const Measurement*> Evidence::all(const Wanted& w) const {
  std::vector<const Measurement*> found;
  for (const Measurement* m : all_)
    if ((w.part.empty() || m->part == w.part) && (w.peer.empty() || m->peer == w.peer) &&
        (w.setup.empty() || m->setup == w.setup) && (w.cell.empty() || m->cell == w.cell) &&
        (w.quantity.empty() || m->quantity == w.quantity) && (w.bytes == 0 || m->bytes == w.bytes) && m->kept() > 0)
      found.push_back(m);
  return found;
}

const Measurement* Evidence::one(const Wanted& wanted) const {
  const auto found = all(wanted);
  return found.empty() ? nullptr : found.front();
}

std::optional<double> Evidence::p50(const Wanted& wanted) const {
  const Measurement* const m = one(wanted);
  if (m == nullptr) return std::nullopt;
  return median(m->pooled());
}

std::vector<double> Evidence::sizes(const Wanted& wanted) const {
  std::set<double> sizes;
  for (const Measurement* m : all(wanted))
    if (m->bytes > 0) sizes.insert(m->bytes);
  return {sizes.begin(), sizes.end()};
}

const std::vector<Statement>& all_statements() {
  static const std::vector<Statement> kAll = [] {
    std::vector<Statement> all;
    add_oops_findings(all);
    add_paper_claims(all);
    return all;
  }();
  return kAll;
}

}  // namespace cardan::bench
