#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorders that `cardan run` starts: everything, or events with what came before them, each as one file.

    run_record_test.py CARDAN BRAKE_JSON PUBLISHER
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CARDAN, BRAKE, PUBLISHER = (os.path.abspath(name) for name in sys.argv[1:4])
OTHER_USER = 54321


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-run-record-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.events = self.path / "events"
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run")}
        self.environment.pop("CARDAN_DOMAIN", None)

    def system(self, record, **more):
        """The example with a recorder, which starts last."""
        file = self.path / "car.json"
        file.write_text(json.dumps({"name": "car", "include": [{"file": BRAKE}], "processes": {"record": {"record": record}}, **more}))
        return str(file)

    def cardan(self, *words, code=0):
        done = subprocess.run([CARDAN, *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, cwd=self.path)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def start(self, *words):
        self.log = self.path / "log"
        with self.log.open("w") as log:
            process = subprocess.Popen([CARDAN, *words], env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.path)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()

        self.addCleanup(end)
        self.running = process
        return process

    def begin(self, file):
        run = self.start("run", file, "--no-view", "--json", "out.json", "--grace", "120")
        self.until(r"record \(pid (\d+)\) runs after")
        return run

    def publisher(self):
        process = subprocess.Popen([PUBLISHER], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def end():
            process.stdin.close()
            process.wait()
            process.stdout.close()

        self.addCleanup(end)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def tell(self, process, order):
        process.stdin.write(order + "\n")
        process.stdin.flush()
        return process.stdout.readline()

    def published(self, publisher):
        return int(self.tell(publisher, "status").split()[1])

    def until(self, pattern, times=1):
        return self.wait(lambda: found[times - 1] if len(found := re.findall(pattern, self.log.read_text())) >= times else None)

    def wait(self, what):
        deadline = time.monotonic() + 240
        while not (found := what()):
            self.assertLess(time.monotonic(), deadline, self.log.read_text())
            self.assertIsNone(self.running.poll(), self.log.read_text())
            time.sleep(0.05)
        return found

    def end(self):
        """Exit code 3 of a recorder alone: a busy computer lost samples."""
        self.running.send_signal(signal.SIGINT)
        alone = "record" in self.running.args[1]
        self.assertIn(self.running.wait(240), (0, 3) if alone else (0,), self.log.read_text())

    def files(self):
        return sorted(file.name for file in self.events.iterdir()) if self.events.exists() else []

    def event(self, word, times=1):
        """The one file of an event, which has what came before it."""
        def done():
            named = [name for name in self.files() if name.endswith(f"_{word}.mcap")]
            return named if len(named) >= times else None
        names = self.wait(done)
        self.assertEqual(len(names), times)
        return self.events / names[-1]

    def numbers(self, file, topic="/test/own"):
        lines = self.cardan("bag", "cat", file, "--topic", topic, "--json").splitlines()
        return [json.loads(line)["message"]["number"] for line in lines if line.startswith("{")]


class Everything(Case):
    def test_each_run_is_a_file_that_is_good(self):
        file = self.system({"output": "events/", "topics": ["/distance", "/test/*"], "exclude": "/test/image", "compression": "zstd", "causes": False})
        self.begin(file)
        publisher = self.publisher()
        self.tell(publisher, "publish 20")
        first = int(self.until(r"record \(pid (\d+)\) runs after"))
        self.wait(lambda: self.files())
        self.assertIn("--no-causes", pathlib.Path(f"/proc/{first}/cmdline").read_text().split("\0"))
        self.cardan("run", "--restart", "record")
        self.until(r"record \(pid (\d+)\) runs (?:after|again)", 2)
        self.assertFalse(os.path.exists(f"/proc/{first}"))
        self.end()
        names = self.files()
        self.assertEqual(len(names), 2, names)
        for name in names:
            self.assertRegex(name, r"^record_\d{8}-\d{6}(-\d+)?\.mcap$")
            self.cardan("bag", "verify", self.events / name)
        info = json.loads(self.cardan("bag", "info", self.events / names[0], "--json"))
        self.assertIn("/distance", json.dumps(info))
        self.assertNotIn("/test/image", json.dumps(info))


class Events(Case):
    def test_a_state_begins_one_with_earlier_messages(self):
        file = self.system({"output": "events", "last_s": 60, "after_s": 1, "on": {"state": "safe_stop"}},
                           states={"transitions": [{"from": ["running", "degraded", "starting"], "when": {"silent": "/test/own", "for_ms": 1000}, "to": "safe_stop"},
                                                   {"from": "safe_stop", "when": {"publishing": "/test/own", "for_ms": 2000}, "to": "running"}]})
        publisher = self.publisher()
        self.tell(publisher, "run 50")
        self.begin(file)
        self.until("state: starting → running")
        until = self.published(publisher) + 100  # of which something is in the file
        self.wait(lambda: self.published(publisher) >= until)
        self.tell(publisher, "pause")
        self.until("an event begins: car is in safe_stop")
        event = self.event("safe_stop")
        self.cardan("bag", "verify", event)
        self.assertGreater(len(self.numbers(event)), 20, "what came before it")
        info = self.cardan("bag", "info", event)
        self.assertIn("cardan.event", info)
        # It continues: the next one is a separate file.
        self.tell(publisher, "run 50")
        self.until("state: safe_stop → running")
        self.tell(publisher, "pause")
        self.until("an event begins: car is in safe_stop", 2)
        self.event("safe_stop", 2)
        self.end()
        self.assertEqual([name for name in self.files() if "_parts" in name], [])
        self.assertEqual(len(self.files()), 2)

    def test_orders_and_topics_begin_them(self):
        publisher = self.publisher()
        self.begin(self.system({"output": "events", "topics": "*", "last_s": 30, "after_s": 0.5, "on": {"message": "/test/own", "silent": ["/test/own"], "for_ms": 3000}}))
        self.cardan("record", "--tell", "trigger")
        self.until("an event begins: ordered by --tell trigger")
        self.cardan("bag", "verify", self.event("told"))
        self.tell(publisher, "publish 3")
        self.until("an event begins: a message came on /test/own")
        self.assertEqual(self.numbers(self.event("message")), [1, 2, 3])
        self.until("an event begins: nothing was published on /test/own for 3000 ms")
        self.event("silent")
        self.end()
        self.assertEqual(len(self.files()), 3, self.files())

    def test_the_end_of_the_system_finishes_an_event(self):
        publisher = self.publisher()
        self.begin(self.system({"output": "events", "last_s": 30, "after_s": 3600}))
        self.tell(publisher, "publish 5")
        self.cardan("record", "--tell", "trigger")
        self.until("an event begins")
        self.end()
        (name,) = self.files()
        self.assertTrue(name.endswith("_told.mcap"))
        self.assertEqual(self.numbers(self.events / name)[-1], 5)

    def test_without_an_event_nothing_is_left(self):
        publisher = self.publisher()
        self.begin(self.system({"output": "events", "last_s": 30}))
        self.tell(publisher, "publish 5")
        self.end()
        self.assertEqual(self.files(), [])
        (process,) = [p for p in json.loads((self.path / "out.json").read_text())["processes"] if p["process"] == "record"]
        self.assertEqual((process["restarts"], process["outages"]), (0, []))

    def test_a_recorder_that_is_killed_leaves_its_parts_and_starts_again(self):
        publisher = self.publisher()
        self.begin(self.system({"output": "events", "last_s": 30, "after_s": 3600}))
        self.tell(publisher, "run 50")
        self.cardan("record", "--tell", "trigger")
        self.until("an event begins")
        first = int(self.until(r"record \(pid (\d+)\) runs after"))
        os.kill(first, signal.SIGKILL)
        self.until(r"record \(pid (\d+)\) runs again")
        left = [name for name in self.files() if "_parts" in name]
        self.assertTrue(left)
        self.cardan("record", "--tell", "trigger")
        self.until("an event begins", 2)
        self.tell(publisher, "pause")
        self.end()
        self.assertEqual(len([name for name in self.files() if name.endswith("_told.mcap")]), 1, self.files())

    def test_the_command_alone_does_it_too(self):
        publisher = self.publisher()
        self.start("record", "--in", "events", "--as", "drive", "--last", "20", "--after", "0.5", "--on", "message=/test/own", "/test/own")
        self.until("keeping the last 20 s")
        self.tell(publisher, "publish 2")
        self.assertEqual(self.numbers(self.event("message")), [1, 2])
        self.end()
        for wrong in ("state=flying", "silent=/a", "silent=/a:0", "silent=/a:nan", "message=a", "message", "what=/a"):
            self.assertIn(f"--on {wrong}", self.cardan("record", "--in", "events", "--last", "5", "--on", wrong, code=2))


class Attacks(Case):
    def test_the_folder_of_another_users_link_gets_nothing(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        other = self.path / "other"
        other.mkdir()
        self.events.symlink_to(other)
        os.chown(self.events, OTHER_USER, -1, follow_symlinks=False)
        file = self.system({"output": "events"})
        self.assertIn("events", self.cardan("check", file, code=1))
        self.cardan("run", file, "--no-view", code=1)
        self.assertEqual(list(other.iterdir()), [])

    def test_states_of_another_system_begin_none(self):
        self.start("record", "--in", "events", "--last", "30", "--on", "state=other:running", "--on", "state=brake:safe_stop")
        self.until("keeping the last 30 s")
        self.cardan("run", BRAKE, "--no-view", "--seconds", "2")
        self.end()
        self.assertNotIn("an event begins", self.log.read_text())
        self.assertEqual(self.files(), [])

    def test_names_that_look_like_options_are_topics(self):
        publisher = self.publisher()
        self.begin(self.system({"output": "events", "topics": ["--tell", "-o", "/test/*"], "exclude": ["--json"]}))
        self.tell(publisher, "publish 5")
        self.wait(lambda: self.files())
        self.end()
        (name,) = self.files()
        self.assertEqual(self.numbers(self.events / name)[-1], 5)

    def test_check_makes_nothing(self):
        self.assertIn("1 recorder; nothing wrong", self.cardan("check", self.system({"output": "events", "last_s": 1})))
        self.assertIn("recorder", self.cardan("graph", self.path / "car.json"))
        self.assertFalse(self.events.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
