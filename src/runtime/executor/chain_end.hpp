// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/detail/atomic.hpp"
#include "src/runtime/executor/histogram.hpp"
#include "src/transport/endpoint/chain_role.hpp"

namespace cardan::detail {

/// How old the information of one chain is at the publications of one output that the chain ends with, and which
/// component made it old. The publishing thread adds; any thread reads. Never blocks.
class ChainEnd {
 public:
  struct Hop {
    std::uint32_t key;
    std::string component;
    Atomic<std::uint64_t> longest{0};    ///< publications on whose way this component took longest
    Atomic<std::uint64_t> late{0};       ///< those of them that exceeded the budget
    Atomic<std::int64_t> longest_ns{0};  ///< the most that it took of them
  };

  /// `components`: all of the system, any of which may be on the way.
  ChainEnd(config::Chain chain, const std::vector<std::string>& components);

  void published(std::span<const ChainGround> grounds, std::int64_t now) noexcept;

  [[nodiscard]] const config::Chain& chain() const noexcept { return chain_; }
  /// From the oldest publication at the beginning to that at the end.
  [[nodiscard]] const Histogram& age() const noexcept { return age_; }
  /// Publications that kept to the budget, or have none.
  [[nodiscard]] std::uint64_t in_time() const noexcept { return in_time_.load(std::memory_order_relaxed); }
  /// Those that exceeded it. Read before the facts about the last one below, which are then at least of that one.
  [[nodiscard]] std::uint64_t late() const noexcept { return late_.load(std::memory_order_acquire); }
  /// Those whose age is not known, because another user's samples are on the way.
  [[nodiscard]] std::uint64_t unknown() const noexcept { return unknown_.load(std::memory_order_relaxed); }
  /// Clock of the runtime, nanoseconds: the last publication that exceeded the budget; 0: none yet.
  [[nodiscard]] std::int64_t last_late_ns() const noexcept { return last_late_ns_.load(std::memory_order_relaxed); }
  /// The age of that one, and the component that took longest; null: no component is known.
  [[nodiscard]] std::int64_t last_late_age() const noexcept { return last_late_age_.load(std::memory_order_relaxed); }
  [[nodiscard]] const Hop* last_late_hop() const noexcept { return last_late_hop_.load(std::memory_order_relaxed); }
  /// The time that component took.
  [[nodiscard]] std::int64_t last_late_hop_ns() const noexcept {
    return last_late_hop_ns_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const std::deque<Hop>& hops() const noexcept { return hops_; }

 private:
  [[nodiscard]] Hop* hop(std::uint32_t key) noexcept;

  const config::Chain chain_;
  const std::uint32_t from_;
  Histogram age_;
  Atomic<std::uint64_t> in_time_{0}, late_{0}, unknown_{0};
  Atomic<std::int64_t> last_late_ns_{0}, last_late_age_{0}, last_late_hop_ns_{0};
  Atomic<const Hop*> last_late_hop_{nullptr};
  std::deque<Hop> hops_;  ///< one for each component; an atomic cannot move
};

/// The chains that end with one output.
class ChainEnds {
 public:
  ChainEnds(const std::string& topic, const std::vector<config::Chain>& chains,
            const std::vector<std::string>& components);

  /// As ChainRole::ends.
  static void published(void* self, std::span<const ChainGround> grounds, std::int64_t now) noexcept {
    for (ChainEnd& end : static_cast<ChainEnds*>(self)->ends_) end.published(grounds, now);
  }
  [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
  [[nodiscard]] const std::deque<ChainEnd>& all() const noexcept { return ends_; }

 private:
  std::deque<ChainEnd> ends_;
};

}  // namespace cardan::detail
