// SPDX-License-Identifier: Apache-2.0
// The parts that Cyclone has of messages that have not come whole. wire.cpp, packets.cpp and what includes
// inner_domain.hpp use Cyclone's internal interfaces, which differ between its versions. `topic`: any one of the
// domain. Any thread; no function blocks.
#pragma once

#include <dds/dds.h>

#include <cstdint>

#include "src/bridge/dds/discovery_info.hpp"
#include "src/bridge/dds/wire.hpp"

namespace cardan::bridge::dds {

/// The highest number of a message of which the writer is known to have sent something. 0: none, or unknown.
[[nodiscard]] std::int64_t last_number_of(const WireTopic& topic, const Guid& writer) noexcept;

/// Forgets messages that have come in part. Later parts begin from nothing: a writer that is read reliably is asked for
/// it again, of another one the newest messages get the place. Cyclone itself keeps the oldest of a reliable writer:
/// read best effort, a few messages with holes would keep all later ones out for good.
void forget_parts(const WireTopic& topic, const Guid& writer) noexcept;

/// The same of all writers that this reader reads. Throws bad_alloc.
void forget_parts_of_all(const WireTopic& topic, dds_entity_t reader);

/// The same of what a participant says about itself and about its endpoints.
void forget_announcements(const WireTopic& topic, const Guid& participant) noexcept;

/// Forgets the participants of those of the reader's writers of which whole messages wait for one before them. They are
/// found again when they announce themselves. Throws bad_alloc.
void forget_who_lets_wait(const WireTopic& topic, dds_entity_t reader);

}  // namespace cardan::bridge::dds
