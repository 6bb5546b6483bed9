#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contents of a file besides its messages' fields: `cardan bag du`, attachments and metadata, on files of PyPI's mcap.

    bag_parts_test.py CARDAN [unittest arguments]
"""
import os

from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer

from command_case import CommandCase, main
from recording import BEGIN, VECTOR3, vectors, write

PLAIN = (*VECTOR3, "cdr", {})


class Du(CommandCase):
    def recording(self, compression=CompressionType.NONE):
        path = self.path / "in.mcap"
        write(path, {"/few": PLAIN, "/many": PLAIN, "/none": PLAIN}, vectors("/few", 10) + vectors("/many", 90), compression=compression)
        return path

    def test_every_byte_is_accounted_for(self):
        for compression in (CompressionType.NONE, CompressionType.ZSTD, CompressionType.LZ4):
            path = self.recording(compression)
            report = self.json_of("bag", "du", path)
            size = path.stat().st_size
            self.assertEqual((report["bytes"], sum(r["bytes"] for r in report["records"])), (size, size))
            with open(path, "rb") as file:
                kinds = {}
                for record in StreamReader(file, emit_chunks=True).records:
                    kinds[type(record).__name__] = kinds.get(type(record).__name__, 0) + 1
            self.assertEqual({r["record"]: r["records"] for r in report["records"] if r["record"] != "magic"}, kinds)
            self.assertEqual([(t["topic"], t["messages"], t["bytes"]) for t in report["topics"]], [("/many", 90, 90 * 28), ("/few", 10, 10 * 28), ("/none", 0, 0)])
            self.assertAlmostEqual(report["topics"][0]["share"], 0.9)
            taken = sum(t["file_bytes"] for t in report["topics"])
            chunks = sum(r["bytes"] for r in report["records"] if r["record"] in ("Chunk", "MessageIndex"))
            self.assertLessEqual(taken, chunks)  # schemas and channels are in chunks too
            self.assertGreater(taken, 0.5 * chunks)
            inside = {r["record"]: r["records"] for r in report["in_chunks"]}
            self.assertEqual(inside["Message"], 100)
        text = self.run_cardan("bag", "du", path)
        for part in ("/many", "90.0 %", "MessageIndex", "in chunks: Message"):
            self.assertIn(part, text)

    def test_damage(self):
        path = self.recording(CompressionType.ZSTD)
        data = bytearray(path.read_bytes())
        data[data.index(b"zstd") + 30] ^= 0xff
        path.write_bytes(data)
        report = self.json_of("bag", "du", path, code=3)
        self.assertEqual(len(report["problems"]), 1)
        self.assertLess(sum(t["messages"] for t in report["topics"]), 100)
        path.write_bytes(data[:len(data) // 2])
        report = self.json_of("bag", "du", path, code=3)
        self.assertEqual(sum(r["bytes"] for r in report["records"]), len(data) // 2)
        path.write_bytes(b"nothing")
        self.run_cardan("bag", "du", path, code=2)


class Parts(CommandCase):
    def recording(self, attachments=(), metadata=()):
        path = self.path / "in.mcap"
        with open(path, "wb") as file:
            writer = Writer(file, chunk_size=400, compression=CompressionType.LZ4)
            writer.start(profile="ros2")
            channel = writer.register_channel("/point", "cdr", writer.register_schema(VECTOR3[0], VECTOR3[1], VECTOR3[2].encode()))
            for name, data in attachments:
                writer.add_attachment(BEGIN + 1, BEGIN, name, "text/plain", data)
            for name, fields in metadata:
                writer.add_metadata(name, fields)
            for _, at, data in vectors("/point", 20):
                writer.add_message(channel, BEGIN + at, data, BEGIN + at)
            writer.finish()
        return path

    def parts(self, path):
        with open(path, "rb") as file:
            reader = make_reader(file)
            return ([(a.name, a.media_type, a.data) for a in reader.iter_attachments()], [(m.name, m.metadata) for m in reader.iter_metadata()], len(list(reader.iter_messages())))

    def test_attachments_are_listed_and_extracted(self):
        path = self.recording([("robot.urdf", b"<robot/>"), ("config/a.yaml", b"a: 1"), ("empty", b"")])
        listed = self.json_of("bag", "attachment", "list", path)
        self.assertEqual([(a["name"], a["media_type"], a["bytes"], a["log_time"], a["create_time"]) for a in listed],
                         [("robot.urdf", "text/plain", 8, BEGIN, BEGIN + 1), ("config/a.yaml", "text/plain", 4, BEGIN, BEGIN + 1), ("empty", "text/plain", 0, BEGIN, BEGIN + 1)])
        self.assertIn("config/a.yaml", self.run_cardan("bag", "attachment", "list", path))
        out = self.path / "out"
        report = self.json_of("bag", "attachment", "extract", path, "--to", out)
        self.assertEqual([f["name"] for f in report["files"]], ["robot.urdf", "config/a.yaml", "empty"])
        self.assertEqual(((out / "robot.urdf").read_bytes(), (out / "config/a.yaml").read_bytes(), (out / "empty").read_bytes()), (b"<robot/>", b"a: 1", b""))
        (out / "robot.urdf").write_bytes(b"mine")
        self.run_cardan("bag", "attachment", "extract", path, "robot.urdf", "--to", out, code=3)
        self.assertEqual((out / "robot.urdf").read_bytes(), b"mine")
        self.run_cardan("bag", "attachment", "extract", path, "robot.urdf", "--to", out, "--force")
        self.assertEqual((out / "robot.urdf").read_bytes(), b"<robot/>")
        self.run_cardan("bag", "attachment", "extract", path, "nothing", code=2)

    def test_extracted_files_stay_in_the_folder(self):
        outside = self.path / "outside"
        outside.mkdir()
        out = self.path / "out"
        out.mkdir()
        os.symlink(outside, out / "link")
        os.symlink(outside / "target", out / "file")
        os.mkfifo(out / "pipe")
        names = ["../outside/a", "/tmp/cardan-absolute", "link/a", "a/../../outside/b", "", ".", "..", "a/..", "x.partial", "pipe", "nul\0name", "sub/"]
        path = self.recording([(n, b"evil") for n in names] + [("file", b"a file"), ("good", b"good")])
        report = self.json_of("bag", "attachment", "extract", path, "--to", out, "--force", code=3)
        self.assertEqual([f["name"] for f in report["files"]], ["file", "good"])
        self.assertEqual(len(report["problems"]), len(names))
        self.assertEqual(list(outside.iterdir()), [])
        self.assertFalse((out / "file").is_symlink())  # the link's place was taken, not its target
        self.assertFalse(os.path.exists("/tmp/cardan-absolute"))
        self.assertEqual({p.name for p in out.iterdir()}, {"link", "file", "pipe", "good"})

    def test_two_of_one_name_and_a_damaged_one(self):
        path = self.recording([("one", b"first"), ("one", b"second"), ("other", b"o" * 50)])
        report = self.json_of("bag", "attachment", "extract", path, "--to", self.path / "out", code=3)
        self.assertEqual(len(report["files"]), 2)
        offset = self.json_of("bag", "attachment", "list", path)[1]["offset"]
        self.assertIn(f"--offset {offset}", report["problems"][0])
        self.run_cardan("bag", "attachment", "extract", path, "--to", self.path / "out", "one", "--offset", offset, "--force")
        self.assertEqual((self.path / "out" / "one").read_bytes(), b"second")
        data = bytearray(path.read_bytes())
        data[data.index(b"o" * 50) + 7] ^= 1
        path.write_bytes(data)
        self.run_cardan("bag", "attachment", "extract", path, "other", "--to", self.path / "out", "--force", code=3)
        self.assertIn("it is damaged", self.errors)

    def test_attachments_are_added(self):
        path = self.recording([("robot.urdf", b"<robot/>")], [("route", {"from": "Ulm"})])
        before = path.read_bytes()
        source = self.path / "a.json"
        source.write_bytes(b"{}")
        out = self.path / "out.mcap"
        self.run_cardan("bag", "attachment", "add", path, source, "--media-type", "application/json", "-o", out)
        self.assertEqual(self.parts(out), ([("robot.urdf", "text/plain", b"<robot/>"), ("a.json", "application/json", b"{}")], [("route", {"from": "Ulm"})], 20))
        info = self.json_of("bag", "info", out)
        self.assertEqual((info["profile"], [c["compression"] for c in info["chunks"]]), ("ros2", ["lz4"]))
        self.assertEqual(path.read_bytes(), before)
        listed = self.json_of("bag", "attachment", "list", out)[1]
        self.assertEqual(listed["create_time"], source.stat().st_mtime_ns)
        self.assertGreater(listed["log_time"], BEGIN)
        self.run_cardan("bag", "attachment", "add", path, source, "-o", out, code=2)  # it is there
        self.run_cardan("bag", "attachment", "add", path, source, "-o", path, "--force", code=2)  # it is the input
        self.run_cardan("bag", "attachment", "add", path, source, "--name", "robot.urdf", "-o", out, "--force", code=2)
        self.run_cardan("bag", "attachment", "add", path, source, "--name", "robot.urdf", "--replace", "-o", out, "--force")
        self.assertEqual(self.parts(out)[0], [("robot.urdf", "application/octet-stream", b"{}")])
        self.run_cardan("bag", "verify", out)

    def test_metadata(self):
        path = self.recording(metadata=[("route", {"from": "Ulm", "to": "Munich"}), ("empty", {})])
        self.assertEqual(self.json_of("bag", "metadata", "list", path), [{"name": "route", "metadata": {"from": "Ulm", "to": "Munich"}}, {"name": "empty", "metadata": {}}])
        self.assertEqual(self.json_of("bag", "metadata", "get", path, "route"), {"from": "Ulm", "to": "Munich"})
        self.assertEqual(self.run_cardan("bag", "metadata", "get", path, "route"), "from: Ulm\nto: Munich\n")
        self.run_cardan("bag", "metadata", "get", path, "nothing", code=2)
        out = self.path / "out.mcap"
        self.run_cardan("bag", "metadata", "add", path, "driver", "name=Ada", "note=a=b", "-o", out)
        self.assertEqual(self.parts(out)[1], [("route", {"from": "Ulm", "to": "Munich"}), ("empty", {}), ("driver", {"name": "Ada", "note": "a=b"})])
        for words in (["route", "a=b"], ["x", "a"], ["x", "a=1", "a=2"], ["cardan.losses", "a=b"]):
            self.run_cardan("bag", "metadata", "add", path, *words, "-o", self.path / "no.mcap", code=2)
        self.assertFalse((self.path / "no.mcap").exists())
        self.run_cardan("bag", "metadata", "add", path, "route", "a=b", "--replace", "-o", out, "--force")
        self.assertEqual(dict(self.parts(out)[1])["route"], {"a": "b"})


if __name__ == "__main__":
    main()
