// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "cardan/message.hpp"
#include "cardan/shm_vector.hpp"

namespace cardan::bench {

/// The messages between the nodes of the system's benchmark.
struct NodeFrame {
  std::uint64_t number = 0;
  shm::vector<std::uint8_t> data;
};

}  // namespace cardan::bench

CARDAN_MESSAGE(cardan::bench::NodeFrame, "cardan_bench/msg/NodeFrame", number, data);
