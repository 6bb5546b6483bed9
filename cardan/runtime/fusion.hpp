// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "cardan/runtime/fusion/fusion_core.hpp"
#include "cardan/runtime/fusion/fusion_policy.hpp"
#include "cardan/transport/sample.hpp"

namespace cardan {

/// Joins 2 to 8 streams of samples into sets, by a policy: primary(), approximate() or exact().
///
///     cardan::Fusion<Image, PointCloud> fusion{cardan::approximate({.tolerance = 20ms})};
///     …
///     fusion.offer<0>(image);
///     while (auto set = fusion.next()) {
///       auto& [front, cloud] = *set;
///       …
///     }
///
/// Sets are decided in next(): call it until it is empty after each offer, then every set fires at the first moment
/// that it can. Who offers all that there is first and then asks gets the freshest of it with primary(), and needs
/// queues that hold it all with the others.
///
/// Samples are kept by reference, not copied: as long as they wait they are held (see holds()). Each offered sample is
/// used, still waiting, or counted with the reason why not (FusionInputStatistics).
///
/// Thread safety: statistics() from any thread; all else from one thread at a time. Never blocks, and allocates nothing
/// after construction.
template <class... Ts>
class Fusion {
  static_assert(sizeof...(Ts) >= 2 && sizeof...(Ts) <= kMaxFusionInputs, "cardan::Fusion joins 2 to 8 inputs");

 public:
  /// One sample of each input, in their order. An empty one: an input that is not `required` (primary only).
  using Set = std::tuple<Sample<Ts>...>;
  template <std::size_t I>
  using Message = std::tuple_element_t<I, std::tuple<Ts...>>;
  static constexpr std::size_t kInputs = sizeof...(Ts);

  /// Throws Error (InvalidArgument): an input that there is not, a negative time, a queue of 0 or more than 1024, a
  /// message without the stamp that the policy goes by.
  explicit Fusion(const FusionPolicy& policy = primary()) : core_(policy, kInputs, kStamps) {}

  /// A sample of input I has come; keeps a reference of it if it may be of use. An empty one is ignored.
  template <std::size_t I>
  void offer(const Sample<Message<I>>& sample) noexcept {
    static_assert(I < kInputs);
    core_.offer(I, detail::block_of(sample));
  }

  /// The next set; empty: there is none before more is offered.
  [[nodiscard]] std::optional<Set> next() noexcept {
    std::array<detail::SampleBlock*, kInputs> blocks;
    if (!core_.next(blocks.data())) return std::nullopt;
    return adopt(blocks, std::index_sequence_for<Ts...>{});
  }

  /// Lets go what waits and forgets the times so far, as after a restart; counts on.
  void clear() noexcept { core_.clear(); }

  /// Counts so far. Those of one moment while nobody offers; else each for itself. Any thread; never blocks.
  [[nodiscard]] FusionStatistics statistics() const noexcept { return core_.statistics(); }

  /// The least `SubscriberOptions::holds` of each input's subscriber, if a program drops a sample once it is offered
  /// and a set before it takes the next sample; add what it holds beyond that.
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
