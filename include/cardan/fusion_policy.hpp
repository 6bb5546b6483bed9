// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

namespace cardan {

/// The largest number of streams that a fusion joins.
inline constexpr std::size_t kMaxFusionInputs = 8;

/// Options that differ from input to input, in their order: `{{}, {.max_age = 200ms}}`. Other inputs have `T{}`.
template <class T>
class PerInput {
 public:
  constexpr PerInput() = default;
  /// Options of the first inputs. Those beyond kMaxFusionInputs are counted by named() and not kept.
  constexpr PerInput(std::initializer_list<T> items) : named_(items.size()) {
    std::size_t i = 0;
    for (const T& item : items)
      if (i < kMaxFusionInputs) items_[i++] = item;
  }
  /// Options of an input, below kMaxFusionInputs; the input then counts as one with its own options.
  constexpr T& operator[](std::size_t input) {
    named_ = input < named_ ? named_ : input + 1;
    return items_[input];
  }
  constexpr const T& operator[](std::size_t input) const { return items_[input]; }
  /// One more than the last input with its own options; a Fusion with fewer inputs refuses it.
  [[nodiscard]] constexpr std::size_t named() const { return named_; }

 private:
  std::size_t named_ = 0;
  std::array<T, kMaxFusionInputs> items_{};
};

/// The time of a sample that a fusion uses.
enum class FusionTime : std::uint8_t {
  /// The publisher's stamp (set_source_time), else the publish time. This matches samples that were measured together,
  /// however long each took to process. All inputs must then stamp by the same clock.
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
/// Of messages with a `header.stamp`.
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

/// How a Fusion forms its sets: the result of primary(), approximate() or exact(). Copies are cheap, and a policy never
/// changes.
/// Thread safety: as of an int. Never blocks.
class FusionPolicy {
 public:
  /// For policies (fusion_rule.hpp); `rule` is not null.
  explicit FusionPolicy(std::shared_ptr<const detail::FusionRule> rule) noexcept : rule_(std::move(rule)) {}

  /// As statistics and messages name it: "primary".
  [[nodiscard]] const char* name() const noexcept;
  /// The time of a sample that it uses.
  [[nodiscard]] FusionTime time() const noexcept;
  /// For Fusion.
  [[nodiscard]] const detail::FusionRule& rule() const noexcept { return *rule_; }

