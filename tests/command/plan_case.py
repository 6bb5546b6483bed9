# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of the plan: a separate folder with a copy of the example, and `cardan run` on it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tempfile
import unittest

CARDAN, BRAKE = sys.argv[1:3]


def edited(file, *changes):
    """The file with each (from, to) replaced once."""
    text = file.read_text()
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    file.write_text(text)
    return file


class PlanCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-plan-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run")}
        self.environment.pop("CARDAN_DOMAIN", None)

    def copy(self, name="brake.json"):
        shutil.copy(BRAKE, self.path / name)
        return self.path / name

    def ask(self, *words, **how):
        return subprocess.run([CARDAN, *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=120,
                              **{"stdin": subprocess.DEVNULL, **how})

    def asked(self, *words):
        """Asks until all have answered: on a busy computer a process may need longer than the command waits."""
        until = time.monotonic() + 120
        while True:
            done = self.ask(*words)
            if time.monotonic() > until or not re.search("does not answer|is busy", done.stderr):
                return done

    def parameter(self, name):
        done = self.asked("param", "get", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()[-1]

    def cardan(self, *words, code=0, **how):
        done = self.ask(*words, **how)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr


class Running:
    """`cardan run` in the background, until its components answer."""

    def __init__(self, test, *words, components=2, **how):
        self.test = test
        self.log = open(test.path / "log", "w+")
        self.process = subprocess.Popen([CARDAN, "run", *map(str, words), "--no-view", "--reports", str(test.path / "reports")],
                                        env=test.environment, stdout=self.log, stderr=self.log, **how)
        test.addCleanup(self.kill)
        self.wait_for(lambda: len(self.pids()) == components)

    def wait_for(self, what, seconds=120):
        until = time.monotonic() + seconds
        while not what():
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError(f"it does not come to that\n{self.text()}")
            time.sleep(0.05)

    def components(self):
        done = self.test.asked("component", "list", "--json")
        return json.loads(done.stdout)["components"] if done.returncode == 0 else []

    def pids(self):
        return {c["component"]: c["pid"] for c in self.components()}

    def state(self):
        """The file's settings of the component that the tests look at."""
        (brake,) = [c for c in self.components() if c["component"] == "brake"]
        return {"limit_m": self.test.parameter("brake/limit_m"), "reads": [c["topic"] for c in brake["callbacks"] if c["topic"]],
                "publishes": [o["topic"] for o in brake["outputs"]], "process": brake["process"]}

    def text(self):
        return (self.test.path / "log").read_text()

    def end(self):
        self.process.terminate()
        return self.process.wait(60)

    def kill(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            finally:
                self.process.kill()
                self.process.wait()
        self.log.close()


def main():
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[3:]])
