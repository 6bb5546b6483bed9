#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan message` and `cardan topic type`: types with and without a publisher.

    message_test.py CARDAN PUBLISHER [unittest arguments]
"""
import json
import subprocess
import sys

PUBLISHER = sys.argv.pop(2)

from command_case import CommandCase, main


class Message(CommandCase):
    def publisher(self):
        process = subprocess.Popen([PUBLISHER], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "ready\n")

    def test_fields_of_types_without_a_publisher(self):
        self.assertEqual(self.run_cardan("message", "show", "geometry_msgs/msg/PoseArray"), self.run_cardan("message", "show", "geometry_msgs/PoseArray"))
        shown = self.run_cardan("message", "show", "sensor_msgs/msg/Imu").split("\n")
        self.assertEqual(shown[0], "sensor_msgs/msg/Imu")
        self.assertRegex(shown[1], r"^  header +std_msgs/msg/Header$")
        self.assertRegex(shown[2], r"^    stamp +int64$")
        self.assertIn("orientation_covariance", "\n".join(shown))
        as_json = self.json_of("message", "show", "tf2_msgs/msg/TFMessage")
        self.assertEqual(as_json["type"], "tf2_msgs/msg/TFMessage")
        self.assertEqual((as_json["fields"][0]["name"], as_json["fields"][0]["type"]), ("transforms", "geometry_msgs/msg/TransformStamped[]"))
        self.assertEqual([f["name"] for f in as_json["fields"][0]["fields"]], ["header", "child_frame_id", "transform"])
        self.assertIn("geometry_msgs/TransformStamped[] transforms", as_json["definition"])
        self.assertIn("geometry_msgs/TransformStamped[] transforms", self.run_cardan("message", "show", "tf2_msgs/msg/TFMessage", "--definition"))

    def test_each_type_in_the_list_is_shown(self):
        listed = self.run_cardan("message", "list").split()
        self.assertEqual(listed, sorted(listed))
        self.assertEqual(listed, self.json_of("message", "list")["types"])
        self.assertGreater(len(listed), 120)
        for name in listed:
            self.assertEqual(self.run_cardan("message", "show", name).split("\n")[0], name)
            json.loads(self.run_cardan("message", "show", name, "--template"))

    def test_a_template_is_a_message(self):
        template = self.run_cardan("message", "show", "geometry_msgs/Twist", "--template").strip()
        self.assertEqual(json.loads(template), {name: {"x": 0.0, "y": 0.0, "z": 0.0} for name in ("linear", "angular")})

    def test_types_of_publishers_and_of_folders(self):
        self.publisher()
        self.assertEqual(self.run_cardan("topic", "type", "/test/own"), "test_msgs/msg/Own\n")
        self.run_cardan("topic", "type", "/test/owm", code=1)
        self.assertIn("did you mean /test/own?", self.errors)
        self.assertIn("values", self.run_cardan("message", "show", "test_msgs/Own"))
        self.run_cardan("message", "show", "test_msgs/msg/Onw", code=2)
        self.assertIn("no message type 'test_msgs/msg/Onw' is known here — ", self.errors)
        folder = self.path / "my_msgs" / "msg"
        folder.mkdir(parents=True)
        (folder / "Own.msg").write_text("# a comment\nint32 LIMIT=3\nfloat32 speed 1.0\n")
        self.assertRegex(self.run_cardan("message", "show", "my_msgs/Own", "--msgs", self.path), r"^my_msgs/msg/Own\n  speed +float32\n$")
        (folder / "Huge.msg").write_text("uint8[1000000000] all\n")
        self.run_cardan("message", "show", "my_msgs/Huge", "--msgs", self.path, "--template", code=1)
        self.assertIn("more than 100,000 values", self.errors)

    def test_hz_and_bw_are_stats(self):
        self.publisher()
        for name in "hz", "bw", "stats":
            self.assertIn("/test/own", self.run_cardan("topic", name, "/test/own", "--once", "--seconds", "0.2"))
        self.assertIn("RATE Hz", self.run_cardan("topic", "hz", "--all", "--once", "--seconds", "0.2"))


if __name__ == "__main__":
    main()
