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


def cardan(*words, codes=(0, 3)):
    """3: a busy computer overwrote events."""
    done = subprocess.run([CARDAN, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode not in codes:
        raise AssertionError(f"cardan {words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def handles_ctrl_c(pid):
    with open(f"/proc/{pid}/status") as status:
        caught = next(line for line in status if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1 == 1


def trace_events(name):
    with open(name) as file:
        return json.load(file)["traceEvents"]


def check_trace(test, events):
    """The rules that viewers of this form have: slices of a thread nest, and an arrow begins and ends in a slice."""
    named = {"process_name": set(), "thread_name": set()}
    open_slices, ended, slices, arrows = {}, {}, {}, {}
    for e in events:
        track = e["pid"], e.get("tid")
        if e["ph"] == "M":
            test.assertTrue(e["args"]["name"])
            named[e["name"]].add(e["pid"] if e["name"] == "process_name" else track)
            continue
        test.assertIn(e["pid"], named["process_name"])
        test.assertIn(track, named["thread_name"])
        test.assertGreaterEqual(e["ts"], 0)
        if e["ph"] == "X":
            test.assertGreater(e["dur"], 0) if e["name"] != "sleep" else test.assertGreaterEqual(e["dur"], 0)
        if e["ph"] in "XBE" and e.get("name") != "sleep":  # a sleep is written when it ends
            test.assertGreaterEqual(e["ts"], ended.get(track, 0), "a thread goes back in time")
            ended[track] = e["ts"]
        if e["ph"] in "XB":
            test.assertTrue(e["name"])
            slices.setdefault(track, set()).add(e["ts"])
        if e["ph"] == "B":
            open_slices.setdefault(track, []).append(e)
        elif e["ph"] == "E":
            open_slices[track].pop()
        elif e["ph"] in "sf":
            test.assertIn(e["ts"], slices[track], "no slice to bind to")
            arrows.setdefault((e["cat"], e["name"], e["id"]), []).append(e)
    for begin, end in arrows.values():
        test.assertEqual([begin["ph"], end["ph"], end["bp"]], ["s", "f", "e"])
        test.assertLessEqual(begin["ts"], end["ts"])


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
        events = trace_events(path("trace.json"))
        threads = {e["args"]["name"] for e in events if e.get("name") == "thread_name"}
        self.assertTrue(any(name.startswith("mind/") for name in threads), threads)
        self.assertGreater(sum(e["ph"] == "s" for e in events), 10)
        self.assertTrue(any(e["ph"] == "B" and e["name"].startswith("detector: ") for e in events))
        check_trace(self, events)

    def test_the_file_may_be_a_pipe(self):
        done = cardan("trace", "--seconds", "0.5", "-o", "/dev/stdout")
        check_trace(self, json.loads(done.stdout)["traceEvents"])

    def test_ctrl_c_ends_it_and_writes_the_file(self):
        with open(path("interrupted.json"), "w") as file:
            file.write("of an earlier trace" * 100_000)
        trace = subprocess.Popen([CARDAN, "trace", "-o", path("interrupted.json")], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        while not handles_ctrl_c(trace.pid) and trace.poll() is None:
            time.sleep(0.01)
        time.sleep(1)
        trace.send_signal(signal.SIGINT)
        _, said = trace.communicate(timeout=60)
        self.assertIn(trace.returncode, (0, 3), said)
        check_trace(self, trace_events(path("interrupted.json")))

    def test_the_last_seconds(self):
        self.assertIn("cardan trace --on", cardan("trace", "--last", "1e-9", "-o", path("none.json"), codes=(1,)).stderr)
        self.assertFalse(os.path.exists(path("none.json")), "an empty file is left")
        with open(path("none.json"), "w") as file:
            file.write("of an earlier trace")
        cardan("trace", "--last", "1e-9", "-o", path("none.json"), codes=(1,))
        with open(path("none.json")) as file:
            self.assertEqual(file.read(), "of an earlier trace")
        keeps = subprocess.Popen([CARDAN, "trace", "--on"], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.assertIn("tracing is on in ", keeps.stderr.readline())
        time.sleep(2)
        cardan("trace", "--last", "1", "-o", path("last.json"))
        keeps.send_signal(signal.SIGINT)
        self.assertEqual(keeps.wait(60), 0)
        keeps.stderr.close()
        events = trace_events(path("last.json"))
        check_trace(self, events)
        self.assertGreater(sum(e["ph"] == "s" for e in events), 10)
        ended = [e["ts"] + e.get("dur", 0) for e in events if "ts" in e]
        self.assertLessEqual(max(ended) - min(e["ts"] for e in events if e["ph"] == "B"), 1e6 + 1)

    def test_wrong_options(self):
        cardan("trace", codes=(2,))
        cardan("trace", "--from", "/camera", codes=(2,))
        cardan("trace", "--json", "-o", path("x.json"), codes=(2,))
        self.assertIn("did you mean 'brake'?", cardan("trace", "--chain", "brak", codes=(1,)).stderr)
        told = cardan("trace", "--seconds", "0.5", "--from", "/nowhere", "--to", "/command", codes=(1,)).stderr
        self.assertIn("no publication on /nowhere was traced — there ", told)
        cardan("trace", "--on", "-o", path("x.json"), codes=(2,))
        cardan("trace", "--last", "1", "--seconds", "1", "-o", path("x.json"), codes=(2,))
        for seconds in ("0", "-1", "1e11", "nan"):
            cardan("trace", f"--seconds={seconds}", "-o", path("x.json"), codes=(2,))
        self.assertFalse(os.path.exists(path("x.json")))

    def test_an_output_that_cannot_be_written_is_refused_at_once(self):
        done = cardan("trace", "-o", path("no/such/folder.json"), codes=(1,))
        self.assertIn("cannot write", done.stderr)

    def test_where_nothing_runs(self):
        os.makedirs(path("empty"), exist_ok=True)
        done = subprocess.run([CARDAN, "trace", "--seconds", "0.2", "-o", path("y.json")], capture_output=True, text=True, timeout=60,
                              env={**ENVIRONMENT, "CARDAN_RUN_DIR": path("empty")}, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue(done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