 private:
  std::shared_ptr<const detail::FusionRule> rule_;
};

/// The fate of one input's samples, and the losses of the others because of it.
struct FusionInputStatistics {
  std::uint64_t offered = 0;  ///< samples given to offer(), without empty ones
  // Each offered sample is in exactly one of these.
  std::uint64_t used = 0;        ///< in a set that next() returned (of several, with primary: counted once)
  std::uint64_t unfired = 0;     ///< primary: did not fire, because an input had nothing or was too old
  std::uint64_t replaced = 0;    ///< primary: a newer one came before any set used it
  std::uint64_t overtaken = 0;   ///< passed over, or further from any partner than the tolerance
  std::uint64_t pushed_out = 0;  ///< its queue was full before it found partners
  std::uint64_t late = 0;        ///< out of order: a later one of its input had left already
  std::uint64_t cleared = 0;     ///< waited when a clock stepped back or clear() was called
  std::uint64_t waiting = 0;     ///< is kept, and no set has used it yet
  // Of all offered samples.
  std::uint64_t unstamped = 0;  ///< had no stamp of the kind that the policy uses: their publish times counted
  std::int64_t newest = 0;      ///< time of the last one that was offered, by that stamp
  // Losses of others because of this input.
  std::uint64_t never_arrived = 0;  ///< primary: samples that did not fire because this input had no sample;
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
  std::uint64_t fired = 0;                                       ///< sets that next() returned
  std::array<FusionInputStatistics, kMaxFusionInputs> inputs{};  ///< those of the fusion first, the rest zero
};

/// Options of one input of primary().
struct PrimaryInput {
  /// Overrides the policy's `max_age` for this input. 0: any age.
  std::optional<std::chrono::nanoseconds> max_age{};
  /// false: a set fires without this input (an empty Sample) when it has no sample or its sample is too old.
  bool required = true;
};

/// See primary().
struct PrimaryOptions {
  /// The input whose samples fire. With the fastest input, the fewest samples are replaced unused. The most important
  /// input never waits for the others.
  std::size_t input = 0;
  /// The greatest age of the others, relative to the firing sample. A short age finds inputs that have stopped; an age
  /// that is too short for an input's period and processing loses sets. 0: any age.
  std::chrono::nanoseconds max_age{0};
  /// The clock of the ages.
  FusionTime time = FusionTime::Source;
  /// Options that differ from input to input: `.inputs = {{}, {.max_age = 200ms}, {.required = false}}`.
  PerInput<PrimaryInput> inputs{};
};

/// Fires when a sample of one input comes, with the newest sample of each other input (CyberRT's all_latest). The sets
/// have that input's rate; the others are up to a period old. The newest sample is the one that was offered last.
/// Samples of the others may be used in several sets. At most one sample of each input waits.
///
/// The age of a sample is the firing sample's time minus its own. If its stamp is later than the firing sample's, the
/// publish times give the age, so that a clock that was set back does not keep a dead input alive.
[[nodiscard]] FusionPolicy primary(const PrimaryOptions& options = {});

/// Options of one input of approximate().
struct ApproximateInput {
  /// The shortest time between two samples of this input, if known (half of its period is safe). Sets are then decided
  /// without waiting for a sample that cannot be closer, up to one period of the input sooner. If the input comes
  /// faster than this, a set may not be the closest one. It changes nothing else. 0: unknown.
  std::chrono::nanoseconds min_period{0};
};

/// See approximate().
struct ApproximateOptions {
  /// The largest spread of a set. A wide tolerance finds more sets, a narrow one closer sets. With the period of the
  /// second slowest input, every sample of the slowest finds partners.
  std::chrono::nanoseconds tolerance = std::chrono::milliseconds{10};
  /// Samples of each input that may wait, 1 to 1024. With a long queue, partners may come late; it needs the samples of
  /// the fastest input in the longest delay or period. With a short one, sets are decided sooner, and fewer of the
  /// publishers' slots are held.
  std::size_t queue = 10;
  /// Decides with the known samples once an input's stamps are this far past the pivot. This bounds how long a set
  /// waits for a closer one, but then the sets depend on when samples arrive. 0: until a queue is full.
  std::chrono::nanoseconds patience{0};
  /// The time that counts as a sample's stamp.
  FusionTime time = FusionTime::Source;
  /// If the stamps of an input go back by more than this, its clock was set: waiting samples are cleared, and the
  /// fusion continues with the new time. Smaller steps back are disorder, and samples that come too late are lost. A
  /// short time loses fewer samples after a small step. It must be longer than the disorder within an input.
  std::chrono::nanoseconds clock_step = std::chrono::seconds{1};
  /// Options that differ from input to input: `.inputs = {{.min_period = 20ms}, {.min_period = 60ms}}`.
  PerInput<ApproximateInput> inputs{};
};

/// Sets of samples that are close in time, each sample in one set at most (the idea of ROS's ApproximateTime).
///
/// *Words.* The spread of a set is the time from its earliest to its latest sample. An input's head is its oldest
/// sample that waits. The pivot is the latest of the heads.
///
/// *The algorithm.*
///  1. If another input's head is ahead of a head by more than the tolerance, that head cannot be in a set any more. It
///     is overtaken and released, until the heads themselves are a set.
///  2. Starting with the heads, the earliest sample of the set is replaced by the next one of its input, until no
///  sample
///     is before the pivot. The closest of these sets fires, of equally close ones the earliest. Samples before it are
///     overtaken.
///  3. If the next sample is needed and has not arrived, it is assumed to be the best possible one (at the pivot, or
///     `min_period` after its predecessor). If that could make the set closer, nothing fires until the sample is there,
///     `patience` is over, or a queue is full.
///
/// *Guarantees*, for inputs that are each in order:
///  - the spread of a set is at most the tolerance;
///  - a sample is in one set at most, and sets do not cross: of each input, a set has a later sample than the set
///  before;
///  - a set is the closest of all sets, known or still to come, that contain any of the heads at its turn;
///  - the samples that were passed over between two sets could not make a set within the tolerance;
///  - a set is decided at the latest when every input has come to the pivot's time: no input is waited for longer;
///  - the sets follow from the stamps alone, not from the order of the inputs or from when samples arrive.
///
/// The first always holds, the second until a clock is set back. The others hold until a queue is full or `patience` is
/// over: then the closest known set fires if there is one, otherwise the oldest sample of the full queue is pushed out.
/// A sample out of order is sorted in. It is too late if a later sample of its input has left already.
///
/// The algorithm does not look past the pivot: it does not wait for a still closer partner in the next period.
[[nodiscard]] FusionPolicy approximate(const ApproximateOptions& options = {});

/// See exact().
struct ExactOptions {
  /// Samples of each input that may wait, 1 to 1024: the number by which the slowest processing lags behind.
  std::size_t queue = 10;
  /// The time that counts as a sample's stamp.
  FusionTime time = FusionTime::Source;
  /// As for approximate().
  std::chrono::nanoseconds clock_step = std::chrono::seconds{1};
};

/// Sets of samples with equal times: approximate() without a tolerance, with its guarantees. A set fires as soon as it
/// is complete. For results that were computed from one measurement and carry its stamp.
[[nodiscard]] FusionPolicy exact(const ExactOptions& options = {});

}  // namespace cardan
