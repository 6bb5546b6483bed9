#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan top` on its own terminal: keys are sent, and the screen is read back; and without a terminal.

    top_test.py CARDAN PUBLISHER BRAKE_JSON
"""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

CARDAN, PUBLISHER, BRAKE = sys.argv[1:4]
FOLDER = tempfile.mkdtemp(prefix="cardan-top-")
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
UP, DOWN = "\x1b[A", "\x1b[B"


def environment(run, **more):
    all_of_it = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, run), "TERM": "xterm", **more}
    for name in ("CARDAN_DOMAIN", "NO_COLOR"):
        if name not in more:
            all_of_it.pop(name, None)
    os.makedirs(all_of_it["CARDAN_RUN_DIR"], exist_ok=True)  # top makes none
    return all_of_it


class Publisher:
    """Publishes /test/image, /test/own and /test/wide."""

    def __init__(self, test, program=PUBLISHER):
        self.process = subprocess.Popen([program], env=environment(test.id()), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        test.addCleanup(self.end)
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, order):
        self.process.stdin.write(order + "\n")
        return self.process.stdout.readline().strip()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Terminal:
    """The command on a terminal. `lines` is its screen: `top` draws each one again from the upper left corner."""

    def __init__(self, test, *words, size=(80, 24), **more):
        self.master, self.slave = pty.openpty()
        self.size = size
        self.resize(size)
        self.before = termios.tcgetattr(self.slave)
        self.lines, self.seen, self.rest = [], "", b""

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([CARDAN, "top", "--seconds", "0.3", *words], env=environment(test.id(), **more), stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, preexec_fn=own_terminal)
        test.addCleanup(self.close)

    def resize(self, size):
        self.size = size
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def read(self, seconds=0.05):
        if not select.select([self.master], [], [], seconds)[0]:
            return
        try:
            self.rest += os.read(self.master, 65536)
        except OSError:
            return
        end = self.rest.rfind(b"\x1b[J") + 3
        drawn = self.rest[:end] if end > 2 else b""
        self.rest = self.rest[len(drawn):]
        self.seen += drawn.decode()  # strictly: it is text
        for frame in drawn.decode().split("\x1b[H")[1:]:
            frame = frame.partition("\x1b[J")[0]
            self.lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).replace("\x1b[K", "") for line in frame.split("\r\n")]

    def text(self):
        return "\n".join(self.lines)

    def until(self, test, what):
        """`what` of the screen's text holds, or a text is on it."""
        holds = what if callable(what) else lambda text: what in text
        deadline = time.monotonic() + 60
        while not holds(self.text()):
            test.assertLess(time.monotonic(), deadline, f"{what!r} never was on the screen:\n{self.text()}")
            test.assertIsNone(self.process.poll(), "it has ended\n" + self.text())
            self.read()
        return self.text()

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self, test):
        """Its exit code, with what it wrote last; the terminal is as it was."""
        deadline = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        code = self.process.wait(1)
        while select.select([self.master], [], [], 0.2)[0]:
            self.rest += os.read(self.master, 65536)
        written = self.seen + self.rest.decode()
        test.assertEqual(written.count(ENTER), written.count(LEAVE), "the other screen is left")
        test.assertTrue(written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l"), "the cursor is back")
        test.assertEqual(termios.tcgetattr(self.slave), self.before, "keys are as they were")
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class Top(unittest.TestCase):
    maxDiff = None

    def order_of_topics(self, text):
        return re.findall(r"/test/(\w+)", text)

    def test_keys_views_filter_order_details_and_the_end(self):
        publisher = Publisher(self)
        publisher.tell("run 50")
        top = Terminal(self)
        text = top.until(self, lambda t: re.search(r"> \S*command_publis.*\d\.\d", t))
        self.assertIn("[1 processes]", text)
        top.press("2")
        # The image is the largest: 64 x 48 x 3 bytes.
        text = top.until(self, lambda t: "[2 topics]" in t and re.search(r"/test/image +4\d|/test/image +5\d", t))
        self.assertEqual(self.order_of_topics(text)[0], "image")
        self.assertTrue(all(len(line) < 80 for line in top.lines), text)
        self.assertLessEqual(len(top.lines), 24)
        top.press("r")
        top.until(self, lambda t: "BYTES/s▲" in t and self.order_of_topics(t)[-1] == "image")
        top.press("SS")
        top.until(self, lambda t: "TOPIC▲" in t and self.order_of_topics(t) == ["image", "own", "wide"])
        top.press("/OW")
        top.until(self, lambda t: self.order_of_topics(t) == ["own"] and "/OW_" in t)
        top.press("\r")
        top.until(self, "filter 'OW'")
        top.press("\r")
        top.until(self, lambda t: "1 publisher" in t and "command_publisher (" in t and "test_msgs/msg/Own" in t)
        top.press("\x1b")
        top.until(self, "filter 'OW'")
        top.press("\x1b")
        top.until(self, lambda t: self.order_of_topics(t) == ["image", "own", "wide"])
        top.press(DOWN + DOWN)
        top.until(self, lambda t: "> /test/wide" in t)
        top.press("?")
        top.until(self, "filter by name")
        top.press("x3")
        top.until(self, "no callbacks")
        top.press("q")
        self.assertEqual(top.end(self), 0)

    def test_a_reader_that_loses_is_seen_and_ends_with_3(self):
        publisher = Publisher(self)
        publisher.tell("subscribe")
        top = Terminal(self, "--view", "topics", "--filter", "/test/own")
        top.until(self, "/test/own")
        time.sleep(1)  # the reader has been seen
        publisher.tell("publish 20")  # depth 8: twelve are lost
        self.assertEqual(publisher.tell("take"), "took 8")
        top.until(self, lambda t: re.search(r"/test/own .* 12 ", t))
        top.press("\r")
        top.until(self, lambda t: "12 lost since" in t and "SUBSCRIBER" in t)
        top.press("\x03")  # Ctrl-C
        self.assertEqual(top.end(self), 3)

    def test_callbacks_of_components(self):
        run = subprocess.Popen([CARDAN, "run", BRAKE, "--reports", FOLDER], env=environment(self.id()), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)

        def stop():
            run.send_signal(signal.SIGINT)
            run.wait(60)

        self.addCleanup(stop)
        top = Terminal(self, "--view", "callbacks")
        top.until(self, lambda t: "radar" in t and re.search(r"brake +/?distance +\d", t))
        top.press("1")
        top.until(self, lambda t: re.search(r"running", t) and "STATE" in t)
        top.press("3/radar\r\r")
        top.until(self, lambda t: "of radar" in t and "running: started" in t)
        top.press("q")
        self.assertIn(top.end(self), (0, 3))  # 3: on a busy computer the example may lose a message

    def test_the_terminal_comes_back_whatever_happens(self):
        for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGHUP, 0), (signal.SIGSEGV, -signal.SIGSEGV), (signal.SIGABRT, -signal.SIGABRT),
                             (signal.SIGQUIT, -signal.SIGQUIT)):
            with self.subTest(number):
                top = Terminal(self)
                top.until(self, "no processes")
                self.assertNotEqual(termios.tcgetattr(top.slave), top.before, "keys come one by one meanwhile")
                top.process.send_signal(number)
                self.assertEqual(top.end(self), code)

    def test_it_can_be_stopped_and_continues(self):
        top = Terminal(self)
        top.until(self, "no processes")
        top.process.send_signal(signal.SIGTSTP)
        deadline = time.monotonic() + 30
        while termios.tcgetattr(top.slave) != top.before:
            self.assertLess(time.monotonic(), deadline)
            top.read()
        top.process.send_signal(signal.SIGCONT)
        top.lines = []
        top.until(self, "no processes")
        top.press("q")
        self.assertEqual(top.end(self), 0)

    def test_a_process_that_goes_away(self):
        first, second = Publisher(self), Publisher(self)
        top = Terminal(self, "--view", "processes")
        top.until(self, lambda t: str(first.process.pid) in t and str(second.process.pid) in t)
        top.press("/publisher\r")
        top.until(self, "filter")
        top.press("\r")
        text = top.until(self, "PUBLISHES")
        shown, other = (first, second) if f"pid {first.process.pid}" in text else (second, first)
        shown.end()
        top.until(self, f"process {shown.process.pid} is gone")
        top.press("\x1b")
        text = top.until(self, "PROCESS")
        self.assertNotIn(str(shown.process.pid), text)
        self.assertIn(str(other.process.pid), text)
        other.end()
        top.press("\x1b")
        top.until(self, "no processes")
        top.press("q")
        self.assertEqual(top.end(self), 0)

    def test_a_process_that_does_not_answer_keeps_no_key_waiting(self):
        publisher = Publisher(self)
        top = Terminal(self, "--view", "topics")
        top.until(self, "/test/own")
        publisher.process.send_signal(signal.SIGSTOP)
        try:
            top.until(self, "did not answer")
            for _ in range(3):
                top.press("?")
                top.until(self, "filter by name")
                top.press("x")
                top.until(self, lambda t: "filter by name" not in t)
        finally:
            publisher.process.send_signal(signal.SIGCONT)
        top.until(self, lambda t: "did not answer" not in t and "/test/own" in t)
        top.press("q")
        self.assertEqual(top.end(self), 0)

    def test_hostile_names_are_text(self):
        program = os.path.join(FOLDER, "ev\x1b]0;owned\x07\x1b[2Jil\r\u202e")
        shutil.copy(PUBLISHER, program)
        publisher = Publisher(self, program)
        publisher.tell("run 20")
        top = Terminal(self, size=(200, 50))
        for keys in ("1", "\r", "\x1b", "2", "\r", "\x1b"):
            top.press(keys)
            time.sleep(0.5)
            top.read()
        top.until(self, "/test/own")
        for order in re.findall(r"\x1b[^A-Za-z]*[A-Za-z]", top.seen):
            self.assertRegex(order, r"^\x1b\[(\?1049[hl]|\?25[hl]|[HJK]|[0-9;]*m)$")
        for bad in ("\x07", "\u202e"):
            self.assertNotIn(bad, top.seen)
        self.assertNotRegex(top.seen, "\r[^\n]")
        top.press("q")
        self.assertEqual(top.end(self), 0)
        done = self.run_top("--once")
        self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f\u202e]")

    def test_it_follows_the_size_of_the_terminal(self):
        publisher = Publisher(self)
        top = Terminal(self, "--view", "topics", size=(200, 50))
        top.until(self, lambda t: "TYPE" in t and "sensor_msgs/msg/Image" in t)
        for size in ((80, 24), (40, 8), (10, 3), (1, 1), (120, 30)):
            top.resize(size)
            top.lines = []
            top.until(self, lambda t: t != "" and all(len(line) <= max(1, size[0] - 1) for line in top.lines) and len(top.lines) <= size[1])
        top.until(self, "/test/own")
        publisher.end()
        top.press("q")
        self.assertEqual(top.end(self), 0)

    def test_no_colours_where_they_are_not_wanted(self):
        Publisher(self)
        for more, colours in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)):
            top = Terminal(self, "--view", "topics", **more)
            top.until(self, "> /test/")
            self.assertEqual(re.search(r"\x1b\[[0-9;]*m", top.seen) is not None, colours, more)
            top.press("q")
            self.assertEqual(top.end(self), 0)

    def test_a_dumb_terminal_gets_plain_text(self):
        Publisher(self)
        master, slave = pty.openpty()
        process = subprocess.Popen([CARDAN, "top", "--seconds", "0.2"], env=environment(self.id(), TERM="dumb"), stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        deadline = time.monotonic() + 60
        while seen.count(b"/test/own") < 2 and time.monotonic() < deadline:
            if select.select([master], [], [], 0.5)[0]:
                seen += os.read(master, 65536)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 0)
        os.close(master)
        self.assertGreaterEqual(seen.count(b"/test/own"), 2)
        self.assertNotIn(b"\x1b", seen)

    def run_top(self, *words, code=0):
        done = subprocess.run([CARDAN, "top", *words], env=environment(self.id()), capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_once_and_as_json(self):
        self.assertIn("0 topics", self.run_top("--once", "--seconds", "0.2").stdout)
        publisher = Publisher(self)
        publisher.tell("subscribe")
        publisher.tell("run 100")
        text = self.run_top("--once", "--seconds", "0.5").stdout
        self.assertRegex(text, r"\A1 process, \d+ topics?, 0 callbacks, ")
        for part in ("PROCESS", "TOPIC", "/test/own", "command_publisher"):
            self.assertIn(part, text)
        once = subprocess.Popen([CARDAN, "top", "--once", "--json", "--seconds", "3"], env=environment(self.id()), stdout=subprocess.PIPE, text=True)
        time.sleep(1.5)
        publisher.tell("take")  # depth 8: what came before is lost
        figures = json.loads(once.communicate(timeout=60)[0])
        self.assertEqual(once.returncode, 3)
        self.assertEqual(figures["closed"], [], "as topic list names it")
        topic = next(t for t in figures["topics"] if t["topic"] == "/test/own")
        self.assertTrue(10 < topic["rate_hz"] < 200, topic)
        self.assertEqual(topic["readers"], 1)
        self.assertGreater(topic["subscribers"][0]["lost"], 0)
        process = next(p for p in figures["processes"] if p["pid"] == publisher.process.pid)
        self.assertGreater(process["memory_bytes"], 100_000)
        self.assertGreaterEqual(process["cpu_percent"], 0)
        self.assertEqual((process["publishes"], process["subscribes"]), (3, 1))
        publisher.tell("pause")
        live = subprocess.Popen([CARDAN, "top", "--json", "--seconds", "0.2"], env=environment(self.id()), stdout=subprocess.PIPE, text=True)
        lines = [json.loads(live.stdout.readline()) for _ in range(3)]
        live.send_signal(signal.SIGTERM)
        self.assertIn(live.wait(60), (0, 3))
        live.stdout.close()
        self.assertTrue(all(len(line["topics"]) == 3 for line in lines))

    def test_wrong_words(self):
        for words in (["--view", "nothing"], ["--seconds", "0"], ["--seconds", "nan"], ["--domain", "a/b", "--once"]):
            done = self.run_top(*words, code=2)
            self.assertRegex(done.stderr, r"^cardan: .+\n$")


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
