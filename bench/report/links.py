# SPDX-License-Identifier: Apache-2.0
"""How many links at the same time a peer sustains: from the cells "1p1s …", "2x1p1s …", "4x1p1s …" of the transport."""
import math
import re
from dataclasses import dataclass, field

from results import name_of_size

LEAST_ARRIVED, LEAST_OF_RATE = 0.99, 0.95
CRITERION = (f"Links are separate topics, each with its processes, at the same time and under one set of conditions. "
             f"A number of them is sustained if at least {100 * LEAST_ARRIVED:g} % of the frames arrived and the mean rate "
             f"of the publishers is at least {100 * LEAST_OF_RATE:g} % of the asked one. The share that arrived and that "
             f"rate are given for each number.")
CELL = re.compile(r"(?:([1-9][0-9]{0,5})x)?([0-9]+p[0-9ps]+s)( .*)?", re.DOTALL | re.ASCII)


def split_links(cell):
    """Of "4x1p1s cv": 4 and "1p1s cv". Links are 0 if the cell has another form; that of one link has no "1x"."""
    found = CELL.fullmatch(cell)
    if not found or found[1] == "1":
        return 0, cell
    return int(found[1] or 1), found[2] + (found[3] or "")


@dataclass
class Point:
    """The results of a peer with a number of links."""
    links: int
    arrived: float
    asked_hz: float
    achieved_hz: float

    @property
    def sustained(self):
        return self.arrived >= LEAST_ARRIVED and self.achieved_hz >= LEAST_OF_RATE * self.asked_hz

    @property
    def text(self):
        # Not rounded up to what is more than arrived.
        return f"{math.floor(1000 * self.arrived + 1e-6) / 10:.4g} % at {self.achieved_hz:.1f} Hz"


@dataclass
class Peer:
    cell: str  # of one link, with the size and rate of its message
    contender: str
    points: list = field(default_factory=list)  # by ascending numbers of links
    commands: list = field(default_factory=list)

    @property
    def text(self):
        most = max((point.links for point in self.points if point.sustained), default=0)
        return "none" if most == 0 else f"{most} or more" if most == self.points[-1].links else str(most)


def links_of(measurements):
    """Of each contender that was measured with several numbers of links, in the order of the measurements."""
    def key(m, cell):
        return m.peer, m.setup, cell, m.bytes, m.rate_hz

    rates = {key(m, m.cell): m.p50 for m in measurements
             if m.part == "transport" and m.quantity == "achieved rate" and m.kept}
    peers = {}
    for m in measurements:
        links, cell = split_links(m.cell)
        rate = rates.get(key(m, m.cell))
        if m.part != "transport" or not m.due or m.lost is None or m.rate_hz <= 0 or rate is None or links == 0:
            continue
        peer = peers.setdefault(key(m, cell), Peer(f"{cell}, {name_of_size(m.bytes)}, {m.rate_hz:g} Hz", m.contender))
        peer.points.append(Point(links, 1 - m.lost_share, m.rate_hz, rate))
        peer.commands += [m.command] if m.command else []
    for peer in peers.values():
        peer.points.sort(key=lambda point: point.links)
    # One number of links, measured once or in several parts, does not show how many are sustained.
    return [peer for peer in peers.values() if peer.points[0].links != peer.points[-1].links]
