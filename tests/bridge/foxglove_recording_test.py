#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan view drive.mcap`: recordings, good and hostile, and their control.

    foxglove_recording_test.py FOLDER_WITH_PROGRAMS SOURCE_FOLDER [unittest arguments]
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import unittest

from foxglove_case import LONG, PROGRAMS, FoxgloveCase
from mcap.writer import CompressionType, Writer

BEGIN = 1_700_000_000 * 10**9
SECOND = 10**9
LATCHED = {"offered_qos_profiles": "- history: 1\n  depth: 1\n  reliability: 1\n  durability: 1\n"}
PLAYING, PAUSED, ENDED = 0, 1, 3


def number(value):
    return struct.pack("<BBHi", 0, 1, 0, value)


class Recording:
    """A file in the making. Messages have numbers."""

    def __init__(self, path, **options):
        self.file = open(path, "wb")
        self.writer = Writer(self.file, **{"chunk_size": 2000, "compression": CompressionType.NONE, **options})
        self.writer.start(profile="ros2", library="test")
        self.channels = {}
        self.path = path

    def add(self, topic, definition="int32 data", name="std_msgs/msg/Int32", metadata={}):
        schema = self.writer.register_schema(name=name, encoding="ros2msg", data=definition.encode())
        self.channels[topic] = self.writer.register_channel(schema_id=schema, topic=topic, message_encoding="cdr", metadata=metadata)

    def write(self, topic, at, data):
        """`at`: nanoseconds since BEGIN."""
        if topic not in self.channels:
            self.add(topic)
        self.writer.add_message(channel_id=self.channels[topic], log_time=BEGIN + at, publish_time=BEGIN + at, data=number(data) if isinstance(data, int) else data)

    def end(self):
        self.writer.finish()
        self.file.close()
        return self.path


