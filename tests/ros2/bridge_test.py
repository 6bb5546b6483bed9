# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge dds` against rclcpp: bridge_test.py BIN_DIRECTORY ROS2_PEER SOURCES."""
import json
import socket
import time

from ros2_case import PEER, Ros2Case, each_rmw, run


class Bridge(Ros2Case):
    def check_images(self, images):
        """That each is whole, and that none came twice or out of order."""
        stamps = []
        for image in images:
            self.assertEqual((image["width"], image["height"], image["encoding"], image["whole"]), (640, 480, "bgr8", True))
            self.assertEqual(image["first"], image["stamp"] % 251)
            stamps.append(image["stamp"])
        self.assertEqual(stamps, sorted(set(stamps)))

    def send_images(self, reliability):
        self.endpoints("publish", 640, 480, 30)
        self.bridge()
        peer = self.start(PEER, "watch", "/camera", reliability)
        self.until(lambda: len(self.lines(peer)) >= 60, "60 images arrive at the ROS 2 node")
        self.check_images(self.objects(peer))

    def test_images_arrive_at_a_reliable_node(self):
        self.send_images("reliable")

    def test_images_arrive_at_a_best_effort_node(self):
        self.send_images("best_effort")

    def test_images_of_a_node_come_in(self):
        bridge = self.bridge("--in", "/rear")
        watcher = self.endpoints("watch", "image", "/rear")
        self.start(PEER, "images", "/rear", 640, 480, 30)
        self.until(lambda: len(self.objects(watcher)) >= 60, "60 images arrive in Cardan")
        for image in self.objects(watcher):
            self.assertEqual((image["width"], image["height"], image["bytes"], image["same"]), (640, 480, 640 * 480 * 3, True))
        counts = self.until(lambda: (c := self.counts(bridge, "/rear", "in")) and c["carried"] >= 60 and c, "the bridge counts them")
        self.assertEqual(counts["refused"], 0)

    def test_the_bridge_is_a_node_with_its_topics(self):
        self.endpoints("publish", 64, 48, 30)
        self.bridge()
        peer = self.start(PEER, "graph")
        wanted = {"node /cardan_bridge", "topic /camera sensor_msgs/msg/Image", "topic /lidar sensor_msgs/msg/PointCloud2",
                  "topic /text std_msgs/msg/String", "publisher /camera cardan_bridge sensor_msgs/msg/Image"}
        self.until(lambda: wanted <= set(self.lines(peer)), f"the graph has {sorted(wanted)}")

    def test_messages_of_a_node_come_in(self):
        bridge = self.bridge("--in", "/from_ros")
        watcher = self.endpoints("watch", "text", "/from_ros")
        self.start(PEER, "talk", "/from_ros")
        self.until(lambda: len(self.lines(watcher)) >= 20, "20 texts arrive in Cardan")
        self.assertTrue(all("hello " in line for line in self.lines(watcher)), self.lines(watcher)[:3])
        self.end(bridge)

    def test_a_bridge_that_starts_last_meets_running_nodes(self):
        self.endpoints("publish", 64, 48, 30)
        peer = self.start(PEER, "watch", "/camera", "reliable")
        time.sleep(2)
        self.bridge()
        self.until(lambda: len(self.lines(peer)) >= 10, "images arrive")


class Network(Ros2Case):
    """ROS 2's default settings: nodes use the network's interface, not loopback."""
    def setUp(self):
        super().setUp()
        if "near" not in (name for _, name in socket.if_nameindex()):
            self.skipTest("no network of its own")
        self.environment.pop("ROS_LOCALHOST_ONLY")

    def test_both_ways(self):
        self.endpoints("publish", 64, 48, 30)
        self.bridge("--discovery", "subnet", "--in", "/from_ros")
        watcher = self.endpoints("watch", "text", "/from_ros")
        peer = self.start(PEER, "watch", "/camera", "reliable")
        self.start(PEER, "talk", "/from_ros")
        self.until(lambda: len(self.lines(peer)) >= 30, "images arrive at the ROS 2 node")
        self.until(lambda: len(self.lines(watcher)) >= 10, "texts arrive in Cardan")

    def test_a_bridge_on_loopback_says_why_it_meets_nobody(self):
        self.start(PEER, "talk", "/from_ros")
        bridge = self.bridge()
        self.until(lambda: any("--discovery subnet" in note for o in self.objects(bridge) for note in o["notes"]), "a note")


class Latched(Ros2Case):
    def test_a_late_node_gets_static_transforms(self):
        for child in ("left", "right"):
            process = self.endpoints("transforms", child)
            self.until(lambda: "ready" in self.lines(process), "it was published")
        bridge = self.bridge()
        self.until(lambda: (c := self.counts(bridge, "/tf_static", "out")) and c["carried"] == 2, "the bridge has both")
        late = self.start(PEER, "transforms_of", "/tf_static")
        self.until(lambda: {"base left", "base right"} <= set(self.lines(late)), "both arrive")

    def test_static_transforms_of_a_node_wait_for_late_subscribers(self):
        self.start(PEER, "broadcast", "wheel")
        time.sleep(1)
        bridge = self.bridge("--in", "/tf_static")
        self.until(lambda: (c := self.counts(bridge, "/tf_static", "in")) and c["carried"] == 1, "it comes in")
        watcher = self.endpoints("watch", "any", "/tf_static")
        self.until(lambda: any("wheel".encode().hex() in line for line in self.lines(watcher)), "a late subscriber gets it")


class Parameters(Ros2Case):
    NAME = "brake.limit_m"

    def client(self, *wish):
        """The answers to an rclcpp::AsyncParametersClient from the bridge's node."""
        peer = self.start(PEER, "parameters", "/cardan_bridge", self.NAME, *wish)
        self.until(lambda: peer.poll() is not None, "the client ends")
        self.assertEqual(peer.returncode, 0, self.lines(peer))
        return self.objects(peer)[-1]

    def serve(self, **rules):
        path = self.path / "rules.json"
        path.write_text(json.dumps({"dds": rules}))
        self.bridge(path)
        self.components()
        self.until(lambda: self.NAME in self.client()["names"], "the parameter is listed")

    def test_a_client_reads_them(self):
        self.serve()
        got = self.client()
        self.assertEqual((got["type"], got["value"]), ("double", 6.0))
        self.assertEqual((got["description"], got["read_only"], got["from"], got["to"]), ("brakes below, metres", True, 0.0, 100.0))

    def test_a_client_sets_them_where_a_rule_says_so(self):
        self.serve(set_parameters=True)
        self.assertEqual((got := self.client("9.5"))["set"], True, got)
        self.assertEqual(got["value"], 9.5)
        self.assertEqual((got := self.client("500"))["set"], False, got)
        self.assertIn("100", got["reason"])
        self.assertEqual(got["value"], 9.5)

    def test_a_client_sets_nothing_otherwise(self):
        self.serve()
        self.assertEqual((got := self.client("9.5"))["set"], False, got)
        self.assertIn("set_parameters", got["reason"])
        self.assertEqual(got["value"], 6.0)


if __name__ == "__main__":
    tests = each_rmw([Bridge, Network, Latched])
    # rmw_fastrtps numbers its requests where the bridge does not see them (docs/bridges.md).
    tests.addTests(each_rmw([Parameters], ["rmw_cyclonedds_cpp"]))
    run(tests)
