# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge dds` seen by the ros2 command: tools_test.py BIN_DIRECTORY ROS2_PEER SOURCES."""
import json
import re
import signal
import subprocess

from ros2_case import PATIENCE, Ros2Case, each_rmw, run


class ToolCase(Ros2Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.ros2, "daemon", "stop")  # the tool's own; it would outlive this test

    def ros2(self, *words):
        """Its output. It may look before it has found everything, so ask until the answer is there."""
        done = subprocess.run(["ros2", *words], env=self.environment, cwd=self.path, capture_output=True, text=True, timeout=PATIENCE)
        return done.stdout + done.stderr

    def prints(self, *words, wanted):
        got = [""]

        def asked():
            got[0] = self.ros2(*words)
            return all(one in got[0] for one in wanted)
        self.until(asked, f"ros2 {' '.join(words)} prints {wanted}, not {got}")
        return got[0]


class Tools(ToolCase):
    def publish(self):
        self.endpoints("publish", 64, 48, 30)
        self.bridge()

    def test_topics_and_the_node_are_listed(self):
        self.publish()
        self.prints("topic", "list", "-t", wanted=["/camera [sensor_msgs/msg/Image]", "/lidar [sensor_msgs/msg/PointCloud2]", "/text [std_msgs/msg/String]"])
        self.prints("node", "list", wanted=["/cardan_bridge"])
        self.prints("topic", "info", "-v", "/camera", wanted=["Publisher count: 1", "Node name: cardan_bridge", "Topic type: sensor_msgs/msg/Image", "RELIABLE"])

    def test_a_bridge_that_was_started_without_ros_is_listed(self):
        variables = {name: self.environment.pop(name) for name in ("ROS_DISTRO", "AMENT_PREFIX_PATH")}
        bridge = self.bridge()
        self.until(lambda: self.objects(bridge), "it runs")
        self.environment.update(variables)
        self.assertNotIn("empty node name", self.ros2("node", "list", "--no-daemon", "--spin-time", "3"))
        self.prints("node", "list", wanted=["/cardan_bridge"])

    def test_echo_and_hz(self):
        self.publish()
        self.prints("topic", "echo", "--once", "/text", wanted=["data: number "])
        self.prints("topic", "echo", "--once", "/camera", wanted=["frame_id: front", "height: 48", "width: 64", "encoding: bgr8"])
        hz = self.start("ros2", "topic", "hz", "/text")
        rates = self.until(lambda: (r := re.findall(r"average rate: ([0-9.]+)", hz.path.read_text())) and len(r) >= 5 and r, "rates")
        self.assertTrue(0 < float(rates[-1]) < 40, rates)  # 30 Hz; a busy computer loses some

    def test_its_messages_come_in(self):
        self.bridge("--in", "/said")
        watcher = self.endpoints("watch", "text", "/said")
        self.start("ros2", "topic", "pub", "-r", "10", "/said", "std_msgs/msg/String", "{data: from the tool}")
        self.until(lambda: len(self.objects(watcher)) >= 5, "it arrives")
        self.assertEqual(self.objects(watcher)[0]["text"], "from the tool")

    def test_latched_messages_and_the_log_reach_a_late_tool(self):
        process = self.endpoints("transforms", "left")
        self.until(lambda: "ready" in self.lines(process), "it was published")
        self.components()
        self.bridge()
        self.prints("topic", "echo", "--once", "/tf_static", wanted=["frame_id: base", "child_frame_id: left"])
        self.prints("topic", "echo", "--once", "/rosout", wanted=["level: 20", "name: cardan", "msg: "])
        self.prints("topic", "echo", "--once", "/diagnostics", wanted=["cardan: component brake", "message: running"])

    def test_a_message_that_is_published_once_comes_in(self):
        self.bridge("--in", "/said")
        watcher = self.endpoints("watch", "text", "/said")
        self.prints("topic", "pub", "--once", "/said", "std_msgs/msg/String", "{data: once}", wanted=["publishing #1"])
        self.until(lambda: self.objects(watcher), "it arrives")
        self.assertEqual(self.objects(watcher)[0]["text"], "once")

    def test_a_bag_is_recorded_and_played_back(self):
        if "record" not in self.ros2("bag", "--help"):
            self.skipTest("no ros2 bag")
        self.record()
        self.environment["CARDAN_RUN_DIR"] = str(self.path / "other")
        self.environment["ROS_DOMAIN_ID"] = str(int(self.environment["ROS_DOMAIN_ID"]) + 100)
        bridge = self.bridge("--in", "*")
        texts, images = self.endpoints("watch", "text", "/text"), self.endpoints("watch", "image", "/camera")
        play = self.start("ros2", "bag", "play", "--delay", "2", "bag", stdin=subprocess.DEVNULL)
        self.until(lambda: play.poll() is not None, "it ends")
        self.assertEqual(play.returncode, 0, play.path.read_text())
        self.until(lambda: len(self.objects(texts)) > 20 and len(self.objects(images)) > 20, "they arrive")
        self.assertTrue(self.objects(texts)[0]["text"].startswith("number "), self.objects(texts)[:3])
        self.assertEqual({(i["width"], i["height"], i["bytes"]) for i in self.objects(images)}, {(64, 48, 64 * 48 * 3)})
        counts = self.until(lambda: (c := self.counts(bridge, "/camera", "in")) and c["carried"] > 20 and c, "the bridge counts them")
        self.assertEqual(counts["refused"], 0)

    def record(self):
        self.publish()
        bag = self.start("ros2", "bag", "record", "-o", "bag", "/text", "/camera")
        self.until(lambda: "Subscribed to topic '/camera'" in bag.path.read_text() and "Subscribed to topic '/text'" in bag.path.read_text(), "it subscribes")
        try:
            bag.wait(5)
        except subprocess.TimeoutExpired:
            bag.send_signal(signal.SIGINT)
        bag.wait(PATIENCE)
        info = self.ros2("bag", "info", "bag")
        for topic, kind in (("/text", "std_msgs/msg/String"), ("/camera", "sensor_msgs/msg/Image")):
            found = re.search(rf"Topic: {topic} \| Type: {kind} \| Count: (\d+)", info)
            self.assertTrue(found and int(found.group(1)) > 20, info)


class ParameterTools(ToolCase):
    NAME = "brake.limit_m"

    def test_parameters(self):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"dds": {"set_parameters": True}}))
        self.bridge(rules)
        self.components()
        node = "/cardan_bridge"
        self.prints("param", "list", node, wanted=[self.NAME])
        self.prints("param", "get", node, self.NAME, wanted=["6.0"])
        self.prints("param", "describe", node, self.NAME, wanted=["double", "brakes below, metres"])
        self.prints("param", "set", node, self.NAME, "9.5", wanted=["successful"])
        self.prints("param", "get", node, self.NAME, wanted=["9.5"])
        self.assertIn("failed", self.ros2("param", "set", node, self.NAME, "500.0"))
        self.assertIn("cannot be deleted", self.ros2("param", "delete", node, self.NAME))


if __name__ == "__main__":
    tests = each_rmw([Tools])
    tests.addTests(each_rmw([ParameterTools], ["rmw_cyclonedds_cpp"]))  # the other one's requests: docs/bridges.md
    run(tests)
