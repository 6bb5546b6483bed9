# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge dds` against rclcpp: bridge_test.py BIN_DIRECTORY ROS2_PEER, in a network namespace, with a ROS 2 sourced."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv[1]).resolve()
PEER = pathlib.Path(sys.argv[2]).resolve()
PATIENCE = 90  # s: only what hangs takes so long


class Ros2Case(unittest.TestCase):
    next_domain = 40

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-ros2-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        Ros2Case.next_domain += 1
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run"), "ROS_DOMAIN_ID": str(self.next_domain),
                            "ROS_LOCALHOST_ONLY": "1", "ROS_LOG_DIR": str(self.path / "log")}
        self.environment.pop("CARDAN_DOMAIN", None)
        self.started = 0

    def start(self, *words, stdin=None):
        """A process whose lines go to a file."""
        self.started += 1
        out = open(self.path / f"{self.started}.out", "w+")
        self.addCleanup(out.close)
        process = subprocess.Popen([str(w) for w in words], env=self.environment, cwd=self.path, stdin=stdin, stdout=out, stderr=subprocess.STDOUT)
        process.path = self.path / f"{self.started}.out"
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.stdin:
            process.stdin.close()
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)

    def until(self, what, why):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := what():
                return value
            time.sleep(0.05)
        said = "\n".join(f"{f.name}: {f.read_text()[-1500:]}" for f in sorted(self.path.glob("*.out")))
        self.fail(f"did not happen: {why}\n{said}")

    @staticmethod
    def lines(process):
        return [line for line in process.path.read_text().split("\n")[:-1] if line]

    def bridge(self, *options):
        return self.start(BIN / "cardan", "bridge", "dds", "--json", *options)

    def endpoints(self, *words):
        return self.start(BIN / "bridge_endpoints", *words, stdin=subprocess.PIPE)


class Bridge(Ros2Case):
    def check_images(self, reliability):
        self.endpoints("publish", 640, 480, 30)
        self.bridge()
        peer = self.start(PEER, "watch", "/camera", reliability)
        self.until(lambda: len(self.lines(peer)) >= 60, "60 images arrive at the ROS 2 node")
        stamps = []
        for line in self.lines(peer):
            image = json.loads(line)
            self.assertEqual((image["width"], image["height"], image["encoding"], image["whole"]), (640, 480, "bgr8", True))
            self.assertEqual(image["first"], image["stamp"] % 251)
            stamps.append(image["stamp"])
        self.assertEqual(stamps, sorted(set(stamps)))

    def test_images_arrive_at_a_reliable_node(self):
        self.check_images("reliable")

    def test_images_arrive_at_a_best_effort_node(self):
        self.check_images("best_effort")

    def test_the_bridge_is_a_node_with_its_topics(self):
        self.endpoints("publish", 64, 48, 30)
        self.bridge()
        peer = self.start(PEER, "graph")
        wanted = {"node /cardan_bridge", "topic /camera sensor_msgs/msg/Image", "topic /lidar sensor_msgs/msg/PointCloud2",
                  "topic /text std_msgs/msg/String", "publisher /camera cardan_bridge sensor_msgs/msg/Image"}
        self.until(lambda: wanted <= set(self.lines(peer)), f"the graph has {sorted(wanted)}")

    def test_what_a_node_says_comes_in(self):
        bridge = self.bridge("--in", "/from_ros")
        watcher = self.endpoints("watch", "text", "/from_ros")
        self.start(PEER, "talk", "/from_ros")
        self.until(lambda: len(self.lines(watcher)) >= 20, "20 texts arrive in Cardan")
        self.assertTrue(all("hello " in line for line in self.lines(watcher)), self.lines(watcher)[:3])
        bridge.send_signal(signal.SIGINT)
        self.assertEqual(bridge.wait(PATIENCE), 0, bridge.path.read_text()[-1000:])

    def test_a_bridge_that_starts_last_meets_running_nodes(self):
        self.endpoints("publish", 64, 48, 30)
        peer = self.start(PEER, "watch", "/camera", "reliable")
        time.sleep(2)
        self.bridge()
        self.until(lambda: len(self.lines(peer)) >= 10, "images arrive")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
