// SPDX-License-Identifier: Apache-2.0
// Answers with a part of a map, filled in shared memory, until Ctrl-C.
#include <cardan/stop.hpp>
#include <cmath>

#include "map.hpp"

int main() {
  cardan::stop_on_signals();
  cardan::Server server{example::kMap};
  while (auto question = server.wait()) {
    const double radius = question->radius;
    if (!(radius > 0 && radius <= 500)) {
      question.decline("the radius is not within 0 to 500 m");
      continue;
    }
    auto map = question.loan();
    if (!map) continue;
    map->width = static_cast<std::uint32_t>(2 * radius);
    map->cells.resize(static_cast<std::size_t>(map->width) * map->width);
    for (std::size_t i = 0; i < map->cells.size(); ++i) {  // a wall at x = 10
      const double x = question->x - radius + static_cast<double>(i % map->width);
      map->cells[i] = std::abs(x - 10) < 0.5 ? 1 : 0;
    }
    question.reply(std::move(map));
  }
}
