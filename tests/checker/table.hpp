// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/checker/mutants.hpp"

namespace cardan::checker {

/// Writes the table of orders into `folder`: orders.md whole, and the parts of slot.md and bell.md between their
/// markers.
bool write_docs(const std::string& folder, const std::vector<Mutant>& mutants);
/// True if the documents in `folder` have every site with the order, partner and invariant of order_table.hpp; with
/// `mutants`, also which scenario catches which weakening. Says what differs.
bool check_docs(const std::string& folder, const std::vector<Mutant>* mutants);

}  // namespace cardan::checker
