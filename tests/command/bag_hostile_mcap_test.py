#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MCAP files that somebody made to cost time and memory, or to give a terminal orders.

    bag_hostile_mcap_test.py CARDAN [unittest arguments]
"""
import json
import os
import shutil
import struct
import subprocess

from mcap.writer import CompressionType

try:
    from compression import zstd
except ImportError:
    from backports import zstd

from command_case import CARDAN, main
from hostile_case import BASE, MIB, HostileCase
from recording import VECTOR3, vectors, write


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

    def test_a_chunk_that_holds_too_much_is_reported_with_the_option(self):
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

    def test_a_hole_in_the_summary_costs_no_memory(self):
        path = self.path / "hole.mcap"
        write(path, {"/v": (*VECTOR3, "cdr", {})}, vectors("/v", 10))
        whole = path.read_bytes()
        footer = whole[-37:]  # without the checksum: only that reads the hole, in pieces
        with open(path, "r+b") as file:
            file.seek(len(whole) - 37)
            file.write(b"\x90" + struct.pack("<Q", 2_000_000_000 - len(whole) + 28))
            file.seek(2_000_000_000)
            file.write(footer[:25] + bytes(4) + footer[29:])
        for words in (["info"], ["cat"]):
            memory, _ = self.cost_of("bag", *words, path, code=0)
            self.assertLess(memory, BASE, words)

    def test_a_record_of_a_sparse_file_that_is_a_hole_costs_no_memory(self):
        """A schema, and a record that nobody knows, each of 1 GB."""
        path = self.path / "hole.mcap"
        for opcode, code in ((3, 1), (0x90, 0)):
            length = 10**9
            head = b"\x89MCAP0\r\n" + self.record(1, bytes(8)) + bytes([opcode]) + struct.pack("<Q", length)
            with open(path, "wb") as file:
                file.write(head + struct.pack("<HIII", 1, 0, 0, length - 14))
                file.seek(len(head) + length)
                file.write(self.record(15, bytes(4)) + self.record(2, bytes(20)) + b"\x89MCAP0\r\n")
            for words in (["info"], ["ls"], ["cut", "-o", self.path / "out.mcap", "--force"]):
                memory, _ = self.cost_of("bag", words[0], path, *words[1:], code=3 if code and words != ["info"] else 0)
                self.assertLess(memory, BASE, words)
            memory, _ = self.cost_of("bag", "verify", path, code=code)
            self.assertLess(memory, BASE + 1.6 * length if code == 0 else BASE, opcode)  # it checks each byte

    def test_a_chunk_of_many_small_messages_costs_at_most_twice_its_content(self):
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

    def test_control_characters_are_not_printed(self):
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
        self.assertIn("exceed 64 MiB", self.errors)
        self.assertLess(memory, BASE + 90 * MIB + 6 * 64 * MIB)  # one chunk, and the table

    def test_du_of_many_files_with_the_same_long_names(self):
        path = self.file(self.packed(b"".join(self.channel(1 + i, f"/{i}_" + "a" * 60_000, 0) for i in range(100))))
        folder = self.path / "parts"
        folder.mkdir()
        for number in range(20):
            shutil.copy(path, folder / f"{number}.mcap")
        self.cost_of("bag", "du", folder, code=0)

    def test_play_of_very_many_topics(self):
        path = self.file(self.schema(*self.V3), *(self.channel(i, f"t{i}") for i in range(1, 65_536)), *(self.message(i, 5, self.VALUE) for i in range(1, 65_536)))
        self.cost_of("play", path, "--rate", "1000000", code=1, cpu_s=60, descriptors=256)
        self.assertIn("raise ulimit -n", self.errors)

    def test_export_of_more_topics_than_descriptors(self):
        path = self.file(self.schema(*self.V3), *(self.channel(i, f"/t{i}") for i in range(1, 400)), *(self.message(i, 5, self.VALUE) for i in range(1, 400)))
        self.cost_of("bag", "export", path, "--to", self.path / "files", code=1, descriptors=256)
        self.assertIn("raise ulimit -n, or take fewer topics at a time", self.errors)
        self.assertEqual(list((self.path / "files").iterdir()), [])

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


if __name__ == "__main__":
    main()
