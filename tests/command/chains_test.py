#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A component in the middle of a chain becomes slow, and fast again: `cardan run`, `component stats` and `top` report it.

    chains_test.py CARDAN LIBRARY [unittest arguments]
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

CARDAN, LIBRARY = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-chains-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
os.mkdir(ENVIRONMENT["CARDAN_RUN_DIR"])
BUDGET_MS = 1000  # a busy computer alone does not exceed it


def path(name):
    return os.path.join(FOLDER, name)


def cardan(*words, codes=(0,)):
    done = subprocess.run([CARDAN, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode not in codes:
        raise AssertionError(f"cardan {words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Chains(unittest.TestCase):
    def text(self):
        with open(path("log")) as log:
            return log.read()

    def until(self, words, count=1):
        for _ in range(1200):
            if self.text().count(words) >= count:
                return
            time.sleep(0.05)
        self.fail(f"{words} never came\n{self.text()}")

    def frames_of_the_page(self):
        """The first chain of /chains.json with frames."""
        view = subprocess.Popen([CARDAN, "view", "--port", "0"], env=ENVIRONMENT, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        try:
            words = next(line for line in view.stderr if "0 clients" in line)
            address = re.search(r"http://127\.0\.0\.1:\d+", words)[0]
            for _ in range(600):
                with urllib.request.urlopen(f"{address}/chains.json", timeout=60) as answer:
                    chains = json.load(answer).get("chains", [])
                if chains and chains[0]["ways"] and chains[0]["ways"][0]["frames"]:
                    return chains[0]
                time.sleep(0.1)
            return self.fail("the page has no frames")
        finally:
            view.send_signal(signal.SIGINT)
            view.communicate(timeout=60)

    def test_a_late_chain_degrades_the_system_until_it_is_in_time(self):
        def process(name, kind):
            return {"components": {name: {"library": LIBRARY, "class": kind}}}
        with open(path("chains.json"), "w") as file:
            json.dump({"name": "chains",
                       "processes": {"eyes": process("source", "ChainSource"), "mind": process("detector", "ChainDetector"), "hands": process("driver", "ChainDriver")},
                       "chains": {"brake": {"from": "/camera", "to": "/command", "budget_ms": BUDGET_MS}},
                       "states": {"transitions": [{"from": "running", "when": {"late": "brake"}, "to": "degraded"},
                                                  {"from": "degraded", "when": {"in_time": "brake", "for_ms": 500}, "to": "running"}]}}, file)
        with open(path("log"), "w") as log:
            run = subprocess.Popen([CARDAN, "run", path("chains.json"), "--no-view", "--reports", path("out"), "--json", path("summary.json")],
                                   env=ENVIRONMENT, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            self.until("starting → running")
            if shutil.which("cardan-bridge-foxglove", path=os.path.dirname(CARDAN)):
                shown = self.frames_of_the_page()
                self.assertEqual([shown["name"], shown["from"], shown["to"], shown["budget_us"]], ["brake", "/camera", "/command", BUDGET_MS * 1000])
                [way] = shown["ways"]
                self.assertEqual([hop["to"] for hop in way["hops"]], ["/found", "/command"])
                self.assertTrue(way["hops"][0]["by"].startswith("detector"), way["hops"])
                for frame in way["frames"]:
                    self.assertEqual([len(parts) for parts in frame["hops_us"]], [3, 3])
                    # The page finds the messages of the frame by these.
                    self.assertEqual([len(frame["sequences"]), frame["sequences"][-1]], [3, frame["sequence"]])
                    self.assertEqual(frame["published_us"][-1] // 1000, frame["wall_ms"])
                    spans = [after - before for before, after in zip(frame["published_us"], frame["published_us"][1:])]
                    for span, parts in zip(spans, frame["hops_us"], strict=True):
                        self.assertAlmostEqual(span, sum(parts), delta=2)
            cardan("param", "set", "detector/work_ms", str(BUDGET_MS + 200))
            self.until("running → degraded")
            stats = json.loads(cardan("component", "stats", "driver", "--once", "--seconds", "3", "--json", codes=(0, 3)))
            table = cardan("component", "stats", "driver", "--once", "--seconds", "0.2", codes=(0, 3))
            top = json.loads(cardan("top", "--once", "--json", "--seconds", "3", codes=(0, 3)))
            sheets = cardan("top", "--once", "--seconds", "0.2", codes=(0, 3))
            cardan("param", "set", "detector/work_ms", "0")
            self.until("degraded → running")
        finally:
            run.send_signal(signal.SIGINT)
            code = run.wait(60)
        self.assertEqual(code, 0, "late chains do not change it\n" + self.text())
        [chain] = stats["components"][0]["chains"]
        self.assertEqual([chain["name"], chain["from"], chain["to"], chain["budget_ms"]], ["brake", "/camera", "/command", BUDGET_MS])
        self.assertGreater(chain["publications"], 0)
        self.assertEqual(chain["late"], chain["publications"])
        self.assertGreater(chain["age_us"]["p50"], BUDGET_MS * 1000)
        self.assertGreaterEqual(chain["greatest_us"], chain["age_us"]["p50"])
        hops = {hop["component"]: hop for hop in chain["hops"]}
        self.assertEqual(hops["detector"]["late"], chain["late"])
        self.assertGreater(hops["detector"]["longest_us"], BUDGET_MS * 1000)
        self.assertIn("⇒ brake", table)
        self.assertEqual([c["name"] for c in top["chains"]], ["brake"])
        self.assertEqual(top["chains"][0]["component"], "driver")
        self.assertIn("/camera → /command", sheets)

        with open(path("summary.json")) as file:
            summary = json.load(file)
        [chain] = summary["chains"]
        self.assertGreater(chain["publications"], chain["late"])
        self.assertGreater(chain["late"], 0)
        late = summary["late"][0]
        self.assertEqual([late["chain"], late["component"]], ["brake", "detector"])
        self.assertGreater(late["age_ms"], BUDGET_MS)
        self.assertGreater(late["component_ms"], BUDGET_MS)
        self.assertEqual([s["to"] for s in summary["states"]][:3], ["running", "degraded", "running"])
        self.assertIn("brake exceeded its budget: ", summary["states"][1]["reason"])
        self.assertIn("brake has been in time for 500 ms", summary["states"][2]["reason"])
        self.assertRegex(self.text(), r"chain 'brake': [\d.]+ ms from /camera to /command, 1000 ms allowed; detector took longest \([\d.]+ ms\)")
        self.assertRegex(self.text(), rf"chain 'brake': {chain['late']} of {chain['publications']} publications on /command were late")

    def test_a_recording_tells_where_the_time_went(self):
        processes = {name: {"components": {name: {"library": LIBRARY, "class": kind}}}
                     for name, kind in (("source", "ChainSource"), ("detector", "ChainDetector"), ("driver", "ChainDriver"))}
        processes["detector"]["components"]["detector"]["parameters"] = {"work_ms": 20}
        with open(path("drive.json"), "w") as file:
            json.dump({"name": "drive", "processes": processes, "chains": {"brake": {"from": "/camera", "to": "/command"}}}, file)
        run = subprocess.Popen([CARDAN, "run", path("drive.json"), "--no-view", "--reports", path("out")], env=ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            cardan("topic", "echo", "/command", "--wait", "--count", "1")
            cardan("record", "-o", path("drive.mcap"), "--attach", path("drive.json"), "--seconds", "3", "--json", codes=(0, 3))
            cardan("record", "-o", path("none.mcap"), "--no-causes", "--seconds", "0.5", "--json", codes=(0, 3))
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(60)
        chain = json.loads(cardan("bag", "chain", path("drive.mcap"), "--chain", "brake", "--json"))
        [way] = chain["ways"]
        self.assertEqual([(hop["from"], hop["to"]) for hop in way["hops"]], [("/camera", "/found"), ("/found", "/command")])
        self.assertGreater(way["frames"], 5)
        self.assertEqual(way["frames"] + chain["lost"], chain["publications"])
        self.assertGreaterEqual(way["hops"][0]["all_us"]["p50"], 20_000)
        self.assertAlmostEqual(sum(hop["all_us"]["mean"] for hop in way["hops"]), way["all_us"]["mean"], delta=1)
        self.assertEqual(way["slowest"][0]["slowest_hop"], 0)
        self.assertEqual(way["slowest"][0]["all_us"], way["all_us"]["greatest"])
        ends = ["--from", "/camera", "--to", "/command"]
        table = cardan("bag", "chain", path("drive.mcap"), *ends)
        self.assertRegex(table, r"/camera → /found .*\d+ %")
        lines = cardan("bag", "chain", path("drive.mcap"), *ends, "--csv").splitlines()
        self.assertEqual(lines[0], "stamp_ns,sequence,/camera → /found,/found → /command,total")
        self.assertEqual(len(lines), 1 + way["frames"])
        first = [int(cell) for cell in lines[1].split(",")]
        self.assertEqual(first[2] + first[3], first[4])
        shown = json.loads(cardan("bag", "cat", path("drive.mcap"), "--topic", "/cardan/causes", "--count", "1", "--json").splitlines()[0])
        self.assertIn("/camera", json.dumps(shown))
        cardan("bag", "cut", path("drive.mcap"), "-o", path("cut.mcap"))
        self.assertEqual(json.loads(cardan("bag", "chain", path("cut.mcap"), *ends, "--json")), chain)
        cardan("bag", "verify", path("drive.mcap"))
        cardan("bag", "chain", path("drive.mcap"), "--chain", "other", codes=(2,))
        cardan("bag", "chain", path("drive.mcap"), "--from", "/camera", "--to", "/nothing", codes=(2,))
        cardan("bag", "chain", path("drive.mcap"), "--from", "/command", "--to", "/camera", codes=(1,))
        cardan("bag", "chain", path("none.mcap"), *ends, codes=(2,))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
