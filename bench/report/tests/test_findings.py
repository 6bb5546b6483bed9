# SPDX-License-Identifier: Apache-2.0
import unittest
from collections import Counter

from synthetic import constant
from findings import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, STATEMENTS, judgements
from links import links_of, split_links


class Findings(unittest.TestCase):
    def setUp(self):
        self.all = []

    def add(self, *samples, part="transport", size=0.0, **fields):
        self.all.append(constant(*samples, part=part, bytes=float(size), **{"rate_hz": 30.0, "due": 100, "lost": 0, **fields}))

    def frames(self, peer, setup, size, p50, **fields):
        self.add(p50, p50, p50, peer=peer, setup=setup, size=size, **fields)

    def expect(self, start, wanted):
        found = [(verdict, figures) for statement, verdict, figures in judgements(self.all) if statement.text.startswith(start)]
        self.assertEqual([verdict for verdict, _ in found], [wanted], (start, found))
        self.assertTrue(found[0][1])

    def test_missing_measurements_are_not_mentioned(self):
        self.assertEqual({verdict for _, verdict, _ in judgements([])}, {NOT_MEASURED})
        papers = Counter(statement.paper.partition(",")[0] for statement in STATEMENTS)
        self.assertEqual((len(papers), papers["Oops!"], len(STATEMENTS)), (5, 8, 21))

    def test_copies_cost_most_where_they_do(self):
        for peer, p50 in (("cardan", 100), ("uds", 1000), ("tcp", 900)):
            self.frames(peer, "block", 4e6, p50)
        self.expect("Finding 1", HOLDS)
        self.frames("zeromq", "block", 4e6, 150)
        self.expect("Finding 1", DOES_NOT_HOLD)

    def test_scheduling_is_a_question_of_the_wake_up(self):
        for peer, setup, p50 in (("raw", "spin", 1), ("raw", "block", 20), ("cardan", "block", 100)):
            self.frames(peer, setup, 128, p50)
        for cell, p50 in (("1p1s load=1x50", 100), ("1p1s load=8x50", 110),
                          ("1p1s load=8x90", 900), ("1p1s load=1x90+fifo", 10)):  # another load, another policy
            self.frames("cardan", "block", 4096, p50, cell=cell)
        self.expect("Finding 5", HOLDS)
        self.frames("cardan", "block", 4096, 90, cell="1p1s load=1x90")
        self.expect("Finding 5", DOES_NOT_HOLD)
        self.all.pop()
        for peer, setup, p50 in (("raw", "spin", 1), ("raw", "block", 60), ("cardan", "block", 70)):
            self.frames(peer, setup, 8192, p50)
        self.expect("Finding 5", DOES_NOT_HOLD)

    def test_reliability_is_judged_by_peers_that_have_both(self):
        self.frames("cyclone-reliable", "block", 4096, 100)
        self.expect("Finding 2", NOT_MEASURED)
        self.frames("cyclone", "block", 4096, 90)
        self.frames("cardan", "block", 4096, 100)
        self.frames("cardan-reliable", "block", 4096, 130, rate_hz=100.0)  # another cell: not compared
        self.expect("Finding 2", HOLDS)
        self.all[-1].rate_hz = 30.0
        self.expect("Finding 2", DOES_NOT_HOLD)

    def test_a_way_for_periodic_streams_gains(self):
        self.frames("cardan", "block", 4096, 100)
        self.frames("cardan", "prewake", 4096, 95)
        self.expect("Finding 3", DOES_NOT_HOLD)
        self.frames("cardan", "anticipate", 4096, 10)
        self.expect("Finding 3", HOLDS)

    def test_ways_to_fuse_differ_in_latency(self):
        for setup, p50, quantity in (("primary slowest", 1000, "transport"), ("primary fastest", 1100, "transport"),
                                     ("primary fastest", 9000, "transport of 10 Hz")):  # of one channel: not judged
            self.add(p50, p50, part="runtime", setup=setup, cell="fusion", quantity=quantity)
        self.expect("Finding 4", DOES_NOT_HOLD)
        self.add(1300, 1300, part="runtime", setup="exact", cell="fusion")
        self.expect("Finding 4", HOLDS)

    def test_rates_must_match(self):
        self.frames("cardan", "block", 4096, 100)
        self.frames("cardan", "block", 4096, 101, rate_hz=100.0)
        self.expect("Finding 7", DOES_NOT_HOLD)
        self.all[-1].lost = 10
        self.expect("Finding 7", HOLDS)

    def test_shared_memory_and_loopback(self):
        self.frames("cardan", "block", 4e6, 100)
        self.frames("tcp", "block", 4e6, 2000)
        self.expect("Shared memory is the optimal", HOLDS)
        self.expect("Up to two orders", DOES_NOT_HOLD)
        self.frames("cardan", "anticipate", 4e6, 5)
        self.expect("Up to two orders", HOLDS)
        self.all[0].lost = 1
        self.expect("Shared memory is the optimal", DOES_NOT_HOLD)

    def test_sim_and_fastcycle(self):
        for peer, setup, p50 in (("fastdds", "block", 1000), ("sim", "poll", 30), ("sim", "block", 900)):
            self.frames(peer, setup, 640 * 480 * 3, p50)
        self.expect("SIM's mean is 95", HOLDS)
        self.expect("The same of Cardan", NOT_MEASURED)
        for peer, mean in (("cardan", 60), ("nodelet", 100)):
            self.add(mean, mean, part="runtime", peer=peer, setup="pointer", cell="fastcycle", size=4 << 20)
        self.expect("Lower mean latency", HOLDS)
        self.expect("Two to three times", DOES_NOT_HOLD)

    def test_speed_is_compared_with_rosbag2(self):
        phases = {"part": "record", "cell": "phases", "quantity": "time in system calls per message"}
        self.add(10, peer="rosbag2", setup="no transport", **phases)
        self.add(1, peer="speed", setup="copies", **phases)
        self.expect("Latency of a single write", HOLDS)
        self.all.pop()
        self.add(5, peer="speed", setup="copies", **phases)
        self.expect("Latency of a single write", DOES_NOT_HOLD)
        for cameras in range(1, 7):
            cell = {"part": "record", "cell": f"cameras {cameras} absolute", "quantity": "recorded share"}
            self.add(100 if cameras <= 4 else 50, peer="rosbag2", setup="no transport", **cell)
            self.add(100, peer="speed", setup="copies", **cell)
        self.expect("1.5 times as many cameras", HOLDS)
        self.all.pop()
        self.expect("1.5 times as many cameras", DOES_NOT_HOLD)

    def test_deviations_are_of_a_run(self):
        task = {"part": "record", "cell": "task", "quantity": "tasks in 33 ms"}
        self.add(1, 3, 1, 3, peer="rosbag2", setup="no transport", **task)
        self.add(2, 2.2, 2, 2.2, peer="cardan", setup="cycle", **task)
        self.expect("The deviation of a task", HOLDS)


