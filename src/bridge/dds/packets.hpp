// SPDX-License-Identifier: Apache-2.0
// Messages as they lie in Cyclone's receive buffers. With wire.cpp and half_received.cpp, packets.cpp alone uses
// Cyclone's internal interfaces, which differ between its versions.
#pragma once

#include <dds/version.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "src/bridge/dds/discovery_info.hpp"

// 11.0 gave these their prefix, and replaced iceoryx by exchangeable shared memory.
#if DDS_VERSION_MAJOR == 0 && DDS_VERSION_MINOR <= 10
#define CARDAN_DDS_BEFORE_11 1
struct nn_rdata;  // NOLINT(readability-identifier-naming): Cyclone DDS named it
#else
struct ddsi_rdata;
#endif

namespace cardan::bridge::dds {

#if defined(CARDAN_DDS_BEFORE_11)
using Fragment = ::nn_rdata;
#else
using Fragment = ::ddsi_rdata;
#endif

/// Which message of which writer. The writer's number is good for comparing it with others of these.
struct Origin {
  Guid writer{};
  std::int64_t sequence = 0;  ///< from 1; 0: unknown
};
[[nodiscard]] Origin origin_of(const Fragment& first) noexcept;
/// The writer's number in an Origin, from the one that DDS's own topics have.
[[nodiscard]] Guid origin_form(const Guid& writer) noexcept;

/// Copies a message of `size` bytes, and returns how many of them the fragments have. They are in order, and may
/// overlap.
std::size_t copy_fragments(const Fragment* first, std::size_t size, std::byte* to) noexcept;

/// The most bytes of Cyclone's buffers that the message keeps there as long as it is kept. 0: it is not worth while, or
/// takes so much that it is better copied.
[[nodiscard]] std::size_t cost_of_keeping(const Fragment* first, std::size_t size) noexcept;

/// A message that is kept in Cyclone's buffers. All of these must end before the domain.
/// Thread safety: as unique_ptr; no function blocks.
class Packets {
 public:
  Packets() noexcept = default;
  /// Keeps it. To be called while Cyclone keeps it, too: within from_ser.
  Packets(const Fragment* first, std::size_t size) noexcept;
  Packets(Packets&& other) noexcept : first_(std::exchange(other.first_, nullptr)), size_(other.size_) {}
  Packets& operator=(Packets&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    return *this;
  }
  Packets(const Packets&) = delete;
  Packets& operator=(const Packets&) = delete;
  ~Packets();

  explicit operator bool() const noexcept { return first_ != nullptr; }
  /// Its bytes; added to `pieces`. Throws bad_alloc.
  void add_to(std::vector<std::span<const std::byte>>& pieces) const;

 private:
  const Fragment* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cardan::bridge::dds
