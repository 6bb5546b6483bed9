// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cardan/observer_report.hpp"

namespace cardan {

/// The users that publish what DomainReport::closed of a look at `domain` names: sorted, each once. Reads names in the
/// run directory. Throws Error as look_around(). Any thread.
[[nodiscard]] std::vector<uid_t> users_behind(const DomainReport& report, const std::string& domain);

}  // namespace cardan
