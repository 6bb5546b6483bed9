// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cardan/detail/atomic.hpp"
#include "cardan/detail/fusion_rule.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/fusion_policy.hpp"

namespace cardan::detail {

/// Null: it has none.
template <class T>
constexpr FusionStamp fusion_stamp_of() noexcept {
  if constexpr (requires(const T& message) { fusion_stamp<T>::of(message); })
    return [](const void* message) noexcept -> std::int64_t {
      return fusion_stamp<T>::of(*static_cast<const T*>(message));
    };
  else
    return nullptr;
}

/// Fusion without the types of its messages: references, times and counts of the samples; which make a set is the
/// policy's matter. All but statistics() is for one thread at a time.
class FusionCore {
 public:
  /// `stamps`: of each input's type, for FusionTime::HeaderStamp. Throws Error (InvalidArgument).
  FusionCore(const FusionPolicy& policy, std::size_t inputs, std::span<const FusionStamp> stamps = {});
  FusionCore(const FusionCore&) = delete;
  FusionCore& operator=(const FusionCore&) = delete;
  ~FusionCore();

  /// Adds its own reference; null is ignored.
  void offer(std::size_t input, SampleBlock* block) noexcept;
  /// Writes one block an input (null: fires without it), each with a reference that passes to the caller; false: no
  /// set.
  bool next(SampleBlock** set) noexcept;
  void clear() noexcept;
  [[nodiscard]] FusionStatistics statistics() const noexcept;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  [[nodiscard]] std::int64_t time_of(FusionInput& input, const SampleBlock& block) const noexcept;
  void note_waiting() noexcept;

  std::size_t capacity_ = 1;
  FusionTime time_ = FusionTime::Source;
  std::array<FusionInput, kMaxFusionInputs> all_{};
  std::span<FusionInput> inputs_;  ///< those of them that there are
  std::unique_ptr<FusionEntry[]> entries_;
  std::unique_ptr<FusionMatcher> matcher_;
  Atomic<std::uint64_t> fired_{0};
};

}  // namespace cardan::detail
