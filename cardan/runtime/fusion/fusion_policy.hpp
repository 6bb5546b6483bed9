// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>

namespace cardan {

/// The largest number of streams that a fusion joins.
inline constexpr std::size_t kMaxFusionInputs = 8;

/// Options that differ from input to input, in their order: `{{}, {.max_age = 200ms}}`. Other inputs have `T{}`.
template <class T>
class PerInput {
 public:
  constexpr PerInput() = default;
  constexpr PerInput(std::initializer_list<T> items) : named_(items.size()) {
    std::size_t i = 0;
    for (const T& item : items)
      if (i < kMaxFusionInputs) items_[i++] = item;
  }
  constexpr T& operator[](std::size_t input) {
    named_ = input < named_ ? named_ : input + 1;
    return items_[input];
  }
  constexpr const T& operator[](std::size_t input) const { return items_[input]; }
  /// One more than the last input that was named; a Fusion with fewer inputs refuses it.
  [[nodiscard]] constexpr std::size_t named() const { return named_; }

 private:
  std::size_t named_ = 0;
  std::array<T, kMaxFusionInputs> items_{};
};

/// Which time of a sample a fusion goes by.
enum class FusionTime : std::uint8_t {
  /// The publisher's stamp (set_source_time), else the publish time: matches what was measured together, however long
  /// each took to process. All inputs must then stamp by the same clock.
  Source,
  /// The publish time: one steady clock for the whole computer, needs no stamps, but a slow computation looks young. In
  /// a replay it is the replay's time.
  Publish,
  /// The `header.stamp` within the message, where it is not 0 (then the publish time): for messages whose publishers
  /// set no source time, such as those of drivers and of ROS 2. Messages without it are refused when the fusion is
  /// made; `fusion_stamp` teaches it other types. All inputs must stamp by the same clock.
  HeaderStamp,
};

/// How FusionTime::HeaderStamp reads a type's own stamp, in nanoseconds; for types that have no `header.stamp`,
/// specialize it with `static std::int64_t of(const T& message) noexcept`.
template <class T>
struct fusion_stamp {};
template <class T>
  requires requires(const T& message) {
    { message.header.stamp } -> std::convertible_to<std::int64_t>;
  }
struct fusion_stamp<T> {
  static std::int64_t of(const T& message) noexcept { return message.header.stamp; }
};

namespace detail {
class FusionRule;
}  // namespace detail

/// How a Fusion forms its sets: what primary(), approximate() or exact() made. Copies share what it points to, which
/// never changes.
/// Thread safety: as of an int. Never blocks.
class FusionPolicy {
 public:
  /// For policies (fusion_rule.hpp); `rule` is not null.
  explicit FusionPolicy(std::shared_ptr<const detail::FusionRule> rule) noexcept : rule_(std::move(rule)) {}

  /// As statistics and messages name it: "primary".
  [[nodiscard]] const char* name() const noexcept;
  /// Which time of a sample it goes by.
  [[nodiscard]] FusionTime time() const noexcept;
  [[nodiscard]] const detail::FusionRule& rule() const noexcept { return *rule_; }

 private:
  std::shared_ptr<const detail::FusionRule> rule_;
};

/// The fate of one input's samples, and the losses of the others because of it.
struct FusionInputStatistics {
  std::uint64_t offered = 0;
  // Each offered sample is in exactly one of these.
  std::uint64_t used = 0;        ///< in a set that next() returned (of several, with primary: counted once)
  std::uint64_t unfired = 0;     ///< primary: did not fire, because an input had nothing or was too old
  std::uint64_t replaced = 0;    ///< primary: a newer one came before any set used it
  std::uint64_t overtaken = 0;   ///< passed over, or further from any partner than the tolerance
  std::uint64_t pushed_out = 0;  ///< its queue was full before it found partners
  std::uint64_t late = 0;        ///< out of order: a later one of its input had left already
  std::uint64_t cleared = 0;     ///< waited when a clock stepped back or clear() was called
  std::uint64_t waiting = 0;     ///< is kept, and no set has used it yet
  // Of the offered, whatever became of them.
  std::uint64_t unstamped = 0;  ///< had no stamp of the kind that the policy goes by: their publish times counted
  std::int64_t newest = 0;      ///< time of the last one that was offered, by that stamp
  // Losses of others because of this input.
  std::uint64_t never_arrived = 0;  ///< primary: samples that did not fire because nothing of this input was there;
                                    ///< else samples of others that were pushed out before a sample of it arrived
  std::uint64_t too_old = 0;        ///< primary: samples that did not fire because this input's was too old
  std::uint64_t absent = 0;         ///< primary: sets that fired without this input, which is not required

  /// Samples that the others passed by before they found partners.
  [[nodiscard]] constexpr std::uint64_t lapped() const noexcept { return replaced + overtaken + pushed_out + late; }
  /// Equal to `offered` while no thread is inside offer(), next() or clear().
  [[nodiscard]] constexpr std::uint64_t accounted() const noexcept {
    return used + unfired + lapped() + cleared + waiting;
  }
};

/// A fusion's work so far; the sum of `never_arrived` and `too_old` of a primary policy's inputs is `unfired` of
/// the one that fires.
struct FusionStatistics {
  std::uint64_t fired = 0;  ///< sets that next() returned
  std::array<FusionInputStatistics, kMaxFusionInputs> inputs{};
};

}  // namespace cardan
