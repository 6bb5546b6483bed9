// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/rules_shape.hpp"

#include "src/bridge/rules_table.hpp"

namespace cardan::bridge {

// Limits that the schema writes as numbers, and that are those of the code.
static_assert(config::field_of(table::kDdsShape, "domain_id").max == kMostRosDomain);
static_assert(config::field_of(table::kZenohShape, "domain_id").max == kMostRosDomain);

const config::Shape kRulesShape = table::kBridgeShape;

}  // namespace cardan::bridge
