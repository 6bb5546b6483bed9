// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cardan/detail/atomic.hpp"

namespace cardan::detail {

/// When the publications of one stream come, as one subscriber learns it from their stamps. `anticipate` and `follow()`
/// go by it. All times are of the steady clock, in ns. A publisher may stamp what it wants: that changes only when its
/// own readers look.
/// Thread safety: any thread. A lost update costs a look or a ring. No function blocks.
struct StreamRhythm {
  Atomic<std::int64_t> last_publish_ns{0};
  Atomic<std::int64_t> expected_ns{0};  ///< when the next one is due
  Atomic<std::int64_t> period_ns{0};
  Atomic<std::int64_t> deviation_ns{0};

  /// A publication was taken.
  void learn(std::int64_t publish_ns) noexcept;
  /// The same for follow(). `missed`: publications before it that were not taken. `depth`: how many wait for this
  /// reader until the oldest is overwritten; always the same.
  void learn(std::int64_t publish_ns, std::uint64_t missed, std::uint32_t depth) noexcept;

  /// follow(): when to look next, if a look at `now` found nothing. Until then nobody need wake the reader, and it
  /// loses nothing by that as long as publications come no more densely than recently. 0: it must be woken, because too
  /// little is known of the stream, or it is silent, slow or too quick for its depth. `margin`: the least time after a
  /// due publication.
  [[nodiscard]] std::int64_t look_at(std::int64_t now, std::int64_t margin, std::uint32_t depth) const noexcept;

 private:
  static constexpr std::uint32_t kMostDepth = 6;

  Atomic<std::uint32_t> odd_{0};           ///< publications out of step, in a row
  Atomic<std::int64_t> dense_ns_{0};       ///< the least recent time of `depth` intervals; 0: not known
  Atomic<std::int64_t> dense_next_ns_{0};  ///< of one interval more
  Atomic<std::int64_t> usual_ns_{0};       ///< the mean time of `depth` intervals
  Atomic<std::uint64_t> stamps_{0};        ///< how many are in `stamp_`, since a gap
  std::array<Atomic<std::int64_t>, kMostDepth + 2> stamp_{};
};

}  // namespace cardan::detail
