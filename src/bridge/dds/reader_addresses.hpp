// SPDX-License-Identifier: Apache-2.0
// To how many places a message is sent.
#pragma once

#include <dds/dds.h>

#include <cstddef>

#include "src/bridge/dds/wire.hpp"

namespace cardan::bridge::dds {

/// Each address at which a topic is read costs a system call for each packet, and anybody can announce readers at
/// addresses that nobody listens to. Cyclone's own work grows with their square.
struct ReaderAddresses {
  std::size_t most_of_one = 16;  ///< of the readers that one participant has of a topic
  std::size_t most = 256;        ///< of all readers of a topic
};

/// Forgets the participants whose readers of what this writer writes have too many addresses, those with the most
/// first. Returns how many. They are found again when they announce themselves. Any thread; does not block for long.
/// Throws bad_alloc.
[[nodiscard]] std::size_t forget_readers_everywhere(const WireTopic& topic, dds_entity_t writer,
                                                    const ReaderAddresses& limits);

}  // namespace cardan::bridge::dds
