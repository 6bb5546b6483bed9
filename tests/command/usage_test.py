#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the command refuses what it does not understand: options and numbers.

    usage_test.py CARDAN [unittest arguments]
"""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess

import recording
from command_case import CARDAN, CommandCase, main


class Usage(CommandCase):
    def test_an_option_that_is_nearly_right_is_suggested(self):
        for words, wrong, meant in (
            (["bag", "info", "file", "--jsn"], "--jsn", "--json"),
            (["topic", "stats", "--al"], "--al", "--all"),
            (["topic", "echo", "/a", "--cuont=3"], "--cuont", "--count"),
        ):
            self.run_cardan(*words, code=2)
            self.assertEqual(self.errors, f"cardan: unknown option '{wrong}' of 'cardan {words[0]} {words[1]}' — did you mean '{meant}'?\n")
        self.run_cardan("topic", "list", "--nothing-like-it", code=2)
        self.assertIn("--nothing-like-it — see cardan topic list --help", self.errors)
        self.run_cardan("check", "file.json", "--nothing", "7", code=2)
        self.assertEqual(self.errors, "cardan: the following arguments were not expected: --nothing 7 — see cardan check --help\n")

    def test_options_may_precede_their_command(self):
        for words in (["--json", "topic", "list"], ["topic", "--json", "list"], ["topic", "list", "--json"], ["--domain", "a", "topic", "list", "--json"],
                      ["--domain=a", "--json", "topic", "list"], ["topic", "--domain", "topic", "--json", "list"], ["--domain", "list", "topic", "list", "--json"]):
            self.assertEqual(json.loads(self.run_cardan(*words))["topics"], [], words)
        self.run_cardan("--count", "3", "topic", "list", code=2)
        self.assertIn("--count 3 — see cardan topic list --help", self.errors)
        self.run_cardan("--jsn", "topic", "list", code=2)
        self.assertEqual(self.errors, "cardan: unknown option '--jsn' of 'cardan topic list' — did you mean '--json'?\n")
        self.run_cardan("--json", code=2)

    def test_the_word_help_is_the_option(self):
        for words, same in ((["help"], []), (["help", "help"], []), (["help", "topic"], ["topic"]), (["topic", "help"], ["topic"]), (["help", "topic", "echo"], ["topic", "echo"]),
                            (["topic", "help", "echo"], ["topic", "echo"]), (["help", "doctor"], ["doctor"])):
            self.assertEqual(self.run_cardan(*words), self.run_cardan(*same, "--help"), words)
        for words in (["help", "nonsense"], ["help", "topic", "nonsense"], ["topic", "help", "nonsense"]):
            self.assertEqual(self.run_cardan(*words, code=2), "")
            self.assertRegex(self.errors, r"^cardan: unknown command 'cardan (topic )?nonsense' — there are ")

    def test_a_progress_line_is_erased_before_the_result(self):
        bag = self.path / "drive.mcap"
        recording.write(bag, {"/a": (*recording.DISTANCE, "cdr", {})}, [("/a", i * 1_000_000, recording.Cdr().number("d", i).done()) for i in range(5)])
        seen = 0
        for words in (["verify", bag], ["cut", bag, "-o", self.path / "cut.mcap"], ["du", bag], ["verify", self.path / "nowhere.mcap"]):
            ours, theirs = pty.openpty()
            process = subprocess.Popen([CARDAN, "bag", *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
            os.close(theirs)
            shown = b""
            while True:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                shown += piece
            os.close(ours)
            process.wait(60)
            drawn = list(re.finditer(rb"\r *\d+ %(\x1b\[K)?", shown))
            seen += len(drawn)
            for line in drawn:  # over each is another one, or nothing
                self.assertTrue(shown[line.end():].startswith(b"\r"), shown)
            self.assertTrue(not drawn or shown[drawn[-1].end():].startswith(b"\r\x1b[K"), shown)
        self.assertGreater(seen, 0)

    def test_a_project_where_no_folder_can_be_made(self):
        self.run_cardan("new", "project", "core", "--folder", "/proc/core", code=1)
        self.assertIn("cannot write /proc/core: ", self.errors)
        self.run_cardan("new", "project", "core", "--folder", str(self.path / "nowhere" / "core"), code=2)
        self.assertIn(f"the folder of {self.path}/nowhere/core does not exist — make it first", self.errors)

    def test_a_recorder_without_a_view_says_that_it_waits(self):
        if "record" not in self.run_cardan("--help"):
            self.skipTest("this build has no recorder")
        self.run_cardan("record", "/nobody", "--seconds", "2.5", "-o", str(self.path / "out.mcap"), code=3)
        self.assertIn("waiting: no topic that matches is published yet", self.errors)

    def test_a_number_that_cannot_be_is_refused_in_few_words(self):
        for value in "0", "x":
            self.run_cardan("topic", "echo", "/a", f"--count={value}", code=2)
            self.assertEqual(self.errors, f"cardan: --count: '{value}' is not a number above 0 — see cardan topic echo --help\n")
        self.run_cardan("bag", "ls", "file", "--start=-1", code=2)
        self.assertIn("--start: -1 is neither seconds from the first message, 0 or more, nor a date as 2026-11-22T10:02:01Z — see cardan bag ls --help", self.errors)

    def test_looking_makes_no_run_directory(self):
        missing = self.path / "mistyped" / "run"
        self.environment["CARDAN_RUN_DIR"] = str(missing)
        # A named topic cannot be there; the list of what is there is empty.
        for words, answer in ((["topic", "list"], "no topics in "), (["topic", "list", "--names"], ""), (["topic", "list", "--json"], {"topics": [], "closed": []}),
                              (["topic", "stats", "--all", "--once", "--seconds", "0.2"], ""), (["top", "--once", "--seconds", "0.2"], "0 processes, 0 topics"),
                              (["top", "--once", "--json", "--seconds", "0.2"], {"processes": [], "topics": [], "callbacks": []}), (["component", "list"], "no components run"),
                              (["component", "list", "--json"], {"components": []}), (["component", "stats", "--once", "--seconds", "0.2"], "no components run"),
                              (["param", "list"], "no components run"), (["param", "list", "--json"], {"parameters": []})):
            output = self.run_cardan(*words)
            if isinstance(answer, dict):
                self.assertEqual({name: value for name, value in json.loads(output).items() if name in answer}, answer, words)
            else:
                self.assertIn(answer, output, words)
            self.assertRegex(self.errors, rf"^cardan: nothing runs yet: the run directory {missing}, which CARDAN_RUN_DIR names, does not exist — .+\n$", words)
            self.assertFalse(missing.parent.exists(), words)
        for words in (["topic", "info", "/a"], ["topic", "echo", "/a", "--once"], ["topic", "stats", "/a", "--once"], ["component", "stats", "a", "--once"],
                      ["param", "list", "a"], ["param", "get", "a/b"], ["run", "--stop", "a"]):
            self.assertEqual(self.run_cardan(*words, code=1), "", words)
            self.assertRegex(self.errors, rf"^cardan: the run directory {missing}, which CARDAN_RUN_DIR names, does not exist — .+\n$")
            self.assertFalse(missing.parent.exists(), words)
        # The doctor finds out whether the directory can be made, and leaves nothing.
        done = subprocess.run([CARDAN, "doctor"], env=self.environment, capture_output=True, text=True, timeout=120)
        self.assertIn("does not exist yet", done.stdout)
        self.assertFalse(missing.parent.exists())
        # Also in a place that no variable of ours names.
        runtime = self.path / "runtime"
        runtime.mkdir()
        others = {name: value for name, value in self.environment.items() if name != "CARDAN_RUN_DIR"}
        subprocess.run([CARDAN, "doctor", "--domain", "of-usage-test"], env={**others, "XDG_RUNTIME_DIR": str(runtime)}, capture_output=True, timeout=120)
        self.assertFalse(list(runtime.rglob("*")))
        self.run_cardan("topic", "list", "--help")
        # A live view waits until something runs.
        top = subprocess.Popen([CARDAN, "top", "--json", "--seconds", "0.2"], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(json.loads(top.stdout.readline())["processes"], [])
        self.assertFalse(missing.parent.exists())
        missing.mkdir(parents=True)
        while not list(missing.iterdir()):  # it looks there now
            self.assertNotEqual(top.stdout.readline(), "")
        top.send_signal(signal.SIGINT)
        self.assertEqual(top.communicate(timeout=60)[1].count("nothing runs yet"), 1)
        self.assertEqual(top.returncode, 0)
        self.run_cardan("topic", "list")

    def test_output_that_cannot_be_written_is_a_failure(self):
        bag = self.path / "full.mcap"
        commands = [["record", "--seconds", "0.2", "-o", str(bag)]]
        if (pathlib.Path(CARDAN).parent / "cardan-bridge-foxglove").exists():
            commands.append(["bridge", "foxglove", "--seconds", "0.2", "--port", "0"])
        for words in commands:
            with open("/dev/full", "w") as full:
                done = subprocess.run([CARDAN, *words], env=self.environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.stderr.count("cannot write standard output: No space left on device"), 1, done.stderr)
            self.assertEqual(done.returncode, 1, words)

    def test_a_range_after_the_end_is_refused(self):
        second = 1_000_000_000
        bag = self.path / "short.mcap"
        recording.write(bag, {"/a": (*recording.DISTANCE, "cdr", {})}, [("/a", i * second // 2, recording.Cdr().number("d", i).done()) for i in range(5)])
        self.run_cardan("bag", "cut", bag, "--start", "9", "-o", self.path / "cut.mcap", code=2)
        self.assertEqual(self.errors, f"cardan: --start 9 is after the last message: {bag} lasts 2.000 s — it counts from the first message\n")
        self.assertFalse((self.path / "cut.mcap").exists())
        self.run_cardan("bag", "cut", bag, "--start", "2", "-o", self.path / "cut.mcap")
        self.assertEqual(len(self.run_cardan("bag", "ls", self.path / "cut.mcap", "--json").splitlines()), 1)
        self.run_cardan("bag", "attachment", "list", bag)
        self.assertEqual(self.errors, f"cardan: {bag} has no attachment\n")

    def test_a_bridge_refuses_a_name_that_no_topic_has(self):
        for option in "--topic", "--exclude", "--in":
            self.run_cardan("bridge", "foxglove", option, "camera", "--seconds", "0.1", "--port", "0", code=2)
            self.assertEqual(self.errors, f"cardan: '{option} camera' fits no topic, because names start with '/' — write {option} /camera\n")
        self.run_cardan("bridge", "foxglove", "--topic", "*camera", "--seconds", "0.1", "--port", "0")
        rules = self.path / "rules.json"
        rules.write_text('{"out": [{"topics": ["/a", "camera"]}], "in": [{"topics": ["*"], "exclude": "x"}]}')
        self.run_cardan("check", rules, code=1)
        self.assertIn("rules.json:1:28: error: 'camera' fits no topic, because names start with '/'", self.errors)
        self.assertIn("'x' fits no topic", self.errors)


if __name__ == "__main__":
    main()
