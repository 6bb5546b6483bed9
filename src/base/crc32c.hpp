// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cardan {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `bytes`, continued from `crc`. Uses an instruction where the CPU has
/// one, a table otherwise.
/// Any thread; never blocks, allocates nothing.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0) noexcept;

/// The same, always from the table, to check one against the other.
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t crc = 0) noexcept;

/// Whether crc32c() uses an instruction of this CPU.
bool crc32c_in_hardware() noexcept;

}  // namespace cardan
