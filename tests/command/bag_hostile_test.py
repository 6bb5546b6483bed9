#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings that somebody made to cost time, memory and disk. Each is read, or refused, within a bound that follows from its size.

    bag_hostile_test.py CARDAN [unittest arguments]
"""
import bz2
import json
import os
import resource
import signal
import sqlite3
import struct
import subprocess
import time

import lz4.frame
from mcap.writer import CompressionType

try:
    from compression import zstd
except ImportError:
    from backports import zstd

from command_case import CARDAN, CommandCase, main
from recording import VECTOR3, vectors, write

MIB = 1 << 20
BASE = 100 * MIB  # of the program, and of the Python before it becomes the program


class HostileCase(CommandCase):
    def cost_of(self, *words, code, cpu_s=None, descriptors=None):
        """Runs the command; what it said is in self.errors. The most memory it had, and the bytes that it read."""
        def limit():
            if cpu_s:
                resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        def read():
            with open("/proc/self/io") as io:
                return int(io.readline().split()[1])  # rchar: with all children that have ended

        before = read()
        with open(self.path / "said", "w+") as said:
            process = subprocess.Popen([CARDAN, *map(str, words)], env=self.environment, stdout=said, stderr=said, stdin=subprocess.DEVNULL, cwd=self.path, preexec_fn=limit)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            self.errors = said.read()
        self.assertEqual(process.returncode, code, f"{words}\n{self.errors[:3000]}")
        return usage.ru_maxrss << 10, read() - before

    def convert(self, path, *words, code, cpu_s=None):
        return self.cost_of("bag", "convert", path, self.path / "out.mcap", "--force", *words, code=code, cpu_s=cpu_s)

    def out_bytes(self):
        out = self.path / "out.mcap"
        return out.stat().st_size if out.exists() else 0


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

    def test_damage_after_each_chunk(self):
        path = self.bag(b"\xff" + (chunk(b"") + b"\xff") * 4000)
        _, read = self.convert(path, code=3, cpu_s=120)
        self.assertLess(read, 16 * path.stat().st_size + 8 * MIB)

    def test_many_publishers_of_a_topic(self):
        """Each is named once, whatever their number."""
        count = 60_000
        path = self.bag(b"".join(connection(i, b"/t", b"std_msgs/Empty", b"", b"/caller%d" % i) for i in range(count)) + chunk(message(count - 1, b"")))
        self.convert(path, code=0, cpu_s=120)
        self.assertLess(self.out_bytes(), 2 * path.stat().st_size)
        self.assertEqual(self.json_of("bag", "info", self.path / "out.mcap")["topics"][0]["metadata"]["ros1.callerid"].count("/caller"), count)
        # Nor with a type of its own for each.
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


class Mcap(HostileCase):
    @staticmethod
    def record(opcode, content):
        return bytes([opcode]) + struct.pack("<Q", len(content)) + content

    def bomb(self, path, piece, times):
        """A file without an index, with a chunk that repeats `piece`."""
        packer = zstd.ZstdCompressor()
        packed = b"".join([packer.compress(piece) for _ in range(times)]) + packer.flush()
        head = struct.pack("<QQQII", 5, 5, len(piece) * times, 0, 4) + b"zstd" + struct.pack("<Q", len(packed))
        channel = self.record(4, struct.pack("<HH", 1, 0) + struct.pack("<I", 2) + b"/a" + struct.pack("<I", 0) + struct.pack("<I", 0))
        path.write_bytes(b"\x89MCAP0\r\n" + self.record(1, bytes(8)) + channel + self.record(6, head + packed) + self.record(15, bytes(4)) + self.record(2, bytes(20)) + b"\x89MCAP0\r\n")
        return path

    def test_a_chunk_that_holds_too_much_is_named_with_the_option(self):
        path = self.bomb(self.path / "bomb.mcap", bytes(MIB), 1024)
        self.assertLess(path.stat().st_size, MIB)
        out = ["-o", self.path / "out.mcap", "--force"]
        for words, code in ((["verify", path], 1), (["info", path], 0), (["ls", path], 3), (["cat", path], 3), (["du", path], 3), (["cut", path, *out], 3), (["merge", path, *out], 3),
                            (["recover", path, *out], 3), (["export", path, "--to", self.path / "files"], 3), (["attachment", "list", path], 3), (["metadata", "list", path], 3)):
            memory, _ = self.cost_of("bag", *words, code=code)
            self.assertLess(memory, BASE, words)
            self.assertIn("holds 1024 MiB when it is unpacked, more than the 512 MiB that are permitted (--max-chunk)", self.errors, words)
        memory, _ = self.cost_of("play", path, code=1)  # there is nothing else in it
        self.assertLess(memory, BASE)

    def test_the_option_permits_more_and_less(self):
        path = self.path / "in.mcap"
        write(path, {"/v": (*VECTOR3, "cdr", {})}, vectors("/v", 1000), chunk_size=MIB, compression=CompressionType.ZSTD)
        self.run_cardan("bag", "verify", path, "--max-chunk", "64K")
        self.run_cardan("bag", "verify", path, "--max-chunk", "10K", code=1)
        self.assertEqual(len(self.run_cardan("bag", "ls", path, "--max-chunk", "64K").splitlines()), 1000)
        self.run_cardan("bag", "ls", path, "--max-chunk", "10K", code=3)
        self.assertIn("more than the 10240 bytes that are permitted (--max-chunk)", self.errors)
        self.run_cardan("bag", "ls", path, "--max-chunk", "5G", code=2)

    def test_a_chunk_of_many_small_messages_costs_at_most_twice_what_it_holds(self):
        message = self.record(5, struct.pack("<HIQQ", 1, 0, 5, 5))
        piece = message * (MIB // len(message))
        path = self.bomb(self.path / "bomb.mcap", piece, 100)
        held = 100 * len(piece)
        for words, code, most in ((["verify", path], 1, 2 * held), (["info", path], 0, 2 * held), (["du", path], 0, held)):  # (it has no index)
            memory, _ = self.cost_of("bag", *words, code=code)
            self.assertLess(memory, most + 45 * MIB, words)


class Topics(HostileCase):
    """Files of little but channels, made by hand: what each costs must not grow with their number."""
    V3 = (1, *VECTOR3)
    VALUE = b"\0\1\0\0" + struct.pack("<ddd", 1, 2, 3)

    @staticmethod
    def text(text):
        data = text if isinstance(text, bytes) else text.encode()
        return struct.pack("<I", len(data)) + data

    def schema(self, number, *texts):
        return Mcap.record(3, struct.pack("<H", number) + b"".join(map(self.text, texts)))

    def channel(self, number, topic, schema=1, encoding="cdr", metadata=b""):
        return Mcap.record(4, struct.pack("<HH", number, schema) + self.text(topic) + self.text(encoding) + self.text(metadata))

    def message(self, channel, at, data):
        return Mcap.record(5, struct.pack("<HIQQ", channel, 0, at, at) + data)

    def packed(self, records, end=0):
        data = zstd.compress(records)
        return Mcap.record(6, struct.pack("<QQQII", 5, end, len(records), 0, 4) + b"zstd" + struct.pack("<Q", len(data)) + data)

    def file(self, *records, name="in.mcap"):
        path = self.path / name
        path.write_bytes(b"\x89MCAP0\r\n" + Mcap.record(1, bytes(8)) + b"".join(records) + Mcap.record(15, bytes(4)) + Mcap.record(2, bytes(20)) + b"\x89MCAP0\r\n")
        return path

    def said_bytes(self):
        return (self.path / "said").stat().st_size

    def test_a_long_name_does_not_make_the_lines_of_others_longer(self):
        long = 500_000
        path = self.file(self.schema(*self.V3), self.channel(1, "/" + "a" * long), *(self.channel(i, f"/t{i}") for i in range(2, 4000)))
        for words in (["info", path], ["du", path], ["export", path, "--to", self.path / "files"]):
            memory, _ = self.cost_of("bag", *words, code=0, cpu_s=120)
            self.assertLess(memory, BASE + 32 * long, words)
            self.assertLess(self.said_bytes(), 4000 * 1000 + 4 * long, words)

    def test_what_a_terminal_would_obey_is_not_printed(self):
        """Nor in JSON, which keeps it as \\uXXXX."""
        evil = "a\x1b[31m\x9b31m\u202e\u200b\x7f\U000e0041\u00e9z"
        path = self.file(self.schema(1, "std_msgs/msg/String", "ros2msg", "string data\n"), self.channel(1, "/" + evil), self.channel(2, "/j", 0, "json"),
                         self.message(1, 5, b"\0\1\0\0" + self.text(evil + "\0")), self.message(2, 6, b'{"data": "' + evil.replace("\x1b", "").encode() + b'"}'))
        out = ["-o", self.path / "out.mcap", "--force"]
        for words in (["info"], ["info", "--json"], ["ls"], ["ls", "--json"], ["cat"], ["cat", "--json"], ["du"], ["du", "--json"], ["verify", "--json"], ["cut", *out, "--json"],
                      ["export", "--to", self.path / "files", "--force", "--json"]):
            said = subprocess.run([CARDAN, "bag", words[0], path, *map(str, words[1:])], env=self.environment, capture_output=True, timeout=120, cwd=self.path)
            for letter in (said.stdout + said.stderr).decode():
                self.assertFalse(ord(letter) < 32 and letter != "\n" or 127 <= ord(letter) < 160 or letter in "\u202e\u200b\U000e0041", (words, said.stdout))
        lines = [json.loads(line) for line in self.run_cardan("bag", "cat", path, "--json").splitlines()]
        self.assertEqual((lines[0]["topic"], lines[0]["message"]["data"]), ("/" + evil, evil))
        self.assertIn("\u00e9z", self.run_cardan("bag", "cat", path))

    def test_du_of_very_many_topics(self):
        path = self.file(self.schema(*self.V3), *(self.channel(i, f"/t{i}") for i in range(1, 65_536)))
        memory, _ = self.cost_of("bag", "du", path, code=0, cpu_s=60)
        self.assertLess(memory, BASE + 65_536 * 2048)

    def test_du_of_names_that_are_much_longer_than_the_file(self):
        chunks = (self.packed(b"".join(self.channel(1 + i, f"/{chunk}_{i}_" + "a" * 60_000, 0) for i in range(1500))) for chunk in range(8))
        path = self.file(*chunks)
        self.assertLess(path.stat().st_size, MIB)
        memory, _ = self.cost_of("bag", "du", path, code=3)
        self.assertIn("names of more than 64 MiB", self.errors)
        self.assertLess(memory, BASE + 90 * MIB + 6 * 64 * MIB)  # one chunk, and the table

    def test_play_of_very_many_topics(self):
        path = self.file(self.schema(*self.V3), *(self.channel(i, f"t{i}") for i in range(1, 65_536)), *(self.message(i, 5, self.VALUE) for i in range(1, 65_536)))
        self.cost_of("play", path, "--rate", "1000000", code=1, cpu_s=60, descriptors=256)
        self.assertIn("raise ulimit -n", self.errors)

    def test_a_folder_of_very_many_files(self):
        count = 3000
        folder = self.path / "drive"
        folder.mkdir()
        one = self.file(self.schema(*self.V3), self.channel(65_535, "/a"), self.message(65_535, 5, self.VALUE))
        for i in range(count):
            os.link(one, folder / f"{i}.mcap")
        for verb in ("cut", "merge"):
            memory, _ = self.cost_of("bag", verb, folder, "-o", self.path / "out.mcap", "--force", code=0)
            self.assertLess(memory, BASE + count * 64 * 1024, verb)

    def test_many_messages_of_a_latched_topic_before_the_start(self):
        """Of millions, those that are given are found without a search among thousands for each."""
        profile = self.text("offered_qos_profiles") + self.text("- history: 1\n  depth: 65536\n  reliability: 1\n  durability: 1\n")
        many = b"".join(self.message(1, 5 + i, b"") for i in range(1_500_000))
        path = self.file(self.schema(1, "std_msgs/msg/Empty", "ros2msg", ""), self.channel(1, "/a", metadata=profile), self.packed(many, 5 + 1_500_000), self.message(1, 10**10, b""))
        self.cost_of("bag", "cut", path, "--start", "5", "-o", self.path / "out.mcap", code=0, cpu_s=20)
        self.assertEqual(self.json_of("bag", "info", self.path / "out.mcap")["messages"], 4097)


class Kinds(HostileCase):
    def test_what_is_not_a_file_is_refused(self):
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
