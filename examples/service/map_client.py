# SPDX-License-Identifier: Apache-2.0
"""Asks the server of maps, which is in C++, for the map around a place, and counts the cells that are occupied."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import cardan


@cardan.message("example_msgs/msg/Region")
@dataclass
class Region:
    x: float = 0.0
    y: float = 0.0
    radius: float = 0.0


@cardan.message("example_msgs/msg/Map")
@dataclass
class Map:
    width: cardan.uint32 = 0
    cells: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))


region = cardan.Service("/map/region", Region, Map, max_answer_bytes=1 << 20, pending=2)

with region.client() as client:
    answer = client.call(x=0.0, y=0.0, radius=50.0, timeout=10)
    print(f"{answer.width} x {answer.width} cells, {np.count_nonzero(answer.cells)} occupied")
