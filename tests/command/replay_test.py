#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan run --from` with components that hang, crash, throw, or read nothing.

    replay_test.py CARDAN LIBRARY [unittest arguments]
"""
import fcntl
import glob
import json
import os
import pty
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

from recording import SECOND, Cdr, write

CARDAN, LIBRARY = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-replay-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
ANSWER, SEGFAULT, _, ABORT, HANG, THROW = range(6)  # tests/runtime/test_components.hpp
NUMBER = ("test_msgs/msg/Number", "ros2msg", "int64 value\n")


def path(name):
    return os.path.join(FOLDER, name)


def bag(name, *orders, topic="/orders"):
    write(path(name), {topic: (*NUMBER, "cdr", {})}, [(topic, i * SECOND // 20, Cdr().number("q", order).done()) for i, order in enumerate(orders)])
    return path(name)


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = path("replay.json")
        os.mkdir(path("run"))
        with open(cls.file, "w") as file:
            json.dump({"name": "replay", "processes": {"p": {"components": {"serve": {"library": LIBRARY, "class": "Servant"}}}}}, file)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(FOLDER)

    def begin(self, *words, **environment):
        """In the background; what it says goes to a file."""
        with open(path("said"), "w") as said:
            run = subprocess.Popen([CARDAN, "run", self.file, *words], env={**ENVIRONMENT, **environment}, stdout=said, stderr=said, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: run.poll() is None and run.kill())
        return run

    @staticmethod
    def said():
        with open(path("said")) as file:
            return file.read()

    def until(self, words, times=1):
        for _ in range(1200):
            if self.said().count(words) >= times:
                return
            time.sleep(0.05)
        raise AssertionError(f"{words} is not in\n{self.said()}")

    def run_from(self, *words, code):
        run = self.begin(*words)
        self.assertEqual(run.wait(120), code, self.said())
        return self.said()

    def test_a_callback_that_hangs_is_reported_and_the_first_signal_ends_the_run(self):
        run = self.begin("--from", bag("hang.mcap", ANSWER, HANG), "--output", path("out.mcap"), "--json", path("hung.json"), "--grace", "0.5")
        self.until("callback '/orders' of component 'serve' has been running for", times=2)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(120), 1, self.said())
        self.assertRegex(self.said(), r"callback '/orders' of component 'serve' has been running for .*, and did not end within 0\.5 s after it was asked to")
        with open(path("hung.json")) as file:
            summary = json.load(file)
        self.assertEqual((summary["hung"]["component"], summary["hung"]["callback"], summary["exit_code"]), ("serve", "/orders", 1))
        self.assertEqual(glob.glob(path("out.mcap*")), [])

    def test_a_terminal_that_closes_ends_the_run_in_order(self):
        run = self.begin("--from", bag("hang.mcap", ANSWER, HANG), "--json", path("hung.json"), "--grace", "0.5")
        self.until("callback '/orders' of component 'serve' has been running for")
        run.send_signal(signal.SIGHUP)
        self.assertEqual(run.wait(120), 1, self.said())
        self.assertIn("and did not end within 0.5 s after it was asked to", self.said())

    def test_an_early_signal_is_acknowledged(self):
        run = self.begin("--from", bag("hang.mcap", HANG), "--grace", "6")
        time.sleep(1)  # the callback is not named yet
        run.send_signal(signal.SIGINT)
        self.until("ending: callback '/orders' of component 'serve'")
        self.assertEqual(run.wait(120), 1, self.said())
        self.assertNotIn("Ctrl-C ends the run", self.said())

    def test_the_second_signal_ends_it_at_once(self):
        run = self.begin("--from", bag("hang.mcap", HANG), "--grace", "3600")
        self.until("has been running for")
        run.send_signal(signal.SIGINT)
        self.until("ending: callback '/orders' of component 'serve'")
        time.sleep(0.3)  # sooner it would be the first one's echo
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(120), -signal.SIGINT, self.said())

    def test_seconds_hold_for_callbacks_that_hang(self):
        text = self.run_from("--from", bag("hang.mcap", HANG), "--seconds", "0.2", "--grace", "0.5", code=1)
        self.assertRegex(text, r"callback '/orders' of component 'serve' has been running .*, and the 0\.2 s of --seconds are over")

    def test_a_component_that_hangs_in_its_start_is_reported(self):
        open(path("run/slow.slow"), "w").close()
        run = self.begin("--from", bag("answer.mcap", ANSWER), "--grace", "0.2", CARDAN_DOMAIN="slow")
        self.until("component 'serve' has not come back from on_start for")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(120), 1, self.said())

    def test_a_slow_start_is_waited_for_and_ends_well(self):
        open(path("run/late.slow"), "w").close()
        run = self.begin("--from", bag("answer.mcap", ANSWER), "--grace", "0.1", "--seconds", "0.1", CARDAN_DOMAIN="late")
        self.until("component 'serve' has not come back from on_start for")
        os.remove(path("run/late.slow"))
        self.assertEqual(run.wait(120), 0, self.said())

    def test_a_crash_leaves_a_report(self):
        for order, sign, name in ((SEGFAULT, signal.SIGSEGV, "SIGSEGV"), (ABORT, signal.SIGABRT, "SIGABRT")):
            with self.subTest(name):
                shutil.rmtree(path("reports"), ignore_errors=True)
                text = self.run_from("--from", bag("crash.mcap", ANSWER, order), "--reports", path("reports"), code=-sign)
                report, = glob.glob(path("reports/crash-replay-*.txt"))
                self.assertIn(f"in callback '/orders' of component 'serve'; report: {report}", text)
                with open(report) as file:
                    words = file.read()
                for part in ("process   replay (pid ", ") of replay\n", f"end       died by signal {sign.value} (", "component: serve\n", "callback: /orders, its call number 2\n",
                             "sample: sequence 2,", f"signal: {name} ", "=== end of crash report ==="):
                    self.assertIn(part, words)
                if order == SEGFAULT:
                    self.assertIn("servant_faults", words)

    def test_exceptions_are_counted_named_and_change_the_exit_code(self):
        text = self.run_from("--from", bag("throw.mcap", THROW, ANSWER, THROW), "--json", path("throw.json"), code=3)
        self.assertIn("serve: 2 exceptions left its callbacks", text)
        with open(path("throw.json")) as file:
            summary = json.load(file)
        self.assertEqual((summary["exceptions"], summary["exit_code"]), ([{"component": "serve", "exceptions": 2}], 3))

    def test_a_callback_that_hangs_live_is_in_the_view(self):
        screen, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        run = subprocess.Popen([CARDAN, "run", self.file, "--grace", "0.1"], env={**ENVIRONMENT, "TERM": "xterm"}, stdout=terminal, stderr=terminal,
                               stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: run.poll() is None and run.kill())
        os.close(terminal)
        shown, played = "", None
        while "serve hangs for " not in shown:
            ready, _, _ = select.select([screen], [], [], 120)
            self.assertTrue(ready, shown)
            shown += os.read(screen, 65536).decode(errors="replace")
            if played is None and "p (pid" in shown and " runs after " in shown:
                played = subprocess.run([CARDAN, "play", bag("live.mcap", HANG), "--wait-for-readers"], env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
                self.assertEqual(played.returncode, 0, played.stderr)
        run.kill()
        run.wait()
        os.close(screen)

    def test_inputs_that_got_nothing_are_named(self):
        text = self.run_from("--from", bag("other.mcap", ANSWER, topic="/other"), "--json", path("nothing.json"), code=3)
        self.assertIn("serve: input '/orders' got nothing", text)
        self.assertIn("no component got a message of the recording", text)
        with open(path("nothing.json")) as file:
            self.assertEqual(json.load(file)["empty_inputs"], [{"component": "serve", "input": "/orders", "topic": "/orders"}])
        self.run_from("--from", bag("answer.mcap", ANSWER), "--start", "10", code=3)  # a topic that it reads, without a message
        self.assertNotIn("got nothing", self.run_from("--from", bag("answer.mcap", ANSWER), code=0))

    def test_paths_are_tried_before_anything_runs(self):
        answer = bag("answer.mcap", ANSWER)
        for words in (["--json", path("nowhere/summary.json")], ["--json", FOLDER], ["--reports", os.path.join(answer, "reports")]):
            with self.subTest(words):
                text = self.run_from("--from", answer, *words, code=2)
                self.assertIn(f"{words[0]} {words[1]}: ", text)
                self.assertNotIn("serve starts", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