class Links(unittest.TestCase):
    def setUp(self):
        self.all = []

    def add(self, cell, rate, lost, peer="tcp", due=1000):
        fields = {"peer": peer, "cell": cell, "bytes": 4e6, "rate_hz": 50.0}
        self.all += [constant(100, 200, due=due, lost=lost, **fields), constant(rate, quantity="achieved rate", **fields)]

    def sustained(self):
        return [peer.text for peer in links_of(self.all)]

    def test_cells_are_split(self):
        for cell, wanted in (("4x1p1s cv cpu=100", (4, "1p1s cv cpu=100")), ("1p1s cv", (1, "1p1s cv")),
                             ("1p1s load=8x90", (1, "1p1s load=8x90")), ("16x2p5s", (16, "2p5s"))):
            self.assertEqual(split_links(cell), wanted)
        for other in ("", "fusion", "topics 1000", "x1p1s", "0x1p1s", "-2x1p1s", "99999999999x1p1s", "4x", "4xps",
                      "pipeline A", "steps", "2x2x1p1s", "1x1p1s"):
            self.assertEqual(split_links(other), (0, other))

    def test_the_greatest_number_whose_frames_arrive_at_their_rate(self):
        self.add("1p1s cv cpu=100", 50, 0)
        self.assertEqual(self.sustained(), [])  # one number of links
        for cell, rate, lost, wanted in (("2x", 47.5, 10, "2 or more"), ("4x", 47.4, 0, "2"), ("8x", 50, 11, "2"),
                                         ("6x", 50, 9, "6")):  # in any order
            self.add(f"{cell}1p1s cv cpu=100", rate, lost)
            self.assertEqual(self.sustained(), [wanted])
        peer = links_of(self.all)[0]
        self.assertEqual([point.links for point in peer.points], [1, 2, 4, 6, 8])
        self.assertEqual((peer.points[3].text, peer.cell, peer.contender),
                         ("99.1 % at 50.0 Hz", "1p1s cv cpu=100, 4 MB, 50 Hz", "tcp block"))

    def test_none_and_several(self):
        self.add("1p1s cv", 20, 0)
        self.add("2x1p1s cv", 10, 0)
        self.assertEqual(self.sustained(), ["none"])
        self.add("1p1s cv cpu=50", 50, 0, "cardan")
        self.add("2x1p1s cv cpu=50", 50, 0, "cardan")
        self.add("4x1p1s cv cpu=50", 50, 0, "cardan", due=0)
        self.assertEqual(self.sustained(), ["none", "2 or more"])
        self.assertEqual(links_of([m for m in self.all if m.quantity != "achieved rate"]), [])
