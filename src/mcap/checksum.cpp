// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/checksum.hpp"

#include <libdeflate.h>

namespace cardan::mcap {

std::uint32_t crc32(View bytes, std::uint32_t before) noexcept {
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());  // nullptr would restart it
}

}  // namespace cardan::mcap
