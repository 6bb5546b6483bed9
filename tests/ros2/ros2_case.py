# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of this folder: processes in a folder and on their own DDS domain, for each rmw that is installed.

A program that imports it gets BIN_DIRECTORY ROS2_PEER SOURCES, and runs in a network namespace with a ROS 2 sourced.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN, PEER, SOURCES = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
PATIENCE = 90  # s: only a test that hangs takes this long


def installed(package):
    return any((pathlib.Path(prefix) / "share/ament_index/resource_index/packages" / package).is_file()
               for prefix in os.environ["AMENT_PREFIX_PATH"].split(":"))


class Ros2Case(unittest.TestCase):
    """Abstract: each_rmw() makes one class of each test case for each rmw."""
    rmw = ""
    next_domain = 40

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-ros2-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        Ros2Case.next_domain += 1
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run"), "ROS_DOMAIN_ID": str(Ros2Case.next_domain),
                            "ROS_LOCALHOST_ONLY": "1", "ROS_LOG_DIR": str(self.path / "log"), "RMW_IMPLEMENTATION": self.rmw,
                            "PYTHONUNBUFFERED": "1"}
        for name in ("CARDAN_DOMAIN", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "CYCLONEDDS_URI"):
            self.environment.pop(name, None)
        self.started = 0

    def start(self, *words, stdin=None):
        """A process whose lines go to a file."""
        self.started += 1
        out = open(self.path / f"{self.started}.out", "w+")
        self.addCleanup(out.close)
        process = subprocess.Popen([str(w) for w in words], env=self.environment, cwd=self.path, stdin=stdin, stdout=out, stderr=subprocess.STDOUT)
        process.path = self.path / f"{self.started}.out"
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.stdin:
            process.stdin.close()
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)

    def until(self, what, why):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := what():
                return value
            time.sleep(0.05)
        said = "\n".join(f"{f.name}: {f.read_text()[-1500:]}" for f in sorted(self.path.glob("*.out")))
        self.fail(f"did not happen: {why}\n{said}")

    @staticmethod
    def lines(process):
        return [line for line in process.path.read_text().split("\n")[:-1] if line]

    def objects(self, process):
        return [json.loads(line) for line in self.lines(process) if line.startswith("{")]

    def bridge(self, *options):
        return self.start(BIN / "cardan", "bridge", "dds", "--owner", "--json", *options)

    def end(self, bridge, code=0):
        bridge.send_signal(signal.SIGINT)
        self.assertEqual(bridge.wait(PATIENCE), code, bridge.path.read_text()[-1000:])

    def counts(self, bridge, topic, direction):
        """The bridge's newest report of a topic."""
        for line in reversed(self.lines(bridge)):
            if line.startswith("{"):
                return next((t for t in json.loads(line)["topics"] if (t["topic"], t["direction"]) == (topic, direction)), None)
        return None

    def endpoints(self, *words):
        return self.start(BIN / "bridge_endpoints", *words, stdin=subprocess.PIPE)

    def components(self):
        """A system with a parameter: brake.limit_m, 6.0."""
        return self.start(BIN / "cardan", "run", SOURCES / "examples/component/brake.json", stdin=subprocess.DEVNULL)


def each_rmw(cases, rmws=("rmw_cyclonedds_cpp", "rmw_fastrtps_cpp")):
    """For load_tests: the cases with each of these rmw that is installed."""
    suite = unittest.TestSuite()
    for rmw in filter(installed, rmws):
        for case in cases:
            named = type(f"{case.__name__}_{rmw}", (case,), {"rmw": rmw, "__module__": case.__module__})
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(named))
    return suite


def run(suite):
    """Runs it; exits with 1 if one failed, and if there was nothing to run."""
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
