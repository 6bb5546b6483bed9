// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cardan/transport/publisher_core.hpp"

namespace cardan::detail {

/// Waits until the recorders of this user have attached to those of `outputs` (announced until `announced_ns`, steady
/// clock) that they record, so that they have the first sample too. At once where nobody records; at most `limit` where
/// a recorder does not come to it. Set-up; blocks.
void await_recorders(const std::string& domain, const std::vector<std::shared_ptr<PublisherCore>>& outputs,
                     std::int64_t announced_ns, std::chrono::nanoseconds limit);

}  // namespace cardan::detail
