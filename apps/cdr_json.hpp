// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "src/messages/ros_schema.hpp"

namespace cardan::apps {

/// A message's fields by name, from its CDR form (XCDR1 or plain XCDR2, either byte order). Lists longer than
/// `longest_list` become {"count": n, "first": […]}. Empty: the bytes are not those of such a message.
[[nodiscard]] std::optional<nlohmann::ordered_json> cdr_json(const RosSchema& schema, std::span<const std::byte> cdr,
                                                             std::size_t longest_list);

}  // namespace cardan::apps
