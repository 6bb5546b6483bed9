#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `cardan play` for real, on small recordings that PyPI's mcap wrote.

    play_test.py CARDAN PUBLISHER [unittest arguments]
"""
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from recording import BEGIN, SECOND, VECTOR3, Cdr, vectors, write

CARDAN, PUBLISHER = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-play-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
PLAIN = (*VECTOR3, "cdr", {})


def path(name):
    return os.path.join(FOLDER, name)


def run(*words, code=0):
    """Standard output; the command has to end with `code`."""
    done = subprocess.run([CARDAN, *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    run.stderr = done.stderr
    if done.returncode != code:
        raise AssertionError(f"cardan {words} ended with {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def play(*words, code=0):
    return json.loads(run("play", *words, "--json", code=code))


def start(test, *words, **streams):
    """The command in the background, which does not outlive the test."""
    process = subprocess.Popen([CARDAN, *map(str, words)], env=ENVIRONMENT, stdin=subprocess.DEVNULL, text=True, **streams)

    def end():
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    test.addCleanup(end)
    return process


def points(count=50):
    """A recording of /point, one message each 20 ms, and /other."""
    file = path(f"points{count}.mcap")
    write(file, {"/point": PLAIN, "/other": PLAIN}, sorted(vectors("/point", count) + vectors("/other", count // 2, SECOND // 25), key=lambda m: m[1]))
    return file


class Play(unittest.TestCase):
    def test_everything_once(self):
        report = play(points(), "--rate", 100)
        self.assertEqual((report["published"], report["failed"], report["left_out"], report["problems"]), (75, 0, [], []))
        self.assertEqual({t["topic"]: t["published"] for t in report["topics"]}, {"/point": 50, "/other": 25})
        self.assertEqual(report["position_s"], report["end_s"])
        self.assertGreater(report["late_us"]["max"], 0)
        text = run("play", points(), "--as-fast-as-readers")
        for part in ("/point", "geometry_msgs/msg/Vector3", "75 messages"):
            self.assertIn(part, text)

    def test_a_part(self):
        report = play(points(), "--rate", 100, "--start", 0.2, "--until", 0.4, "--topic", "/p*")
        self.assertEqual(report["published"], 10)
        self.assertEqual(play(points(), "--rate", 100, "--start", 0.2, "--duration", 0.1, "--exclude", "/other")["published"], 5)

    def test_observers_see_it_and_ctrl_c_ends_it(self):
        playing = start(self, "play", points(), "--loop", "--clock", "--remap", "/point:=/replay/point", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        seen = [json.loads(line) for line in run("topic", "echo", "/replay/point", "--wait", "--count", 10, "--json").splitlines()]
        for one in seen:
            x = int(one["message"]["x"])
            self.assertEqual((one["message"]["y"], one["message"]["z"]), (0.5 * x, -x))
            self.assertEqual(one["source_time_ns"], BEGIN + x * SECOND // 50 - 5)
        clock = json.loads(run("topic", "echo", "/clock", "--once", "--json"))
        self.assertEqual(clock["type"], "rosgraph_msgs/msg/Clock")
        self.assertGreaterEqual(clock["message"]["clock"], BEGIN)
        self.assertLess(clock["message"]["clock"], BEGIN + SECOND)
        playing.send_signal(signal.SIGINT)
        out, err = playing.communicate(timeout=20)
        self.assertEqual((playing.returncode, err), (0, ""))
        self.assertGreater(json.loads(out)["published"], 10)

    def test_a_type_of_somebody_elses(self):
        publisher = subprocess.Popen([PUBLISHER], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

        def end():
            publisher.stdin.close()
            publisher.wait(20)
            publisher.stdout.close()

        self.addCleanup(end)

        def tell(order):
            publisher.stdin.write(order + "\n")
            return publisher.stdout.readline().strip()

        self.assertEqual(publisher.stdout.readline(), "ready\n")
        info = json.loads(run("topic", "info", "/test/own", "--json"))
        layout = info["publishers"][0]["layout"]
        schema = info["schema"]
        tell("end")
        messages = []
        for i in range(40):
            cdr = Cdr().number("i", 12).number("I", i).text("base").number("Q", i).number("f", i / 2).number("B", 7).text("some text")
            cdr.number("I", i).number("i", *range(i))
            messages.append(("/test/own", i * 1_000_000, cdr.done()))
        file = path("own.mcap")
        write(file, {"/test/own": ("test_msgs/msg/Own", "ros2msg", schema, "cdr", {"cardan.type_hash": layout})}, messages)
        tell("subscribe")
        report = play(file, "--depth", 50, "--wait-for-readers")
        self.assertEqual((report["published"], report["topics"][0]["readers"]), (40, 1))
        self.assertEqual(tell("take"), "took 40")
        # The same without the hash: in a layout of our own making.
        write(file, {"/test/own": ("test_msgs/msg/Own", "ros2msg", schema, "cdr", {}), "/point": PLAIN}, messages + vectors("/point", 3))
        self.assertEqual(play(file)["published"], 43)
        # And of a type that is not defined.
        write(file, {"/test/own": ("test_msgs/msg/Own", "ros2msg", "", "cdr", {}), "/point": PLAIN}, messages + vectors("/point", 3))
        report = play(file, code=3)
        self.assertIn("does not define", report["left_out"][0]["why"])
        self.assertIn("/test/own is not played", run.stderr)
        self.assertEqual(report["published"], 3)

    def test_nothing_to_play(self):
        file = path("json.mcap")
        write(file, {"/j": ("a.B", "", "{}", "json", {})}, [("/j", 0, b"{}")])
        run("play", file, code=1)
        self.assertIn("nothing to play", run.stderr)

    def test_wrong_words(self):
        for words in (["--topic", "/nobody"], ["--remap", "/point"], ["--remap", "/nobody:=/x"], ["--tell", "stop"], ["--clock=0"], ["--clock=x"], ["--wait-for-readers=0"],
                      ["--rate", 0], ["--start", 2, "--until", 1], ["--until", 1, "--duration", 1], ["--domain", "a/b"], ["--start", 1000]):
            self.assertEqual(run("play", points(), *words, code=2), "", words)
            self.assertRegex(run.stderr, r"^cardan: .+ — .+\n$", words)
        run("play", path("nowhere.mcap"), code=2)
        run("play", code=2)
        for order in ("loudly", "rate", "rate=0", "rate=x", "rate=nan", "seek", "seek=-1", "step=0", "pause=1", "stop=", ""):
            run("play", "--tell", order, code=2)

    def test_another_process_tells_it_what_to_do(self):
        run("play", "--tell", "pause", code=1)
        self.assertIn("no player runs", run.stderr)
        echo = start(self, "topic", "echo", "/point", "--wait", "--json", stdout=subprocess.PIPE)
        playing = start(self, "play", points(5000), "--pause", "--topic", "/point", "--json", "--depth", 600, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        seen = []

        def until(x):
            while not seen or seen[-1] != x:
                seen.append(json.loads(echo.stdout.readline())["message"]["x"])

        deadline = time.monotonic() + 30
        while subprocess.run([CARDAN, "topic", "info", "/point"], env=ENVIRONMENT, capture_output=True).returncode != 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        run("play", "--tell", "step=3")
        until(2)
        run("play", "--tell", "seek=5")
        run("play", "--tell", "step")
        until(250)
        self.assertEqual(seen, [0, 1, 2, 250])
        run("play", "--tell", "rate=0.5")
        run("play", "--tell", "resume")
        until(251)
        run("play", "--tell", "stop")
        out, err = playing.communicate(timeout=30)
        self.assertEqual((playing.returncode, err), (0, ""))
        self.assertLess(json.loads(out)["published"], 4000)

    def test_unfinished_and_damaged(self):
        with open(points(), "rb") as file:
            whole = file.read()
        with open(path("cut.mcap"), "wb") as file:
            file.write(whole[: len(whole) * 2 // 3])
        report = play(path("cut.mcap"), "--rate", 100)
        self.assertEqual(len(report["unfinished"]), 1)
        self.assertIn("not finished", run.stderr)
        self.assertGreater(report["published"], 20)
        damaged = bytearray(whole)
        at = whole.index(Cdr().number("d", 20, 10, -20).done())
        damaged[at + 10] ^= 0xFF
        with open(path("damaged.mcap"), "wb") as file:
            file.write(damaged)
        report = play(path("damaged.mcap"), "--rate", 100, code=3)
        self.assertEqual(len(report["problems"]), 1)
        self.assertGreater(report["published"], 20)
        self.assertLess(report["published"], 75)


class Keys(unittest.TestCase):
    def setUp(self):
        self.master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.seen = ""
        self.addCleanup(os.close, self.master)
        self.addCleanup(os.close, slave)

    def begin(self, *words):
        def own_terminal():
            os.setsid()
            import fcntl
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([CARDAN, "play", *map(str, words)], env=ENVIRONMENT, stdin=self.slave, stdout=self.slave, stderr=self.slave, preexec_fn=own_terminal)

        def end():
            self.process.kill()
            self.process.wait()

        self.addCleanup(end)

    def until(self, text):
        """Reads what is shown until it contains this, and forgets it."""
        deadline = time.monotonic() + 20
        while text not in self.seen:
            self.assertLess(time.monotonic(), deadline, f"never saw {text!r} in {self.seen[-500:]!r}")
            if select.select([self.master], [], [], 0.2)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")
        self.seen = self.seen[self.seen.index(text) + len(text):]

    def press(self, keys):
        os.write(self.master, keys.encode())

    def test_pause_step_seek_rate_quit(self):
        self.begin(points(500), "--pause", "--step", 3, "--topic", "/point")
        self.until("paused 0.0 / 10.0 s  ×1  0 messages")
        self.press("s")
        self.until("3 messages")
        self.press("\x1b[C")
        self.until("paused 0.1 / 10.0 s  ×1  6 messages")
        self.press("++")
        self.until("×5")
        self.press("----")
        self.until("×0.2")
        self.press(" ")
        self.until("playing 0.")
        self.press("\x1b[C")
        self.until("playing 5.")
        self.press("\x1b[D")
        self.until("playing 0.")
        self.press("q")
        self.until("messages in")
        self.assertEqual(self.process.wait(20), 0)
        self.assertEqual(termios.tcgetattr(self.slave), self.before)

    def test_ctrl_c_leaves_the_terminal_as_it_was(self):
        self.begin(points(500))
        self.until("playing 0.")
        self.press("\x03")
        self.until("messages in")
        self.assertEqual(self.process.wait(20), 0)
        self.assertEqual(termios.tcgetattr(self.slave), self.before)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
