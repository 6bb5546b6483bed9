#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan bag` on all kinds of recordings: `info` of each, what rosbag2 compressed, and `convert` to ROS 2's form in SQLite. PyPI's rosbags is the peer.

    bag_formats_test.py CARDAN [unittest arguments]
"""
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess

from mcap.writer import Writer as McapWriter
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionMode, StoragePlugin
from rosbags.rosbag2 import Reader as Reader2

try:
    from compression import zstd
except ImportError:
    from backports import zstd

from command_case import CARDAN, main
from recording import BEGIN, DISTANCE, SECOND, VECTOR3, vectors, write
from ros_bags import ROS1, ROS2, BagCase, make, messages, topic_of

SQLITE, MCAP = StoragePlugin.SQLITE3, StoragePlugin.MCAP
FILE, MESSAGE = CompressionMode.FILE, CompressionMode.MESSAGE


def short(kind):
    return kind.replace("/msg/", "/")


class Info(BagCase):
    def facts(self, *paths, code=0):
        """The common data of each kind: the messages and their times, and topic → type and messages."""
        info = self.json_of("bag", "info", *paths, code=code)
        topics = {t["topic"]: (short(t["type"]), t["messages"], round(t["rate"], 6)) for t in info["topics"]}
        return info["messages"], info["start_ns"], info["end_ns"], info["finished"], topics

    def test_each_kind_has_the_same_table(self):
        for compression in (None, "BZ2", "LZ4"):
            bag = self.bag1(f"{compression}.bag", compression)
            self.convert(bag)
            self.assertEqual(self.facts(bag), self.facts(self.path / "out.mcap"))
            chunk, = self.json_of("bag", "info", bag)["chunks"]
            self.assertEqual(chunk["compression"], {None: "none", "BZ2": "bz2", "LZ4": "lz4"}[compression])
            self.assertTrue(chunk["bytes"] < chunk["uncompressed_bytes"] or compression is None)
        folder = self.bag2()
        self.convert(folder)
        expected = self.facts(self.path / "out.mcap")
        self.assertEqual(expected[:3], (4 * (len(messages(0)) - 1), BEGIN, BEGIN + 3 * SECOND // 10))
        for path in (folder, folder / "in.db3"):
            self.assertEqual(self.facts(path), expected)
            text = self.run_cardan("bag", "info", path)
            for part in ("/sensor_msgs/imu", "sensor_msgs/msg/Imu", "cdr", "0.300 s", "finished"):
                self.assertIn(part, text)
        keys = {path: self.json_of("bag", "info", path).keys() for path in (bag, folder / "in.db3", self.path / "out.mcap")}
        self.assertEqual(len({tuple(k) for k in keys.values()}), 1, "the same keys in the same order")
        topic = next(t for t in self.json_of("bag", "info", folder)["topics"] if t["topic"] == "/sensor_msgs/imu")
        self.assertEqual((topic["encoding"], topic["schema_encoding"], topic["metadata"]["topic_type_hash"]), ("cdr", "ros2msg", ROS2.hash_rihs01("sensor_msgs/msg/Imu")))

    def test_several_files_are_one_recording(self):
        write(self.path / "front.mcap", {"/front": (*VECTOR3, "cdr", {})}, vectors("/front", 50))
        write(self.path / "rear.mcap", {"/rear": (*VECTOR3, "cdr", {})}, vectors("/rear", 100))
        bag, folder = self.bag1(), self.bag2()
        names = [self.path / "front.mcap", self.path / "rear.mcap", bag, folder]
        info = self.json_of("bag", "info", *names)
        self.assertEqual([f["messages"] for f in info["files"]], [50, 100, 4 * len(messages(0)), 4 * (len(messages(0)) - 1)])
        self.assertEqual(info["messages"], sum(f["messages"] for f in info["files"]))
        self.assertEqual((info["start_ns"], info["end_ns"]), (BEGIN, BEGIN + 99 * SECOND // 50))
        self.assertEqual({t["topic"]: t["messages"] for t in info["topics"] if t["topic"] in ("/front", "/rear")}, {"/front": 50, "/rear": 100})
        text = self.run_cardan("bag", "info", *names)
        for part in ("4 files", "front.mcap", "rear.mcap", "in.bag", "in.db3"):
            self.assertIn(part, text)
        # Parts of one recording are one row a topic.
        self.assertEqual(self.facts(self.path / "front.mcap", self.path / "front.mcap")[4]["/front"][1], 100)
        self.run_cardan("bag", "info", names[0], self.path / "missing.mcap", code=2)
        self.assertIn("missing.mcap", self.errors)

    def test_a_bag_without_an_index_is_walked_through(self):
        bag = self.bag1()
        expected = self.facts(bag)
        data = bytearray(bag.read_bytes())
        at = data.index(b"index_pos=") + len(b"index_pos=")
        end = int.from_bytes(data[at:at + 8], "little")
        data[at:at + 8] = bytes(8)
        bag.write_bytes(data[:end])
        facts = self.facts(bag)
        self.assertEqual((facts[:3], facts[3], facts[4]), (expected[:3], False, expected[4]))
        self.assertIn("never closed", self.run_cardan("bag", "info", bag))
        bag.write_bytes(data[:end // 2])
        self.assertLess(self.facts(bag, code=3)[0], expected[0])

    def test_an_index_of_connections_that_are_not_there(self):
        bag = self.bag1()
        expected = self.facts(bag)
        data = bytearray(bag.read_bytes())
        at = data.index(b"index_pos=") + len(b"index_pos=")
        index = int.from_bytes(data[at:at + 8], "little")
        while True:  # over the records of connections, to the first of a chunk
            fields = int.from_bytes(data[index:index + 4], "little")
            content = index + 4 + fields + 4
            if b"chunk_pos=" in data[index:content]:
                break
            index = content + int.from_bytes(data[content - 4:content], "little")
        data[content:content + 4] = (77).to_bytes(4, "little")
        bag.write_bytes(data)
        self.assertEqual(self.facts(bag), expected, "by the messages themselves")

    def test_an_index_that_is_cut_is_damaged(self):
        bag = self.path / "in.bag"
        with Writer1(bag) as writer:
            writer.chunk_threshold = 200
            text = writer.add_connection("/text", "std_msgs/msg/String", typestore=ROS1)
            for i in range(40):
                writer.write(text, BEGIN + i, ROS1.serialize_ros1(make(ROS1, "std_msgs/msg/String", {"data": f"text {i} " + "x" * 40}), "std_msgs/msg/String"))
        expected = self.facts(bag)
        whole = bag.read_bytes()
        place = whole.index(b"index_pos=") + len(b"index_pos=")
        at = int.from_bytes(whole[place:place + 8], "little")
        cuts = []
        while at < len(whole):
            fields = int.from_bytes(whole[at:at + 4], "little")
            content = at + 4 + fields + 4
            cuts += (at, content + 1)
            at = content + int.from_bytes(whole[content - 4:content], "little")
        self.assertEqual(at, len(whole))
        self.assertGreater(len(cuts), 2 * 5)
        # Between two records, only the head's count of chunks shows it; without that, nothing does.
        for data in (whole, whole.replace(b"chunk_count=", b"chunk_c?unt=", 1)):
            for cut in cuts:
                bag.write_bytes(data[:cut])
                self.assertEqual((cut, self.facts(bag, code=3)), (cut, expected), "by the messages themselves")

    def test_the_files_of_a_folder_of_sqlite(self):
        folder = self.bag2()
        shutil.copy(folder / "in.db3", folder / "in_1.db3")
        (folder / "metadata.yaml").unlink()
        self.assertEqual(self.facts(folder)[0], 8 * (len(messages(0)) - 1))
        self.assertEqual([os.path.basename(f["file"]) for f in self.json_of("bag", "info", folder)["files"]], ["in.db3", "in_1.db3"])


class Packed(BagCase):
    def test_compressed_files_of_rosbag2_are_converted(self):
        expected = self.values(self.bag2("plain"))
        for storage in (SQLITE, MCAP):
            for mode in (FILE, MESSAGE):
                with self.subTest(storage=storage, mode=mode):
                    name = f"{storage.name}_{mode.name}".lower()
                    path = self.bag2(name, storage=storage, compression=mode)
                    self.assertEqual(any(f.name.endswith(".zstd") for f in path.iterdir()), mode == FILE)
                    sources = [path, next(f for f in path.iterdir() if f.name != "metadata.yaml")]
                    for source in sources if storage == SQLITE or mode == FILE else sources[:1]:
                        report = self.convert(source)
                        self.assertEqual((report["messages"], report["lost"]), (4 * len(expected), False))
                        self.assertEqual(self.values(self.path / "out.mcap"), expected)
                    info = self.json_of("bag", "info", path)
                    self.assertEqual((info["messages"], info["problems"]), (4 * len(expected), []))
                    self.assertEqual(self.leftovers(), [])

    def leftovers(self):
        return [p.name for p in (self.path / "tmp").iterdir()] if (self.path / "tmp").exists() else []

    def test_mcap_is_read_as_it_is(self):
        """All that reads a folder of MCAP: also messages that are larger than what they were compressed to."""
        large = {"std_msgs/msg/Float64MultiArray"}
        plain = self.bag2("plain", storage=MCAP)
        size = {t: max(len(d) for c, _, d in self.raw(plain) if c.msgtype == t) for t in large}
        for mode in (FILE, MESSAGE):
            path = self.bag2(mode.name.lower(), storage=MCAP, compression=mode)
            count = 4 * (len(messages(0)) - 1)
            lines = self.run_cardan("bag", "ls", path, "--json").splitlines()
            self.assertEqual(len(lines), count)
            bytes_of = [json.loads(line) for line in lines]
            for kind in large:
                self.assertEqual(max(b["bytes"] for b in bytes_of if b["type"] == kind), size[kind])
            shown = [json.loads(line)["message"] for line in self.run_cardan("bag", "cat", path, "--json", "--topic", "/std_msgs/string").splitlines()]
            self.assertEqual([m["data"] for m in shown], ["text ü " * i for i in range(4)])
            played = self.json_of("play", path, "--as-fast-as-readers")
            self.assertEqual((played["published"], played["failed"], played["left_out"]), (count, 0, []))
            for command in ("cut", "merge", "recover"):
                self.run_cardan("bag", command, path, "-o", self.path / f"{mode.name}_{command}.mcap")
                self.assertEqual(self.values(self.path / f"{mode.name}_{command}.mcap"), self.values(plain))
            self.run_cardan("bag", "verify", path)
            self.run_cardan("bag", "du", path)

    def raw(self, path):
        with Reader2(path) as reader:
            yield from reader.messages()

    def test_a_large_message_is_played_whole(self):
        """Its room is that of the message, not that of what it was compressed to."""
        text = "x" * 1_000_000
        message = ROS2.serialize_cdr(ROS2.types["std_msgs/msg/String"](data=text), "std_msgs/msg/String")
        path = self.path / "large.mcap"
        write(path, {"/text": ("std_msgs/msg/String", "ros2msg", "string data\n", "cdr", {})}, [("/text", i, zstd.compress(bytes(message))) for i in range(3)])
        self.assertLess(path.stat().st_size, 10_000)
        report = self.json_of("play", path, "--as-fast-as-readers")
        self.assertEqual((report["published"], report["failed"]), (3, 0))

    def test_unpacked_by_hand(self):
        """With the packed file or in its place, each message counts once."""
        for storage, ending in ((SQLITE, "db3"), (MCAP, "mcap")):
            path = self.bag2(ending, storage=storage, compression=FILE)
            packed = path / f"{ending}.{ending}.zstd"
            count = self.json_of("bag", "info", path)["messages"]
            (path / f"{ending}.{ending}").write_bytes(zstd.decompress(packed.read_bytes()))
            self.assertEqual(self.json_of("bag", "info", path)["messages"], count)
            metadata = (path / "metadata.yaml").read_text()
            (path / "metadata.yaml").unlink()
            self.assertEqual(self.json_of("bag", "info", path)["messages"], count)
            (path / "metadata.yaml").write_text(metadata)
            packed.unlink()
            self.assertEqual(self.json_of("bag", "info", path)["messages"], count)
            self.assertEqual(self.convert(path)["messages"], count)

    def test_another_compression_is_reported(self):
        path = self.bag2(storage=MCAP, compression=MESSAGE)
        text = (path / "metadata.yaml").read_text()
        (path / "metadata.yaml").write_text(text.replace("compression_format: zstd", "compression_format: lz4"))
        for words in (["info", path], ["ls", path], ["convert", path, self.path / "out.mcap"]):
            self.run_cardan("bag", *words, code=2)
            self.assertIn("is compressed with lz4, which cardan does not read", self.errors)
        (path / "metadata.yaml").write_text(text.replace("compression_format: zstd", "compression_format: lz4").replace("compression_mode: message", "compression_mode: NONE"))
        self.run_cardan("bag", "info", path)

    def test_a_file_that_is_cut_or_damaged(self):
        for storage, ending in ((SQLITE, "db3"), (MCAP, "mcap")):
            path = self.bag2(ending, storage=storage, compression=FILE) / f"{ending}.{ending}.zstd"
            whole = path.read_bytes()
            for data in (b"", whole[:3], whole[:100], whole[:-3], whole + b"more", whole[:50] + bytes(50) + whole[100:]):
                path.write_bytes(data)
                for words in (["info", path], ["convert", path, self.path / "out.mcap"]):
                    self.run_cardan("bag", *words, code=2)
                    self.assertIn("cannot be unpacked", self.errors)
                self.run_cardan("bag", "info", path.parent, code=2)
                self.assertFalse((self.path / "out.mcap").exists())

    def test_a_message_that_is_damaged(self):
        path = self.bag2(compression=MESSAGE, count=10)
        database = sqlite3.connect(path / "in.db3")
        rows = database.execute("SELECT id, data FROM messages ORDER BY id LIMIT 3").fetchall()
        for (row, data), damaged in zip(rows, (lambda d: d[:-3], lambda d: d[:12] + bytes(len(d) - 12), lambda d: d[:4] + b"\xff" * (len(d) - 4))):
            database.execute("UPDATE messages SET data = ? WHERE id = ?", (damaged(data), row))
        database.commit()
        database.close()
        report = self.convert(path, code=3)
        self.assertEqual(report["messages"], 10 * (len(messages(0)) - 1) - 3)
        self.assertEqual(sum(t["failed"] for t in report["topics"]), 3)
        self.assertIn("a compressed message is damaged", self.errors)

    def test_there_is_no_room(self):
        path = self.bag2(compression=FILE)
        self.environment["TMPDIR"] = str(self.path / "nowhere")
        self.run_cardan("bag", "info", path, code=1)
        self.assertIn("set TMPDIR to a folder with room for it", self.errors)
        # And nothing is left of a file that was unpacked.
        (self.path / "tmp").mkdir()
        self.environment["TMPDIR"] = str(self.path / "tmp")
        self.run_cardan("bag", "info", path)
        self.assertEqual(self.leftovers(), [])


class ToSqlite(BagCase):
    def to_sqlite(self, source, *words, code=0, out="drive/"):
        return self.json_of("bag", "convert", source, f"{self.path}/{out}", *words, code=code)

    def test_rosbags_opens_the_folder(self):
        for name, storage in (("mcap", MCAP), ("sqlite", SQLITE)):
            source = self.bag2(name, storage=storage)
            expected = self.values(source)
            count = 4 * len(expected)
            report = self.to_sqlite(source, out=f"out_{name}/")
            self.assertEqual((report["messages"], report["problems"]), (count, []))
            folder = self.path / f"out_{name}"
            self.assertEqual({p.name for p in folder.iterdir()}, {"metadata.yaml", f"out_{name}_0.db3"})
            self.assertEqual(self.values(folder), expected)
            with Reader2(folder) as reader:
                self.assertEqual((reader.message_count, reader.start_time, reader.duration), (count, BEGIN, 3 * SECOND // 10 + 1))
                self.assertEqual({c.topic: c.digest for c in reader.connections}, {topic_of(t): ROS2.hash_rihs01(t) for _, t in expected})
                self.assertTrue(all(c.msgcount == 4 and (c.msgdef.data or c.msgtype.endswith("/Empty")) for c in reader.connections))
            # And back again.
            self.convert(folder)
            self.assertEqual(self.values(self.path / "out.mcap"), expected)
            self.assertEqual(self.json_of("bag", "info", folder)["messages"], count)

    def test_the_tables_are_those_of_iron(self):
        """As rosbags makes them; Humble's own reader asks for the first five columns of topics."""
        source = self.bag2()
        self.to_sqlite(source, out="out.db3")

        def tables(path):
            database = sqlite3.connect(path)
            names = [n for n, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
            columns = {n: [c[1:4] for c in database.execute(f"PRAGMA table_info({n})")] for n in names}
            rows = {n: database.execute(f"SELECT * FROM {n}").fetchall() for n in ("topics", "messages")}
            rows["types"] = sorted(database.execute("SELECT topic_type, encoding, type_description_hash FROM message_definitions"))
            version, text = database.execute("SELECT metadata_version, metadata FROM metadata").fetchone()
            return columns, rows, database.execute("SELECT schema_version FROM schema").fetchall(), version, text.splitlines()[:2]

        self.assertEqual(tables(self.path / "out.db3"), tables(source / "in.db3")[:4] + (["version: 8", "storage_identifier: sqlite3"],))
        self.assertEqual(self.values(self.path / "out.db3"), self.values(source))

    def test_of_ros1_and_of_compressed_files(self):
        bag = self.bag1()
        self.assertEqual(self.to_sqlite(bag)["messages"], 4 * len(messages(0)))
        self.assertEqual(self.values(self.path / "drive"), self.values(bag))
        packed = self.bag2(storage=MCAP, compression=MESSAGE)
        self.to_sqlite(packed, "--topic", "/sensor_msgs/*", "--exclude", "*/image", out="some.db3")
        expected = {key: value for key, value in self.values(packed).items() if key[0].startswith("/sensor_msgs/") and key[0] != "/sensor_msgs/image"}
        self.assertEqual(self.values(self.path / "some.db3"), expected)

    def test_qualities_of_service_in_numbers(self):
        """Jazzy writes words, which Humble does not read."""
        words = "- history: keep_last\n  depth: 7\n  reliability: best_effort\n  durability: transient_local\n  deadline:\n    sec: 9223372036\n    nsec: 854775807\n" \
                "  lifespan:\n    sec: 1\n    nsec: 2\n  liveliness: automatic\n  liveliness_lease_duration:\n    sec: 3\n    nsec: 4\n  avoid_ros_namespace_conventions: false"
        write(self.path / "in.mcap", {"/v": (*VECTOR3, "cdr", {"offered_qos_profiles": words})}, vectors("/v", 3))
        self.to_sqlite(self.path / "in.mcap")
        with AnyReader([self.path / "drive"]) as reader:
            profile, = reader.connections[0].ext.offered_qos_profiles
        self.assertEqual([profile.history.name, profile.depth, profile.reliability.name, profile.durability.name, profile.liveliness.name, profile.lifespan.nsec],
                         ["KEEP_LAST", 7, "BEST_EFFORT", "TRANSIENT_LOCAL", "AUTOMATIC", 2])
        stored, = sqlite3.connect(self.path / "drive" / "drive_0.db3").execute("SELECT offered_qos_profiles FROM topics").fetchone()
        for part in ("history: 1", "reliability: 2", "durability: 1", "liveliness: 1"):
            self.assertIn(part, stored)

    def test_messages_that_a_file_cannot_hold_are_counted(self):
        channels = {"/v": (*VECTOR3, "cdr", {}), "/json": ("Some", "jsonschema", "{}", "json", {}), "/proto": ("foxglove.Log", "protobuf", b"\n\0", "protobuf", {}),
                    "/none": (*DISTANCE[:1], "jsonschema", "{}", "json", {}), "/other": (VECTOR3[0], "ros2msg", "float64 x\n", "cdr", {})}
        data = [*vectors("/v", 10), *[("/json", i, b"{}") for i in range(5)], *[("/proto", i, b"\n\1x") for i in range(3)], ("/other", 7, bytes([0, 1, 0, 0] + 8 * [0]))]
        write(self.path / "in.mcap", channels, data)
        report = self.to_sqlite(self.path / "in.mcap", code=3)
        self.assertEqual({t["topic"]: (t["messages"], t["failed"]) for t in report["topics"]}, {"/v": (10, 0), "/json": (0, 5), "/proto": (0, 3), "/none": (0, 0), "/other": (0, 1)})
        self.assertIn("/proto (foxglove.Log) is left out, with 3 messages: a .db3 holds messages of ROS 2 (cdr with ros2msg or ros2idl), and its are 'protobuf' with 'protobuf'", self.errors)
        self.assertIn("/other (geometry_msgs/msg/Vector3) is left out, with 1 messages: a .db3 holds one definition of a type", self.errors)
        self.assertEqual(list(self.values(self.path / "drive")), [("/v", VECTOR3[0])])
        # Without them nothing is lost.
        self.to_sqlite(self.path / "in.mcap", "--topic", "/v", out="clean/")

    def test_attachments_and_metadata_are_counted(self):
        with open(self.path / "in.mcap", "wb") as file:
            writer = McapWriter(file)
            writer.start(profile="ros2")
            channel = writer.register_channel("/v", "cdr", writer.register_schema(VECTOR3[0], VECTOR3[1], VECTOR3[2].encode()))
            writer.add_message(channel, BEGIN, vectors("/v", 1)[0][2], BEGIN)
            writer.add_message(channel, 2 ** 63, vectors("/v", 1)[0][2], BEGIN)
            writer.add_attachment(BEGIN, BEGIN, "robot.urdf", "text/xml", b"<robot/>")
            for name in ("route", "rosbag2", "cardan.losses"):
                writer.add_metadata(name, {"a": "b"})
            writer.finish()
        report = self.to_sqlite(self.path / "in.mcap", code=3)
        for part in ("1 attachments are left out", "1 metadata records are left out", "/v: 1 messages could not be converted: their times are larger than SQLite's integers"):
            self.assertIn(part, self.errors)
        self.assertEqual((report["messages"], len(report["problems"])), (1, 3))

    def test_the_rules_of_outputs(self):
        source = self.bag2("source", storage=MCAP)
        file = source / "source.mcap"
        self.run_cardan("bag", "convert", source, f"{self.path}/drive/", "--compression", "zstd", code=2)
        self.assertIn("a .db3 has no chunks to compress", self.errors)
        for words, said in (([file, f"{source}/"], "the output is the folder of the input"), ([file, self.path / "in.mcap"], "is an MCAP file already")):
            self.run_cardan("bag", "convert", *words, "--force", code=2)
            self.assertIn(said, self.errors)
        self.assertFalse((self.path / "drive").exists())
        self.to_sqlite(source)
        before = (self.path / "drive" / "drive_0.db3").read_bytes()
        self.run_cardan("bag", "convert", source, f"{self.path}/drive/", code=2)
        self.assertIn("metadata.yaml already exists", self.errors)
        self.assertEqual((self.path / "drive" / "drive_0.db3").read_bytes(), before)
        self.to_sqlite(source, "--force", out="drive")  # it is there: a folder
        self.to_sqlite(source, out="one.db3")
        self.run_cardan("bag", "convert", source, self.path / "one.db3", code=2)
        self.assertIn("one.db3 already exists", self.errors)
        (self.path / "one.db3-wal").write_bytes(b"of another one")
        self.run_cardan("bag", "convert", source, self.path / "one.db3", "--force", code=2)
        self.assertIn("one.db3-wal already exists", self.errors)
        # A file that somebody put under the name of the unfinished one gets nothing.
        os.symlink(self.path / "theirs", self.path / "two.db3.partial")
        self.run_cardan("bag", "convert", source, self.path / "two.db3", code=2)
        self.assertFalse((self.path / "theirs").exists())

    def test_a_full_disk_leaves_nothing(self):
        source = self.bag2(storage=MCAP, count=400)

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        done = subprocess.run([CARDAN, "bag", "convert", source, f"{self.path}/drive/"], env=self.environment, capture_output=True, text=True, timeout=120, preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot write", done.stderr)
        self.assertFalse((self.path / "drive").exists())


class Selections(BagCase):
    """Patterns and dates, in each command that takes a part of a recording."""

    def test_patterns_and_dates(self):
        path, cut = self.path / "in.mcap", self.path / "cut.mcap"
        write(path, {t: (*VECTOR3, "cdr", {}) for t in ("/camera/left", "/camera/right", "/imu")}, [m for t in ("/camera/left", "/camera/right", "/imu") for m in vectors(t, 100)])
        chosen = ["--topic", "/camera/*", "--exclude", "*/r?ght", "--start", "2023-11-14T22:13:20.5Z"]  # BEGIN is 2023-11-14T22:13:20Z
        end = "2023-11-14 23:13:21+01:00"
        for verb in ("ls", "cat"):
            lines = [json.loads(line) for line in self.run_cardan("bag", verb, path, "--json", *chosen, "--end", end).splitlines()]
            self.assertEqual(([line["topic"] for line in lines], lines[0]["log_time"]), (["/camera/left"] * 25, BEGIN + SECOND // 2))
        self.run_cardan("bag", "cut", path, "-o", cut, *chosen, "--end", end)
        self.assertEqual({t["topic"]: t["messages"] for t in self.json_of("bag", "info", cut)["topics"]}, {"/camera/left": 25})
        self.run_cardan("bag", "export", path, "--to", self.path / "files", *chosen, "--end", end)
        self.assertEqual([p.name for p in (self.path / "files").iterdir()], ["camera_left.csv"])
        self.assertEqual(len((self.path / "files" / "camera_left.csv").read_text().splitlines()), 26)
        played = self.json_of("play", path, "--as-fast-as-readers", *chosen, "--until", end)
        self.assertEqual([(t["topic"], t["published"]) for t in played["topics"]], [("/camera/left", 25)])


if __name__ == "__main__":
    main()
