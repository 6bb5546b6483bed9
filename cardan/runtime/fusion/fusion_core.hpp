// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cardan/base/atomic.hpp"
#include "cardan/runtime/fusion/fusion_policy.hpp"
#include "cardan/transport/endpoint/sample_block.hpp"

namespace cardan::detail {

/// A message's own stamp, from where the message is.
using FusionStamp = std::int64_t (*)(const void* message) noexcept;
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

/// Fusion without the types of its messages. All but statistics() is for one thread at a time.
class FusionCore {
 public:
  /// `stamps`: of each input's type, for FusionTime::HeaderStamp. Throws Error (InvalidArgument).
  FusionCore(const FusionPolicy& policy, std::size_t inputs, std::span<const FusionStamp> stamps = {});
  FusionCore(const FusionCore&) = delete;
  FusionCore& operator=(const FusionCore&) = delete;
  ~FusionCore();

  /// Adds a reference of its own; null is ignored.
  void offer(std::size_t input, SampleBlock* block) noexcept;
  /// Writes one block an input (null: fires without it), each with a reference that passes to the caller; false: no
  /// set.
  bool next(SampleBlock** set) noexcept;
  void clear() noexcept;
  [[nodiscard]] FusionStatistics statistics() const noexcept;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  enum Count : std::size_t {
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
    kCounts
  };
  struct Entry {
    SampleBlock* block;
    std::int64_t time;
  };
  /// A ring of samples in the order of their times; of a primary policy the newest only.
  struct Input {
    Entry* entries = nullptr;
    std::size_t capacity = 0, first = 0, size = 0;
    bool arrived = false;      ///< since the beginning
    bool newest_used = false;  ///< primary: a set has used what is kept
    bool has_newest = false, has_left = false;
    std::int64_t newest = 0;  ///< latest time that came
    std::int64_t left = 0;    ///< time of the last that left the ring: what comes now must not be before it
    std::uint64_t max_age = 0;
    bool required = true;
    std::uint64_t min_period = 0;
    FusionStamp stamp = nullptr;
    std::array<Atomic<std::uint64_t>, kCounts> counts{};
    Atomic<std::int64_t> offered_time{0};  ///< of the last that came

    [[nodiscard]] Entry& at(std::size_t place) const noexcept {
      const std::size_t i = first + place;
      return entries[i < capacity ? i : i - capacity];
    }
    void count(Count what, std::uint64_t step = 1) noexcept {
      counts[what].store(counts[what].load(std::memory_order_relaxed) + step, std::memory_order_relaxed);
    }
    Entry pop() noexcept;
    void insert(Entry entry) noexcept;
  };
  using Places = std::array<std::size_t, kMaxFusionInputs>;
  static constexpr std::size_t kNoFiring = static_cast<std::size_t>(-1);

  void configure(const PrimaryOptions& options);
  void configure(const ApproximateOptions& options);
  [[nodiscard]] std::int64_t time_of(Input& input, const SampleBlock& block) const noexcept;
  static void let_go(Input& input, Count fate) noexcept;
  void note_waiting() noexcept;
  bool fire(SampleBlock** set) noexcept;
  [[nodiscard]] bool fits(const Input& input, const Entry& firing) const noexcept;
  void queue(Input& input, Entry entry) noexcept;
  void let_overtaken_go() noexcept;
  bool match(SampleBlock** set) noexcept;
  bool choose(Places& places) const noexcept;
  [[nodiscard]] bool due(std::int64_t pivot) const noexcept;

  std::size_t count_;
  std::size_t capacity_ = 1;
  std::size_t firing_ = kNoFiring;  ///< the input that fires; else sets are chosen by their times
  FusionTime time_ = FusionTime::Source;
  std::uint64_t tolerance_ = 0, patience_ = 0, clock_step_ = 0;
  std::array<Input, kMaxFusionInputs> inputs_{};
  std::unique_ptr<Entry[]> entries_;
  Atomic<std::uint64_t> fired_{0};
};

}  // namespace cardan::detail
