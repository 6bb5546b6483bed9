#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of ROS 2, written by PyPI's mcap-ros2-support and rosbags, played by `cardan play` and recorded by `cardan record`: byte by byte what they were.

    ros_play_test.py CARDAN [unittest arguments]
"""
import glob
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from mcap_ros2.writer import Writer
from rosbags.typesys import Stores, get_typestore

from recording import BEGIN, SECOND, Cdr, write
from ros_texts import TEXTS, message

CARDAN = sys.argv[1]
FOLDER = tempfile.mkdtemp(prefix="cardan-ros-")
PERIOD = SECOND // 10


def topic_of(name):
    return "/" + name.replace("/msg/", "/").lower()


def messages_of(path):
    """Topic → the bytes of its messages, and topic → (type, definition)."""
    found, types = {}, {}
    with open(path, "rb") as file:
        for schema, channel, one in make_reader(file).iter_messages():
            found.setdefault(channel.topic, []).append(one.data)
            types[channel.topic] = (schema.name, schema.data.decode())
    return found, types


class RosPlay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=FOLDER)
        self.environment = {**os.environ, "CARDAN_RUN_DIR": os.path.join(self.folder, "run")}
        self.environment.pop("CARDAN_DOMAIN", None)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *words):
        process = subprocess.Popen([CARDAN, *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def play(self, *words, code=0):
        done = subprocess.run([CARDAN, "play", *map(str, words), "--json"], env=self.environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        self.stderr = done.stderr
        return json.loads(done.stdout)

    def record_while_playing(self, file, topics, *words, code=0):
        """The output of `cardan play`, and the recording of a `cardan record` meanwhile."""
        recorder = self.start("record", "--output", self.path("again.mcap"), "--json")
        report = self.play(file, "--depth", 100, f"--wait-for-readers={topics}", *words, code=code)
        recorder.send_signal(signal.SIGINT)
        out, err = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, out + err)
        self.assertEqual(len(glob.glob(self.path("again*.mcap"))), 1)
        return report, *messages_of(glob.glob(self.path("again*.mcap"))[0])

    def write_with_ros(self, names, count):
        file = self.path("ros.mcap")
        with open(file, "wb") as stream:
            writer = Writer(stream)
            schemas = {name: writer.register_msgdef(name, TEXTS[name]) for name in names}
            for i in range(count):
                for name in names:
                    writer.write_message(topic_of(name), schemas[name], message(name, i), BEGIN + i * PERIOD, BEGIN + i * PERIOD, i)
            writer.finish()
        return file

    def test_recordings_of_other_tools_come_out_unchanged(self):
        count = 6
        file = self.write_with_ros(list(TEXTS), count)
        echoed = ("diagnostic_msgs/msg/DiagnosticArray", "own_msgs/msg/Bounds", "std_msgs/msg/Empty", "visualization_msgs/msg/MarkerArray")
        echoes = {name: self.start("topic", "echo", topic_of(name), "--wait", "--count", count, "--json", "--list", 1000) for name in echoed}
        report, found, types = self.record_while_playing(file, len(TEXTS))
        self.assertEqual((report["published"], report["failed"], report["left_out"], report["problems"]), (count * len(TEXTS), 0, [], []))
        source, source_types = messages_of(file)
        for topic, bytes_of in source.items():
            self.assertEqual(found[topic], bytes_of, topic)
            self.assertEqual(types[topic][0], source_types[topic][0])
        self.assertEqual(types["/diagnostic_msgs/diagnosticarray"][1], TEXTS["diagnostic_msgs/msg/DiagnosticArray"], "its definition goes along")
        for name, echo in echoes.items():
            out, err = echo.communicate(timeout=60)
            self.assertEqual(echo.returncode, 0, err)
            seen = [json.loads(line) for line in out.splitlines()]
            self.assertEqual([one["type"] for one in seen], [name] * count)
            self.assertEqual([one["message"] for one in seen], [self.as_json(message(name, i)) for i in range(count)], name)
        # Cardan's own recording of it is played in the same way.
        first = glob.glob(self.path("again*.mcap"))[0]
        os.rename(first, self.path("first.mcap"))
        report, again, _ = self.record_while_playing(self.path("first.mcap"), len(TEXTS))
        self.assertEqual(again, found)
        with open(self.path("first.mcap"), "rb") as stream:
            decoded = [one.decoded_message for one in make_reader(stream, decoder_factories=[DecoderFactory()]).iter_decoded_messages(topics=["/tf2_msgs/tfmessage"])]
        self.assertEqual([t.child_frame_id for t in decoded[-1].transforms], [f"frame {n}" for n in range(count - 1)])

    @staticmethod
    def as_json(value):
        if isinstance(value, dict):
            return {key: RosPlay.as_json(v) for key, v in value.items()}
        if isinstance(value, (list, bytes)):
            return [RosPlay.as_json(v) for v in value]
        return value

    def test_bag_cat_shows_the_fields(self):
        file = self.write_with_ros(["diagnostic_msgs/msg/DiagnosticArray"], 3)
        done = subprocess.run([CARDAN, "bag", "cat", file, "--json"], env=self.environment, capture_output=True, text=True, timeout=60)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([one["message"] for one in lines], [self.as_json(message("diagnostic_msgs/msg/DiagnosticArray", i)) for i in range(3)])

    def test_every_message_of_a_distribution(self):
        store = get_typestore(Stores.ROS2_HUMBLE)
        rng = random.Random(7)
        channels, messages = {}, []
        for name in sorted(store.types):
            if "/msg/" not in name:
                continue
            topic = topic_of(name)
            try:
                text = store.generate_msgdef(name, ros_version=2)[0]
                made = [bytes(store.serialize_cdr(self.random_message(store, name, rng, filled), name)) for filled in (False, True)]
            except Exception as e:  # noqa: BLE001: the limits of that library do not matter here
                print(f"{name}: rosbags: {e}")
                continue
            channels[topic] = (name, "ros2msg", text, "cdr", {})
            messages += [(topic, i * PERIOD, data) for i, data in enumerate(made)]
        self.assertGreater(len(channels), 100)
        file = self.path("all.mcap")
        write(file, channels, sorted(messages, key=lambda m: m[1]))
        report, found, _ = self.record_while_playing(file, len(channels), "--rate", 0.5)
        self.assertEqual((report["left_out"], report["failed"], report["problems"]), ([], 0, []))
        expected = {}
        for topic, _, data in messages:
            expected.setdefault(topic, []).append(data)
        for topic, data in expected.items():
            # rosbags pads what it writes to a multiple of four bytes.
            self.assertEqual([d + bytes(-len(d) % 4) for d in found[topic]], [d + bytes(-len(d) % 4) for d in data], topic)

    def random_message(self, store, name, rng, filled):
        fields = store.fielddefs[name][1]
        return store.types[name](*(self.random_value(store, field[1], rng, filled) for field in fields))

    def random_value(self, store, field, rng, filled):
        kind, what = int(field[0]), field[1]
        if kind == 1:  # a number or a text
            return self.random_number(what[0], rng)
        if kind == 2:
            return self.random_message(store, what, rng, filled)
        inner, limit = what
        count = limit if kind == 3 else (rng.randrange(1, 1 + min(4, limit or 4)) if filled else 0)
        values = [self.random_value(store, inner, rng, filled) for _ in range(count)]
        if int(inner[0]) == 1 and inner[1][0] not in ("string", "wstring"):
            return numpy.array(values, dtype={"octet": "uint8", "byte": "uint8", "char": "uint8"}.get(inner[1][0], inner[1][0]))
        return values

    @staticmethod
    def random_number(kind, rng):
        if kind in ("string", "wstring"):
            return rng.choice(["", "a", "some text", "ä" * 10])
        if kind == "bool":
            return rng.random() < 0.5
        if kind.startswith("float"):
            return struct.unpack("f", struct.pack("f", rng.uniform(-1e3, 1e3)))[0]
        bits = int("".join(c for c in kind if c.isdigit()) or 8)
        # Times and counts of Cardan's own types have to make sense.
        return rng.randrange(2 ** (bits - 1)) if bits < 32 else rng.randrange(999_999_999)

    def test_either_byte_order_and_no_other_encoding(self):
        text = "string name\nuint16[] few\nfloat64 last\n"

        def cdr(order, first):
            name = b"abc\0"
            data = struct.pack(order + "I", 4) + name + struct.pack(order + "I3H", 3, 1, 2, 0xFF00)
            return first + data + bytes(-len(data) % 8) + struct.pack(order + "d", 0.5)

        little = cdr("<", b"\0\1\0\0")
        channels = {topic: ("own_msgs/msg/Few", "ros2msg", text, "cdr", {}) for topic in ("/little", "/big", "/xcdr2", "/list")}
        file = self.path("orders.mcap")
        write(file, channels, [("/little", 0, little), ("/big", PERIOD, cdr(">", b"\0\0\0\0")), ("/xcdr2", PERIOD, b"\0\7" + little[2:]), ("/list", PERIOD, b"\0\3" + little[2:])])
        report, found, _ = self.record_while_playing(file, 4, code=3)
        self.assertEqual(found, {"/little": [little], "/big": [little]})
        failed = {t["topic"]: t for t in report["topics"] if t["failed"]}
        self.assertEqual(set(failed), {"/xcdr2", "/list"})
        self.assertIn("XCDR2", failed["/xcdr2"]["failure"])
        self.assertIn("/xcdr2: 1 messages could not be played", self.stderr)

    def test_hostile_messages_are_counted_and_the_others_played(self):
        text = "Part[] parts\nuint8[<=3] few\n" + "=" * 80 + "\nMSG: own_msgs/Part\nstring name\nfloat64[] values\n"
        good = Cdr().number("I", 1).text("a").number("I", 2).number("d", 1, 2).number("I", 3).number("B", 1, 2, 3).done()
        bad = [Cdr().number("I", 0xFFFFFFFF).done(), Cdr().number("I", 1, 0xFFFFFFF0).done(), good[:-2], good + bytes(64), b"", b"\0", b"\0\1\0\0",
               Cdr().number("I", 1).text("a").number("I", 0x20000000).number("d", 1, 2).done(), Cdr().number("I", 0, 4).number("B", 1, 2, 3, 4).done()]
        messages = [("/parts", i * PERIOD // 10, data) for i, data in enumerate([good, *bad, good])]
        file = self.path("hostile.mcap")
        write(file, {"/parts": ("own_msgs/msg/Parts", "ros2msg", text, "cdr", {})}, messages)
        report, found, _ = self.record_while_playing(file, 1, code=3)
        self.assertEqual((report["published"], report["failed"]), (2, len(bad)))
        self.assertEqual(found, {"/parts": [good, good]})
        self.assertIn("/parts: 9 messages could not be played", self.stderr)

    def test_definitions_that_cannot_be_read_are_named(self):
        tower = "".join(f"A{i + 1}[] f\n{'=' * 80}\nMSG: a/A{i + 1}\n" for i in range(40)) + "bool b\n"
        channels = {"/idl": ("a/msg/I", "ros2idl", "module a {};", "cdr", {}), "/none": ("a/msg/N", "ros2msg", "", "cdr", {}), "/itself": ("a/msg/S", "ros2msg", "a/S[] s\n", "cdr", {}),
                    "/tower": ("a/msg/A0", "ros2msg", tower, "cdr", {}), "/unknown": ("a/msg/U", "ros2msg", "b/Nowhere x\n", "cdr", {}),
                    "/large": ("a/msg/L", "ros2msg", "uint64[1000000000] x\n", "cdr", {}),
                    "/long": ("a/msg/G", "ros2msg", "uint64[100000000] x\n", "cdr", {}), "/name": ("a/msg/" + "G" * 200, "ros2msg", "bool b\n", "cdr", {}), "/good": ("a/msg/G", "ros2msg", "bool b\n", "cdr", {})}
        file = self.path("definitions.mcap")
        write(file, channels, [(topic, 0, b"\0\1\0\0\1") for topic in channels])
        report = self.play(file, code=3)
        why = {one["topic"]: one["why"] for one in report["left_out"]}
        self.assertEqual((set(why), report["published"]), (set(channels) - {"/good"}, 1))
        for topic, words in (("/idl", "ros2idl"), ("/none", "does not define"), ("/itself", "nested"), ("/tower", "nested"), ("/unknown", "b/Nowhere"), ("/large", "1 GiB"), ("/long", "at least 800000000 bytes"),
                             ("/name", "206 letters")):
            self.assertIn(words, why[topic])
            self.assertIn(f"{topic} is not played", self.stderr)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
