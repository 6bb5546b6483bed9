# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge dds` against crates.io's ros2-client on RustDDS, a ROS 2 node that shares no code with Cyclone DDS or Fast DDS.

dds_ros2_client_test.py BIN_DIRECTORY SOURCES. Makes a network namespace; where it may not, the test is skipped (77).
scripts/deep/dds.sh builds the peer.
"""
from dds_case import BIN, CARDAN, BridgeCase  # first: it enters the network

import json
import os
import pathlib
import subprocess
import sys
import unittest

PEER = BIN / "bridge-ros2-client"
SYSTEM = pathlib.Path(sys.argv[2]).resolve() / "examples" / "component" / "brake.json"


class Ros2Client(BridgeCase):
    def far_side(self, verb, *words):
        process = self.start(PEER, verb, self.id, *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.set_blocking(process.stdout.fileno(), False)
        return process

    def lines(self, process, enough, why):
        got = []

        def more():
            while line := process.stdout.readline():
                got.append(json.loads(line))
            return enough(got)
        self.until(more, why)
        return got

    def test_it_sees_the_bridge_as_a_node(self):
        self.bridge("--gid", "16")  # ros2-client is of Jazzy
        self.lines(self.far_side("nodes"), lambda got: {"node": "/cardan_bridge"} in got, "the node is seen")

    def test_images_of_cardan_reach_it_as_they_were(self):
        self.publish(320, 240, 20)
        bridge = self.bridge()
        images = self.lines(self.far_side("read", "/camera"), lambda got: len(got) >= 20, "20 images")
        before = 0
        for image in images:
            self.assertEqual({k: image[k] for k in ("frame", "height", "width", "encoding", "step", "bytes", "same")},
                             {"frame": "front", "height": 240, "width": 320, "encoding": "bgr8", "step": 960, "bytes": 320 * 240 * 3, "same": True})
            self.assertGreater(image["stamp"], before)
            before = image["stamp"]
            self.assertEqual(image["first"], image["stamp"] % 251)
        counts = self.until(lambda: (c := self.topic(bridge, "/camera")) and c["carried"] >= 20 and c, "counts")
        self.assertEqual((counts["receivers"], counts["refused"]), (1, 0))

    def test_its_images_come_in_as_they_were(self):
        bridge = self.bridge("--in", "/rear")
        self.far_side("write", "/rear", 320, 240, 20)
        watcher = self.watch("image", "/rear")
        os.set_blocking(watcher.stdout.fileno(), False)
        images = self.lines(watcher, lambda got: len(got) >= 20, "20 images")
        for image in images:
            self.assertEqual({k: image[k] for k in ("height", "width", "bytes", "same")}, {"height": 240, "width": 320, "bytes": 320 * 240 * 3, "same": True})
        self.assertGreater(len({image["first"] for image in images}), 10)
        counts = self.until(lambda: (c := self.topic(bridge, "/rear", "in")) and c["carried"] >= 20 and c, "counts")
        self.assertEqual(counts["refused"], 0)

    def test_it_lists_gets_and_sets_parameters(self):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"dds": {"set_parameters": True}}))
        self.bridge(rules)
        self.start(CARDAN, "run", SYSTEM, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until(lambda: "limit_m" in subprocess.run([CARDAN, "param", "list", "--json"], env=self.environment, capture_output=True, text=True).stdout,
                   "the component has its parameter")
        got = self.lines(self.far_side("parameters", "/cardan_bridge", "brake.limit_m", "7.5"), lambda got: len(got) >= 4, "answers")
        self.assertIn("brake.limit_m", got[0]["names"])
        self.assertIn("6.0", got[1]["values"])
        self.assertEqual(got[2], {"set": True, "reason": ""})
        self.assertIn("7.5", got[3]["values"])


if __name__ == "__main__":
    if not PEER.exists():
        print(f"skipped: no {PEER.name} — scripts/deep/dds.sh builds it")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
