#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages, and JSON with a schema, in `cardan bag cat`, `bag export`, `play` and `topic echo`.

    protobuf_test.py CARDAN [unittest arguments]
"""
import csv
import json
import shutil
import signal
import struct
import subprocess

from mcap.reader import make_reader

from bag_hostile_test import BASE, MIB, HostileCase
from command_case import CARDAN, CommandCase, main
from protobuf_bytes import REPEATED, TIMESTAMP, enum, field, file, foxglove, message, put, tag, varint
from recording import SECOND, VECTOR3, vectors, write

TIME = put(1, put(1, 1_700_000_000) + put(2, 5))
SHOWN_TIME = {"seconds": 1_700_000_000, "nanos": 5}
NUMBERS = ("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "uint32", "sfixed32", "sfixed64", "sint32", "sint64")


class ProtobufCase(CommandCase):
    def recording(self, name, definition, *messages, more=None, encoding="protobuf"):
        path = self.path / "in.mcap"
        write(path, {"/x": (name, encoding, definition, "protobuf", {}), **(more or {})}, [("/x", i * SECOND // 20, data) for i, data in enumerate(messages)])
        return path

    def cat(self, *words, path=None, code=0):
        return [json.loads(line)["message"] for line in self.run_cardan("bag", "cat", path or self.path / "in.mcap", "--json", *words, code=code).splitlines()]

    def shown(self, name, definition, *messages, words=()):
        self.recording(name, definition, *messages)
        return self.cat(*words)


class Fields(ProtobufCase):
    def test_numbers_of_every_type(self):
        types = file("a.proto", "p", message("All", *(field(f"f_{kind}", i + 1, kind) for i, kind in enumerate(NUMBERS))))
        data = (put(1, -0.5) + tag(2, 5) + struct.pack("<f", 0.1) + put(3, -3) + put(4, 2**64 - 1) + put(5, -5) + tag(6, 1) + struct.pack("<Q", 2**63) + tag(7, 5) + struct.pack("<I", 7) +
                put(8, 1) + put(9, 2**32 - 1) + tag(10, 5) + struct.pack("<i", -10) + tag(11, 1) + struct.pack("<q", -11) + put(12, 23) + put(13, 25))
        values = [-0.5, 0.1, -3, 2**64 - 1, -5, 2**63, 7, True, 2**32 - 1, -10, -11, -12, -13]
        expected = {f"f_{kind}": value for kind, value in zip(NUMBERS, values)}
        nothing = {f"f_{kind}": False if kind == "bool" else 0 for kind in NUMBERS}
        self.assertEqual(self.shown("p.All", types, data, b""), [expected, nothing])
        self.assertEqual(self.errors, "")
        self.assertEqual(list(self.cat()[0]), list(expected), "the order of the definition")

    def test_messages_lists_maps_enums_and_choices(self):
        inner = message("In", field("n", 1, "int32"))
        entry = message("MapEntry", field("key", 1, "string"), field("value", 2, ".p.Out.In"))
        types = file("a.proto", "p", message(
            "Out", field("in", 1, ".p.Out.In"), field("list", 2, "int32", REPEATED), field("ins", 3, "In", REPEATED), field("map", 4, ".p.Out.MapEntry", REPEATED),
            field("mode", 5, "enum .p.Mode"), field("a", 6, "int32", oneof=0), field("b", 7, ".p.Out.In", oneof=0), field("data", 8, "bytes"), field("text", 9, "string"),
            field("maybe", 10, "int32", oneof=1, optional=True), nested=[inner, entry], oneofs=["choice", "_maybe"]), enums=[enum("Mode", OFF=0, ON=1)])
        # The list in both forms; the one message in two parts; of a choice the last counts; a field that the definition lacks.
        data = (put(2, varint(1) + varint(2)) + put(2, 3) + put(1, put(1, 1)) + put(1, b"") + put(3, put(1, 4)) + put(3, b"") + put(4, put(1, "k") + put(2, put(1, 5))) + put(5, 1) +
                put(7, put(1, 6)) + put(6, 7) + put(8, b"\0\xff") + put(9, "é") + put(99, "unknown") + tag(98, 3) + put(1, 1) + tag(98, 4))
        self.assertEqual(self.shown("p.Out", types, data, put(5, 2) + put(10, 0) + put(7, b"")), [
            {"in": {"n": 1}, "list": [1, 2, 3], "ins": [{"n": 4}, {"n": 0}], "map": [{"key": "k", "value": {"n": 5}}], "mode": "ON", "a": 7, "b": None, "data": [0, 255], "text": "é", "maybe": None},
            {"in": None, "list": [], "ins": [], "map": [], "mode": 2, "a": None, "b": {"n": 0}, "data": [], "text": "", "maybe": 0}])

    def test_groups_and_editions(self):
        def types(syntax, kind):
            return file("a.proto", "p", message("A", field("g", 1, kind), field("last", 2, "int32"), nested=[message("G", field("n", 1, "int32"))]), syntax=syntax)
        data = tag(1, 3) + put(1, 5) + tag(1, 4) + put(2, 6)
        for syntax, kind in (("proto2", "group .p.A.G"), ("", "group .p.A.G"), ("editions", ".p.A.G")):
            self.assertEqual(self.shown("p.A", types(syntax, kind), data, b""), [{"g": {"n": 5}, "last": 6}, {"g": None, "last": None}])

    def test_files_in_any_order(self):
        root = file("b.proto", "p", message("B", field("t", 1, ".google.protobuf.Timestamp")), imports=["google/protobuf/timestamp.proto"])
        for types in (root + TIMESTAMP, TIMESTAMP + root, file("unrelated.proto", "p", message("B2"), imports=["missing.proto"]) + root + TIMESTAMP):
            self.assertEqual(self.shown("p.B", types, TIME), [{"t": SHOWN_TIME}])

    def test_lists_are_shortened_and_fields_are_chosen(self):
        types = file("a.proto", "p", message("A", field("data", 1, "bytes"), field("list", 2, "double", REPEATED), field("names", 3, "string", REPEATED), field("t", 4, ".p.A")))
        data = put(1, bytes(200)) + put(2, struct.pack("<100d", *range(100))) + 90 * put(3, "x")
        (whole,) = self.shown("p.A", types, data, words=["--list", 3])
        self.assertEqual(whole, {"data": {"count": 200, "first": [0] * 3}, "list": {"count": 100, "first": [0, 1, 2]}, "names": {"count": 90, "first": ["x"] * 3}, "t": None})
        self.assertEqual(self.cat("--list", 0)[0]["list"], {"count": 100, "first": []})
        self.assertEqual(len(self.cat("--list", 200)[0]["data"]), 200)
        self.assertEqual(self.cat("--fields", "t.t.names,data", "--list", 1), [{"t.t.names": None, "data": {"count": 200, "first": [0]}}])
        self.assertIn(" data: 200 elements: 0, 0,", self.run_cardan("bag", "cat", self.path / "in.mcap"))
        self.run_cardan("bag", "cat", self.path / "in.mcap", "--fields", "dat", code=2)
        self.assertIn("the fields there are: data, list, names, t", self.errors)

    def test_bytes_that_do_not_fit_are_shown_as_bytes(self):
        types = file("a.proto", "p", message("A", field("n", 1, "int32"), field("s", 2, "string")))
        for data in (b"\x08", b"\x12\x7fab", b"\x0c", b"\x00\x01", b"\x0b\x08\x01", b"\xff" * 11):
            self.assertEqual(self.shown("p.A", types, data, put(1, 3)), [{"encoding": "protobuf", "bytes": len(data), "first_bytes": data.hex()}, {"n": 3, "s": ""}])
            self.assertIn("a message of p.A is shown as bytes: its bytes do not fit its definition", self.errors)
        # Of another type than the definition says, it is a field that the definition lacks.
        self.assertEqual(self.shown("p.A", types, put(1, "text") + put(2, 5)), [{"n": 0, "s": ""}])

    def test_texts_give_a_terminal_no_orders(self):
        text = "\x1b]0;title\x07\x9b2J\u202eé"
        types = file("a.proto", "p", message("A", field("s", 1, "string"), field("m", 2, ".p.A.MEntry", REPEATED), nested=[message("MEntry", field("key", 1, "string"), field("value", 2, "string"))]))
        self.assertEqual(self.shown("p.A", types, put(1, text) + put(2, put(1, text))), [{"s": text, "m": [{"key": text, "value": ""}]}])
        for words in ((), ("--json",), ("--json", "--fields", "s")):
            shown = self.run_cardan("bag", "cat", self.path / "in.mcap", *words)
            self.assertIn("title", shown)
            self.assertFalse(set(shown) & set("\x1b\x07\x9b\u202e"), shown)


class Tables(ProtobufCase):
    def export(self, *words, code=0):
        summary = json.loads(self.run_cardan("bag", "export", self.path / "in.mcap", "--to", self.path / "out", "--force", "--json", *words, code=code))
        return {topic["topic"]: topic for topic in summary["topics"]}

    def rows(self, name):
        with open(self.path / "out" / name, newline="") as table:
            return list(csv.DictReader(table))

    def test_images_and_clouds_of_foxglove_are_tables(self):
        size = [field("width", 2, "fixed32"), field("height", 3, "fixed32"), field("encoding", 4, "string"), field("step", 5, "fixed32"), field("data", 6, "bytes")]
        packed = file("foxglove/PackedElementField.proto", "foxglove", message("PackedElementField", field("name", 1, "string"), field("offset", 2, "fixed32")))
        cloud = packed + foxglove("PointCloud", field("frame_id", 2, "string"), field("point_stride", 4, "fixed32"), field("fields", 5, ".foxglove.PackedElementField", REPEATED),
                                  field("data", 6, "bytes"), imports=["foxglove/PackedElementField.proto"])
        jpeg = foxglove("CompressedImage", field("data", 2, "bytes"), field("format", 3, "string"), field("frame_id", 4, "string"))
        channels = {"/raw": ("foxglove.RawImage", "protobuf", foxglove("RawImage", *size), "protobuf", {}), "/jpeg": ("foxglove.CompressedImage", "protobuf", jpeg, "protobuf", {}),
                    "/cloud": ("foxglove.PointCloud", "protobuf", cloud, "protobuf", {}), "/v": (*VECTOR3, "cdr", {})}
        fixed = lambda number, value: tag(number, 5) + struct.pack("<I", value)
        of = {"/raw": TIME + fixed(2, 640) + fixed(3, 480) + put(4, "rgb8") + fixed(5, 1920) + put(6, bytes(640 * 480 * 3)), "/jpeg": TIME + put(2, b"\xff\xd8" + bytes(1000)) + put(3, "jpeg"),
              "/cloud": TIME + put(2, "lidar") + fixed(4, 16) + put(5, put(1, "x")) + put(6, bytes(16_000))}
        write(self.path / "in.mcap", channels, [(topic, i * SECOND // 10, data) for i in range(3) for topic, data in of.items()] + vectors("/v", 3))
        topics = self.export()
        self.assertEqual({topic: (one["as"], one["messages"], one["skipped"]) for topic, one in topics.items()}, {topic: ("csv", 3, []) for topic in channels})
        self.assertEqual(topics["/raw"]["lists_counted_only"], ["data"])
        time = {"timestamp.seconds": "1700000000", "timestamp.nanos": "5"}
        for name, expected in (("raw.csv", {**time, "width": "640", "height": "480", "encoding": "rgb8", "step": "1920", "data.count": "921600", "data": ""}),
                               ("jpeg.csv", {**time, "data.count": "1002", "data": "", "format": "jpeg", "frame_id": ""}),
                               ("cloud.csv", {**time, "frame_id": "lidar", "point_stride": "16", "fields.count": "1", "fields": '[{"name":"x","offset":0}]', "data.count": "16000", "data": ""})):
            self.assertEqual([list(row.items())[2:] for row in self.rows(name)], [list(expected.items())] * 3)

    def test_columns_of_fields_that_messages_lack(self):
        types = file("a.proto", "p", message("A", field("in", 1, ".p.A"), field("n", 2, "int32"), field("never", 3, ".p.A"), field("list", 4, "int32", REPEATED)))
        self.recording("p.A", types, put(2, 1), put(1, put(2, 2)) + put(4, bytes(range(70))), put(4, 1) + put(4, 2))
        self.assertEqual(self.export()["/x"]["lists_counted_only"], ["list"])
        self.assertEqual([{key: value for key, value in row.items() if "time" not in key} for row in self.rows("x.csv")], [
            {"n": "1", "list.count": "0", "list": "[]", "in.n": "", "in.list.count": "", "in.list": ""}, {"n": "0", "list.count": "70", "list": "", "in.n": "2", "in.list.count": "0", "in.list": "[]"},
            {"n": "0", "list.count": "2", "list": "[1,2]", "in.n": "", "in.list.count": "", "in.list": ""}])

    def test_a_message_or_a_definition_that_is_wrong_is_left_out(self):
        types = file("a.proto", "p", message("A", field("n", 1, "int32")))
        more = {"/y": ("p.B", "protobuf", types, "protobuf", {}), "/z": ("p.A", "jsonschema", "{}", "protobuf", {}), "/v": (*VECTOR3, "cdr", {})}
        write(self.path / "in.mcap", {"/x": ("p.A", "protobuf", types, "protobuf", {}), **more}, [("/x", 0, put(1, 1)), ("/x", 1, b"\x08"), ("/y", 2, b""), ("/z", 3, b"")] + vectors("/v", 2))
        topics = self.export(code=3)
        self.assertEqual({topic: [one["cause"] for one in of["skipped"]] for topic, of in topics.items()}, {
            "/x": ["its bytes do not fit its definition"], "/y": ["its definition does not contain it"], "/z": ["its definition is in 'jsonschema', not in 'protobuf'"], "/v": []})
        self.assertEqual(([row["n"] for row in self.rows("x.csv")], len(self.rows("v.csv"))), (["1"], 2))


class Topics(ProtobufCase):
    def play(self, path):
        playing = subprocess.Popen([CARDAN, "play", path, "--loop", "--json"], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (playing.kill(), playing.communicate()))
        self.playing = playing

    @staticmethod
    def content(path):
        """topic → its schema and encodings, and its messages"""
        topics = {}
        with open(path, "rb") as recorded:
            for schema, channel, one in make_reader(recorded).iter_messages():
                topics.setdefault(channel.topic, ((schema.name, schema.encoding, schema.data, channel.message_encoding), []))[1].append(one.data)
        return topics

    def test_played_messages_are_echoed_and_recorded_unchanged(self):
        types = foxglove("Log", field("message", 2, "string"))
        schema = '{"title": "foxglove.Log", "type": "object"}'
        channels = {"/proto": ("foxglove.Log", "protobuf", types, "protobuf", {}), "/json": ("foxglove.Log", "jsonschema", schema, "json", {}),
                    "/damaged": ("foxglove.Log", "protobuf", types, "protobuf", {})}
        messages = [[("/proto", i * SECOND // 20, TIME + put(2, f"n {i}\x1b[2J")), ("/json", i * SECOND // 20, b'{"message": "n %d\\u001b[2J", "list": [1]}' % i), ("/damaged", i * SECOND // 20, b"\x08")] for i in range(4)]
        path = self.path / "in.mcap"
        write(path, channels, sum(messages, []))
        self.play(path)
        texts = [f"n {i}\x1b[2J" for i in range(4)]
        for topic, expected in (("/proto", {"timestamp": SHOWN_TIME}), ("/json", {"list": [1]})):
            for line in self.run_cardan("topic", "echo", topic, "--wait", "--count", 2, "--json").splitlines():
                self.assertNotIn("\x1b", line)
                one = json.loads(line)
                self.assertIn(one["message"].pop("message"), texts)
                self.assertEqual((one["type"], one["message"]), ("foxglove.Log", expected))
        shown = self.run_cardan("topic", "echo", "/proto", "--wait", "--once")
        self.assertIn("seconds: 1700000000", shown)
        self.assertNotIn("\x1b", shown)
        self.assertEqual(json.loads(self.run_cardan("topic", "echo", "/proto", "--wait", "--once", "--json", "--fields", "timestamp.nanos"))["message"], {"timestamp.nanos": 5})
        self.assertEqual(json.loads(self.run_cardan("topic", "echo", "/damaged", "--wait", "--once", "--json"))["message"], {"encoding": "protobuf", "bytes": 1, "first_bytes": "08"})
        self.assertIn("a message of foxglove.Log is shown as bytes: its bytes do not fit its definition", self.errors)
        self.playing.kill()
        self.playing.wait()
        again = self.path / "again.mcap"
        recording = subprocess.Popen([CARDAN, "record", "-o", again, "--reliable"], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (recording.kill(), recording.communicate()))
        self.run_cardan("play", path, "--as-fast-as-readers", "--wait-for-readers=3")
        recording.send_signal(signal.SIGINT)
        self.assertEqual(recording.wait(120), 0, recording.stderr.read())
        self.assertEqual(self.content(again), self.content(path))

    def test_json_without_a_json_schema_is_not_played(self):
        write(self.path / "in.mcap", {"/a": ("A", "", b"", "json", {}), "/v": (*VECTOR3, "cdr", {})}, [("/a", 0, b"{}")] + vectors("/v", 2))
        self.run_cardan("play", self.path / "in.mcap", "--as-fast-as-readers", code=3)
        self.assertIn("/a is not played: messages encoded as 'json' with a schema in '' cannot be published", self.errors)

    def test_without_the_library_it_says_what_to_install(self):
        for folder in ("bin", "lib"):
            (self.path / "other" / folder).mkdir(parents=True)
        other = shutil.copy(CARDAN, self.path / "other/bin")
        (self.path / "other/lib/libcardan_protobuf.so").write_text("no library")
        types = file("a.proto", "p", message("A", field("n", 1, "int32")))
        path = self.recording("p.A", types, put(1, 5), more={"/v": (*VECTOR3, "cdr", {})})
        self.play(path)

        def run(*words, code):
            done = subprocess.run([other, *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn("Protobuf messages need libprotobuf", done.stderr)
            self.assertIn("sudo apt-get install libprotobuf-dev", done.stderr)
            return done.stdout

        as_bytes = {"encoding": "protobuf", "bytes": 2, "first_bytes": "0805"}
        self.assertEqual(json.loads(run("bag", "cat", path, "--json", code=0))["message"], as_bytes)
        self.assertEqual(json.loads(run("topic", "echo", "/x", "--wait", "--once", "--json", code=0))["message"], as_bytes)
        run("bag", "export", path, "--to", self.path / "out", code=3)


class AttackCase(ProtobufCase, HostileCase):
    """Each ends within its bound of processor time and memory, and says why it shows bytes."""
    CPU_S = 30

    def attack(self, name, definition, *messages, says=None, memory=BASE + 300 * MIB, words=()):
        self.recording(name, definition, *(messages or [b""]), more={"/v": (*VECTOR3, "cdr", {})})
        used, _ = self.cost_of("bag", "cat", self.path / "in.mcap", "--json", *words, code=0, cpu_s=self.CPU_S)
        self.assertLess(used, memory)
        if says:
            self.assertIn(f"a message of {name} is shown as bytes: ", self.errors)
            self.assertIn(says, self.errors)
        else:
            self.assertNotIn("shown as bytes", self.errors)
        self.assertNotIn("libprotobuf", self.errors)  # which would print on its own


class HostileDefinitions(AttackCase):
    def test_invalid_definitions(self):
        for definition in (b"", b"\n", b"\xff" * 100, put(1, b"\x0a\x7f"), b"\x0a" * 1000):
            self.attack("p.A", definition, says="its definition")
        self.attack("p.A", bytes(3 * MIB), says="more than 2097152 bytes")
        self.attack("", file("a.proto", "", message("A")), says="does not contain it")

    def test_a_million_fields(self):
        many = message("A", *(put(1, f"f{i}") + put(3, i + 1) + put(4, 1) + put(5, 5) for i in range(100_000)))
        self.attack("p.A", file("a.proto", "p", many), says="a message in its definition has more than 4096 fields")
        self.attack("p.A", file("a.proto", "p", message("A"), *(message(f"B{i}", *(field(f"f{k}", k + 1, "int32") for k in range(20))) for i in range(4000))), says="more than 32768 declarations")
        self.attack("p.A", put(1, put(1, "a") + put(2, "p") + put(4, message("A")) + b"\x22\0" * (MIB - 100)), says="more than 32768 declarations", memory=BASE + 600 * MIB)
        self.attack("p.A", b"\x0a\0" * (MIB - 100) + file("a.proto", "p", message("A")), memory=BASE + 700 * MIB)

    def test_names_that_grow_where_they_are_kept(self):
        long = "n" * (MIB // 2)
        self.attack(f"{long}.A", file("a.proto", long, message("A"), *(message(f"B{i}") for i in range(30_000))), says="a name in its definition is longer than 255 bytes")
        deep = b"".join(put(3, message(f"C{i}")) for i in range(1000))
        for i in range(30):
            deep = put(3, put(1, f"{i:0255d}".replace("0", "n")) + deep + b"".join(put(3, message(f"C{k}")) for k in range(1000)))
        self.attack("p.A", file("a.proto", "p", message("A") + deep), says="the names in its definition have more than 4194304 bytes")

    def test_definitions_in_definitions(self):
        deep = message("A")
        for i in range(45):
            deep = message(f"A{i}", nested=[deep])
        self.attack("p.A44", file("a.proto", "p", deep), says="nested deeper than 32")
        for i in range(200):
            deep = message(f"D{i}", nested=[deep])
        self.attack("p.D199", file("a.proto", "p", deep), says="not a FileDescriptorSet")

    def test_a_chain_of_types_uses_up_no_stack(self):
        count = 16_000
        chain = file("a.proto", "p", *(message(f"A{i}", field("f", 1, f".p.A{(i + 1) % count}")) for i in range(count)))
        data = b""
        for _ in range(60):
            data = put(1, data)
        self.attack("p.A0", chain, data)

    def test_imports(self):
        def importing(name, *imports):
            return file(name, "p", *([message("A")] if name == "f0" else []), imports=imports)
        self.attack("p.A", importing("f0", "gone.proto"), says="lacks the file 'gone.proto', which 'f0' imports")
        self.attack("p.A", importing("f0", "f1") + importing("f1", "f0"), says="imports itself")
        self.attack("p.A", importing("f0", "f0"), says="imports itself")
        self.attack("p.A", b"".join(importing(f"f{i}", f"f{i + 1}") for i in range(30_000)), says="needs more than 512 files")
        self.attack("p.A", importing("f0", *["f1"] * 30_000) + importing("f1"), says="needs more than 512 files")
        self.attack("p.A", b"".join(importing(f"f{i}", *(f"f{k}" for k in range(i + 1, 400))) for i in range(400)))

    def test_names_that_are_there_twice(self):
        for types in (file("a", "p", message("A"), message("A")), file("a", "p", message("A", field("f", 1, "int32"), field("f", 2, "int32"))), file("a", "p", message("A", field("f", 1, "int32"), field("g", 1, "int32"))),
                      file("a", "p", message("A"), imports=["b"]) + file("b", "p", message("A")), file("a", "p", message("A", field("f", 1, ".p.Gone"))),
                      file("a", "p", message("A", field("f", 1, "enum .p.E")), enums=[enum("E")]), file("a", "p", message("A", field("f", 1, "int32", oneof=7))), file("a", "p", message("A", field("f", -1, "int32"))),
                      file("a", "p", message("A", field("f\n\x1b[2J", 1, "int32"))), file("a", "p", message("A"), syntax="proto9")):
            self.attack("p.A" if b"\x12\x01p" in types else "A", types, says="its definition")
        self.assertNotIn("\x1b", self.errors)
        self.attack("q.A", file("a", "p", message("B")) + file("a", "q", message("A")), says="two files of one name")

    def test_false_types_of_google(self):
        """libprotobuf's own JSON never ended with the first of them."""
        for name in ("Struct", "Value", "ListValue", "Any", "Timestamp", "FieldMask", "DoubleValue"):
            types = file("t", "google.protobuf", message(name, field("x", 1, "string", REPEATED), field("g", 2, f"group .google.protobuf.{name}")), syntax="proto2")
            types += file("a", "p", message("A", field("t", 1, f".google.protobuf.{name}")), imports=["t"])
            self.attack("p.A", types, put(1, put(1, "hi")), put(1, b"\x0d\1\2\3\4"), put(1, tag(2, 3) + put(1, "in") + tag(2, 4)))

    def test_many_large_definitions(self):
        types = file("a", "p", message("A"), *(message(f"B{i}", *(field(f"f{k}", k + 1, "int32") for k in range(15))) for i in range(2000)))
        path = self.path / "in.mcap"
        write(path, {f"/t{i}": ("p.A", "protobuf", types + put(9, i), "protobuf", {}) for i in range(20)}, [(f"/t{i}", i, b"") for i in range(20)])
        used, _ = self.cost_of("bag", "cat", path, "--json", code=0, cpu_s=self.CPU_S)
        self.assertLess(used, BASE + 300 * MIB)
        self.assertEqual(self.errors.count("the definitions of all types have more than 262144 declarations together"), 12)
        # Channels of one type share it.
        write(path, {f"/t{i}": ("p.A", "protobuf", types, "protobuf", {}) for i in range(50)}, [(f"/t{i}", i, b"") for i in range(50)])
        used, _ = self.cost_of("bag", "export", path, "--to", self.path / "out", code=0, cpu_s=self.CPU_S)
        self.assertLess(used, BASE + 200 * MIB)


