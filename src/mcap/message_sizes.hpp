// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "cardan/mcap/reader.hpp"

namespace cardan::mcap {

/// For each channel that is wanted (empty: all), bytes that none of its messages has more of: from the places that the
/// indexes name, without reading a message. A message of a chunk without an index may be as large as its chunk. Any
/// thread; blocks for the disk.
[[nodiscard]] std::map<std::uint16_t, std::uint64_t> largest_messages(
    const Reader& reader, const std::function<bool(const Channel&)>& wanted = {});

}  // namespace cardan::mcap
