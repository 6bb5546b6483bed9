// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace cardan::detail {

struct SampleBlock;

/// Nobody can tell how old the oldest publication is on which a sample rests.
inline constexpr std::int64_t kUnknownOrigin = -1;

/// The grounds of a publication: the oldest publication on which it rests, and the sample that caused it.
struct Basis {
  std::int64_t origin_ns = 0;  ///< steady clock; 0: it rests on nothing; kUnknownOrigin
  std::uint64_t stream = 0;    ///< of the cause; 0: none
  std::uint64_t sequence = 0;  ///< of the cause

  /// The older of two origins. An unknown one could be older than any.
  [[nodiscard]] static std::int64_t older(std::int64_t a, std::int64_t b) noexcept {
    return a == 0 ? b : b == 0 ? a : std::min(a, b);
  }
  /// Adds another ground. The one with the oldest origin is the cause.
  void add(const Basis& other) noexcept {
    if (other.origin_ns == 0) return;
    const std::int64_t oldest = older(origin_ns, other.origin_ns);
    if (oldest != origin_ns || stream == 0) {
      stream = other.stream;
      sequence = other.sequence;
    }
    origin_ns = oldest;
  }
  /// Adds a sample that was read.
  void add(const SampleBlock& sample) noexcept;
};

/// The samples that the callback on this thread has read: its publications rest on them. One lives while a callback of a
/// component runs, and the inner one counts if several do.
///
///   trigger   the sample that the callback is called for: the cause
///   fused     instead of the trigger's origin, those of the set that a fusion has made of it
///   read      what latest.get() returned, and what rests_on() named
///
/// One thread; never blocks.
class CallbackBasis {
 public:
  CallbackBasis() noexcept;
  CallbackBasis(const CallbackBasis&) = delete;
  CallbackBasis& operator=(const CallbackBasis&) = delete;
  ~CallbackBasis();

  void triggered_by(const SampleBlock& sample) noexcept;
  void fused(SampleBlock* const* set, std::size_t inputs) noexcept;
  void read(const SampleBlock& sample) noexcept { read_.add(sample); }
  /// The basis of a publication that also names grounds.
  [[nodiscard]] Basis with(Basis named) const noexcept;

  /// The one of this thread; null: no callback of a component runs.
  [[nodiscard]] static CallbackBasis* here() noexcept;

 private:
  Basis trigger_, read_;
  std::int64_t fused_ns_ = 0;
  CallbackBasis* outer_;
};

/// The basis of a publication on this thread: what its loan names, and what the callback has read.
[[nodiscard]] Basis basis_of_publication(const Basis& named) noexcept;

}  // namespace cardan::detail
