#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders as recordings: `cardan bag info` and `cardan play` on what PyPI's mcap and rosbags wrote.

    bag_folder_test.py CARDAN [unittest arguments]
"""
import json
import os
import pathlib
import shutil

from mcap.writer import Writer as McapWriter
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from command_case import CommandCase, main
from recording import BEGIN, SECOND, VECTOR3, Cdr, vectors, write

PLAIN = (*VECTOR3, "cdr", {})
STORE = get_typestore(Stores.ROS2_HUMBLE)
METADATA = """rosbag2_bagfile_information:
  version: 8
  storage_identifier: mcap
  duration:
    nanoseconds: 1
  relative_file_paths:{paths}
  compression_mode: ""
"""


class BagFolder(CommandCase):
    def parts(self, count=3, names="drive_{:04}.mcap"):
        """A folder of this many files of ten messages, each 0.2 s of the same recording."""
        folder = self.path / "drive"
        folder.mkdir(exist_ok=True)
        for part in range(count):
            messages = [(topic, at + part * SECOND // 5, data) for topic, at, data in vectors("/point", 10)]
            write(folder / names.format(part + 1), {"/point": PLAIN}, messages)
        return folder

    def metadata(self, folder, paths):
        (folder / "metadata.yaml").write_text(METADATA.format(paths=paths))

    def play(self, path, code=0):
        return self.json_of("play", path, "--rate", 1000, code=code)

    def test_the_files_of_a_split_recording(self):
        folder = self.parts(11, "drive_{}.mcap")
        info = self.json_of("bag", "info", folder)
        self.assertEqual([pathlib.Path(f["file"]).name for f in info["files"]], [f"drive_{n + 1}.mcap" for n in range(11)])  # 9 before 10
        self.assertEqual((info["messages"], info["start_ns"], info["end_ns"]), (110, BEGIN, BEGIN + 2 * SECOND + 9 * SECOND // 50))
        self.assertEqual([(t["topic"], t["messages"]) for t in info["topics"]], [("/point", 110)])
        self.assertAlmostEqual(info["topics"][0]["rate"], 50, delta=0.1)
        self.assertEqual(info["bytes"], sum(f.stat().st_size for f in folder.iterdir()))
        text = self.run_cardan("bag", "info", folder)
        for part in ("11 files", "drive_10.mcap", "/point", "110"):
            self.assertIn(part, text)
        self.assertEqual(self.play(folder)["published"], 110)

    def test_all_readers_take_a_folder(self):
        folder = self.parts(3)
        times = [json.loads(line)["log_time"] for line in self.run_cardan("bag", "ls", folder, "--json").splitlines()]
        self.assertEqual((len(times), times), (30, sorted(times)))
        self.assertEqual(len(self.run_cardan("bag", "ls", folder, "--json", "--start", 0.2, "--end", 0.4).splitlines()), 10)
        self.assertEqual(len(self.run_cardan("bag", "cat", folder, "--json", "--topic", "/point").splitlines()), 30)
        self.run_cardan("bag", "ls", folder, "--topic", "/nope", code=2)
        self.assertEqual([v["good"] for v in json.loads(self.run_cardan("bag", "verify", folder, "--json"))], [True] * 3)
        cut, merged, recovered = (self.path / f"{name}.mcap" for name in ("cut", "merged", "recovered"))
        self.run_cardan("bag", "cut", folder, "--start", 0.3, "--end", 0.5, "-o", cut)
        self.run_cardan("bag", "merge", folder, "-o", merged)
        self.run_cardan("bag", "recover", folder, "-o", recovered)
        self.assertEqual([self.json_of("bag", "info", file)["messages"] for file in (cut, merged, recovered)], [10, 30, 30])
        self.run_cardan("bag", "cut", folder, "-o", cut, code=2)
        self.assertIn("already exists — name another file, or allow to replace it (--force)", self.errors)
        self.metadata(folder, "\n    - drive_0001.mcap\n    - drive_0007.mcap\n")
        for command in (["ls"], ["cat"], ["cut", "-o", self.path / "some.mcap"]):
            self.run_cardan("bag", command[0], folder, *command[1:], code=3)
            self.assertIn("names drive_0007.mcap, which is missing", self.errors)
        self.run_cardan("bag", "verify", folder, code=1)

    def test_a_bag_of_rosbags(self):
        folder = self.path / "ros"
        with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
            text = bag.add_connection("/text", "std_msgs/msg/String", typestore=STORE)
            for i in range(5):
                message = STORE.types["std_msgs/msg/String"](data=f"text {i}")
                bag.write(text, BEGIN + i * SECOND // 10, STORE.serialize_cdr(message, "std_msgs/msg/String"))
        info = self.json_of("bag", "info", folder)
        self.assertEqual((info["messages"], info["profile"], info["problems"]), (5, "ros2", []))
        self.assertEqual(self.play(folder)["published"], 5)

    def test_the_order_and_the_files_of_metadata(self):
        folder = self.parts()
        for paths in ("\n    - drive_0003.mcap\n    - 'drive_0001.mcap'\n", "\n  - \"drive_0003.mcap\" # the last\n  - drive_0001.mcap\n", " [drive_0003.mcap, 'drive_0001.mcap']\n",
                      "\n  - drive/drive_0003.mcap\n  - drive/drive_0001.mcap\n"):  # as early versions of rosbag2 wrote them
            self.metadata(folder, paths)
            info = self.json_of("bag", "info", folder)
            self.assertEqual([pathlib.Path(f["file"]).name for f in info["files"]], ["drive_0003.mcap", "drive_0001.mcap"])
            self.assertIn("drive_0002.mcap is left out", self.errors)
        self.assertEqual(self.play(folder)["published"], 20)

    def test_unfinished_files_of_a_crash(self):
        folder = self.parts(2)
        whole = (folder / "drive_0002.mcap").read_bytes()
        (folder / "drive_0002.mcap").unlink()
        (folder / "drive_0002.mcap.active").write_bytes(whole[:-200])
        self.metadata(folder, "\n    - drive_0001.mcap\n")
        info = self.json_of("bag", "info", folder)
        self.assertFalse(info["finished"])
        self.assertEqual([f["finished"] for f in info["files"]], [True, False])
        report = self.play(folder)
        self.assertEqual(report["published"], 20)
        self.assertEqual(len(report["unfinished"]), 1)

    def test_a_missing_file(self):
        folder = self.parts()
        self.metadata(folder, "\n    - drive_0001.mcap\n    - drive_0002.mcap\n    - drive_0007.mcap\n")
        self.assertEqual(self.json_of("bag", "info", folder, code=3)["messages"], 20)
        self.assertIn("names drive_0007.mcap, which is missing", self.errors)
        report = self.play(folder, code=3)
        self.assertEqual(report["published"], 20)
        self.assertIn("drive_0007.mcap", report["problems"][0])
        self.metadata(folder, "\n    - drive_0007.mcap\n")
        self.run_cardan("bag", "info", folder, code=2)
        self.assertIn("drive_0007.mcap, which is missing", self.errors)

    def test_names_do_not_lead_out_of_the_folder(self):
        folder = self.parts()
        outside = self.path / "outside.mcap"
        shutil.copy(folder / "drive_0001.mcap", outside)
        os.symlink(outside, folder / "link.mcap")
        os.symlink(self.path, folder / "up")
        for name in ("../outside.mcap", str(outside), "link.mcap", "up/outside.mcap", "drive/../../outside.mcap"):
            self.metadata(folder, f"\n    - drive_0001.mcap\n    - {name}\n")
            info = self.json_of("bag", "info", folder, code=3)
            self.assertEqual((name, info["messages"]), (name, 10))
            self.assertIn(name, info["problems"][0])
            self.assertIn("not read", info["problems"][0])

    def test_metadata_with_names_without_end(self):
        folder = self.parts()
        self.metadata(folder, "".join(f"\n    - none_{n}.mcap" for n in range(600_000)))
        info = self.json_of("bag", "info", folder, code=3)
        self.assertIn("names more than 16384 files", self.errors)
        self.assertEqual(info["messages"], 30, "of the files that are there")
        self.metadata(folder, "".join(f"\n    - none_{n}.mcap" for n in range(16_000)) + "\n    - drive_0001.mcap")
        self.assertEqual(self.json_of("bag", "info", folder, code=3)["messages"], 10)
        self.assertLess(len(self.errors), 20_000)
        self.assertIn("15950 more", self.errors)

    def test_metadata_that_is_damaged_or_of_another_program(self):
        folder = self.parts()
        whole = METADATA.format(paths="\n    - drive_0001.mcap\n")
        for text in ("", "a: b\n", "rosbag2_bagfile_information:\n", "rosbag2_bagfile_information:\n  version: 8\n", whole.replace("- drive", '- "drive'), whole.replace("\n    -", " [drive,"),
                     "\0" * 4096, "rosbag2_bagfile_information:\n  relative_file_paths: 7\n"):
            (folder / "metadata.yaml").write_text(text)
            info = self.json_of("bag", "info", folder, code=3)
            self.assertEqual((text, info["messages"]), (text, 30))
            self.assertIn("metadata.yaml does not state which files belong together", self.errors)
        (folder / "metadata.yaml").unlink()
        os.mkfifo(folder / "metadata.yaml")  # nobody writes into it
        self.assertIn("it is not a file", self.json_of("bag", "info", folder, code=3)["problems"][0])

    def test_metadata_that_is_cut_anywhere(self):
        folder = self.parts(1)
        whole = METADATA.format(paths="\n    - drive_0001.mcap\n")
        named = whole.index("drive_0001.mcap") + len("drive_0001.mcap")
        for length in range(len(whole)):
            (folder / "metadata.yaml").write_text(whole[:length])
            # Up to the list it tells nothing; a name that is cut short is missing, and nothing else is there.
            begun = whole.index("drive_0001.mcap") < length < named
            self.run_cardan("bag", "info", folder, code=2 if begun else 0 if length >= named else 3)

    def test_a_file_of_the_folder_that_is_not_a_recording(self):
        folder = self.parts()
        (folder / "drive_0002.mcap").write_bytes(b"nothing")
        self.assertEqual(self.json_of("bag", "info", folder, code=3)["messages"], 20)
        self.assertIn("drive_0002.mcap is not an MCAP file", self.errors)
        self.assertEqual(self.play(folder, code=3)["published"], 20)
        self.run_cardan("play", folder / "drive_0001.mcap", folder / "drive_0002.mcap", code=2)  # that was asked for by name

    def test_messages_that_nobody_counted(self):
        """A finished file may lack the record with its statistics: then the number is not known, which is not 0."""
        file = self.path / "uncounted.mcap"
        with open(file, "wb") as stream:
            writer = McapWriter(stream, use_statistics=False)
            writer.start()
            channel = writer.register_channel("/v", "cdr", writer.register_schema(VECTOR3[0], VECTOR3[1], VECTOR3[2].encode()))
            for i in range(10):
                writer.add_message(channel, BEGIN + i, Cdr().number("d", i, i, i).done(), BEGIN + i)
            writer.finish()
        info = self.json_of("bag", "info", file)
        self.assertEqual([info[key] for key in ("messages", "start_ns", "end_ns", "seconds")], [None] * 4)
        self.assertNotIn("messages", info["topics"][0])
        self.assertIn("not counted", self.run_cardan("bag", "info", file))
        self.assertEqual(len(self.run_cardan("bag", "ls", file).splitlines()), 10)

    def test_a_folder_without_a_recording(self):
        (self.path / "empty").mkdir()
        for command in ("info",), ():
            self.run_cardan(*(("bag", *command) if command else ("play",)), self.path / "empty", code=2)
            self.assertIn("does not contain a recording", self.errors)

    def test_messages_that_a_walk_could_not_find_are_reported(self):
        file = self.path / "loose.mcap"
        with open(file, "wb") as stream:
            writer = McapWriter(stream, use_chunking=False, repeat_channels=False, repeat_schemas=False)
            writer.start()
            schema = writer.register_schema(VECTOR3[0], VECTOR3[1], VECTOR3[2].encode())
            channels = [writer.register_channel(topic, "cdr", schema) for topic in ("/known", "/lost")]
            for i in range(10):
                writer.add_message(channels[i % 2], BEGIN + i, Cdr().number("d", i, i, i).done(), BEGIN + i)
            writer.finish()
        data = bytearray(file.read_bytes())
        at = data.index(b"/lost") - 4 - 2 - 2 - 8 - 1  # the channel's opcode: before its length, two numbers and the length of the name
        self.assertEqual(data[at], 4)
        data[at] = 0x80  # a private record: readers skip it
        file.write_bytes(data)
        report = self.play(file, code=3)
        self.assertEqual(report["published"], 5)
        self.assertIn("5 messages of channel", report["problems"][0])
        self.assertIn("5 messages of channel", self.errors)


if __name__ == "__main__":
    main()
