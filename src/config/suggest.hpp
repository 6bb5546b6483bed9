// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cardan::config {

/// Letters to change, add, remove or swap to come from one to the other.
[[nodiscard]] std::size_t distance(std::string_view a, std::string_view b);

/// The known name that was probably meant; "": none is near.
[[nodiscard]] std::string nearest(std::string_view wrong, const std::vector<std::string>& known);

/// "did you mean 'depth'?", else "there are 'a', 'b' and 'c'", else `otherwise`.
[[nodiscard]] std::string suggestion(std::string_view wrong, const std::vector<std::string>& known,
                                     std::string_view otherwise);

}  // namespace cardan::config