def drive(path, first=0, last=100, **options):
    """/count ten times a second, /map once."""
    recording = Recording(path, **options)
    recording.add("/map", metadata=LATCHED)
    if first == 0:
        recording.write("/map", 0, 7)
    for i in range(first, last):
        recording.write("/count", i * SECOND // 10, i)
    return recording.end()


class Watcher:
    """A client that knows where the recording is."""

    def __init__(self, viewer):
        self.viewer, self.status, self.at, self.speed = viewer, None, None, None
        self.asked = 0

    def frame(self):
        frame = self.viewer.binary()
        if frame[0] == 2:
            (self.at,) = struct.unpack_from("<xq", frame)
        if frame[0] == 5:
            self.status, self.at, self.speed, self.sought, length = struct.unpack_from("<xBqf?I", frame)
            return "state", frame[19:].decode()
        if frame[0] == 1:
            subscription, at = struct.unpack_from("<xIq", frame)
            return subscription, at - BEGIN, struct.unpack_from("<i", frame, 17)[0]
        return None

    def until(self, fits):
        while True:
            got = self.frame()
            if fits(got):
                return got

    def control(self, plays, speed=1.0, seek=None):
        """Waits for the answer; returns the messages that came before it."""
        self.asked += 1
        name = f"q{self.asked}"
        self.viewer.socket.send(struct.pack("<BBfBQI", 3, 0 if plays else 1, speed, seek is not None, 0 if seek is None else BEGIN + seek, len(name)) + name.encode())
        self.until(lambda got: got == ("state", name))

    def step(self, messages=1):
        self.viewer.send("cardanStep", messages=messages)


class Recordings(FoxgloveCase):
    def setUp(self):
        super().setUp()
        self.temporary = self.path / "tmp"
        self.temporary.mkdir()
        self.environment["TMPDIR"] = str(self.temporary)

    def watcher(self, bridge, *topics):
        viewer = self.viewer(bridge)
        watcher = Watcher(viewer)
        for i, topic in enumerate(topics):
            viewer.subscribe(topic, i + 1)
        return watcher

    def open(self, *words):
        """A bridge with a recording."""
        bridge = self.bridge(*words)
        self.assertIn(", recording ", bridge.report["bridge"])
        return bridge

    def fails(self, *words, code):
        """Its answer."""
        done = subprocess.run([str(PROGRAMS / "cardan"), "view", "--port", "0", *map(str, words)], env=self.environment, cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertEqual(list(self.temporary.iterdir()), [], "nothing is left")
        return done.stderr

    def end(self, bridge):
        code = super().end(bridge)
        self.assertEqual(list(self.temporary.iterdir()), [], "nothing is left")
        return code

    # ---------------------------------------------------------------- what is shown

    def test_it_opens_plays_steps_and_seeks(self):
        bridge = self.open(drive(self.path / "drive.mcap"))
        watcher = self.watcher(bridge, "/count", "/map")
        info = watcher.viewer.info
        self.assertTrue({"time", "playbackControl"} <= set(info["capabilities"]))
        self.assertEqual(info["dataStartTime"], {"sec": BEGIN // SECOND, "nsec": 0})
        self.assertEqual(info["metadata"]["cardan.recording"], "drive.mcap")
        recording = watcher.viewer.text("cardanRecording")["recording"]
        self.assertEqual([(t["topic"], t["messages"]) for t in sorted(recording["topics"], key=lambda t: t["topic"])], [("/count", 100), ("/map", 1)])
        # It waits near the start, and shows what is there.
        first = {watcher.until(lambda got: got and got[0] in (1, 2)) for _ in range(2)}
        self.assertLessEqual({(2, 0, 7)}, first)
        self.assertEqual(watcher.status, PAUSED)
        watcher.control(False, seek=3_050_000_000)
        self.assertEqual((watcher.status, watcher.at, watcher.sought), (PAUSED, BEGIN + 3_050_000_000, True))
        seen = {watcher.until(lambda got: got and got[0] in (1, 2)) for _ in range(2)}
        self.assertEqual(seen, {(2, 0, 7), (1, 3 * SECOND, 30)}, "what was published once is there, with the time of the recording")
        watcher.step(2)
        self.assertEqual([watcher.until(lambda got: got and got[0] == 1)[2] for _ in range(2)], [31, 32])
        watcher.control(True, speed=10)
        self.assertEqual(watcher.speed, 10)
        seen = []
        while not (seen and seen[-1] == 99):
            seen.append(watcher.until(lambda got: got and got[0] == 1)[2])
        self.assertEqual(seen, sorted(seen))
        while watcher.status != ENDED:
            watcher.frame()
        watcher.control(True, speed=10)
        self.assertLess(watcher.at, BEGIN + 5 * SECOND, "from the start again")
        watcher.control(False, seek=99 * SECOND // 10 - 500)
        watcher.control(True)
        self.assertLess(watcher.at, BEGIN + 5 * SECOND, "also when nobody has read to the end")
        self.assertEqual(self.end(bridge), 0)
        self.assertFalse((self.path / "run").exists(), "the usual run directory has no trace of it")

    def test_two_clients_see_the_same(self):
        bridge = self.open(drive(self.path / "drive.mcap"))
        one = self.watcher(bridge, "/count")
        one.control(False, seek=5 * SECOND)
        self.assertEqual(one.until(lambda got: got and got[:2] == (1, 5 * SECOND))[2], 50)
        two = self.watcher(bridge, "/count")
        self.assertEqual(two.until(lambda got: got and got[:2] == (1, 5 * SECOND))[2], 50, "in a pause, too")
        one.control(False, speed=2, seek=7 * SECOND)
        two.until(lambda got: got == ("state", "") and two.at == BEGIN + 7 * SECOND)
        self.assertEqual((two.status, two.speed, two.sought), (PAUSED, 2, True))
        self.assertEqual(two.until(lambda got: got and got[:2] == (1, 7 * SECOND))[2], 70)
        self.assertEqual(self.end(bridge), 0)

    def test_a_folder_is_one_recording(self):
        folder = self.path / "drive"
        folder.mkdir()
        drive(folder / "drive_0.mcap", 0, 50)
        drive(folder / "drive_1.mcap", 50, 100)
        bridge = self.open(folder)
        self.assertIn("recording drive", bridge.report["bridge"])
        watcher = self.watcher(bridge, "/count", "/map")
        watcher.control(False, seek=8 * SECOND)
        self.assertEqual(watcher.until(lambda got: got and got[:2] == (1, 8 * SECOND))[2], 80)
        self.assertEqual(self.end(bridge), 0)

    # ---------------------------------------------------------------- other files

    def test_files_that_cannot_be_opened_are_reported_with_the_remedy(self):
        os.mkfifo(self.path / "pipe.mcap")
        self.assertIn("is a pipe", self.fails("pipe.mcap", code=2))
        (self.path / "text.mcap").write_text("nothing of this kind")
        self.assertIn("text.mcap", self.fails("text.mcap", code=2))
        self.assertIn("check the path", self.fails("missing.mcap", code=2))
        (self.path / "old.bag").write_bytes(b"#ROSBAG V2.0\n")
        self.assertIn("cardan bag convert old.bag -o drive.mcap", self.fails("old.bag", code=2))
        (self.path / "empty").mkdir()
        self.fails("empty", code=2)
        self.assertIn("there is nothing to show", self.fails(Recording(self.path / "none.mcap").end(), code=1))
        (self.path / "rules.json").write_text("{}")
        self.assertIn("two files of rules", self.fails("rules.json", "rules.json", code=2))
        drive(self.path / "drive.mcap")
        self.environment["TMPDIR"] = str(self.path / "nowhere")
        self.assertIn("set TMPDIR", self.fails("drive.mcap", code=1))

    def test_damage_is_told_and_the_rest_is_shown(self):
        whole = drive(self.path / "drive.mcap", chunk_size=200).read_bytes()
        at = whole.index(number(80))
        (self.path / "damaged.mcap").write_bytes(whole[:at] + b"\xff" * 60 + whole[at + 60 :])
        (self.path / "cut.mcap").write_bytes(whole[: len(whole) * 2 // 3])
        for name, codes in (("damaged.mcap", (3,)), ("cut.mcap", (0, 3))):
            with self.subTest(name):
                bridge = self.open(self.path / name)
                watcher = self.watcher(bridge, "/count")
                watcher.control(False, seek=4 * SECOND)
                self.assertEqual(watcher.until(lambda got: got and got[:2] == (1, 4 * SECOND))[2], 40)
                watcher.control(True, speed=100)
                while watcher.status != ENDED:
                    watcher.frame()
                self.assertIn(self.end(bridge), codes)

    def test_a_file_that_is_replaced_or_cut_while_it_is_shown(self):
        path = drive(self.path / "drive.mcap")
        bridge = self.open(path)
        watcher = self.watcher(bridge, "/count")
        drive(self.path / "other.mcap", 0, 3)
        os.replace(self.path / "other.mcap", path)
        watcher.control(False, seek=9 * SECOND)
        self.assertEqual(watcher.until(lambda got: got and got[:2] == (1, 9 * SECOND))[2], 90, "the one that was opened")
        self.assertEqual(self.end(bridge), 0)
        path = drive(self.path / "drive2.mcap")
        bridge = self.open(path)
        watcher = self.watcher(bridge, "/count")
        os.truncate(path, 100)
        watcher.control(True, speed=100, seek=SECOND)
        while watcher.status != ENDED:
            watcher.frame()
        self.assertEqual(self.end(bridge), 3)

    def test_times_that_jump(self):
        recording = Recording(self.path / "jump.mcap")
        recording.write("/count", -BEGIN + SECOND, 1)
        for i in range(3):
            recording.write("/count", i * SECOND // 10, 2 + i)
        recording.write("/count", 2**64 - 1 - BEGIN, 9)  # after the year 2500
        bridge = self.open(recording.end())
        watcher = self.watcher(bridge, "/count")
        self.assertEqual(watcher.viewer.info["dataStartTime"], {"sec": 1, "nsec": 0})
        watcher.control(True, speed=100)
        seen = []
        while not (seen and seen[-1] == 4):
            seen.append(watcher.until(lambda got: got and got[0] == 1)[2])
        self.assertIn(3, seen, "the gap is skipped")
        watcher.control(False, seek=2**63 - 1 - BEGIN)
        self.assertLess(watcher.viewer.info["dataEndTime"]["sec"], 2**32)
        self.assertIn(self.end(bridge), (0, 3))

    # ---------------------------------------------------------------- attacks

    def peak(self, bridge):
        """MiB of memory that it had at most."""
        for line in pathlib.Path(f"/proc/{bridge.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) // 1024
        raise AssertionError

    def test_a_bomb_costs_no_memory(self):
        recording = Recording(self.path / "bomb.mcap", compression=CompressionType.ZSTD, chunk_size=1 << 30)
        for i in range(300):
            recording.write("/bomb", i, bytes(1 << 20))
        recording.end()
        self.assertLess((self.path / "bomb.mcap").stat().st_size, 1 << 20)
        bridge = self.open("--max-chunk", "64M", self.path / "bomb.mcap")
        watcher = self.watcher(bridge)
        for at in (100, 200, 0):
            watcher.control(True, speed=100, seek=at)
        while watcher.status != ENDED:
            watcher.frame()
        self.assertLess(self.peak(bridge), 300)
        self.assertEqual(self.end(bridge), 3)

    def test_very_many_topics(self):
        """The page is told of some; names without end are cut."""
        recording = Recording(self.path / "many.mcap", chunk_size=1 << 20)
        for i in range(1, 3_000):
            recording.write(f"/t{i}", i, i)
        recording.write("/" + "n" * 100_000, 5, 5)
        bridge = self.open(recording.end())
        watcher = self.watcher(bridge)
        contents = watcher.viewer.text("cardanRecording")["recording"]
        self.assertLessEqual(len(contents["topics"]), 2_000)
        self.assertEqual(contents["topics_in_all"] + contents["left_out_in_all"], 3_000)
        self.assertTrue(all(len(one["topic"]) < 400 for one in contents["topics"] + contents["left_out"]))
        watcher.control(False, seek=1_000)
        self.assertEqual(self.end(bridge), 3, "a name that no topic can have")

    def test_more_topics_than_descriptors_end_in_words(self):
        recording = Recording(self.path / "many.mcap", chunk_size=1 << 20)
        for i in range(1, 65_536):
            recording.write(f"/t{i}", i, i)
        recording.end()
        done = subprocess.run(["prlimit", "--nofile=256", str(PROGRAMS / "cardan"), "view", "--port", "0", "many.mcap"], env=self.environment, cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("ulimit -n", done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 40)
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_seeks_at_full_speed_delay_nobody(self):
        bridge = self.open(drive(self.path / "drive.mcap", chunk_size=200))
        flood = self.watcher(bridge)
        other = self.watcher(bridge, "/count")
        for i in range(2_000):
            flood.viewer.socket.send(struct.pack("<BBfBQI", 3, i % 2, 1 + i % 50, True, BEGIN + i * 7_919_000 % (9 * SECOND), 0))
            if i % 500 == 0:
                other.viewer.send("getParameters", parameterNames=[], id=f"p{i}")
                other.viewer.text("parameterValues", lambda text: text.get("id") == f"p{i}")
        flood.control(False, seek=6 * SECOND)  # after all of them
        self.assertEqual(other.until(lambda got: got and got[:2] == (1, 6 * SECOND))[2], 60)
        self.assertLess(self.peak(bridge), 200)
        self.assertEqual(self.end(bridge), 0)

    def test_nonsense_is_answered_and_the_recording_stays(self):
        bridge = self.open(drive(self.path / "drive.mcap"))
        watcher = self.watcher(bridge, "/count")
        watcher.control(False, seek=2 * SECOND)
        for bad in (b"\x03", b"\x03" * 18, struct.pack("<BBfBQI", 3, 0, float("nan"), 1, 0, 0), struct.pack("<BBfBQI", 3, 0, 1e30, 1, 0, 0), struct.pack("<BBfBQI", 3, 9, 1, 1, 0, 0), struct.pack("<BBfBQI", 3, 0, 1, 1, 0, 2**32 - 1)):
            watcher.viewer.socket.send(bad)
            self.assertIn("malformed", watcher.viewer.status("malformed")["message"])
        watcher.viewer.send("cardanStep", messages=10**9)
        watcher.viewer.status("'messages'")
        watcher.control(False)
        self.assertEqual((watcher.status, watcher.at), (PAUSED, BEGIN + 2 * SECOND))
        self.assertEqual(self.end(bridge), 0)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to be another user")
    def test_other_users_see_and_control_nothing_of_it(self):
        bridge = self.open(drive(self.path / "drive.mcap"))
        watcher = self.watcher(bridge, "/count")
        watcher.control(False, seek=2 * SECOND)
        stranger = self.of_another_user(bridge)
        self.assertNotIn("playbackControl", stranger.info["capabilities"])
        self.assertNotIn("time", stranger.info["capabilities"])
        self.assertNotIn("dataStartTime", stranger.info)
        self.assertNotIn("drive", json.dumps(stranger.info))
        for i in range(300):
            stranger.socket.send(struct.pack("<BBfBQI", 3, 0, 50, True, BEGIN + 9 * SECOND, 0))
            stranger.send("cardanStep", messages=1)
        stranger.send("getParameters", parameterNames=[], id="end")
        stranger.text("parameterValues")
        self.assertEqual([text["message"] for text in stranger.seen if "may control" in text.get("message", "")], ["Only clients of the user that opened the recording may control it."])
        self.assertFalse([text for text in stranger.seen if text["op"] in ("advertise", "cardanRecording")])
        watcher.control(False)
        self.assertEqual((watcher.status, watcher.at, watcher.speed), (PAUSED, BEGIN + 2 * SECOND, 1))
        self.assertEqual(self.end(bridge), 0)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
