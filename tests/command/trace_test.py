#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan trace` of a system of three processes: the file, and the hops from the camera to the command.

    trace_test.py CARDAN LIBRARY [unittest arguments]
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CARDAN, LIBRARY = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-trace-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
os.mkdir(ENVIRONMENT["CARDAN_RUN_DIR"])
WORK_MS = 20


def path(name):
    return os.path.join(FOLDER, name)


def cardan(*words, codes=(0,)):
    done = subprocess.run([CARDAN, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode not in codes:
        raise AssertionError(f"cardan {words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


class Trace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        def process(name, kind):
            return {"components": {name: {"library": LIBRARY, "class": kind}}}
        with open(path("chains.json"), "w") as file:
            json.dump({"name": "traced", "chains": {"brake": {"from": "/camera", "to": "/command"}}, "processes": {"eyes": process("source", "ChainSource"), "mind": process("detector", "ChainDetector"),
                                                       "hands": process("driver", "ChainDriver")}}, file)
        with open(path("log"), "w") as log:
            cls.run_ = subprocess.Popen([CARDAN, "run", path("chains.json"), "--no-view", "--reports", path("out")],
                                        env=ENVIRONMENT, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        for _ in range(1200):
            with open(path("log")) as log:
                if "starting → running" in log.read():
                    break
            time.sleep(0.05)
        cardan("param", "set", "detector/work_ms", str(WORK_MS))

    @classmethod
    def tearDownClass(cls):
        cls.run_.send_signal(signal.SIGINT)
        cls.run_.wait(60)
        shutil.rmtree(FOLDER)

    def test_the_hops_add_up(self):
        found = json.loads(cardan("trace", "--seconds", "2", "--from", "/camera", "--to", "/command", "--json").stdout)
        [way] = found["ways"]
        self.assertGreater(way["frames"], 10)
        detector, driver = way["hops"]
        self.assertTrue(detector["by"].startswith("detector: "), detector)
        self.assertTrue(driver["by"].startswith("driver: "), driver)
        self.assertEqual([detector["to"], driver["to"]], ["/found", "/command"])
        self.assertGreaterEqual(detector["running_us"]["p50"], WORK_MS * 1000)
        self.assertAlmostEqual(detector["all_us"]["mean"] + driver["all_us"]["mean"], way["all_us"]["mean"], delta=0.01)

    def test_the_table(self):
        table = cardan("trace", "--seconds", "1", "--chain", "brake").stdout
        self.assertIn("/camera → /command", table)
        self.assertIn("detector: ", table)

    def test_the_file_has_tracks_and_arrows(self):
        cardan("trace", "--seconds", "1", "-o", path("trace.json"))
        with open(path("trace.json")) as file:
            events = json.load(file)["traceEvents"]
        threads = {e["args"]["name"] for e in events if e.get("name") == "thread_name"}
        self.assertTrue(any(name.startswith("mind/") for name in threads), threads)
        begins = {e["id"]: e for e in events if e["ph"] == "s"}
        ends = {e["id"]: e for e in events if e["ph"] == "f"}
        self.assertEqual(begins.keys(), ends.keys())
        self.assertGreater(len(begins), 10)
        for number, begin in begins.items():
            self.assertLessEqual(begin["ts"], ends[number]["ts"])
        self.assertTrue(any(e["ph"] == "B" and e["name"].startswith("detector: ") for e in events))

    def test_wrong_options(self):
        cardan("trace", codes=(2,))
        cardan("trace", "--from", "/camera", codes=(2,))
        cardan("trace", "--json", "-o", path("x.json"), codes=(2,))
        self.assertIn("did you mean 'brake'?", cardan("trace", "--chain", "brak", codes=(1,)).stderr)
        cardan("trace", "--seconds", "0.2", "--from", "/nowhere", "--to", "/command", codes=(1,))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
