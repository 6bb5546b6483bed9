# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge dds` against Fast DDS, ROS 2's default, in its own network.

dds_fastdds_test.py BIN_DIRECTORY. Makes a network namespace; where it may not, the test is skipped (77).
"""
from dds_case import BIN, BridgeCase  # first: it enters the network

import json
import os
import subprocess
import sys
import unittest

PEER = BIN / "bridge_fastdds"


class FastDds(BridgeCase):
    def peer_process(self, *words):
        return self.start(PEER, *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def lines(self, process, count):
        os.set_blocking(process.stdout.fileno(), False)
        got = []

        def more():
            while line := process.stdout.readline():
                got.append(json.loads(line))
            return len(got) >= count
        self.until(more, f"{count} messages")
        return got

    def test_images_of_cardan_reach_it_as_they_were(self):
        self.publish(640, 480, 20)
        bridge = self.bridge()
        images = self.lines(self.peer_process("read", self.id, "rt/camera"), 20)
        for image in images:
            self.assertEqual({k: image[k] for k in ("frame", "height", "width", "encoding", "step", "bytes", "same")},
                             {"frame": "front", "height": 480, "width": 640, "encoding": "bgr8", "step": 1920, "bytes": 640 * 480 * 3, "same": True})
            self.assertEqual(image["first"], image["stamp"] % 251)
        # Not their order: Fast DDS sorts by the writer's stamp, which it forgets of fragments that were sent again.
        self.assertEqual(len({image["stamp"] for image in images}), len(images), "none comes twice")
        self.assertTrue(any(image["source"] > 0 for image in images), "Fast DDS forgets the stamp of fragments that were sent again")
        counts = self.until(lambda: (c := self.topic(bridge, "/camera")) and c["carried"] >= 20 and c, "counts")
        self.assertEqual((counts["receivers"], counts["refused"]), (1, 0))

    def test_its_images_come_in_as_they_were(self):
        bridge = self.bridge("--in", "/rear")
        self.peer_process("write", self.id, "rt/rear", 640, 480, 20)
        images = self.lines(self.watch("image", "/rear"), 20)
        for image in images:
            self.assertEqual({k: image[k] for k in ("height", "width", "bytes", "same")}, {"height": 480, "width": 640, "bytes": 640 * 480 * 3, "same": True})
            self.assertGreater(image["source"], 0, "the writer's stamp")
        self.assertGreater(len({image["first"] for image in images}), 10)
        counts = self.until(lambda: (c := self.topic(bridge, "/rear", "in")) and c["carried"] >= 20 and c, "counts")
        self.assertEqual(counts["refused"], 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
