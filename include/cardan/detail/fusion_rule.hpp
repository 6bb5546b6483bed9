// SPDX-License-Identifier: Apache-2.0
// The interface of a policy of fusion. A policy is a header with its options, a source with its rule, and nothing else:
// Fusion, components, their statistics and messages know it by this interface.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cardan/detail/atomic.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/fusion_policy.hpp"

namespace cardan::detail {

/// A message's own stamp, from where the message is.
using FusionStamp = std::int64_t (*)(const void* message) noexcept;

/// The outcomes that FusionInputStatistics counts.
enum class FusionCount : std::uint8_t {
  Offered,
  Used,
  Unfired,
  Replaced,
  Overtaken,
  PushedOut,
  Late,
  Cleared,
  Waiting,
  NeverArrived,
  TooOld,
  Absent,
  Unstamped,
};
inline constexpr std::size_t kFusionCounts = static_cast<std::size_t>(FusionCount::Unstamped) + 1;

struct FusionEntry {
  SampleBlock* block;  ///< with its own reference
  std::int64_t time;
};

/// One input of a fusion: a ring of samples in the order of their times, and its counts.
struct FusionInput {
  FusionEntry* entries = nullptr;
  std::size_t capacity = 0, first = 0, size = 0;
  bool arrived = false;      ///< since the fusion was made
  bool newest_used = false;  ///< a set has used what is kept (policies whose samples serve in several sets)
  bool has_left = false;
  std::int64_t left = 0;  ///< time of the last that left the ring: what comes now must not be before it
  FusionStamp stamp = nullptr;
  std::array<Atomic<std::uint64_t>, kFusionCounts> counts{};
  Atomic<std::int64_t> offered_time{0};  ///< of the last that came

  [[nodiscard]] FusionEntry& at(std::size_t place) const noexcept {
    const std::size_t i = first + place;
    return entries[i < capacity ? i : i - capacity];
  }
  [[nodiscard]] Atomic<std::uint64_t>& counter(FusionCount what) noexcept {
    return counts[static_cast<std::size_t>(what)];
  }
  void count(FusionCount what) noexcept {
    counter(what).store(counter(what).load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// The oldest; its reference passes to the caller.
  FusionEntry pop() noexcept;
  /// There is room.
  void insert(FusionEntry entry) noexcept;
  /// The oldest leaves without having been part of a set, or after the sets that it was in.
  void let_go(FusionCount fate) noexcept;
};

/// A policy at work on the inputs of one fusion. For one thread at a time; allocates nothing.
class FusionMatcher {
 public:
  virtual ~FusionMatcher() = default;
  /// Keeps a sample that has come, or counts its fate. Its reference passes to the matcher.
  virtual void offer(std::size_t input, FusionEntry entry) noexcept = 0;
  /// As FusionCore::next().
  virtual bool next(SampleBlock** set) noexcept = 0;
  /// The inputs have been emptied: the times so far are forgotten.
  virtual void forget() noexcept {}
};

/// A policy with its options.
class FusionRule {
 public:
  virtual ~FusionRule() = default;
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  [[nodiscard]] virtual FusionTime time() const noexcept = 0;
  /// Samples of each input that may wait.
  [[nodiscard]] virtual std::size_t queue() const noexcept = 0;
  /// Checks the options for this number of inputs; throws by refuse_fusion(). Their rings have no room yet. `inputs`
  /// outlives what it returns.
  [[nodiscard]] virtual std::unique_ptr<FusionMatcher> start(std::span<FusionInput> inputs) const = 0;
  /// Why samples of all inputs come, with comparable stamps, and no set is made; in words. `names`: of the inputs.
  [[nodiscard]] virtual std::string why_silent(const FusionStatistics& statistics,
                                               std::span<const std::string> names) const = 0;
};

/// Lets all that waits go, counted as cleared.
void clear(std::span<FusionInput> inputs) noexcept;

// For the checks of options. All throw Error (InvalidArgument).
[[noreturn]] void refuse_fusion(const std::string& cause, const std::string& remedy);
void check_fusion_input(std::size_t input, std::size_t inputs);
/// In nanoseconds, 0 or more.
[[nodiscard]] std::uint64_t checked_duration(std::chrono::nanoseconds value, const char* name);

/// From `earlier` to `later`, right for any two stamps, where a signed difference could overflow.
[[nodiscard]] constexpr std::uint64_t ahead(std::int64_t later, std::int64_t earlier) noexcept {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

}  // namespace cardan::detail
