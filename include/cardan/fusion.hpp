// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "cardan/detail/fusion_core.hpp"
#include "cardan/fusion_policy.hpp"
#include "cardan/sample.hpp"

namespace cardan {

/// Joins 2 to 8 streams of samples into sets, by a policy: primary(), approximate() or exact().
///
/// ```cpp
/// cardan::Fusion<Image, PointCloud> fusion{cardan::approximate({.tolerance = 20ms})};
/// …
/// fusion.offer<0>(image);
/// while (auto set = fusion.next()) {
///   auto& [front, cloud] = *set;
///   …
/// }
/// ```
///
/// next() decides on the sets. Call it after each offer until it is empty; then every set fires at the first possible
/// moment. A program that first offers all samples and then calls next() gets the freshest set with primary(); with the
/// other policies it needs queues that hold all of the samples.
///
/// Samples are kept by reference, not copied: they are held as long as they wait (see holds()). Each offered sample is
/// used, still waiting, or counted with the reason why it was not used (FusionInputStatistics).
///
/// Thread safety: statistics() from any thread; everything else from one thread at a time. Never blocks, and allocates
/// nothing after construction.
template <class... Ts>
class Fusion {
  static_assert(sizeof...(Ts) >= 2 && sizeof...(Ts) <= kMaxFusionInputs, "cardan::Fusion joins 2 to 8 inputs");

 public:
  /// One sample of each input, in their order. The sample of an input that is not `required` may be empty (primary
  /// only).
  using Set = std::tuple<Sample<Ts>...>;
  /// Type of input I.
  template <std::size_t I>
  using Message = std::tuple_element_t<I, std::tuple<Ts...>>;
  static constexpr std::size_t kInputs = sizeof...(Ts);  ///< number of streams

  /// Throws Error (InvalidArgument) for an input that does not exist, a negative time, a queue of 0 or more than 1024,
  /// or a message without the stamp that the policy uses.
  explicit Fusion(const FusionPolicy& policy = primary()) : core_(policy, kInputs, kStamps) {}

  /// Offers a sample of input I. Keeps a reference if it may be of use. An empty sample is ignored.
  template <std::size_t I>
  void offer(const Sample<Message<I>>& sample) noexcept {
    static_assert(I < kInputs);
    core_.offer(I, detail::block_of(sample));
  }

  /// Returns the next set. Empty: there is none until more samples are offered.
  [[nodiscard]] std::optional<Set> next() noexcept {
    std::array<detail::SampleBlock*, kInputs> blocks;
    if (!core_.next(blocks.data())) return std::nullopt;
    return adopt(blocks, std::index_sequence_for<Ts...>{});
  }

  /// Drops waiting samples and forgets the times so far, as after a restart. The counts continue.
  void clear() noexcept { core_.clear(); }

  /// Counts so far. They belong to one moment if no thread offers meanwhile; otherwise each count is correct by itself.
  /// Any thread; never blocks.
  [[nodiscard]] FusionStatistics statistics() const noexcept { return core_.statistics(); }

  /// The minimum `SubscriberOptions::holds` of each input's subscriber, if a program drops a sample once it is offered
  /// and a set before it takes the next sample. Add the samples that the program holds beyond that.
  [[nodiscard]] std::size_t holds() const noexcept { return core_.capacity() + 1; }

 private:
  template <std::size_t... I>
  static std::optional<Set> adopt(const std::array<detail::SampleBlock*, kInputs>& blocks,
                                  std::index_sequence<I...>) noexcept {
    return std::optional<Set>(std::in_place, detail::sample_of<Ts>(blocks[I])...);
  }

  static constexpr std::array<detail::FusionStamp, kInputs> kStamps{detail::fusion_stamp_of<Ts>()...};
  detail::FusionCore core_;
};

}  // namespace cardan
