// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/own_slots.hpp"

namespace cardan::detail {

/// The holders of slots, for the protocol.
struct OwnSlots::Peers {
  const OwnSamples& own;
  PublisherTable& table;

  template <class F>
  void look(std::uint32_t, const Attached* a, F&& f) const noexcept {
    f(*a->page);
  }
  [[nodiscard]] std::uint32_t announced(const Attached* a) const noexcept { return a->announced; }
  [[nodiscard]] bool kept(std::uint32_t slot) const noexcept { return own.kept(slot); }
  [[nodiscard]] bool cut_off(Attached* a) const noexcept { return table.cut_off(*a); }
};

// For small messages it is faster to check many slots at once. For big ones a slot that is still warm in the cache pays
// more.
OwnSlots::OwnSlots(const OwnArea& area, const PublisherContract& contract)
    : loans_(contract.options.loans),
      reuse_warm_(layout::payloads_apart(contract.options.max_bytes)),
      fewest_(contract.fewest_slots()) {
  pool_.make(area.header().max_slots);
  commit(area, fewest_);
}

void OwnSlots::commit(const OwnArea& area, std::uint32_t count) {
  const std::uint32_t have = committed_.load(std::memory_order_relaxed);
  if (count <= have) return;
  area.commit(have, count);
  for (std::uint32_t s = have; s < count; ++s) pool_.states.give_back(s);
  committed_.store(count, std::memory_order_release);
}

void OwnSlots::reserve(const OwnArea& area, std::uint32_t count) {
  commit(area, fewest_ + reserved_ + count);
  reserved_ += count;
}

CARDAN_PUBLISH_PATH void OwnSlots::reclaim(const SlotPlaces& at, PublisherTable& table, std::uint64_t newest) noexcept {
  const std::uint32_t aside =
      pool_.reclaim(at.ring, table.entries(), committed_.load(std::memory_order_acquire), newest, Peers{own_, table});
  if (aside != 0)
    at.hot->set_aside.store(at.hot->set_aside.load(std::memory_order_relaxed) + aside, std::memory_order_relaxed);
}

}  // namespace cardan::detail
