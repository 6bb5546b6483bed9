// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cardan/detail/atomic.hpp"
#include "cardan/fusion_policy.hpp"

namespace cardan::detail {

/// Notices that a fusion of a component gets samples and makes no set of them, and says why. offered() and fired() are
/// for the thread that is in the fusion's callback; the rest for any thread. Does not block but to write its line.
class FusionWatch {
 public:
  /// A fusion is silent if it was offered this many samples without a set, over this time.
  static constexpr std::uint64_t kFewest = 10;
  static constexpr std::int64_t kPatience = 5'000'000'000;

  FusionWatch(std::string component, std::string name, FusionPolicy policy, std::vector<std::string> inputs);

  /// A set is about to be given to the callback.
  void fired(std::int64_t now) noexcept;
  /// True: it has just become silent, and tell() must report it.
  [[nodiscard]] bool offered(std::size_t input, std::int64_t now) noexcept;
  void tell(const FusionStatistics& statistics) const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const FusionPolicy& policy() const noexcept { return policy_; }
  [[nodiscard]] const std::vector<std::string>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] bool silent() const noexcept { return silent_.load(std::memory_order_relaxed); }
  /// Why no set has come since the last one, in words; empty: nothing has been offered since.
  [[nodiscard]] std::string why(const FusionStatistics& statistics) const;

 private:
  std::string component_, name_;
  FusionPolicy policy_;
  std::vector<std::string> inputs_;
  std::array<Atomic<std::uint64_t>, kMaxFusionInputs> offered_{};  ///< since the last set
  std::uint64_t offered_in_all_ = 0;
  std::int64_t since_ = 0;  ///< the first offer since the last set
  Atomic<bool> silent_{false};
};

/// "source", "publish" or "header.stamp".
[[nodiscard]] const char* name_of(FusionTime time) noexcept;

}  // namespace cardan::detail
