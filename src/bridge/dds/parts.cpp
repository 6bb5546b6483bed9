// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/parts.hpp"

#include <malloc.h>

#include <algorithm>

#include "src/bridge/dds/half_received.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::int64_t kPeriod = 100'000'000;
/// Readers, topics and writers alike.
std::vector<dds_entity_t> children(dds_entity_t parent) {
  constexpr std::size_t kMost = 16384;
  std::vector<dds_entity_t> all(kMost);
  const dds_return_t count = ::dds_get_children(parent, all.data(), all.size());
  all.resize(std::min<std::size_t>(static_cast<std::size_t>(std::max(count, 0)), all.size()));
  return all;
}

/// Those of a participant. Cyclone makes a subscriber for each.
std::vector<dds_entity_t> readers_of(dds_entity_t participant) {
  std::vector<dds_entity_t> readers;
  for (const dds_entity_t subscriber : children(participant))
    for (const dds_entity_t reader : children(subscriber)) readers.push_back(reader);
  return readers;
}

}  // namespace

void PartsBound::look(const WireTopic& topic, dds_entity_t participant, const std::vector<Guid>& others,
                      std::int64_t now) {
  if (now < due_ns_) return;
  due_ns_ = now + kPeriod;
  if (!exceeded()) return;
  const std::vector<dds_entity_t> readers = readers_of(participant);
  for (const dds_entity_t reader : readers) forget_parts_of_all(topic, reader);
  for (const Guid& other : others) forget_announcements(topic, other);
  if (exceeded())
    for (const dds_entity_t reader : readers) forget_who_lets_wait(topic, reader);
  lowest_ = SIZE_MAX;  // other memory that has grown must not make it forget parts again and again
  ++times_;
}

bool PartsBound::exceeded() noexcept {
  const auto heap = ::mallinfo2();
  const std::size_t used = heap.uordblks + heap.hblkhd;
  lowest_ = std::min(lowest_, used);
  return used - lowest_ > most_;
}

}  // namespace cardan::bridge::dds