class HostileMessages(AttackCase):
    RECURSIVE = file("a.proto", "p", message("A", field("in", 1, ".p.A"), field("ins", 2, ".p.A", REPEATED), field("g", 3, "group .p.A"), field("s", 4, "string", REPEATED), field("n", 5, "int32", REPEATED)), syntax="proto2")

    def test_deep_nesting(self):
        for number, begin, end in ((1, None, b""), (2, None, b""), (3, tag(3, 3), tag(3, 4))):
            data = b""
            for _ in range(5000):
                data = begin + data + end if begin else put(number, data)
            self.attack("p.A", self.RECURSIVE, data, says="its bytes do not fit" if begin else "it is nested deeper than 64")
        self.attack("p.A", self.RECURSIVE, tag(3, 3) * MIB, says="its bytes do not fit")
        self.attack("p.A", self.RECURSIVE, tag(99, 3) * MIB, says="its bytes do not fit")

    def test_small_messages_of_a_wide_type(self):
        """In a DynamicMessage each of them has room for all fields."""
        wide = file("a.proto", "p", message("W", *(field(f"f{i}", i + 1, "string") for i in range(4000))), message("A", field("w", 1, ".p.W", REPEATED)))
        self.attack("p.A", wide, put(1, b"") * MIB)
        self.attack("p.A", wide, put(1, b"") * MIB, says="its fields need more than 64 MiB", words=["--list", 1_000_000])

    def test_lists_in_lists(self):
        data = b""
        for _ in range(12):
            data = put(2, data) * 3
        self.attack("p.A", self.RECURSIVE, data, says="its fields need more than 64 MiB")

    def test_one_message_in_a_million_parts(self):
        self.attack("p.A", self.RECURSIVE, put(1, b"") * MIB + put(1, put(5, 1)) * MIB)
        data = bytes(MIB)
        for _ in range(60):
            data = put(1, b"") + put(1, put(4, data) if len(data) == MIB else data)
        self.attack("p.A", self.RECURSIVE, data)
        self.attack("p.A", self.RECURSIVE, put(1, b"") + put(1, put(4, bytes(65 * MIB))), says="its fields need more than 64 MiB")

    def test_long_lists_and_texts(self):
        self.attack("p.A", self.RECURSIVE, put(5, bytes(8 * MIB)) + put(4, bytes(8 * MIB)))
        self.attack("p.A", self.RECURSIVE, put(4, b"") * (4 * MIB))
        self.attack("p.A", self.RECURSIVE, put(5, bytes(8 * MIB)), says="its fields need more than 64 MiB", words=["--list", 1 << 30])


if __name__ == "__main__":
    main()
