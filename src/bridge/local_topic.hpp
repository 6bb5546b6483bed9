// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cardan::bridge {

/// A topic of this computer, as its first publisher describes it.
struct LocalTopic {
  std::string name{}, type{};
  std::string schema{};  ///< ros2msg text, or another encoding's bytes
  std::uint64_t type_hash = 0;
  std::size_t message_bytes = 0;  ///< of the fixed struct
  std::size_t max_bytes = 0;      ///< of a payload
  std::uint32_t depth = 1;
};

}  // namespace cardan::bridge
