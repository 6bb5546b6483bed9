// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

namespace cardan::detail {

/// 64 bits from the system's generator, for identities that two processes must not share. Makes a system call.
inline std::uint64_t random64() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) ^ device();
}

}  // namespace cardan::detail
