#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of ROS that somebody made to cost time, memory and disk. Each is read, or refused, within a bound that follows from its size.

    bag_hostile_test.py CARDAN [unittest arguments]
"""
import bz2
import os
import signal
import sqlite3
import struct
import subprocess
import time

import lz4.frame

try:
    from compression import zstd
except ImportError:
    from backports import zstd

from command_case import CARDAN, main
from hostile_case import BASE, MIB, HostileCase
from recording import VECTOR3, vectors, write


class Sqlite(HostileCase):
    TOPICS = "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)"
    TOPIC = "INSERT INTO topics VALUES(1, '/a', 'std_msgs/msg/String', 'cdr', '')"

    def database(self, *orders, rows=()):
        path = self.path / "in.db3"
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        for order in (self.TOPICS, self.TOPIC, *orders):
            database.execute(order)
        for order, many in rows:
            database.executemany(order, many)
        database.commit()
        database.close()
        return path

    def test_columns_that_compute_are_refused(self):
        ids = [("INSERT INTO messages(id, topic_id, timestamp) VALUES(?, 1, ?)", [(i, i) for i in range(1, 1000)])]
        head = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB "
        for column in ("AS (zeroblob(100000)))", "GENERATED ALWAYS AS (zeroblob(100000)) VIRTUAL)", "AS (zeroblob(100)) STORED)"):
            path = self.database(head + column, rows=ids)
            self.convert(path, code=2)
            self.assertIn("has no tables of topics and messages as ROS 2 writes them", self.errors)
            self.assertFalse((self.path / "out.mcap").exists())
        path = self.database("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER AS (1), data BLOB)", rows=[("INSERT INTO messages(topic_id, data) VALUES(1, ?)", [(b"x",)])])
        self.convert(path, code=2)

    def test_views_and_virtual_tables_are_refused(self):
        endless = "CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 1 AS topic_id, i AS timestamp, zeroblob(1000) AS data FROM n"
        for order in (endless, "CREATE VIRTUAL TABLE messages USING fts5(id, topic_id, timestamp, data)"):
            self.convert(self.database(order), code=2)
            self.assertFalse((self.path / "out.mcap").exists())
        # Under another word in the schema's text, too.
        path = self.database("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)")
        database = sqlite3.connect(path)
        database.execute("PRAGMA writable_schema=ON")
        database.execute("UPDATE sqlite_master SET sql = 'CREATE/**/VIRTUAL TABLE messages USING fts5(id, topic_id, timestamp, data)', rootpage = 0 WHERE name = 'messages'")
        database.commit()
        database.close()
        self.convert(path, code=2)

    def test_a_default_value_is_not_multiplied(self):
        """Rows that were written before a column was added have its default value, each of them."""
        table = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER)"
        path = self.database(table, rows=[("INSERT INTO messages VALUES(?, 1, ?)", [(i, i) for i in range(1, 10_000)])])
        database = sqlite3.connect(path)
        database.execute(f"ALTER TABLE messages ADD COLUMN data BLOB DEFAULT x'{'00' * 20_000}'")
        database.commit()
        database.close()
        self.convert(path, code=3)
        self.assertIn("its messages are longer than the file", self.errors)
        self.assertLess(self.out_bytes(), 4 * path.stat().st_size)

    def test_a_definition_of_many_topics_is_bounded(self):
        topics = [("INSERT INTO topics VALUES(?, ?, 'std_msgs/msg/String', 'cdr', '')", [(i, f"/t{i}") for i in range(2, 10_000)])]
        path = self.database("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)",
                             "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT, encoded_message_definition TEXT)",
                             f"INSERT INTO message_definitions VALUES(1, 'std_msgs/msg/String', 'ros2msg', 'string data #{'x' * 60_000}')", rows=topics)
        memory, _ = self.convert(path, code=3)
        self.assertIn("more than 64 MiB of text", self.errors)
        self.assertLess(memory, BASE + 4 * 64 * MIB)

    def test_a_pipe_in_place_of_the_journal(self):
        path = self.database("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)")
        for ending in ("-wal", "-journal", "-shm"):
            beside = self.path / (path.name + ending)
            os.mkfifo(beside)
            self.convert(path, code=2)
            self.assertIn(f"{beside} is not a file", self.errors)
            beside.unlink()


def field(name, value):
    return struct.pack("<I", len(name) + 1 + len(value)) + name + b"=" + value


def record(fields, data):
    text = b"".join(field(*one) for one in fields)
    return struct.pack("<I", len(text)) + text + struct.pack("<I", len(data)) + data


def connection(number, topic, kind, text, caller=b"/node"):
    return record([(b"op", b"\7"), (b"conn", struct.pack("<I", number)), (b"topic", topic)],
                  field(b"topic", topic) + field(b"type", kind) + field(b"md5sum", b"0") + field(b"message_definition", text) + field(b"callerid", caller))


def message(number, data):
    return record([(b"op", b"\2"), (b"conn", struct.pack("<I", number)), (b"time", struct.pack("<II", 5, 0))], data)


def chunk(data, compression=b"none", size=None):
    return record([(b"compression", compression), (b"op", b"\5"), (b"size", struct.pack("<I", len(data) if size is None else size))], data)


HEAD = b"#ROSBAG V2.0\n" + record([(b"op", b"\3"), (b"index_pos", bytes(8)), (b"conn_count", bytes(4)), (b"chunk_count", bytes(4))], b" " * 4027)


class Ros1(HostileCase):
    def bag(self, data):
        path = self.path / "in.bag"
        path.write_bytes(HEAD + data)
        return path

    def test_signs_of_chunks_after_damage(self):
        for header in (1 << 19, 4000, 60, 12):
            one = struct.pack("<I", header) + b"\4\0\0\0op=\5"
            path = self.bag(b"\xff" * 16 + one * (MIB // len(one)))
            _, read = self.convert(path, code=3, cpu_s=120)
            self.assertLess(read, 16 * path.stat().st_size + 8 * MIB, header)

    def test_an_index_that_names_the_same_bytes_many_times(self):
        """`info` looks at each chunk that the index names."""
        start = len(HEAD)
        body = (struct.pack("<I", 60_000) * 15_000  # headers of records, wherever one looks
                + record([(b"compression", b"none"), (b"op", b"\5"), (b"size", bytes(4)), (b"more", b"x" * 60_000)], b"") + bytes(1000))
        places = [record([(b"op", b"\6"), (b"ver", struct.pack("<I", 1)), (b"chunk_pos", struct.pack("<Q", start + n)), (b"start_time", bytes(8)), (b"end_time", bytes(8)), (b"count", bytes(4))], b"")
                  for n in range(40_000)]
        index = start + len(body)
        whole = HEAD.replace(b"index_pos=" + bytes(8), b"index_pos=" + struct.pack("<Q", index)) + body + b"".join(places)
        path = self.path / "in.bag"
        path.write_bytes(whole)
        memory, read = self.cost_of("bag", "info", path, code=3, cpu_s=120)
        self.assertLess(read, 40 * path.stat().st_size + 8 * MIB)
        self.assertLess(memory, BASE)

    def test_damage_after_each_chunk(self):
        path = self.bag(b"\xff" + (chunk(b"") + b"\xff") * 4000)
        _, read = self.convert(path, code=3, cpu_s=120)
        self.assertLess(read, 16 * path.stat().st_size + 8 * MIB)

    def test_many_publishers_of_a_topic(self):
        """Each is reported once, whatever their number."""
        count = 60_000
        path = self.bag(b"".join(connection(i, b"/t", b"std_msgs/Empty", b"", b"/caller%d" % i) for i in range(count)) + chunk(message(count - 1, b"")))
        self.convert(path, code=0, cpu_s=120)
        self.assertLess(self.out_bytes(), 2 * path.stat().st_size)
        self.assertEqual(self.json_of("bag", "info", self.path / "out.mcap")["topics"][0]["metadata"]["ros1.callerid"].count("/caller"), count)
        # Nor with its own type for each.
        path = self.bag(b"".join(connection(i, b"/t", b"std_msgs/Empty", b"# %d\n" % i, b"/caller%d" % i) for i in range(20_000)))
        self.convert(path, code=0, cpu_s=120)
        self.assertLess(self.out_bytes(), 16 * path.stat().st_size)

    def test_lists_of_messages_without_bytes(self):
        text = b"E[] a\n" + b"=" * 80 + b"\nMSG: p/E\n"
        path = self.bag(chunk(connection(0, b"/t", b"p/M", text) + message(0, struct.pack("<I", 60_000)) * 2000))
        self.convert(path, code=3)
        self.assertLess(self.out_bytes(), 16 * path.stat().st_size)
        # As many as a message may well have are converted.
        path = self.bag(chunk(connection(0, b"/t", b"p/M", text) + message(0, struct.pack("<I", 400)) * 3))
        self.convert(path, code=0)
        self.assertGreater(self.out_bytes(), 1200)

    def test_chunks_that_hold_much_more_than_the_file(self):
        many = 200 * MIB
        for name, packed in ((b"bz2", bz2.compress(bytes(many))), (b"lz4", lz4.frame.compress(bytes(many)))):
            path = self.bag(chunk(packed, name, many))
            memory, _ = self.convert(path, "--max-chunk", "64M", code=3)
            self.assertIn("holds 200 MiB when it is unpacked, more than the 64 MiB that are permitted (--max-chunk)", self.errors)
            self.assertLess(memory, BASE)
            memory, _ = self.convert(path, code=3)
            self.assertNotIn("--max-chunk", self.errors)
            self.assertLess(memory, BASE + many + 32 * MIB)
        path = self.bag(chunk(packed, b"lz4", 600 * MIB))
        memory, _ = self.convert(path, code=3)
        self.assertIn("--max-chunk", self.errors)
        self.assertLess(memory, BASE)

    def test_definitions_that_are_longer_than_the_file(self):
        for size, count in ((20 * MIB, 15), (1000 << 10, 150)):
            text = b"#" * size
            path = self.bag(b"".join(chunk(lz4.frame.compress(one), b"lz4", len(one)) for one in (connection(i, b"/t%d" % i, b"p/M", text) + message(i, b"") for i in range(count))))
            memory, _ = self.convert(path, code=3)
            self.assertLess(memory, BASE + 3 * 64 * MIB + 2 * size)

    def test_a_signal_ends_it(self):
        zeros = 256 * MIB
        path = self.bag(chunk(bz2.compress(bytes(zeros)), b"bz2", zeros) * 200)
        process = subprocess.Popen([CARDAN, "bag", "convert", path, self.path / "out.mcap"], env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while not (self.path / "out.mcap.partial").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=120)
        self.assertEqual((process.returncode, "stopped; " in errors), (1, True), errors)
        self.assertEqual([p.name for p in self.path.iterdir() if p.name.startswith("out")], [])


class Packed(HostileCase):
    """Recordings that rosbag2 compressed, as whole files or message by message."""
    TOPICS = Sqlite.TOPICS
    TABLES = (TOPICS, Sqlite.TOPIC, "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)")

    def sqlite_of(self, messages):
        path = self.path / "in.db3"
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        for order in self.TABLES:
            database.execute(order)
        database.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES(1, ?, ?)", enumerate(messages, 1))
        database.commit()
        database.close()
        return path

    def test_a_file_that_holds_much_more_than_it_is_long(self):
        packer = zstd.ZstdCompressor()
        bomb = b"".join([packer.compress(bytes(MIB)) for _ in range(1024)]) + packer.flush()
        self.assertLess(len(bomb), MIB)
        for ending in ("mcap", "db3"):
            path = self.path / f"bomb.{ending}.zstd"
            path.write_bytes(bomb)
            for words in (["info", path], ["convert", path, self.path / "out.mcap"]):
                memory, _ = self.cost_of("bag", *words, code=2, file_bytes=512 * MIB)
                self.assertIn("it holds too much when it is unpacked", self.errors)
                self.assertIn("--max-chunk permits more than the 512 MiB", self.errors)
                self.assertLess(memory, BASE)
                self.cost_of("bag", *words, "--max-chunk", "64M", code=2, file_bytes=65 * MIB)
                self.assertIn("more than the 64 MiB", self.errors)
        memory, _ = self.cost_of("play", self.path / "bomb.mcap.zstd", code=2, file_bytes=512 * MIB)
        self.assertLess(memory, BASE)

    def test_messages_that_hold_much_more_than_the_file(self):
        message = b"\0\1\0\0" + bytes(MIB)
        count = 2000
        many = [zstd.compress(message)] * count
        path = self.sqlite_of(many)
        self.assertLess(path.stat().st_size, 2 * MIB)
        memory, _ = self.convert(path, "--max-chunk", "16M", code=3, file_bytes=200 * MIB)
        self.assertIn("hold too much when they are unpacked (--max-chunk)", self.errors)
        self.assertLess(self.out_bytes(), 64 * path.stat().st_size + 17 * MIB)
        self.assertLess(memory, BASE + 16 * MIB)
        path = self.path / "in.mcap"
        write(path, {"/s": ("std_msgs/msg/String", "ros2msg", "string data\n", "cdr", {})}, [("/s", i, one) for i, one in enumerate(many)])
        memory, _ = self.cost_of("bag", "cut", path, "-o", self.path / "out.mcap", "--force", "--max-chunk", "16M", code=3, file_bytes=200 * MIB)
        self.assertLess(self.out_bytes(), 64 * path.stat().st_size + 17 * MIB)
        self.assertLess(memory, BASE + 32 * MIB)
        self.assertIn("hold too much when they are unpacked (--max-chunk)", self.errors)

    def test_a_message_that_claims_more_than_it_holds(self):
        def claims(size):
            whole = zstd.compress(b"\0\1\0\0" + bytes(300))  # its head: the magic number, a byte of flags, two of the size
            self.assertEqual(whole[4] >> 6, 1)
            return whole[:4] + bytes([whole[4] & 0x3f | 0xc0]) + struct.pack("<Q", size) + whole[7:]
        good = zstd.compress(b"\0\1\0\0" + bytes(300))
        path = self.sqlite_of([claims(size) for size in (400 * MIB, 4 << 30, 1 << 62, (1 << 64) - 1)] + [good])
        memory, _ = self.convert(path, code=3)
        self.assertLess(memory, BASE)
        self.assertIn("4 messages could not be converted", self.errors)


class Kinds(HostileCase):
    def test_a_pipe_is_refused(self):
        """Nobody waits for a pipe's writer."""
        pipe = self.path / "x.mcap"
        os.mkfifo(pipe)
        out = ["-o", self.path / "out.mcap"]
        for words in (["bag", "info", pipe], ["bag", "ls", pipe], ["bag", "cat", pipe], ["bag", "verify", pipe], ["bag", "du", pipe], ["bag", "cut", pipe, *out], ["bag", "merge", pipe, *out],
                      ["bag", "recover", pipe, *out], ["bag", "export", pipe, "--to", self.path / "files"], ["bag", "convert", pipe, self.path / "out.mcap"],
                      ["bag", "attachment", "list", pipe], ["bag", "metadata", "list", pipe], ["play", pipe], ["record", "--attach", pipe, *out]):
            self.run_cardan(*words, code=2)
            self.assertIn(f"{pipe} is a pipe, not a file", self.errors, words)
        self.run_cardan("bag", "info", "/dev/zero", code=2)
        self.assertIn("/dev/zero is a device, not a file", self.errors)

    def test_a_pipe_in_the_folder_of_a_recording(self):
        folder = self.path / "drive"
        folder.mkdir()
        write(folder / "a.mcap", {"/v": (*VECTOR3, "cdr", {})}, vectors("/v", 10))
        os.mkfifo(folder / "b.mcap")
        self.assertEqual(self.json_of("bag", "info", folder, code=3)["messages"], 10)
        self.assertIn("b.mcap is a pipe, not a file", self.errors)
        self.assertEqual(len(self.run_cardan("bag", "ls", folder, code=3).splitlines()), 10)
        self.assertEqual(self.json_of("play", folder, "--as-fast-as-readers", code=3)["published"], 10)


if __name__ == "__main__":
    main()
