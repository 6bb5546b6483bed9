// SPDX-License-Identifier: Apache-2.0
// Asks for the map around a place, and counts the cells that are occupied.
#include <algorithm>
#include <iostream>

#include "map.hpp"

int main() {
  using namespace std::chrono_literals;
  cardan::Client client{example::kMap};
  const auto map = client.call({.x = 0, .y = 0, .radius = 50}, 10s);
  if (!map) {
    std::cerr << map.text() << '\n';
    return 1;
  }
  std::cout << map->width << " x " << map->width << " cells, " << std::count(map->cells.begin(), map->cells.end(), 1)
            << " occupied\n";
}
