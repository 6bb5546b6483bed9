#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan tf`: the tree of frames, places, and what is wrong with them.

    tf_test.py CARDAN PUBLISHER [unittest arguments]
"""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

PUBLISHER = sys.argv.pop(2)

from command_case import CARDAN, CommandCase, main

LONG = 120  # seconds, against hangs alone


class Transforms(CommandCase):
    def start(self, *orders, **options):
        """A publisher that has obeyed."""
        process = subprocess.Popen([PUBLISHER], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        for order in orders:
            self.tell(process, order)
        return process

    def tell(self, process, order):
        process.stdin.write(order + "\n")
        self.assertEqual(process.stdout.readline(), "done\n")

    def until(self, *words, code=0, **wanted):
        """Asks again until the JSON answer has these members: a busy computer may deliver late."""
        end = time.monotonic() + LONG
        while True:
            done = subprocess.run([CARDAN, *words, "--json"], env=self.environment, capture_output=True, text=True, timeout=LONG)
            answer = json.loads(done.stdout) if done.stdout else {}
            if done.returncode == code and all(answer.get(name) == value for name, value in wanted.items()):
                self.errors = done.stderr
                return answer
            self.assertLess(time.monotonic(), end, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")

    def kinds(self, wanted):
        """The problems of `tf check`, once there is one of this kind."""
        end = time.monotonic() + LONG
        while True:
            problems = self.json_of("tf", "check", code=1)["problems"]
            for problem in problems:
                if problem["kind"] == wanted:
                    return problem
            self.assertLess(time.monotonic(), end, problems)

    def moving_frame(self):
        """The frames of `tf tree` by name, once base_link has a rate."""
        end = time.monotonic() + LONG
        while True:
            answer = self.json_of("tf", "tree")
            frames = {frame["name"]: frame for frame in answer["frames"]}
            if frames.get("base_link", {}).get("rate_hz"):
                return frames
            self.assertLess(time.monotonic(), end, answer)

    def test_the_tree_is_drawn(self):
        publisher = self.start("tf")
        self.moving_frame()
        shown = self.run_cardan("tf", "tree", "--timeout", 2)
        lines = shown.splitlines()
        self.assertRegex(lines[0], r"^FRAME +RATE Hz +AGE +PUBLISHER$")
        self.assertEqual(lines[1], "map")
        self.assertRegex(lines[2], rf"^  base_link +([\d.k]+|-) +\d\S* (ns|µs|ms|s)( ahead)? +\S+ \(pid {publisher.pid}\)$")
        self.assertRegex(lines[3], rf"^    lidar +static +\S+ \(pid {publisher.pid}\)$")
        self.assertEqual(len(lines), 4)
        self.assertEqual(self.errors, "")

    def test_a_narrow_terminal_keeps_the_tree(self):
        self.start("tf")
        self.moving_frame()
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 36, 0, 0))
        tree = subprocess.Popen([CARDAN, "tf", "tree"], env=self.environment, stdin=subprocess.DEVNULL, stdout=theirs)
        self.addCleanup(tree.kill)
        os.close(theirs)
        shown = b""
        while shown.count(b"lidar") == 0:
            shown += os.read(ours, 65536)
        self.assertEqual(tree.wait(LONG), 0)
        lines = shown.decode().replace("\u00a0", " ").splitlines()
        self.assertTrue(any(line.startswith("  base_link ") for line in lines), lines)
        self.assertTrue(any(line.startswith("    lidar ") for line in lines), lines)

    def test_the_tree_as_json(self):
        self.start("tf")
        frames = self.moving_frame()
        self.assertEqual(frames["map"], {"name": "map", "parent": None})
        moving, still = frames["base_link"], frames["lidar"]
        self.assertEqual((moving["parent"], moving["is_static"], moving["age_by"]), ("map", False, "stamp"))
        self.assertGreater(moving["rate_hz"], 0)
        self.assertLess(abs(moving["age_ms"]), LONG * 1000)
        self.assertEqual((still["parent"], still["is_static"], still["rate_hz"]), ("base_link", True, None))
        self.assertEqual(still["translation"], {"x": 1.2, "y": 0, "z": 1.5})
        self.assertNotIn("stamp_ns", still)

    def test_stamps_of_another_time_have_an_age_by_arrival(self):
        self.start("tf_recorded")
        self.until("tf", "check", ok=True, frames=2)
        self.assertIn(" by arrival  ", self.run_cardan("tf", "tree"))
        frames = {frame["name"]: frame for frame in self.json_of("tf", "tree")["frames"]}
        self.assertEqual(frames["base_link"]["age_by"], "arrival")
        self.assertLess(frames["base_link"]["age_ms"], LONG * 1000)
        place = self.json_of("tf", "echo", "map", "base_link", "--once")
        self.assertIsNone(place["age_ms"])
        self.assertNotIn("ago", self.run_cardan("tf", "echo", "map", "base_link", "--once"))

    def test_a_place_is_printed(self):
        self.start("tf")
        place = self.json_of("tf", "echo", "map", "lidar", "--once", "--timeout", LONG)
        for axis, value in {"x": 1, "y": 1.2, "z": 1.5}.items():
            self.assertAlmostEqual(place["translation"][axis], value)
        self.assertAlmostEqual(place["rotation"]["w"], 0.5**0.5)
        self.assertAlmostEqual(place["rpy_deg"]["yaw"], 90)
        self.assertEqual((place["target"], place["source"], place["is_static"]), ("map", "lidar", False))
        self.assertLess(abs(time.time_ns() - place["stamp_ns"]), LONG * 10**9)
        shown = self.run_cardan("tf", "echo", "map", "lidar", "--once", "--timeout", LONG)
        self.assertRegex(shown, r"^--- lidar in map, stamp \d+, \S+ \S+ (ago|ahead)\n"
                                r"  translation  x 1\.0000  y 1\.2000  z 1\.5000  m\n"
                                r"  rotation     x 0\.00000  y 0\.00000  z 0\.70711  w 0\.70711\n"
                                r"  angles       roll 0\.000  pitch 0\.000  yaw 90\.000  deg\n$")
        static = self.run_cardan("tf", "echo", "base_link", "lidar", "--once", "--timeout", LONG)
        self.assertTrue(static.startswith("--- lidar in base_link, static\n"), static)
        self.assertEqual(self.json_of("tf", "echo", "base_link", "lidar", "--once", "--timeout", LONG)["stamp_ns"], 0)

    def test_places_are_printed_again_and_again(self):
        self.start("tf")
        lines = self.run_cardan("tf", "echo", "map", "lidar", "--count", 5, "--rate", 20, "--json", "--timeout", LONG).splitlines()
        stamps = [json.loads(line)["stamp_ns"] for line in lines]
        self.assertEqual(len(stamps), 5)
        self.assertEqual(stamps, sorted(stamps))
        echo = subprocess.Popen([CARDAN, "tf", "echo", "map", "lidar", "--rate", "50"], env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(echo.stdout.close)
        self.addCleanup(echo.kill)
        for _ in range(9):
            self.assertNotEqual(echo.stdout.readline(), "")
        echo.send_signal(signal.SIGINT)
        self.assertEqual(echo.wait(LONG), 0)

    def test_a_place_at_a_stamp(self):
        self.start("tf")
        newest = self.json_of("tf", "echo", "map", "lidar", "--once", "--timeout", LONG)["stamp_ns"]
        # It comes, because the publisher continues.
        ahead = newest + 3 * 10**9
        place = self.json_of("tf", "echo", "map", "lidar", "--at", ahead, "--timeout", LONG)
        self.assertEqual(place["stamp_ns"], ahead)
        self.assertEqual(self.json_of("tf", "echo", "map", "lidar", "--at", newest - 3600 * 10**9, code=1)["reason"], "too old")
        self.assertIn("oldest place", self.errors)
        self.assertEqual(self.json_of("tf", "echo", "map", "lidar", "--at", newest + 3600 * 10**9, "--timeout", 0.1, code=1)["reason"], "too new")

    def test_the_reason_of_a_missing_place_is_printed(self):
        self.start("tf", "tf_apart")
        self.until("tf", "check", code=1, frames=5)
        self.assertEqual(self.run_cardan("tf", "echo", "map", "lidra", "--timeout", 0.3, code=1), "")
        self.assertRegex(self.errors, r"^cardan: no frame 'lidra' — did you mean 'lidar'\?\n$")
        missing = self.json_of("tf", "echo", "map", "camera", "--timeout", 0.3, code=1)
        self.assertEqual((missing["reason"], missing["translation"]), ("not connected", None))
        self.assertIn("two trees", self.errors)
        self.run_cardan("tf", "echo", "map", "\x1b[31m", "--timeout", 0.1, code=1)
        self.assertNotIn("\x1b", self.errors)

    def test_a_place_that_comes_later_is_waited_for(self):
        publisher = self.start("tf_apart")
        echo = subprocess.Popen([CARDAN, "tf", "echo", "map", "lidar", "--once", "--json", "--timeout", str(LONG)], env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(echo.stdout.close)
        self.addCleanup(echo.kill)
        self.tell(publisher, "tf")
        self.assertAlmostEqual(json.loads(echo.stdout.readline())["translation"]["z"], 1.5)
        self.assertEqual(echo.wait(LONG), 0)

    def test_a_signal_ends_what_waits_and_listens(self):
        self.start("tf_apart")
        for words, code, shown in (["echo", "map", "lidar"], 1, "no frame 'map'"), (["tree"], 0, ""), (["check"], 0, ""):
            waits = subprocess.Popen([CARDAN, "tf", *words, "--timeout", "80000"], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(waits.kill)
            end = time.monotonic() + LONG
            while not any(topic["topic"] == "/tf_static" and topic["subscribers"] for topic in self.json_of("topic", "list")["topics"]):
                self.assertLess(time.monotonic(), end, "it does not subscribe")
            waits.send_signal(signal.SIGINT)
            output, errors = waits.communicate(timeout=LONG)
            self.assertEqual(waits.returncode, code, errors)
            self.assertIn(shown, errors)
            self.assertEqual("trailer" in output or "ok: 2 frames" in output, code == 0, output)

    def test_nothing_is_wrong(self):
        self.start("tf")
        answer = self.until("tf", "check", ok=True, frames=3)
        self.assertEqual((answer["trees"], answer["problems"], answer["stale"]), ([{"root": "map", "frames": 3}], [], []))
        end = time.monotonic() + LONG
        while True:
            done = subprocess.run([CARDAN, "tf", "check"], env=self.environment, capture_output=True, text=True, timeout=LONG)
            if done.returncode == 0:
                break
            self.assertLess(time.monotonic(), end, done.stderr)
        self.assertEqual((done.stdout, done.stderr), ("ok: 3 frames in one tree\n", ""))

    def test_two_parents_are_a_problem(self):
        first, second = self.start("tf"), self.start("tf_two")
        problem = self.kinds("two parents")
        self.assertEqual(problem["frame"], "base_link")
        for word in ("'map'", "'odom'", f"pid {first.pid}", f"pid {second.pid}"):
            self.assertIn(word, problem["text"])
        self.assertEqual(self.run_cardan("tf", "check", code=1), "")
        self.assertRegex(self.errors, r"(?m)^cardan: frame 'base_link' has two parents: ")
        self.run_cardan("tf", "tree")
        self.assertRegex(self.errors, r"(?m)^cardan: frame 'base_link' has two parents: ")

    def test_a_circle_is_a_problem(self):
        self.start("tf")
        self.start("tf_loop")
        self.assertIn("circle", self.kinds("loop")["text"])
        self.run_cardan("tf", "tree")

    def test_two_trees_are_a_problem(self):
        self.start("tf", "tf_apart")
        answer = self.until("tf", "check", code=1, frames=5, stale=[])
        self.assertEqual(answer["trees"], [{"root": "map", "frames": 3}, {"root": "trailer", "frames": 2}])
        self.assertEqual(answer["problems"], [])
        self.run_cardan("tf", "check", code=1)
        self.assertIn("2 trees, with the roots 'map' (3 frames), 'trailer' (2 frames) — ", self.errors)

    def test_a_frame_that_no_longer_comes_is_a_problem(self):
        publisher = self.start("tf")
        self.until("tf", "check", ok=True, frames=3)
        self.tell(publisher, "tf_pause")
        (stale,) = self.json_of("tf", "check", code=1)["stale"]
        self.assertEqual((stale["frame"], stale["parent"]), ("base_link", "map"))
        self.assertGreater(stale["silent_ms"], 1000)
        self.run_cardan("tf", "check", code=1)
        self.assertRegex(self.errors, rf"^cardan: no new place of frame 'base_link' in 'map' came for \d\S* s: \S+ \(pid {publisher.pid}\) published it — ")

    def test_hostile_names_and_numbers_do_no_damage(self):
        self.start("tf_hostile")
        shown = self.run_cardan("tf", "tree")
        self.assertIn("red?[31m?ok: 1 frame?", shown)
        self.assertIn("not??UTF-8", shown)
        self.assertEqual(len(shown.splitlines()), 5, "a frame has a line")
        for text in shown, self.errors:
            self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]")
        for kind in "not finite", "not a rotation", "no name", "own parent":
            self.kinds(kind)
        self.assertEqual(self.json_of("tf", "tree")["frames"][0]["name"], "map")
        far = self.json_of("tf", "echo", "map", "x" * 60, "--once")
        self.assertEqual(far["translation"]["x"], 1e15)
        self.assertIn("x 1e+15  y -1e+15", self.run_cardan("tf", "echo", "map", "x" * 60, "--once"))
        self.assertEqual(len(self.run_cardan("tf", "tree", "--names").splitlines()), 4)

    def test_a_thousand_frames_in_a_row(self):
        self.start("tf_row 999")
        shown = self.run_cardan("tf", "tree")
        self.assertEqual(len(shown.splitlines()), 1001)
        self.assertIn("(999) f999", shown)
        self.assertLess(max(map(len, shown.splitlines())), 200)
        self.assertEqual(self.json_of("tf", "check")["frames"], 1000)
        self.json_of("tf", "echo", "f000", "f999", "--once")

    def test_frames_complete_a_command(self):
        self.start("tf")
        self.until("tf", "check", ok=True, frames=3)
        for words in (["tf", "echo", ""], ["tf", "echo", "map", ""]):
            end = time.monotonic() + LONG
            while (found := self.run_cardan("__complete", *words).split()) != ["base_link", "lidar", "map"]:
                self.assertLess(time.monotonic(), end, found)
        self.assertEqual(self.run_cardan("__complete", "tf", "echo", "map", "lidar", ""), "")
        self.assertEqual(re.findall(r"^\w+", self.run_cardan("__complete", "tf", ""), re.M), ["tree", "echo", "check"])

    def test_nothing_runs(self):
        self.assertEqual(self.run_cardan("tf", "tree", "--names"), "")
        for words in ["tree"], ["check"], ["echo", "map", "lidar"]:
            self.assertEqual(self.run_cardan("tf", *words, code=1), "")
            self.assertRegex(self.errors, r"^cardan: the run directory \S+, which CARDAN_RUN_DIR names, does not exist — .+\n$")
        self.assertFalse((self.path / "run").exists(), "looking makes no run directory")

    def test_nobody_publishes(self):
        self.start()
        for words in ["tree", "--timeout", "0.1"], ["check", "--timeout", "0.1"]:
            self.assertEqual(self.run_cardan("tf", *words, code=1), "")
            self.assertRegex(self.errors, r"^cardan: nobody publishes /tf or /tf_static in \S+ — .+\n$")
        self.assertEqual(self.json_of("tf", "tree", "--timeout", "0.1", code=1), {"frames": [], "problems": []})
        self.assertFalse(self.json_of("tf", "check", "--timeout", "0.1", code=1)["ok"])
        self.assertEqual(self.json_of("tf", "echo", "map", "lidar", "--timeout", "0.1", code=1)["reason"], "unknown frame")
        self.assertIn("nobody publishes /tf or /tf_static", self.errors)
        self.assertEqual(self.run_cardan("tf", "tree", "--names"), "")

    def test_a_publisher_without_transforms_is_reported(self):
        publisher = self.start("tf_silent")
        self.run_cardan("tf", "tree", "--timeout", "0.1", code=1)
        self.assertRegex(self.errors, rf"^cardan: no transform came in 100 ms, although \S+ \(pid {publisher.pid}\) publishes /tf — .+\n$")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_transforms_of_another_user_are_reported(self):
        os.chmod(self.path, 0o755)
        run = self.path / "run"
        for folder in run, run / "default":
            folder.mkdir()
            os.chmod(folder, 0o1777)
        try:
            self.start("tf", user=12345, group=12345, extra_groups=[])
        except PermissionError:
            self.skipTest("the program is in a folder that other users do not reach")
        self.assertEqual(self.run_cardan("tf", "tree", "--timeout", "0.1", code=1), "")
        self.assertIn("not open to this user: ", self.errors)
        self.assertIn("12345", self.errors)

    def test_wrong_words(self):
        for words in ([], ["echo"], ["echo", "map"], ["echo", "a", "b", "--rate", "0"], ["echo", "a", "b", "--count", "0"], ["echo", "a", "b", "--once", "--count", "2"], ["echo", "a", "b", "--at", "-1"],
                      ["echo", "a", "b", "--at", "5", "--rate", "2"], ["echo", "a", "b", "--timeout", "nan"], ["tree", "--timeout", "0"], ["check", "more"]):
            self.assertEqual(self.run_cardan("tf", *words, code=2), "", words)
            self.assertRegex(self.errors, r"^cardan: .+ — .+\n$", words)
        self.run_cardan("tf2_echo", code=2)
        self.assertIn("`cardan tf echo`", self.errors)


if __name__ == "__main__":
    main()
