// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

/// MCAP's CRC32 (IEEE 802.3, as zlib's) of `bytes`, or of them after the bytes that gave `before`. Any thread; does not
/// block.
[[nodiscard]] std::uint32_t crc32(View bytes, std::uint32_t before = 0) noexcept;

}  // namespace cardan::mcap
