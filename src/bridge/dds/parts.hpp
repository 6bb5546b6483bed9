// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dds/dds.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/bridge/dds/discovery_info.hpp"
#include "src/bridge/dds/wire.hpp"

namespace cardan::bridge::dds {

/// Bounds what all others together make this process keep of messages that have not come whole. Cyclone bounds it for
/// each writer alone. Thread safety: one thread. No function blocks.
class PartsBound {
 public:
  explicit PartsBound(std::size_t most_bytes) noexcept : most_(most_bytes) {}

  /// Looks, ten times a second at most, whether memory has grown by more than the bound since it was lowest, and
  /// forgets all parts then. If that is not enough, it forgets the participants that let whole messages wait for one
  /// that does not come; they are found again when they announce themselves. `topic`: any one of the domain.
  /// `participant`: the bridge's own. `others`: those that have been discovered. Throws bad_alloc.
  void look(const WireTopic& topic, dds_entity_t participant, const std::vector<Guid>& others, std::int64_t now);
  /// How often it has forgotten parts.
  [[nodiscard]] std::uint64_t times() const noexcept { return times_; }
  [[nodiscard]] std::size_t most_bytes() const noexcept { return most_; }

 private:
  [[nodiscard]] bool exceeded() noexcept;

  std::size_t most_;
  std::size_t lowest_ = SIZE_MAX;  ///< bytes in use
  std::int64_t due_ns_ = 0;
  std::uint64_t times_ = 0;
};

}  // namespace cardan::bridge::dds
