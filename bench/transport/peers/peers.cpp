// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/peers/peers.hpp"

namespace cardan::bench {

Wiring wire(const Contender& contender, const Cell& cell) {
  switch (contender.peer) {
    case Peer::Raw:
      return wire_raw(cell);
    case Peer::Sim:
      return wire_sim(cell);
    case Peer::Uds:
      return wire_socket(cell, false);
    case Peer::Tcp:
      return wire_socket(cell, true);
    case Peer::Cardan:
      break;
  }
  return {};
}

}  // namespace cardan::bench
