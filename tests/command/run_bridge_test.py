#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bridges that `cardan run` starts: checked, started, restarted and stopped as its other processes are.

    run_bridge_test.py CARDAN BRAKE_JSON
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

CARDAN, BRAKE = (os.path.abspath(name) for name in sys.argv[1:3])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Bridges(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-run-bridge-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run")}
        self.environment.pop("CARDAN_DOMAIN", None)
        self.port = free_port()
        self.write("rules/view.json", {"foxglove": {"port": self.port}})

    def write(self, name, content):
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content))
        return str(file)

    def system(self, bridge, **more):
        """The example with a bridge more, which starts last."""
        return self.write("car.json", {"name": "car", "include": [{"file": BRAKE}], "processes": {"view": {"bridge": bridge, **more}}})

    def cardan(self, *words, code=0):
        done = subprocess.run([CARDAN, *words], env=self.environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, cwd=self.path)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def begin(self, file):
        self.log = self.path / "log"
        with self.log.open("w") as log:
            process = subprocess.Popen([CARDAN, "run", file, "--no-view", "--json", "out.json"], env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                       cwd=self.path)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()

        self.addCleanup(end)
        self.running = process
        return process

    def until(self, pattern, times=1):
        deadline = time.monotonic() + 90
        while len(found := re.findall(pattern, self.log.read_text())) < times:
            self.assertLess(time.monotonic(), deadline, self.log.read_text())
            self.assertIsNone(self.running.poll(), self.log.read_text())
            time.sleep(0.05)
        return found[-1]

    def test_it_is_started_restarted_and_stopped(self):
        run = self.begin(self.system({"kind": "foxglove", "file": "rules/view.json"}))
        first = int(self.until(r"view \(pid (\d+)\) runs after"))
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=30) as page:
            self.assertIn(b"<html", page.read())
        self.assertEqual(pathlib.Path(f"/proc/{first}/exe").resolve().name, "cardan-bridge-foxglove")
        os.kill(first, signal.SIGKILL)
        second = int(self.until(r"view \(pid (\d+)\) runs again"))
        self.assertNotEqual(first, second)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=30) as page:
            self.assertEqual(page.status, 200)
        self.cardan("run", "--stop", "view")
        self.assertFalse(os.path.exists(f"/proc/{second}"))
        self.cardan("run", "--restart", "view")
        third = int(self.until(r"view \(pid (\d+)\) runs (?:after|again)", 3))
        self.assertTrue(os.path.exists(f"/proc/{third}"))
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(60), 0, self.log.read_text())
        self.assertFalse(os.path.exists(f"/proc/{third}"))
        processes = {p["process"]: p for p in json.loads((self.path / "out.json").read_text())["processes"]}
        self.assertEqual(processes["view"]["restarts"], 1)

    def test_a_launcher_that_is_killed_leaves_no_bridge(self):
        run = self.begin(self.system({"kind": "foxglove", "file": "rules/view.json"}))
        pid = int(self.until(r"view \(pid (\d+)\) runs after"))
        run.kill()
        run.wait()
        deadline = time.monotonic() + 30
        while os.path.exists(f"/proc/{pid}"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_a_port_that_is_taken_ends_in_a_reason(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", self.port))
            other.listen()
            run = self.begin(self.system({"kind": "foxglove", "file": "rules/view.json"}, restart={"limit": 1, "backoff_ms": 1}))
            self.until("view is given up")
            self.until(str(self.port))
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(60), 1)

    def test_check_reads_the_rules_too(self):
        self.assertIn("1 bridge; nothing wrong", self.cardan("check", self.system({"kind": "foxglove", "file": "rules/view.json"})))
        self.assertIn("bridge foxglove", self.cardan("graph", str(self.path / "car.json")))
        self.write("rules/wrong.json", {"out": [{"topcs": "*"}]})
        text = self.cardan("check", self.system({"kind": "foxglove", "file": "rules/wrong.json"}), code=1)
        self.assertRegex(text, r"rules/wrong.json:1:\d+: error: .*topcs.*did you mean 'topics'")
        text = self.cardan("run", str(self.path / "car.json"), "--no-view", code=1)
        self.assertIn("topcs", text)
        text = self.cardan("check", self.system({"kind": "foxglove", "file": "rules/none.json"}), code=1)
        self.assertRegex(text, r"car.json:1:\d+: error: .*none.json")
        self.write("rules/other.json", {"domain": "elsewhere"})
        text = self.cardan("check", self.system({"kind": "foxglove", "file": "rules/other.json"}))
        self.assertIn("warning: its rules name the domain 'elsewhere'", text)
        text = self.cardan("check", self.system({"kind": "carrier-pigeon"}), code=1)
        self.assertIn("carrier-pigeon", text)

    def test_a_namespace_does_not_hide_the_rules(self):
        os.makedirs(self.path / "part", exist_ok=True)
        shutil.copytree(self.path / "rules", self.path / "part/rules")
        self.write("part/part.json", {"processes": {"view": {"bridge": {"kind": "foxglove", "file": "rules/view.json"}}}})
        shutil.rmtree(self.path / "rules")
        file = self.write("whole.json", {"include": [{"file": "part/part.json", "namespace": "left"}]})
        self.assertIn("1 bridge; nothing wrong", self.cardan("check", file))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
