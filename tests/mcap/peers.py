# SPDX-License-Identifier: Apache-2.0
"""Other people's readers on our files, and our command on other people's files, damaged ones included.

    peers.py FOLDER_WITH_PROGRAMS

Peers: PyPI's mcap (reader, writer), mcap-ros2-support (decodes CDR by the schema in the file) and rosbags (another decoder).
"""

import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer
from mcap_ros2.decoder import DecoderFactory
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
COMPRESSIONS = {"none": CompressionType.NONE, "lz4": CompressionType.LZ4, "zstd": CompressionType.ZSTD}


def run(*command, expect=0):
    result = subprocess.run([PROGRAMS / command[0], *map(str, command[1:])], capture_output=True, text=True, timeout=120)
    if result.returncode != expect:
        raise AssertionError(f"{command} ended with {result.returncode}: {result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def bag(*command, expect=0):
    return run("cardan", "bag", *command, expect=expect)


def plain(value, store=None):
    """A decoded message of either peer as JSON has it."""
    if hasattr(value, "__slots__") and not isinstance(value, (bytes, bytearray, memoryview)):
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    if store and hasattr(value, "__msgtype__"):  # rosbags; its classes have a message's constants, too
        return {name: plain(getattr(value, name), store) for name, _ in store.fielddefs[value.__msgtype__][1]}
    if hasattr(value, "tolist"):
        return plain(value.tolist(), store)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    if isinstance(value, (list, tuple)):
        return [plain(v, store) for v in value]
    return value


class Ours(unittest.TestCase):
    """They read what we write."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="cardan-mcap-")
        cls.messages = pathlib.Path(cls.folder.name) / "messages"
        cls.messages.mkdir()
        run("interop_messages", "write", cls.messages)
        cls.expected = {f"/{p.stem}": json.loads(p.read_text()) for p in cls.messages.glob("*.json")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def pack(self, compression):
        path = pathlib.Path(self.folder.name) / f"{compression}.mcap"
        run("mcap_pack", self.messages, path, compression)
        return path

    def test_the_indexed_reader_gives_every_message_as_ros_would(self):
        for compression in COMPRESSIONS:
            with open(self.pack(compression), "rb") as file:
                reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
                self.assertEqual(reader.get_header().profile, "ros2")
                counts = {}
                last = 0
                for _schema, channel, message, decoded in reader.iter_decoded_messages():
                    counts[channel.topic] = counts.get(channel.topic, 0) + 1
                    self.assertEqual(plain(decoded), self.expected[channel.topic]["message"], channel.topic)
                    self.assertGreaterEqual(message.log_time, last)
                    last = message.log_time
                self.assertEqual(counts, {topic: 10 for topic in self.expected})
                self.assertEqual([a.name for a in reader.iter_attachments()], ["note.txt"])
                self.assertEqual([m.metadata for m in reader.iter_metadata()], [{"cardan": "0"}])
                summary = reader.get_summary()
                self.assertEqual(summary.statistics.message_count, 10 * len(self.expected))
                self.assertGreater(len(summary.chunk_indexes), 3)

    def test_the_streamed_reader_gives_every_message(self):
        for compression in COMPRESSIONS:
            with open(self.pack(compression), "rb") as file:
                kinds = [type(record).__name__ for record in StreamReader(file, validate_crcs=True).records]
            self.assertEqual(kinds.count("Message"), 10 * len(self.expected))

    def test_rosbags_decodes_by_the_schema_in_the_file(self):
        with open(self.pack("zstd"), "rb") as file:
            for schema, channel, message in make_reader(file).iter_messages():
                if message.sequence > 0:
                    continue
                store = get_typestore(Stores.EMPTY)
                store.register(get_types_from_msg(schema.data.decode(), schema.name))
                decoded = store.deserialize_cdr(message.data, schema.name)
                self.assertEqual(plain(decoded, store), self.expected[channel.topic]["message"])

    def test_cat_shows_the_fields_as_ros_would(self):
        lines = bag("cat", self.pack("zstd"), "--json", "--list", "100000").splitlines()
        self.assertEqual(len(lines), 10 * len(self.expected))
        for line in map(json.loads, lines):
            self.assertEqual(line["message"], self.expected[line["topic"]]["message"], line["topic"])
        cut = json.loads(bag("cat", self.pack("zstd"), "--json", "--list", "2", "--count", "1", "--topic", "*Image"))
        self.assertEqual(len(cut["message"]["data"]["first"]), 2)

    def test_they_read_our_cut_and_recovered_files(self):
        whole = self.pack("lz4")
        out = pathlib.Path(self.folder.name) / "out.mcap"
        bag("cut", whole, "--topic", "/sensor_msgs*", "--start", "0.02", "--end", "0.05", "-o", out, "--force")
        with open(out, "rb") as file:
            messages = list(make_reader(file, validate_crcs=True).iter_messages())
        topics = [t for t in self.expected if t.startswith("/sensor_msgs")]
        self.assertEqual(len(messages), 3 * len(topics))
        data = whole.read_bytes()
        for length, code in ((len(data) // 3, 3), (len(data) // 2, 3), (len(data) - 40, 0)):
            cut = pathlib.Path(self.folder.name) / "cut.mcap"
            cut.write_bytes(data[:length])
            bag("recover", cut, "-o", out, "--force", expect=code)
            with open(out, "rb") as file:
                recovered = len(list(make_reader(file, validate_crcs=True).iter_messages()))
            self.assertEqual(recovered, streamed(data[:length]))


def streamed(data):
    """How many messages the peer's streamed reader finds before a file ends."""
    count = 0
    try:
        for record in StreamReader(io.BytesIO(data), validate_crcs=True).records:
            count += type(record).__name__ == "Message"
    except Exception:
        pass
    return count


class Theirs(unittest.TestCase):
    """We read what they write."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-mcap-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, **options):
        path = self.folder / name
        rng = random.Random(5)
        self.messages = []
        with open(path, "wb") as file:
            writer = Writer(file, chunk_size=3000, **options)
            writer.start(profile="", library="peer")
            schema = writer.register_schema("Thing", "jsonschema", b"{}")
            channels = [writer.register_channel(f"/{n}", "json", schema) for n in ("a", "b")]
            for i in range(200):
                which = rng.randrange(2)
                data = json.dumps({"i": i, "x": "y" * rng.randrange(100)}).encode()
                time = 1000 + 10 * i + rng.randrange(40)
                writer.add_message(channels[which], time, data, time, i)
                self.messages.append({"log_time": time, "publish_time": time, "source_time": 0, "sequence": i, "topic": "/ab"[0] + "ab"[which],
                                      "type": "Thing", "bytes": len(data)})
            writer.add_attachment(1, 1, "calibration", "text/plain", b"k1 k2")
            writer.add_metadata("vehicle", {"name": "blue"})
            writer.finish()
        self.messages.sort(key=lambda m: m["log_time"])
        return path

    def ls(self, path, *options):
        return [json.loads(line) for line in bag("ls", path, "--json", *options).splitlines()]

    def test_all_that_is_in_them(self):
        for name, compression in COMPRESSIONS.items():
            for extra in ({}, {"enable_data_crcs": True}, {"use_summary_offsets": False}, {"use_statistics": False},
                          {"use_chunking": False}, {"repeat_channels": False}, {"enable_crcs": False}):
                path = self.write(f"{name}.mcap", compression=compression, **extra)
                by_time = lambda m: (m["log_time"], m["sequence"])  # noqa: E731
                self.assertEqual(sorted(self.ls(path), key=by_time), sorted(self.messages, key=by_time), extra)
                info = json.loads(bag("info", path, "--json"))
                self.assertTrue(info["finished"])
                if "use_statistics" not in extra:
                    self.assertEqual(info["messages"], 200)
                    self.assertEqual(sum(t["messages"] for t in info["topics"]), 200)
                self.assertEqual([a["bytes"] for a in info["attachments"]], [5])
                self.assertEqual(info["metadata"], {"vehicle": {"name": "blue"}})
                verified = json.loads(bag("verify", path, "--json", expect=1 if "repeat_channels" in extra else 0))[0]
                self.assertEqual(verified["messages"], 200)

    def test_damaged_ones_cost_no_more_than_the_damage(self):
        path = self.write("whole.mcap", compression=CompressionType.ZSTD)
        data = path.read_bytes()
        for length in range(len(data) - 1, 8, -len(data) // 23):
            cut = self.folder / "cut.mcap"
            cut.write_bytes(data[:length])
            self.assertGreaterEqual(len(self.ls(cut)), streamed(data[:length]))
            self.assertFalse(json.loads(bag("info", cut, "--json"))["finished"])
            bag("verify", cut, expect=1)
        rng = random.Random(1)
        known = {m["sequence"]: m for m in self.messages}
        for _ in range(25):
            bad = bytearray(data)
            bad[rng.randrange(8, len(data))] ^= 1 << rng.randrange(8)
            cut.write_bytes(bad)
            result = subprocess.run([PROGRAMS / "cardan", "bag", "ls", "--json", cut], capture_output=True, text=True, timeout=60)
            self.assertIn(result.returncode, (0, 3), result.stderr)
            for line in result.stdout.splitlines():
                message = json.loads(line)
                self.assertEqual(message["bytes"], known[message["sequence"]]["bytes"])
            out = self.folder / "out.mcap"
            recovered = subprocess.run([PROGRAMS / "cardan", "bag", "recover", cut, "-o", out, "--force"], capture_output=True, text=True, timeout=60)
            self.assertIn(recovered.returncode, (0, 3), recovered.stderr)
            with open(out, "rb") as file:
                self.assertGreaterEqual(len(list(make_reader(file, validate_crcs=True).iter_messages())), 100)

    def test_merging_and_packing_keeps_all(self):
        one = self.write("one.mcap", compression=CompressionType.NONE)
        two = self.write("two.mcap", compression=CompressionType.ZSTD)
        out = self.folder / "out.mcap"
        bag("merge", one, two, "-o", out, "--compression", "lz4")
        self.assertEqual(len(self.ls(out)), 400)
        with open(out, "rb") as file:
            self.assertEqual(len(list(make_reader(file, validate_crcs=True).iter_messages())), 400)
        self.assertEqual({c["compression"] for c in json.loads(bag("info", out, "--json"))["chunks"]}, {"lz4"})

    def test_errors_name_the_cause(self):
        (self.folder / "text.mcap").write_text("not a recording")
        for command in (["info", self.folder / "text.mcap"], ["ls", self.folder / "nowhere.mcap"], ["verify", self.folder],
                        ["cut", self.write("x.mcap"), "--topic", "/nope", "-o", self.folder / "o.mcap"]):
            result = subprocess.run([PROGRAMS / "cardan", "bag", *command], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 2, result)
            self.assertRegex(result.stderr, r"^cardan: .+ — .+\n$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
