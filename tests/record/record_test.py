#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan record` for real: what it records other people's readers read, whatever ends it.

    record_test.py FOLDER_WITH_PROGRAMS
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from ruamel.yaml import YAML

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
CARDAN = PROGRAMS / "cardan"


class Record(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="cardan-record-")
        cls.path = pathlib.Path(cls.folder.name)
        (cls.path / "run").mkdir()
        cls.environment = {**os.environ, "CARDAN_RUN_DIR": str(cls.path / "run")}
        cls.environment.pop("CARDAN_DOMAIN", None)
        cls.publisher = subprocess.Popen([PROGRAMS / "record_publisher"], env=cls.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert cls.publisher.stdout.readline() == "ready\n"

    @classmethod
    def tearDownClass(cls):
        cls.publisher.communicate(timeout=20)
        cls.folder.cleanup()

    def setUp(self):
        self.file = self.path / f"{self._testMethodName}.mcap"

    def run_cardan(self, *words, code=0):
        done = subprocess.run([CARDAN, *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        self.errors = done.stderr
        return done.stdout

    def record(self, *words, code=0, seconds=1.5):
        return json.loads(self.run_cardan("record", "-o", self.file, "--seconds", seconds, "--min-space", 0, "--json", *words, code=code))

    def start(self, *words):
        process = subprocess.Popen([CARDAN, "record", "-o", self.file, "--min-space", "0", *map(str, words)], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def wait_until(self, true):
        until = time.monotonic() + 30
        while not true():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)

    def messages(self, file, topic):
        """Decoded by somebody else, each checked against what the publisher says of its number."""
        numbers = []
        with open(file, "rb") as stream:
            for schema, channel, message, decoded in make_reader(stream, decoder_factories=[DecoderFactory()]).iter_decoded_messages(topics=[topic]):
                if topic == "/camera/front":
                    number = decoded.header.stamp.nanosec
                    self.assertEqual((schema.name, decoded.height, decoded.width, decoded.encoding, decoded.step), ("sensor_msgs/msg/Image", 240, 321, "bgr8", 963))
                    self.assertEqual(bytes(decoded.data), bytes([number % 251]) * (240 * 963))
                elif topic == "/imu":
                    number = decoded.header.stamp.nanosec
                    self.assertEqual(decoded.linear_acceleration.z, 9.81)
                else:
                    number = decoded.number
                    self.assertEqual((decoded.text, list(decoded.values), decoded.wheels[1].speed, decoded.wheels[1].teeth), ("some text", list(range(10)), 2.5, 48))
                self.assertEqual(number, message.sequence)
                self.assertLessEqual(message.publish_time, message.log_time)
                numbers.append(number)
        return numbers

    def assert_gapless(self, numbers, least):
        self.assertGreaterEqual(len(numbers), least)
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def test_everything_that_can_be(self):
        report = self.record("--attach", __file__, "--meta", "driver=nobody")
        self.assertEqual(report["lost"], 0)
        topics = {t["topic"]: t for t in report["topics"]}
        self.assertIn("schema", topics["/wide"]["problem"])
        for topic in ("/camera/front", "/imu", "/own"):
            numbers = self.messages(self.file, topic)
            self.assert_gapless(numbers, 50)
            self.assertEqual(len(numbers), topics[topic]["recorded"])
        self.assertIn("good", self.run_cardan("bag", "verify", self.file))
        with open(self.file, "rb") as stream:
            reader = make_reader(stream)
            self.assertEqual(next(reader.iter_attachments()).data, pathlib.Path(__file__).read_bytes())
            self.assertEqual({m.name: m.metadata for m in reader.iter_metadata()}["user"], {"driver": "nobody"})

    def test_large_samples_lie_at_blocks(self):
        self.record("/camera/*")
        with open(self.file, "rb") as stream:
            data = stream.read()
            stream.seek(0)
            for chunk in make_reader(stream).get_summary().chunk_indexes:
                message = chunk.chunk_start_offset + 49
                length = int.from_bytes(data[message + 1:message + 9], "little")
                number = int.from_bytes(data[message + 11:message + 15], "little")
                pixels = bytes([number % 251]) * (240 * 963)
                first = message + 9 + length - len(pixels)  # the pixels are an image's last field
                self.assertEqual(data[first:first + len(pixels)], pixels)
                self.assertEqual(first % 4096, 0)

    def test_ways_to_write(self):
        for words in (["--no-io-uring"], ["--mode", "plain"], ["--mode", "sync-range"], ["--copy"], ["--checksums"], ["--compression", "zstd"]):
            with self.subTest(words):
                self.file.unlink(missing_ok=True)
                self.assertEqual(self.record(*words, seconds=0.5)["lost"], 0)
                self.assert_gapless(self.messages(self.file, "/camera/front"), 15)
                self.assert_gapless(self.messages(self.file, "/own"), 15)
                self.assertIn("good", self.run_cardan("bag", "verify", self.file))

    def test_selection_and_rules(self):
        report = self.record("/imu", "/own", "--exclude", "/o*", "--rule", "/imu:every=2,compression=lz4")
        self.assertEqual([t["topic"] for t in report["topics"]], ["/imu"])
        numbers = self.messages(self.file, "/imu")
        self.assertEqual({b - a for a, b in zip(numbers, numbers[1:])}, {2})
        self.assertGreater(report["topics"][0]["left_out"], 20)

    def test_ctrl_c_and_a_new_file_by_signal(self):
        process = self.start("/camera/front")
        active = pathlib.Path(f"{self.file}.active")
        self.wait_until(lambda: active.exists() and "recording into" in process.stdout.readline())
        time.sleep(0.7)
        process.send_signal(signal.SIGUSR1)
        second = self.path / f"{self.file.stem}_0002.mcap"
        self.wait_until(lambda: pathlib.Path(f"{second}.active").exists())
        self.wait_until(self.file.exists)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0)
        numbers = self.messages(self.file, "/camera/front") + self.messages(second, "/camera/front")
        self.assert_gapless(numbers, 40)

    def test_a_flight_recorder_and_what_it_is_told(self):
        self.run_cardan("record", "--tell", "split", code=1)
        self.assertIn("no recorder runs", self.errors)
        process = self.start("/imu", "--last", "1", "--after", "0.5")
        self.wait_until(lambda: list(self.path.glob(f"{self.file.stem}_0004.mcap*")))
        self.run_cardan("record", "--tell", "pause")
        self.run_cardan("record", "--tell", "resume")
        self.run_cardan("record", "--tell", "trigger")
        self.assertEqual(process.wait(20), 0)
        numbers = []
        for file in sorted(self.path.glob(f"{self.file.stem}_*.mcap")):
            of_file = self.messages(file, "/imu")
            self.assertEqual(of_file, sorted(set(of_file)))
            numbers += of_file[self.from_before(file):]
        self.assertGreater(len(numbers), 25)
        self.assertEqual(numbers, sorted(set(numbers)))

    def from_before(self, file):
        """How many messages at the start of a file are repeated from the one before."""
        return json.loads(self.run_cardan("bag", "info", file, "--json"))["messages_from_before"]

    def test_killed(self):
        process = self.start()
        active = f"{self.file}.active"
        self.wait_until(lambda: os.path.exists(active))
        time.sleep(1.5)
        process.kill()
        process.wait()
        self.assertIn("not finished", self.run_cardan("bag", "info", active))
        self.run_cardan("bag", "recover", active, "-o", self.file)
        self.assertIn("good", self.run_cardan("bag", "verify", self.file))
        self.assert_gapless(self.messages(self.file, "/camera/front"), 20)
        self.assert_gapless(self.messages(self.file, "/imu"), 20)

    def test_damage_is_reported(self):
        self.record()
        whole = {topic: self.messages(self.file, topic) for topic in ("/camera/front", "/imu")}
        self.run_cardan("bag", "recover", self.file, "-o", self.path / "nothing_lost.mcap")
        content, chunks, at = bytearray(self.file.read_bytes()), [], 8
        while content[at] != 0x0F:  # DataEnd
            length = int.from_bytes(content[at + 1:at + 9], "little")
            if content[at] == 0x06 and 240 * 963 < length < 240_000:  # a frame, not many small messages
                chunks.append(at)
            at += 9 + length
        content[chunks[0] + 2] ^= 0x40  # the first frame claims to be longer than it is
        damaged, recovered = self.path / "damaged.mcap", self.path / "recovered.mcap"
        damaged.write_bytes(content)
        said = self.run_cardan("bag", "recover", damaged, "-o", recovered, code=3)
        self.assertIn("something was lost", said)
        self.assertIn(f"byte {chunks[0]}", self.errors)
        self.assertIn(f"name {len(whole['/camera/front'])} messages of /camera/front, but {len(whole['/camera/front']) - 1} were found", self.errors)
        self.assertIn("good", self.run_cardan("bag", "verify", recovered))
        self.assertEqual(self.messages(recovered, "/camera/front"), whole["/camera/front"][1:])
        self.assertEqual(self.messages(recovered, "/imu"), whole["/imu"])

    def test_errors_say_what_to_do(self):
        self.file.write_text("something of mine")
        self.run_cardan("record", "-o", self.file, code=2)
        self.assertIn("already exists", self.errors)
        self.assertEqual(self.file.read_text(), "something of mine")
        self.run_cardan("record", "-o", self.path / "none" / "a.mcap", code=1)
        self.assertIn("make the folder", self.errors)
        for words in (["--rule", "nonsense"], ["--rule", "/a:every=0"], ["--meta", "x"], ["--mode", "fast"], ["--on-full", "delete-oldest"], ["--split-size", "many"]):
            self.run_cardan("record", "-o", self.path / "never.mcap", *words, code=2)
            self.assertTrue(self.errors.startswith("cardan: "), self.errors)
        self.assertFalse((self.path / "never.mcap.active").exists())
        self.run_cardan("record", "/nobody/*", "-o", self.path / "empty.mcap", "--seconds", 0.3, "--min-space", 0)
        self.assertIn("nothing was recorded", self.errors)
        self.assertIn("good", self.run_cardan("bag", "verify", self.path / "empty.mcap"))

    def test_a_full_disk(self):
        self.run_cardan("record", "-o", self.file, "--seconds", 20, "--min-space", "1000000G", code=1)
        self.assertIn("--min-space", self.errors)
        self.assertEqual(list(self.path.glob(f"{self.file.name}*")), [])

    def test_nonsense_is_refused(self):
        for words in (["--seconds", "nan"], ["--seconds", "inf"], ["--queue-time", "nan"], ["--sync", "nan"], ["--split-size", "-1"], ["--min-space", "-1G"],
                      ["--queue", "-64M"], ["--after", 1], ["--regex", "("], ["--exclude-regex", "[a"], ["--compression", "zstd", "--compression-level", 99],
                      ["--rule", "/a:rate=inf"], ["--last", "nan"]):
            self.run_cardan("record", "-o", self.path / "nonsense.mcap", *words, code=2)
            self.assertTrue(self.errors.startswith("cardan: "), self.errors)
        self.assertEqual(list(self.path.glob("nonsense*")), [])
        self.record("/imu", "/own", seconds=0.5)
        for words in (["bag", "cut", self.file, "--start", 2, "--end", 1, "-o", self.path / "cut.mcap"], ["bag", "ls", self.file, "--end", "nan"],
                      ["bag", "ls", self.file, "--start", "-1"], ["bag", "ls", self.file, "--count", "-1"], ["play", self.file, "--start", 2, "--until", 1],
                      ["play", self.file, "--rate", "nan"], ["play", self.file, "--duration", -1],
                      ["play", self.file, "--remap", "/imu:=/both", "--remap", "/own:=/both"], ["play", self.file, "--remap", "/imu:=/own"]):
            self.run_cardan(*words, code=2)
            self.assertTrue(self.errors.startswith("cardan: "), self.errors)
        self.assertIn("/both", self.run_cardan("play", self.file, "--remap", "/imu:=/both", "--as-fast-as-readers", "--json"))

    def test_a_named_topic_that_never_came(self):
        report = self.record("/imu", "/never", "/wide", seconds=0.5, code=3)
        self.assertEqual((report["missing"], report["lost"]), (["/never", "/wide"], 0))
        self.assertIn("/never was not recorded: nobody published it", self.errors)
        self.assertIn("/wide was not recorded: the memory layout", self.errors)

    def test_a_clock_that_never_came(self):
        report = self.record("/imu", "--use-sim-time", seconds=0.5, code=3)
        self.assertEqual((report["recorded"], report["no_clock"], report["missing"]), (0, True, []))
        self.assertIn("no message of /clock came", self.errors)
        self.assertNotIn("no matching topic", self.errors)

    def test_regular_expressions(self):
        report = self.record("--regex", "^/(imu|own)$", "--exclude-regex", "w")
        self.assertEqual([t["topic"] for t in report["topics"]], ["/imu"])

    def test_a_terminal_that_closes(self):
        process = self.start("/imu")
        self.wait_until(lambda: "recording into" in process.stdout.readline())
        time.sleep(0.5)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(20), 0)
        self.assert_gapless(self.messages(self.file, "/imu"), 10)

    def test_a_start_that_waits(self):
        process = self.start("/imu", "--start-paused", "--reliable", "--json")
        active = pathlib.Path(f"{self.file}.active")
        self.wait_until(active.exists)
        time.sleep(0.5)
        self.run_cardan("record", "--tell", "resume")
        time.sleep(0.5)
        self.run_cardan("record", "--tell", "stop")
        report = json.loads(process.communicate(timeout=20)[0])
        self.assertEqual(process.returncode, 0)
        self.assertGreater(report["topics"][0]["left_out"], 5)
        self.assert_gapless(self.messages(self.file, "/imu"), 5)

    def test_a_folder_that_is_deleted(self):
        folder = self.path / "doomed"
        folder.mkdir()
        self.file = folder / "a.mcap"
        process = self.start("/imu")
        self.wait_until(lambda: "recording into" in process.stdout.readline())
        shutil.rmtree(folder)
        self.assertEqual(process.wait(20), 1)
        self.assertIn("was deleted while it was being recorded", process.stderr.read())

    def assert_rosbags_reads(self, path, topics):
        """The result of another reader of ROS 2 recordings for a file or folder; it compares the types' hashes itself."""
        with AnyReader([path]) as reader:
            counts = {}
            for connection, stamp, data in reader.messages():
                message = reader.deserialize(data, connection.msgtype)
                number = message.number if connection.topic == "/own" else message.header.stamp.nanosec
                if connection.topic == "/camera/front":
                    self.assertEqual(bytes(message.data), bytes([number % 251]) * (240 * 963))
                counts[connection.topic] = counts.get(connection.topic, 0) + 1
                self.assertLessEqual(reader.start_time, stamp)
            self.assertEqual(sorted(counts), sorted(topics))
            self.assertEqual(counts, {name: info.msgcount for name, info in reader.topics.items()})
            depths = {c.topic: c.ext.offered_qos_profiles[0].depth for c in reader.connections}
            self.assertEqual(depths, {topic: {"/camera/front": 64}.get(topic, 256) for topic in topics})
            return sum(counts.values())

    def test_rosbags_reads_the_file(self):
        report = self.record()
        self.assertEqual(self.assert_rosbags_reads(self.file, ["/camera/front", "/imu", "/own"]), report["recorded"])
        out = self.path / "cut_for_rosbags.mcap"
        self.run_cardan("bag", "cut", self.file, "--topic", "/imu", "-o", out)
        self.assertGreater(self.assert_rosbags_reads(out, ["/imu"]), 10)

    def test_rosbags_reads_the_folder(self):
        folder = self.path / "bag"
        report = json.loads(self.run_cardan("record", "-o", f"{folder}/", "--seconds", 1.5, "--split-time", 0.4, "--min-space", 0, "--json"))
        self.assertGreater(len(report["files"]), 2)
        repeated = sum(self.from_before(file) for file in report["files"])
        self.assertEqual(self.assert_rosbags_reads(folder, ["/camera/front", "/imu", "/own"]), report["recorded"] + repeated)
        with open(folder / "metadata.yaml") as stream:
            bag = YAML(typ="safe").load(stream)["rosbag2_bagfile_information"]
        self.assertEqual(bag["relative_file_paths"], [pathlib.Path(f).name for f in report["files"]])
        self.assertEqual(bag["message_count"], sum(f["message_count"] for f in bag["files"]))
        for topic in bag["topics_with_message_count"]:
            self.assertRegex(topic["topic_metadata"]["type_description_hash"], "^RIHS01_[0-9a-f]{64}$")
            profile = YAML(typ="safe").load(topic["topic_metadata"]["offered_qos_profiles"])[0]  # as Humble has it: numbers
            self.assertEqual([profile[k] for k in ("history", "reliability", "durability", "liveliness")], [1, 1, 1, 1])
        self.run_cardan("record", "-o", folder, "--seconds", 1, code=2)
        self.assertIn("already has a recording", self.errors)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
