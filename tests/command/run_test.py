#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `cardan run`, `check`, `graph`, `component` and `param` for real, on examples/component/brake.json.

    run_test.py CARDAN BRAKE_JSON [unittest arguments]
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

CARDAN, BRAKE = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-run-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
os.mkdir(ENVIRONMENT["CARDAN_RUN_DIR"])  # commands that look make none


def path(name):
    return os.path.join(FOLDER, name)


def cardan(*words, code=0):
    done = subprocess.run([CARDAN, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    if done.returncode != code:
        raise AssertionError(f"cardan {' '.join(words)} ended with {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def edited(name, *changes):
    """A copy of the file with each (from, to) replaced once."""
    with open(BRAKE) as file:
        text = file.read()
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    with open(path(name), "w") as file:
        file.write(text)
    return path(name)


class Running:
    """`cardan run` in the background, until all of its components answer."""

    def __init__(self, test, *words, components=2):
        self.log = open(path("log"), "w+")
        self.process = subprocess.Popen([CARDAN, "run", *words, "--no-view", "--reports", path("reports"), "--json", path("summary.json")],
                                        env=ENVIRONMENT, stdout=self.log, stderr=self.log)
        test.addCleanup(self.kill)
        for _ in range(600):
            if len(self.list()) == components:
                return
            time.sleep(0.05)
        raise AssertionError(f"not all components run\n{self.text()}")

    def list(self, *words):
        done = subprocess.run([CARDAN, "component", "list", "--json", *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout)["components"] if done.returncode == 0 else []

    def text(self):
        with open(path("log")) as log:
            return log.read()

    def end(self, sign=signal.SIGINT):
        self.process.send_signal(sign)
        code = self.process.wait(60)
        with open(path("summary.json")) as summary:
            return code, json.load(summary)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Check(unittest.TestCase):
    def test_a_file_in_order(self):
        self.assertIn("nothing wrong", cardan("check", BRAKE))
        self.assertEqual(json.loads(cardan("check", BRAKE, "--json")), {"file": BRAKE, "valid": True, "problems": []})

    def test_the_way_of_each_chain(self):
        def chain(to):
            return edited("chain.json", ('"states": {', '"chains": {"stop": {"from": "/distance", "to": "%s", "budget_ms": 60}},\n  "states": {' % to))
        self.assertIn("chain 'stop': /distance → brake → /command, 60 ms\n", cardan("check", chain("/command")))
        self.assertEqual(json.loads(cardan("check", chain("/command"), "--json"))["chains"],
                         [{"name": "stop", "from": "/distance", "to": "/command", "budget_ms": 60, "way": ["/distance", "brake", "/command"], "components": 1}])
        self.assertIn("no way leads from '/distance' to '/comand'", cardan("check", chain("/comand"), code=1))

    def test_every_error_at_once_with_line_and_remedy(self):
        file = edited("wrong.json", ('"class": "Brake"', '"class": "Brakee"'), ('{"library": "libexample_components.so", "class": "Radar"}',
                      '{"library": "libexample_components.so", "class": "Radar", "parameters": {"range": 1}}'),
                      ('"down": "sensors"', '"down": "sensor"'), ('"deadline_ms": 500', '"deadline_ms": "soon"'))
        problems = json.loads(cardan("check", file, "--json", code=1))["problems"]
        self.assertEqual([p["line"] for p in problems], sorted(p["line"] for p in problems))
        self.assertEqual({p["pointer"] for p in problems},
                         {"/processes/sensors/components/radar/parameters/range", "/processes/driving/components/brake/class",
                          "/topics/~1distance/deadline_ms", "/states/transitions/0/when/down"}, problems)
        for problem in problems:
            self.assertTrue(problem["cause"] and problem["remedy"], problem)
        text = cardan("check", file, code=1)
        self.assertIn(f"{file}:{problems[0]['line']}:", text)
        self.assertIn("4 errors", text)

    def test_a_library_or_class_that_is_nearly_right_is_suggested(self):
        text = cardan("check", edited("class.json", ('"class": "Brake"', '"class": "Brakee"')), code=1)
        self.assertIn("unknown component class 'Brakee' — did you mean 'Brake'? libexample_components.so has Brake, Radar", text)
        text = cardan("check", edited("library.json", ('"libexample_components.so", "class": "Radar"', '"libexample_component.so", "class": "Radar"')), code=1)
        self.assertIn("did you mean 'libexample_components.so'?", text)
        # Two names that share the common words alone are not near.
        text = cardan("check", edited("far.json", ('"libexample_components.so", "class": "Radar"', '"libnone_components.so", "class": "Radar"')), code=1)
        self.assertNotIn("did you mean", text)
        self.assertIn("this installation's lib", text)
        os.makedirs(path("built/output"))
        for name in ("libmy.so", "output/libmine.so"):
            open(path("built/" + name), "w").close()
        shutil.copy(edited("mine.json", ('"libexample_components.so", "class": "Radar"', '"libmine.so", "class": "Radar"')), path("built"))
        self.assertIn("did you mean 'output/libmine.so'?", cardan("check", path("built/mine.json"), code=1))
        shutil.copy(edited("my.json", ('"libexample_components.so", "class": "Radar"', '"libmy.so", "class": "Radar"')), path("built"))
        self.assertIn("file too short", cardan("check", path("built/my.json"), code=1))

    def test_one_error_hides_no_other(self):
        file = edited("all.json", ('"libexample_components.so", "class": "Radar"', '"libnowhere.so", "class": "Radar"'), ('"class": "Brake"', '"class": "Brakee"'),
                      ('"watchdog_ms": 500', '"watchdog_ms": -5'), ('"deadline_ms": 500', '"deadline_ms": "soon"'))
        problems = json.loads(cardan("check", file, "--json", code=1))["problems"]
        self.assertEqual([p["pointer"] for p in problems],
                         ["/processes/sensors/components/radar/library", "/processes/driving/components/brake/class",
                          "/processes/driving/components/brake/watchdog_ms", "/topics/~1distance/deadline_ms"], problems)
        file = edited("include.json", ('"name": "brake",', '"name": "brake", "include": [{"file": "nowhere.json"}],'), ('"class": "Brake"', '"class": "Brakee"'),
                      ('"down": "sensors"', '"down": "of_the_include"'))
        problems = json.loads(cardan("check", file, "--json", code=1))["problems"]
        self.assertEqual([p["pointer"] for p in problems], ["/include/0/file", "/processes/driving/components/brake/class"], problems)

    def test_no_json_and_no_file(self):
        broken = path("broken.json")
        with open(broken, "w") as file:
            file.write('{\n  "name": "x",\n  "processes": {\n')
        self.assertIn(f"{broken}:", cardan("check", broken, code=1))
        self.assertIn("nowhere.json", cardan("check", path("nowhere.json"), code=2))
        self.assertIn(f"did you mean '{broken}'?", cardan("check", path("brokn.json"), code=2))
        self.assertIn("nowhere.json", cardan("run", path("nowhere.json"), code=2))
        self.assertEqual(cardan("run", broken, code=1), cardan("check", broken, code=1))


    def test_files_that_are_not_text_are_reported_as_such(self):
        with open(BRAKE) as file:
            brake = file.read()
        for content, cause in ((b"", "the file has no text"), (b" \n\t", "the file has no text"), (brake.encode("utf-16"), "the text is UTF-16")):
            with open(path("text.json"), "wb") as file:
                file.write(content)
            text = cardan("check", path("text.json"), code=1)
            self.assertIn(cause, text)
            self.assertIn("1 error, 0 warnings", text)

    def test_components_that_cannot_be_read_are_not_called_unused(self):
        text = cardan("check", edited("unread.json", ('{\n      "components": {"radar"', '{\n      "component": {"radar"')), code=1)
        self.assertIn("did you mean 'components'?", text)
        self.assertNotIn("/distance", text)


class Graph(unittest.TestCase):
    def test_texts_and_picture(self):
        text = cardan("graph", BRAKE)
        self.assertTrue(text.startswith("flowchart"), text)
        self.assertIn("/distance", text)
        text = cardan("graph", BRAKE, "--dot")
        self.assertTrue(text.startswith("digraph"), text)
        self.assertIn("/distance", text)
        if not shutil.which("dot"):
            self.assertIn("install the package graphviz", cardan("graph", BRAKE, "--svg", path("graph.svg"), code=1))
            self.assertFalse(os.path.exists(path("graph.svg")))
            return
        cardan("graph", BRAKE, "--svg", path("graph.svg"))
        words = "".join(xml.etree.ElementTree.parse(path("graph.svg")).getroot().itertext())
        for word in ("radar", "brake", "/distance", "/command"):
            self.assertIn(word, words)

    def test_a_file_with_errors_ends_as_in_check(self):
        file = edited("wrong.json", ('"watchdog_ms": 500', '"watchdog_ms": -5'))
        self.assertIn("watchdog_ms", cardan("graph", file, code=1))
        self.assertIn("nowhere.json", cardan("graph", path("nowhere.json"), code=2))


class Run(unittest.TestCase):
    def test_look_change_and_end(self):
        running = Running(self, BRAKE)
        by_name = {c["component"]: c for c in running.list()}
        self.assertEqual(by_name["brake"]["process"], "driving")
        stats = json.loads(cardan("component", "stats", "--once", "--seconds", "1", "--json"))
        brake = [c for c in stats["components"] if c["component"] == "brake"][0]
        self.assertGreater(brake["callbacks"][0]["calls"], 5)
        self.assertGreater(brake["callbacks"][0]["transport_us"]["p50"], 0)
        self.assertIn("limit_m", cardan("param", "list"))
        cardan("param", "set", "brake/limit_m", "7.5")
        self.assertEqual(cardan("param", "get", "brake/limit_m").strip(), "7.5")
        self.assertIn("maximum", cardan("param", "set", "brake/limit_m", "700", code=1))
        self.assertIn("limit_m", cardan("param", "set", "brake/limit", "7", code=1))
        self.assertEqual(cardan("param", "get", "brake/limit_m").strip(), "7.5")
        state = json.loads(cardan("topic", "echo", "/cardan/state", "--once", "--json").splitlines()[0])
        self.assertIn("brake", json.dumps(state))
        pids = [c["pid"] for c in by_name.values()]
        code, summary = running.end()
        self.assertEqual(code, 0, running.text())
        self.assertEqual([s["to"] for s in summary["states"]], ["running", "stopped"])
        for pid in pids:
            self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_a_killed_process_runs_again_and_the_state_says_so(self):
        running = Running(self, BRAKE)
        radar = [c for c in running.list() if c["component"] == "radar"][0]
        os.kill(radar["pid"], signal.SIGKILL)
        for _ in range(600):
            again = [c for c in running.list() if c["component"] == "radar" and c["pid"] != radar["pid"]]
            if again:
                break
            time.sleep(0.05)
        self.assertTrue(again, running.text())
        code, summary = running.end(signal.SIGTERM)
        self.assertEqual(code, 0, running.text())
        sensors = [p for p in summary["processes"] if p["process"] == "sensors"][0]
        self.assertEqual(sensors["restarts"], 1)
        self.assertIsNotNone(sensors["outages"][0]["down_ms"])
        self.assertTrue(glob.glob(path("reports/crash-sensors-*.txt")))

    def test_one_process_and_a_crash_on_purpose(self):
        running = Running(self, BRAKE, "--one-process", "--crash", "brake@0.2", "--set", "brake/limit_m=3")
        for _ in range(600):
            if "runs again" in running.text():
                break
            time.sleep(0.05)
        self.assertEqual(cardan("param", "get", "brake/limit_m").strip(), "3.0")
        code, summary = running.end()
        self.assertEqual(code, 0, running.text())
        self.assertEqual([(p["process"], p["restarts"]) for p in summary["processes"]], [("all", 1)])
        with open(glob.glob(path("reports/crash-all-*.txt"))[0]) as report:
            self.assertIn("SIGSEGV", report.read())

    def test_a_component_that_does_not_start_is_refused_or_given_up_and_reported(self):
        file = edited("starts_not.json", ('"class": "Brake"', '"class": "Nobody"'))
        text = cardan("run", file, "--no-view", "--seconds", "30", "--reports", path("reports"), code=1)
        self.assertEqual(text, cardan("check", file, code=1))
        text = cardan("run", file, "--no-view", "--no-check", "--seconds", "3", "--json", path("summary.json"), "--reports", path("reports"), code=1)
        self.assertIn("Nobody", text)
        self.assertIn("given up", text)
        with open(path("summary.json")) as summary:
            self.assertEqual([s["to"] for s in json.load(summary)["states"]], ["safe_stop", "stopped"])  # as the file says of it
        self.assertIn("--set brake/limit_m=700: error: parameter 'limit_m' of component 'brake' is 700, out of its range", cardan("run", BRAKE, "--no-view", "--set", "brake/limit_m=700", code=1))

    def test_processes_are_stopped_and_restarted_while_it_runs(self):
        running = Running(self, BRAKE)
        before = {c["component"]: c["pid"] for c in running.list()}
        self.assertIn("sensors runs again", cardan("run", "--restart", "sensors"))
        self.assertIn("driving is stopped", cardan("run", "--stop", "driving"))
        after = {c["component"]: c["pid"] for c in running.list()}
        self.assertEqual(list(after), ["radar"])
        self.assertNotEqual(after["radar"], before["radar"])
        cardan("run", "--restart", "driving", "--restart", "sensors")
        self.assertEqual({c["component"] for c in running.list()}, {"radar", "brake"})
        self.assertIn("did you mean 'driving'?", cardan("run", "--stop", "drivin", code=1))
        cardan("run", "--stop", "driving", "--domain", "empty", code=1)
        cardan("run", BRAKE, "--stop", "driving", code=2)
        cardan("run", "--stop", "driving", "--grace", "1", code=2)
        cardan("run", "--restart", "driving", "--log", path("order.log"), code=2)
        cardan("run", code=2)
        code, summary = running.end()
        self.assertEqual(code, 0, running.text())
        self.assertEqual([p["restarts"] for p in summary["processes"]], [0, 0])

    def test_another_domain_and_a_log_in_files(self):
        running = Running(self, BRAKE, "--domain", "elsewhere", "--log", path("run.log"), "--log-size", "1k", "--log-files", "2", "--log-level", "brake=error",
                          components=0)
        for _ in range(600):
            if len(running.list("--domain", "elsewhere")) == 2:
                break
            time.sleep(0.05)
        self.assertEqual(cardan("param", "get", "brake/limit_m", "--domain", "elsewhere").strip(), "6.0")
        self.assertEqual(running.list(), [])
        for _ in range(10):
            cardan("run", "--restart", "sensors", "--domain", "elsewhere")
        code, _ = running.end()
        self.assertEqual(code, 0, running.text())
        for name in ("run.log", "run.log.1", "run.log.2"):
            self.assertLessEqual(os.path.getsize(path(name)), 1024, name)
        self.assertFalse(os.path.exists(path("run.log.3")))
        with open(path("run.log")) as log:
            self.assertRegex(log.read().splitlines()[-1], r"^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ cardan .* stopped")
        cardan("run", BRAKE, "--log-size", "1M", code=2)
        cardan("run", BRAKE, "--log", path("nowhere/run.log"), "--no-view", code=1)
        cardan("run", BRAKE, "--log-level", "nobody=info", "--no-view", code=2)

    def test_a_full_standard_output_is_reported(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([CARDAN, "run", BRAKE, "--seconds", "0.3", "--reports", path("out")], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.stderr.count("cannot write standard output: No space left on device"), 1, done.stderr)
        self.assertRegex(done.stderr, r"cardan: \d+ lines of the log were not written to standard output: No space left on device\n$")
        self.assertEqual(done.returncode, 1)

    def test_a_log_that_cannot_be_written_is_a_failure(self):
        os.mkdir(path("stuck.log.1"))  # so that the log cannot be renamed to it when it is full
        with open(path("stuck.log"), "w") as log:
            log.write("before\n" * 145)
        said = cardan("run", BRAKE, "--seconds", "0.5", "--no-view", "--reports", path("out"), "--log", path("stuck.log"), "--log-size", "1k", "--log-files", "1", code=1)
        self.assertRegex(said, r"cannot rename the log .*stuck\.log: Is a directory")
        self.assertRegex(said, r"\d+ lines are not in it\n$")

    def test_wrong_options(self):
        self.assertIn("no such process or component", cardan("run", BRAKE, "--crash", "nobody", code=2))
        self.assertIn("radar", cardan("run", BRAKE, "--set", "nobody/limit_m=3", code=2))


class From(unittest.TestCase):
    """On a recording: --from."""

    def setUp(self):
        if "--from" not in cardan("run", "--help"):
            self.skipTest("built without recordings")
        from recording import DISTANCE, SECOND, Cdr, write
        self.bag = path("distances.mcap")
        self.metres = [20 - 0.25 * i for i in range(80)]
        write(self.bag, {"/distance": (*DISTANCE, "cdr", {}), "/unused": (*DISTANCE, "cdr", {})},
              [("/distance", i * SECOND // 20, Cdr().number("d", m).done()) for i, m in enumerate(self.metres)])

    def commands(self, file):
        lines = cardan("bag", "cat", file, "--topic", "/command", "--json").splitlines()
        return [json.loads(line)["message"]["brake"] for line in lines]

    def test_the_same_twice_byte_for_byte(self):
        outputs = [path("first.mcap"), path("second.mcap")]
        for output in outputs:
            text = cardan("run", BRAKE, "--from", self.bag, "--without", "sensors", "--output", output, "--json", path("summary.json"))
            self.assertIn("/command", text)
        contents = []
        for output in outputs:
            with open(output, "rb") as file:
                contents.append(file.read())
        self.assertEqual(*contents)
        self.assertEqual(self.commands(outputs[0]), [m < 6.0 for m in self.metres])
        self.assertIn("good", cardan("bag", "verify", outputs[0]))
        with open(path("summary.json")) as file:
            summary = json.load(file)
        self.assertEqual([(t["topic"], t["messages"]) for t in summary["fed"]], [("/distance", 80)])
        self.assertEqual([(t["topic"], t["messages"]) for t in summary["made"]], [("/command", 80)])
        self.assertEqual((summary["failures"], summary["callbacks"]), (0, 80))

    def test_parameters_and_parts(self):
        cardan("run", BRAKE, "--from", self.bag, "--without", "radar", "--set", "brake/limit_m=15", "--start", "1", "--seconds", "2", "--output", path("part.mcap"))
        self.assertEqual(self.commands(path("part.mcap")), [m < 15 for m in self.metres[20:60]])

    def test_topics_of_a_component_are_not_taken_from_the_recording(self):
        text = cardan("run", BRAKE, "--from", self.bag, code=3)
        self.assertIn("components publish /distance themselves", text)
        self.assertIn("no component got a message of the recording", text)

    def test_wrong_words(self):
        cardan("run", BRAKE, "--from", self.bag, "--without", "radar", "--output", path("there.mcap"))
        self.assertIn("already exists", cardan("run", BRAKE, "--from", self.bag, "--without", "radar", "--output", path("there.mcap"), code=2))
        cardan("run", BRAKE, "--from", self.bag, "--without", "radar", "--output", path("there.mcap"), "--force")
        self.assertIn("nobody", cardan("run", BRAKE, "--from", self.bag, "--without", "nobody", code=2))
        cardan("run", BRAKE, "--output", path("alone.mcap"), code=2)
        cardan("run", BRAKE, "--from", path("nowhere.mcap"), code=2)
        # Options without a meaning here are refused rather than ignored.
        for option in (["--log", path("l")], ["--log-level", "error"], ["--crash", "brake"], ["--domain", "d"], ["--one-process"], ["--no-check"], ["--no-view"]):
            with self.subTest(option=option):
                self.assertIn("--from", cardan("run", BRAKE, "--from", self.bag, "--without", "radar", *option, code=2))


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
