// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cardan::checker {

/// The known part of S, the single total order of all seq_cst operations: a partial order, kept transitively closed.
/// A read or a store may go where it closes no cycle; any total order that extends the rest is then a witness for S.
class ScOrder {
 public:
  static constexpr std::size_t kMaxNodes = 256;
  using Set = std::bitset<kMaxNodes>;

  void clear() {
    before_.clear();
    after_.clear();
  }

  /// Closes `predecessors` and `successors` and says whether a new node may come between them.
  bool close(Set& predecessors, Set& successors) const {
    Set p = predecessors;
    Set s = successors;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (predecessors[i]) p |= before_[i];
      if (successors[i]) s |= after_[i];
    }
    predecessors = p;
    successors = s;
    return (p & s).none();
  }

  /// Adds a node between closed sets; returns its number.
  std::size_t add(const Set& predecessors, const Set& successors) {
    const std::size_t node = before_.size();
    if (node == kMaxNodes) {
      std::fputs("checker: more than 256 seq_cst operations in one execution\n", stderr);
      std::abort();
    }
    before_.push_back(predecessors);
    after_.push_back(successors);
    Set after = successors;
    after.set(node);
    Set before = predecessors;
    before.set(node);
    for (std::size_t i = 0; i < node; ++i) {
      if (predecessors[i]) after_[i] |= after;
      if (successors[i]) before_[i] |= before;
    }
    return node;
  }

 private:
  std::vector<Set> before_, after_;
};

}  // namespace cardan::checker
