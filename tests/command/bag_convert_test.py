#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan bag convert` on recordings that PyPI's rosbags wrote: its AnyReader decodes the original and the result to the same values.

    bag_convert_test.py CARDAN [unittest arguments]
"""
import contextlib
import os
import random
import shutil
import sqlite3
import struct
import subprocess

import lz4.frame
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin, Writer as Writer2
from rosbags.typesys import get_types_from_msg

from command_case import CARDAN, main
from recording import BEGIN
from ros_bags import ROS1, ROS2, BagCase, make, messages, topic_of

DEEP = os.environ.get("CARDAN_TEST_DEEP") == "1"
FACTOR = 4 if DEEP else 1  # places that are damaged


class Convert(BagCase):
    def test_ros1(self):
        for compression in (None, "BZ2", "LZ4"):
            path = self.bag1(f"{compression}.bag", compression)
            report = self.convert(path)
            self.assertEqual((report["messages"], report["missing"], report["problems"]), (4 * len(messages(0)), 0, []))
            expected = self.values(path)
            self.assertEqual(len(expected), len(messages(0)))
            self.assertEqual(self.values(self.path / "out.mcap"), expected)
            chunks = self.json_of("bag", "info", self.path / "out.mcap")["chunks"]
            self.assertEqual([c["compression"] for c in chunks], [{None: "none", "BZ2": "zstd", "LZ4": "lz4"}[compression]])
        self.run_cardan("bag", "verify", self.path / "out.mcap")

    def test_ros2s_tools_know_the_types(self):
        self.convert(self.bag1(latching=("std_msgs/msg/String",)))
        with AnyReader([self.path / "out.mcap"]) as reader:
            profiles = {c.msgtype: c.ext.offered_qos_profiles for c in reader.connections}
            self.assertEqual(profiles["sensor_msgs/msg/Imu"], [])
            self.assertEqual([(p.durability.name, p.reliability.name) for p in profiles["std_msgs/msg/String"]], [("TRANSIENT_LOCAL", "RELIABLE")])
        info = self.json_of("bag", "info", self.path / "out.mcap")
        self.assertEqual(info["profile"], "ros2")
        for topic in info["topics"]:
            self.assertEqual(topic["metadata"]["ros1.callerid"], "/node")
            if not topic["type"].startswith("own"):
                self.assertEqual((topic["type"], topic["metadata"]["topic_type_hash"]), (topic["type"], ROS2.hash_rihs01(topic["type"])))

    def test_the_result_is_played_and_shown(self):
        self.convert(self.bag1())
        report = self.json_of("play", self.path / "out.mcap", "--as-fast-as-readers")
        self.assertEqual((report["published"], report["left_out"]), (4 * len(messages(0)), []))
        shown = self.run_cardan("bag", "cat", self.path / "out.mcap", "--topic", "/own_msgs/own", "--json").splitlines()
        self.assertIn('"span":{"sec":-3,"nanosec":5}', shown[3].replace(" ", ""))

    def test_a_type_that_makes_no_sense(self):
        path = self.path / "in.bag"
        with Writer1(path) as bag:
            good = bag.add_connection("/good", "std_msgs/msg/String", typestore=ROS1)
            bad = [bag.add_connection(f"/bad{i}", "own_msgs/msg/Bad", msgdef=text, md5sum="0" * 32) for i, text in enumerate(("Missing field\n", "int32\n", "int32[x] a\n", "wstring a\n", "int32 a b\n"))]
            for i in range(3):
                bag.write(good, BEGIN + i, ROS1.serialize_ros1(make(ROS1, "std_msgs/msg/String", {"data": "x"}), "std_msgs/msg/String"))
                for one in bad:
                    bag.write(one, BEGIN + i, b"\0\0\0\0")
            bag.write(good, BEGIN + 9, b"\7\0\0\0abc")
        report = self.convert(path, code=3)
        self.assertEqual(report["messages"], 3)
        self.assertEqual({t["topic"]: (t["messages"], t["failed"]) for t in report["topics"]}, {"/good": (3, 1), **{f"/bad{i}": (0, 3) for i in range(5)}})
        for i in range(5):
            self.assertIn(f"/bad{i} (own_msgs/Bad) is left out, with 3 messages", self.errors)
        self.assertEqual(list(self.values(self.path / "out.mcap")), [("/good", "std_msgs/msg/String")])

    def test_topics_can_be_chosen(self):
        report = self.convert(self.bag1(), "--topic", "/std_msgs/*", "--exclude", "*/empty", "--compression", "zstd")
        self.assertEqual({t["topic"] for t in report["topics"]}, {"/std_msgs/string", "/std_msgs/float64multiarray"})

    def test_the_rules_of_outputs(self):
        path, out = self.bag1(), self.path / "out.mcap"
        out.write_bytes(b"mine")
        self.run_cardan("bag", "convert", path, out, code=2)
        self.assertEqual(out.read_bytes(), b"mine")
        before = path.read_bytes()
        self.run_cardan("bag", "convert", path, path, "--force", code=2)
        self.assertEqual(path.read_bytes(), before)
        self.convert(path)
        self.run_cardan("bag", "convert", out, self.path / "again.mcap", code=2)
        self.assertIn("is an MCAP file already", self.errors)
        self.run_cardan("play", path, code=2)
        self.assertIn("cardan bag convert", self.errors)
        self.run_cardan("bag", "convert", self.path / "nothing.bag", self.path / "again.mcap", code=2)
        self.assertFalse((self.path / "again.mcap").exists())

    def test_an_empty_file_is_not_a_recording(self):
        for name in ("empty.bag", "empty.db3", "empty.mcap"):
            (self.path / name).touch()
            self.run_cardan("bag", "convert", self.path / name, self.path / "out.mcap", code=2)
            self.assertNotIn("bug", self.errors)

    def test_a_bag_that_nobody_closed(self):
        path = self.bag1(count=40)
        data = bytearray(path.read_bytes())
        at = data.index(b"index_pos=") + len(b"index_pos=")
        end = struct.unpack_from("<Q", data, at)[0]
        struct.pack_into("<Q", data, at, 0)
        path.write_bytes(data[:end])
        report = self.convert(path)
        self.assertEqual(report["messages"], 40 * len(messages(0)))
        self.assertIn("was never closed", report["notes"][0])
        path.write_bytes(data[:end - 700])
        self.convert(path, code=3)

    def assert_survives(self, path, whole, messages, positions, *, change):
        """Whatever is damaged: the rest is written and reported, and nothing is lost without a report."""
        losses = 0
        for at in positions:
            path.write_bytes(change(whole, at))
            done = subprocess.run([CARDAN, "bag", "convert", path, self.path / "out.mcap", "--force", "--json"], env=self.environment, capture_output=True, text=True, timeout=120)
            self.assertIn(done.returncode, (0, 2, 3), f"byte {at}\n{done.stderr}")
            if done.returncode == 2:  # no recording at all any more
                continue
            self.assertEqual("bug" in done.stderr, False, done.stderr)
            kept = len(list(self.raw_messages(self.path / "out.mcap")))
            if done.returncode == 0:
                self.assertEqual((at, kept), (at, messages))
            losses += done.returncode == 3
        self.assertGreater(losses, 5)

    def raw_messages(self, path):
        with open(path, "rb") as file:
            yield from make_reader(file).iter_messages()

    def test_damaged_bags_of_ros1(self):
        source = random.Random(7)
        for compression in (None, "BZ2", "LZ4"):
            path = self.bag1(f"{compression}.bag", compression)
            whole = path.read_bytes()
            # The record after the magic bytes is padded to 4 KiB with spaces, in which nothing can be damaged.
            places = [*range(13, 90, 1 if DEEP else 4), *source.sample(range(4100, len(whole)), 40 * FACTOR)]

            def flip(data, at):
                return data[:at] + bytes([data[at] ^ source.randrange(1, 256)]) + data[at + 1:]

            count = 4 * len(messages(0))
            self.assert_survives(path, whole, count, places, change=flip)
            self.assert_survives(path, whole, count, source.sample(range(len(whole)), 20 * FACTOR), change=lambda data, at: data[:at])
            self.assert_survives(path, whole, count, source.sample(range(4100, len(whole)), 15 * FACTOR), change=lambda data, at: data[:at] + bytes(200) + data[at + 200:])

    def test_after_damaged_data_it_continues(self):
        path = self.path / "in.bag"
        bag = self.packed(path, "LZ4")
        with bag:
            bag.chunk_threshold = 200
            text = bag.add_connection("/text", "std_msgs/msg/String", typestore=ROS1)
            for i in range(100):
                bag.write(text, BEGIN + i, ROS1.serialize_ros1(make(ROS1, "std_msgs/msg/String", {"data": f"text {i} " + "x" * 40}), "std_msgs/msg/String"))
        whole = path.read_bytes()
        chunks = [at for at in range(len(whole)) if whole.startswith(b"compression=lz4", at)]
        self.assertGreater(len(chunks), 5)
        # The third chunk's record cannot be told any more; those after it can, with the file's index and without.
        for cut in (len(whole), len(whole) - 40):
            path.write_bytes(whole[:chunks[2] - 8] + bytes(30) + whole[chunks[2] + 22:cut])
            report = self.convert(path, code=3)
            self.assertGreater(report["messages"], 50)
            if cut == len(whole):
                self.assertEqual(report["messages"] + report["missing"], 100)

    def test_missing_messages_of_an_index_are_reported(self):
        total = 4 * len(messages(0))
        for compression in (None, "LZ4"):
            path = self.bag1(f"missed{compression}.bag", compression)
            data = bytearray(path.read_bytes())
            if compression is None:  # a message that is invalid now, and the rest stays readable
                data[data.index(b"op=\2") + 3] = 9
            else:
                data[data.index(b"size=") + 40] ^= 0xff
            path.write_bytes(data)
            report = self.convert(path, code=3)
            self.assertEqual(report["messages"] + report["missing"], total)
            self.assertEqual(report["missing"], 1 if compression is None else total)

    def test_a_row_that_a_table_has_lost_is_missed(self):
        path = self.bag2(count=60)
        data = bytearray((path / "in.db3").read_bytes())
        # Of the largest table's leaf pages the first one says that it has a row less.
        leaf = next(p for p in range(4096, len(data), 4096) if data[p] == 13 and struct.unpack_from(">H", data, p + 3)[0] > 5 and b"mono8" in data[p:p + 4096])
        struct.pack_into(">H", data, leaf + 3, struct.unpack_from(">H", data, leaf + 3)[0] - 1)
        (path / "in.db3").write_bytes(data)
        report = self.convert(path, code=3)
        self.assertEqual((report["messages"], report["missing"]), (60 * (len(messages(0)) - 1) - 1, 1))

    def test_memory_is_bounded(self):
        bomb = lz4.frame.compress(bytes(1 << 28))
        self.assertLess(len(bomb), 2 << 20)

        def field(name, value):
            return struct.pack("<I", len(name) + 1 + len(value)) + name + b"=" + value

        def record(fields, data):
            text = b"".join(field(*f) for f in fields)
            return struct.pack("<I", len(text)) + text + struct.pack("<I", len(data)) + data

        head = record([(b"op", b"\3"), (b"index_pos", bytes(8)), (b"conn_count", bytes(4)), (b"chunk_count", bytes(4))], b" " * 4027)
        for claim in (100, 0xffffffff):
            chunk = record([(b"compression", b"lz4"), (b"op", b"\5"), (b"size", struct.pack("<I", claim))], bomb)
            path = self.path / "bomb.bag"
            path.write_bytes(b"#ROSBAG V2.0\n" + head + chunk)
            process = subprocess.Popen([CARDAN, "bag", "convert", path, self.path / "out.mcap", "--force"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 3)
            self.assertLess(usage.ru_maxrss, 200 << 10)  # KiB

    def test_db3(self):
        path = self.bag2()
        expected = self.values(path)
        count = 4 * len(expected)
        for source in (path, path / "in.db3"):
            report = self.convert(source, "--compression", "zstd")
            self.assertEqual((report["messages"], report["problems"]), (count, []))
            self.assertEqual(self.values(self.path / "out.mcap"), expected)
        info = self.json_of("bag", "info", self.path / "out.mcap")
        self.assertEqual((info["profile"], info["chunks"][0]["compression"]), ("ros2", "zstd"))
        self.assertEqual({t["type"]: t["metadata"]["topic_type_hash"] for t in info["topics"]}, {t: ROS2.hash_rihs01(t) for _, t in expected})
        self.assertEqual(self.json_of("play", self.path / "out.mcap", "--as-fast-as-readers")["published"], count)

    def forget_definitions(self, path, *more):
        database = sqlite3.connect(path / f"{path.name}.db3")
        for order in ("DROP TABLE message_definitions", "DROP TABLE schema", "ALTER TABLE topics DROP COLUMN type_description_hash", *more):
            database.execute(order)
        database.commit()
        database.close()

    def test_db3_without_definitions(self):
        path = self.bag2()
        expected = self.values(path)
        self.forget_definitions(path)
        self.convert(path)
        self.assertEqual(self.values(self.path / "out.mcap"), expected)
        self.forget_definitions(self.bag2("old"), "ALTER TABLE topics DROP COLUMN offered_qos_profiles", "UPDATE topics SET type = 'their_msgs/msg/Own' WHERE type = 'sensor_msgs/msg/Imu'")  # as of Dashing
        report = self.convert(self.path / "old", code=3)
        self.assertIn("/sensor_msgs/imu (their_msgs/msg/Own) is left out, with 4 messages", self.errors)
        self.assertEqual(report["messages"], 4 * (len(expected) - 1))

    def test_db3_with_definitions_from_a_folder(self):
        path = self.bag2("old")
        count = sum(len(stamps) for stamps in self.values(path).values())
        self.forget_definitions(path, "UPDATE topics SET type = 'their_msgs/msg/Own' WHERE type = 'sensor_msgs/msg/Imu'")
        package = self.path / "src" / "their" / "their_msgs" / "msg"
        package.mkdir(parents=True)
        numbers = "".join(f"geometry_msgs/Vector3 {name}\nfloat64[9] {name}_covariance\n" for name in ("angular_velocity", "linear_acceleration"))
        (package / "Own.msg").write_text(f"# A comment\nstd_msgs/Header header\nTurn orientation # relative\nfloat64[9] orientation_covariance\n{numbers}")
        report = self.convert(path, "--msgs", self.path / "src", code=3)
        self.assertIn("nobody defines their_msgs/Turn", self.errors)
        (package / "Turn.msg").write_text("float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1")
        report = self.convert(path, "--msgs", self.path / "src")
        self.assertEqual((report["messages"], report["problems"]), (count, []))
        line = self.json_of("bag", "cat", self.path / "out.mcap", "--topic", "/sensor_msgs/imu", "--count", "1")
        self.assertEqual(set(line["message"]["orientation"]), {"x", "y", "z", "w"})
        # The same, installed.
        installed = self.path / "install" / "share" / "their_msgs"
        installed.mkdir(parents=True)
        package.rename(installed / "msg")
        self.environment["AMENT_PREFIX_PATH"] = f"/nowhere:{self.path / 'install'}"
        self.assertEqual(self.convert(path)["messages"], count)

    def test_the_definitions_that_are_built_in(self):
        packages = {n.split("/")[0] for n in messages(0)} - {"own_msgs"} | {"nav_msgs", "visualization_msgs", "geometry_msgs", "diagnostic_msgs", "rcl_interfaces", "action_msgs"}
        types = sorted(n for n in ROS2.fielddefs if n.split("/")[0] in packages and "/msg/" in n)
        self.assertGreater(len(types), 100)
        path = self.path / "types"
        with Writer2(path, version=8, storage_plugin=StoragePlugin.SQLITE3) as bag:
            for name in types:
                bag.add_connection(topic_of(name), name, typestore=ROS2)
        self.forget_definitions(path)
        self.convert(path)
        with open(self.path / "out.mcap", "rb") as file:
            schemas = {s.name: s.data.decode() for s in make_reader(file).get_summary().schemas.values()}
        for name in types:
            for one, (_, fields) in get_types_from_msg(schemas[name], name).items():
                expected = [f for f in ROS2.fielddefs[one][1] if f[0] != "structure_needs_at_least_one_member"]
                self.assertEqual((name, one, fields), (name, one, expected))

    def test_damaged_db3(self):
        path = self.bag2(count=60)
        file = path / "in.db3"
        whole = file.read_bytes()
        count = 60 * (len(messages(0)) - 1)
        source = random.Random(3)
        self.assert_survives(file, whole, count, source.sample(range(len(whole)), 25 * FACTOR), change=lambda data, at: data[:at])
        self.assert_survives(file, whole, count, source.sample(range(len(whole)), 25 * FACTOR), change=lambda data, at: data[:at] + source.randbytes(600) + data[at + 600:])
        pages = [p * 4096 for p in range(len(whole) // 4096)]
        for page in pages:  # heads of pages, where the tree is
            places = [page + source.randrange(12) for _ in range(FACTOR)]
            for at in places:
                file.write_bytes(whole[:at] + bytes([whole[at] ^ source.randrange(1, 256)]) + whole[at + 1:])
                done = subprocess.run([CARDAN, "bag", "convert", file, self.path / "out.mcap", "--force"], env=self.environment, capture_output=True, text=True, timeout=120)
                self.assertIn(done.returncode, (0, 2, 3), f"byte {at}\n{done.stderr}")
                if done.returncode == 0:
                    self.assertEqual((at, len(list(self.raw_messages(self.path / "out.mcap")))), (at, count))

    def test_pages_that_lead_to_the_same_pages_end(self):
        """An index of 14 floors, each of whose pages has only the next floor's page below it, many times: a walk of it never ends."""
        path = self.bag2()
        file = path / "in.db3"
        with contextlib.closing(sqlite3.connect(file)) as database, database:
            topic, data = database.execute("SELECT topic_id, data FROM messages LIMIT 1").fetchone()
            first = database.execute("SELECT max(id) FROM messages").fetchone()[0]
            database.executemany("INSERT INTO messages VALUES (?, ?, ?, ?)", ((first + n, topic, BEGIN + n, data) for n in range(1, 20001)))
            root = database.execute("SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'messages'").fetchone()[0]
            size = database.execute("PRAGMA page_size").fetchone()[0]
        whole = bytearray(file.read_bytes())
        page = whole[(root - 1) * size:root * size]
        self.assertEqual(page[0], 2, "a page with pages below it")
        cells = [struct.unpack_from(">H", page, 12 + 2 * n)[0] for n in range(struct.unpack_from(">H", page, 3)[0])]
        self.assertGreater(len(cells), 10)
        leaf = struct.unpack_from(">I", page, cells[0])[0]
        pages = len(whole) // size

        def floor(below):
            made = bytearray(page)
            for place in (8, *cells):  # the last one is in the head
                struct.pack_into(">I", made, place, below)
            return made
        whole[(root - 1) * size:root * size] = floor(pages + 1)
        for n in range(1, 14):
            whole += floor(pages + n + 1 if n < 13 else leaf)
        struct.pack_into(">I", whole, 28, len(whole) // size)
        file.write_bytes(whole)
        done = subprocess.run([CARDAN, "bag", "convert", file, self.path / "out.mcap", "--force"], env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("leads to the same pages", done.stderr)

    def test_several_db3_of_a_folder(self):
        path = self.bag2()
        shutil.copy(path / "in.db3", path / "in_1.db3")
        text = (path / "metadata.yaml").read_text().replace("relative_file_paths:\n  - in.db3", "relative_file_paths:\n  - in.db3\n  - in_1.db3\n  - in_2.db3")
        self.assertIn("in_2", text)
        (path / "metadata.yaml").write_text(text)
        report = self.convert(path, code=3)
        self.assertEqual(report["messages"], 8 * (len(messages(0)) - 1))
        self.assertIn("in_2.db3, which is missing", self.errors)
        self.assertEqual(len(self.json_of("bag", "info", self.path / "out.mcap")["topics"]), len(messages(0)) - 1)


if __name__ == "__main__":
    main()
