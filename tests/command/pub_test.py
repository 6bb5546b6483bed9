#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan topic pub`: messages from JSON, and what it does to topics of others.

    pub_test.py CARDAN PUBLISHER [unittest arguments]
"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

PUBLISHER = sys.argv.pop(2)

from command_case import CARDAN, CommandCase, main

DEADLINE = 60


class PubCase(CommandCase):
    def start(self, *words, **options):
        process = subprocess.Popen([CARDAN, *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.path, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream and not stream.closed:
                stream.close()

    def publisher(self, *orders, **options):
        """A program with /test/image, /test/own and /test/wide; each order has an answer."""
        process = subprocess.Popen([PUBLISHER], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **options)
        self.addCleanup(self.end, process)
        self.assertEqual(process.stdout.readline(), "ready\n")
        for order in orders:
            self.tell(process, order)
        return process

    @staticmethod
    def tell(process, order):
        process.stdin.write(order + "\n")
        return process.stdout.readline().strip()

    def wait_for(self, what, holds):
        end = time.monotonic() + DEADLINE
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def is_published(self, topic):
        self.wait_for(f"{topic} is published", lambda: topic in self.run_cardan("topic", "list", "--names").split())

    def published(self, topic, kind, message, *options):
        """The output of `topic echo` for a published message."""
        pub = self.start("topic", "pub", topic, kind, message if isinstance(message, str) else json.dumps(message), "--rate", "50", *options)
        self.is_published(topic)
        seen = self.run_cardan("topic", "echo", topic, "--once", "--json", "--list", "100000")
        pub.send_signal(signal.SIGINT)
        self.assertEqual(pub.wait(DEADLINE), 0, pub.stderr.read())
        return json.loads(seen)

    def refused(self, *words, code=2):
        """The one line that says why."""
        self.assertEqual(self.run_cardan("topic", "pub", *words, code=code), "")
        self.assertRegex(self.errors, r"^cardan: [^\n]+ — [^\n]+\n$")
        return self.errors


class Messages(PubCase):
    def test_echo_shows_the_written_values(self):
        imu = {"header": {"stamp": 1_700_000_000_000_000_000, "sequence": 7, "frame_id": "imu"}, "angular_velocity": {"x": 0.1, "y": -2.5e-7, "z": 1e300},
               "linear_acceleration_covariance": [0.5] * 9}
        seen = self.published("/imu", "sensor_msgs/msg/Imu", imu)
        self.assertEqual((seen["type"], seen["message"]["header"], seen["message"]["angular_velocity"]), ("sensor_msgs/msg/Imu", imu["header"], imu["angular_velocity"]))
        self.assertEqual(seen["message"]["linear_acceleration_covariance"], [0.5] * 9)
        self.assertEqual(seen["message"]["linear_acceleration"], {"x": 0.0, "y": 0.0, "z": 0.0})
        # All of it again, and once more as the whole line that echo prints.
        for again in seen["message"], seen:
            self.assertEqual(self.published("/again", "sensor_msgs/Imu", again)["message"], seen["message"])

    def test_each_kind_of_field(self):
        folder = self.path / "ws" / "my_msgs" / "msg"
        folder.mkdir(parents=True)
        (folder / "Part.msg").write_text("string name\nuint16[] values\nwstring wide\n")
        (folder / "All.msg").write_text("bool on\nint8 a\nuint8 b\nint16 c\nuint16 d\nint32 e\nuint32 f\nint64 g\nuint64 h\nfloat32 i\nfloat64 j\nstring text\nwstring wide\n"
                                        "Part part\nPart[] parts\nint32[3] three\nbool[] flags\nstring[] names\nfloat32[<=4] few\nbuiltin_interfaces/Time stamp\n")
        part = {"name": "ä\u0001\"", "values": [0, 65535], "wide": "a€😀"}
        message = {"on": True, "a": -128, "b": 255, "c": -32768, "d": 65535, "e": -2**31, "f": 2**32 - 1, "g": -2**63, "h": 2**64 - 1, "i": 0.1, "j": 0.1, "text": "text", "wide": "😀",
                   "part": part, "parts": [part, {"name": "", "values": [], "wide": ""}, part], "three": [1, -2, 3], "flags": [True, False], "names": ["a", "", "bc"],
                   "few": [1.5, 2.5], "stamp": {"sec": -1, "nanosec": 999_999_999}}
        words = ("/all", "my_msgs/msg/All", message, "--msgs", self.path / "ws")
        seen = self.published(*words)["message"]
        self.assertEqual(seen, message)
        # Not a number is null, as in echo.
        self.assertEqual(self.published("/all", "my_msgs/msg/All", {"i": None, "j": None}, "--msgs", self.path / "ws")["message"]["i"], None)

    def test_each_of_cardans_own_and_the_standard_types_can_be_published(self):
        for kind in ("std_msgs/msg/String", "std_msgs/msg/Empty", "std_msgs/Float64MultiArray", "sensor_msgs/msg/PointCloud2", "vision_msgs/msg/Detection2DArray", "tf2_msgs/msg/TFMessage",
                     "sensor_msgs/msg/Image"):
            template = self.run_cardan("message", "show", kind, "--template").strip()
            self.assertRegex(self.run_cardan("topic", "pub", "/x", kind, template), r"^1 message on /x as [a-z0-9_]+/msg/[A-Za-z0-9]+, 0 subscribers\n$")

    def test_a_type_of_a_running_publisher_has_its_layout(self):
        publisher = self.publisher("publish 1", "subscribe")
        seen = json.loads(self.run_cardan("topic", "echo", "/test/own", "--once", "--json", "--list", "1000"))
        seen["message"]["number"] = 42
        pub = self.start("topic", "pub", "/test/own", "test_msgs/msg/Own", json.dumps(seen), "--with-others", "--wait-for-readers", "--count", "3", "--rate", "100", "--json")
        out, errors = pub.communicate(timeout=DEADLINE)
        self.assertEqual(pub.returncode, 0, errors)
        self.assertRegex(errors, r"^(cardan: waiting for 1 subscription of [^\n]+\n)?$")
        self.assertEqual(json.loads(out), {"topic": "/test/own", "type": "test_msgs/msg/Own", "published": 3, "subscribers": 1, "too_slow": 0})
        self.assertEqual(self.tell(publisher, "take"), "took 4")  # the publisher's own, and these
        last = json.loads(self.run_cardan("topic", "echo", "/test/own", "--once", "--json", "--list", "1000"))
        self.assertEqual(last["message"]["number"], 1)  # pub has ended

    def test_one_message_reaches_a_reader_that_comes_within_its_second(self):
        publisher = self.publisher("end", "subscribe")
        pub = self.start("topic", "pub", "/test/own", "test_msgs/msg/Own", "{}", "--wait-for-readers")
        # Nobody publishes the type, so that it is not known.
        self.assertEqual(pub.wait(DEADLINE), 2)
        self.assertIn("no message type 'test_msgs/msg/Own' is known here", pub.stderr.read())
        echo = self.start("topic", "echo", "/late", "--wait", "--once", "--json")
        self.run_cardan("topic", "pub", "/late", "std_msgs/String", '{"data": "x"}')
        self.assertEqual(json.loads(echo.communicate(timeout=DEADLINE)[0])["message"], {"data": "x"})
        del publisher

    def test_waiting_ends_with_a_signal(self):
        pub = self.start("topic", "pub", "/nobody", "std_msgs/String", "--wait-for-readers=2")
        self.assertIn("waiting for 2 subscriptions of '/nobody'", pub.stderr.readline())
        pub.send_signal(signal.SIGTERM)
        self.assertEqual(pub.wait(DEADLINE), 1)

    def test_standard_input(self):
        done = subprocess.run([CARDAN, "topic", "pub", "/x", "std_msgs/String", "-", "--json"], env=self.environment, input='{"data": "é"}\n', capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual((done.returncode, json.loads(done.stdout)["published"]), (0, 1))


class Wrong(PubCase):
    def test_a_wrong_field_is_reported_with_the_existing_ones(self):
        imu = "sensor_msgs/msg/Imu"
        for message, says in (
            ({"headr": {}}, "sensor_msgs/msg/Imu has no field 'headr' — did you mean 'header'?"),
            ({"header": {"stmp": 1}}, "field 'header': std_msgs/msg/Header has no field 'stmp' — did you mean 'stamp'?"),
            ({"header": {"zzzz": 1}}, "field 'header': std_msgs/msg/Header has no field 'zzzz' — there are 'stamp', 'sequence', 'frame_id'"),
            ({"header": {"stamp": 1.5}}, "field 'header.stamp' takes int64 (-9223372036854775808 to 9223372036854775807), not 1.5 — "),
            ({"header": {"stamp": 2**63}}, "field 'header.stamp' takes int64"),
            ({"header": 3}, "field 'header' takes std_msgs/msg/Header, not 3 — cardan message show std_msgs/msg/Header lists its fields"),
            ({"angular_velocity": {"x": "fast"}}, "field 'angular_velocity.x' takes float64, not \"fast\" — "),
            ({"orientation_covariance": [1]}, "field 'orientation_covariance' has 9 elements, not 1 — "),
            ({"orientation_covariance": {"count": 9, "first": []}}, "is a list that was shortened — print it whole: cardan topic echo --json --list N"),
            ([], "the message takes sensor_msgs/msg/Imu, not a list — "),
        ):
            self.assertIn(says, self.refused("/x", imu, json.dumps(message)))
        self.assertIn("field 'data' takes uint8 (0 to 255), not 256", self.refused("/x", "std_msgs/UInt8", '{"data": 256}'))
        self.assertIn("field 'data' takes int8 (-128 to 127), not -129", self.refused("/x", "std_msgs/Int8", '{"data": -129}'))
        self.assertIn("field 'data' takes float32, not 1e+39", self.refused("/x", "std_msgs/Float32", '{"data": 1e39}'))
        self.assertIn("field 'data' takes bool, not 1", self.refused("/x", "std_msgs/Bool", '{"data": 1}'))
        self.assertIn("field 'dim[1].label' takes string, not 3", self.refused("/x", "std_msgs/MultiArrayLayout", '{"dim": [{}, {"label": 3}]}'))
        self.assertEqual(self.run_cardan("topic", "list", "--names"), "")  # no topic was made for any of them

    def test_an_unknown_type_is_reported_with_similar_ones(self):
        for kind, says in (("sensor_msgs/msg/Imuu", "did you mean 'sensor_msgs/msg/Imu'?"), ("Imu", "did you mean 'sensor_msgs/msg/Imu'?"), ("../../etc/passwd", "--msgs"),
                           ("a" * 300, "--msgs"), ("", "--msgs"), ("/", "--msgs"), ("my_msgs/msg/None", "name the folder of its package with --msgs")):
            self.assertIn(says, self.refused("/x", kind))
        folder = self.path / "my_msgs" / "msg"
        folder.mkdir(parents=True)
        (folder / "Uses.msg").write_text("other_msgs/Missing it\n")
        self.assertIn("my_msgs/msg/Uses uses other_msgs/msg/Missing, which nobody defines", self.refused("/x", "my_msgs/Uses", "--msgs", self.path))
        (folder / "Bad.msg").write_text("int32\n")
        self.refused("/x", "my_msgs/Bad", "--msgs", self.path)
        self.assertIn("is not a folder", self.refused("/x", "my_msgs/Bad", "--msgs", self.path / "nowhere"))

    def test_wrong_words(self):
        for words in (["/x"], ["x", "std_msgs/String"], ["/x", "std_msgs/String", "{}", "--rate", "0"], ["/x", "std_msgs/String", "{}", "--count", "0"],
                      ["/x", "std_msgs/String", "{}", "--wait-for-readers=0"], ["/x", "std_msgs/String", "{}", "--domain", "a/b"]):
            self.refused(*words)


class Hostile(PubCase):
    def test_json_that_is_large_or_deep_or_wrong(self):
        for text, says in (("", "it ends in the middle"), ("{", "it ends in the middle"), ('{"data": }', "near byte 10, in '{\"data\": }'"), ("nonsense", "in 'nonsense'"), ('{"data": "\x01"}', "near byte"),
                           ('{"data": ' + "[" * 50_000, "not JSON"), ('{"data": ' + "[" * 50_000 + "]" * 50_000 + "}", "nested deeper than 64"), ('{"data": "' + "x" * 100_000, "not JSON"),
                           ("{" + ",".join(f'"k{i}":0' for i in range(5000)) + "}", "4,096 keys"), ('{"data": 1e999}', "not JSON"),
                           ("[" * 60 + "]" * 60, "the message takes std_msgs/msg/String, not a list"), ('{"\x1b[2J' + "y" * 1000 + '": 1}', "not JSON"),
                           ('{"\\u001b[2J' + "y" * 1000 + '": 1}', "has no field")):
            said = self.refused("/x", "std_msgs/String", text)
            self.assertIn(says, said)
            self.assertNotIn("\x1b", said)
            self.assertLess(len(said), 700)

    def limited(self, text, *words):
        """With 1 GiB of address space."""
        import resource

        done = subprocess.run([CARDAN, "topic", "pub", "/x", *words, "-"], env=self.environment, input=text, capture_output=True, timeout=300,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
        self.assertEqual(done.stdout, b"")
        return done.returncode, done.stderr.decode()

    def test_input_without_end_and_short_texts_that_ask_for_much_are_bounded(self):
        with open("/dev/zero", "rb") as zeros:
            done = subprocess.run([CARDAN, "topic", "pub", "/x", "std_msgs/String", "-"], env=self.environment, stdin=zeros, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the message has more than 16 MiB of text", done.stderr)
        code, says = self.limited(b"[" + b"0," * 2_000_000 + b"0]", "std_msgs/String")
        self.assertEqual((code, "a million values" in says), (2, True), says)
        folder = self.path / "my_msgs" / "msg"
        folder.mkdir(parents=True)
        (folder / "Large.msg").write_text("float64[100000] values\n")
        (folder / "Many.msg").write_text("Large[] all\n")
        (folder / "Huge.msg").write_text("float64[130000000] values\n")
        code, says = self.limited(b'{"all": [' + b"{}," * 900_000 + b"{}]}", "my_msgs/Many", "--msgs", self.path)
        self.assertEqual((code, "would need more than 256 MiB" in says), (1, True), says)
        code, says = self.limited(b"{}", "my_msgs/Huge", "--msgs", self.path)
        self.assertEqual((code, "would need more than 256 MiB" in says), (1, True), says)
        self.assertEqual(self.run_cardan("topic", "list", "--names"), "")

    def test_a_topic_that_another_program_publishes_is_left_alone(self):
        publisher = self.publisher("subscribe", "publish 1", "exclusive")
        for topic in "/test/own", "/test/only":
            for kind in "test_msgs/msg/Own", "std_msgs/String":
                says = self.refused(topic, kind, "{}", code=1)
                self.assertRegex(says, rf"command_publish\w* \(pid {publisher.pid}\) already publishes '{topic}' — .*--with-others")
        self.assertEqual(self.tell(publisher, "take"), "took 1")
        # Nor is one of another type mixed in when it is asked for.
        self.assertRegex(self.refused("/test/own", "std_msgs/String", "{}", "--with-others", code=1), r"\(pid \d+\) publishes '/test/own' as test_msgs/msg/Own — use its type")
        self.assertEqual(self.tell(publisher, "take"), "took 0")

    def test_cardans_own_topics_are_left_alone(self):
        for topic in "/cardan/control", "/cardan/play/orders", "/cardan/new":
            for more in [], ["--with-others"]:
                self.assertIn(f"'{topic}' is one of Cardan's own topics", self.refused(topic, "std_msgs/String", "{}", *more, code=1))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_programs_of_another_user_get_nothing(self):
        os.chmod(self.path, 0o755)
        run = self.path / "run"
        for folder in run, run / "default":
            folder.mkdir()
            os.chmod(folder, 0o1777)
        try:
            other = self.publisher("publish 1", "subscribe", "exclusive", "open", user=12345, group=12345, extra_groups=[])
        except PermissionError:
            self.skipTest("the program is in a folder that other users do not reach")
        for topic in "/test/image", "/test/own":
            # It is not theirs to see what this user publishes, and the name is not taken from us.
            self.assertIn("1 message", self.run_cardan("topic", "pub", topic, "std_msgs/String", '{"data": "for us"}'))
            self.assertIn("no program subscribes", self.errors)
        self.assertEqual(self.tell(other, "take"), "took 1")  # its own
        # Nor does a false definition of another user, which everybody can see, become that of a known type.
        self.assertIn("std_msgs/msg/String", self.run_cardan("topic", "list"))
        for more in [], ["--with-others"]:
            self.assertIn("1 message", self.run_cardan("topic", "pub", "/test/open", "std_msgs/String", '{"data": "for us"}', *more))


if __name__ == "__main__":
    main()
