#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan run --apply FILE`: a system that runs does what its file says now.

    apply_test.py CARDAN BRAKE_JSON TEST_COMPONENTS [unittest arguments]
"""
import errno
import json
import os
import pty
import signal
import subprocess
import sys
import unittest

from plan_case import CARDAN, PlanCase, Running, edited, main

COMPONENTS = sys.argv.pop(3)
STRANGER = 65534
RADAR = '"radar": {"library": "libexample_components.so", "class": "Radar"}'
WATCHDOG = ('"watchdog_ms": 500', '"watchdog_ms": 700')
LIMIT = ('"limit_m": 6.0', '"limit_m": 9.5')
NEW = ('"driving": {', '"more": {"components": {' + RADAR.replace('"radar"', '"spare"').replace("}", ', "topics": {"/distance": "/spare"}}') + '}},\n    "driving": {')


class Apply(PlanCase):
    def setUp(self):
        super().setUp()
        self.file = self.copy()
        self.running = Running(self, self.file)
        self.before = self.running.pids()

    def apply(self, *words, code=0, **how):
        text = self.cardan("run", "--apply", self.file, "--yes", "--json", self.path / "apply.json", *words, code=code, **how)
        summary = json.loads((self.path / "apply.json").read_text())
        self.assertEqual(summary["exit_code"], code)
        self.assertEqual(summary["applied"], summary["error"] is None)
        return text, summary

    def changed_files(self):
        return json.loads(self.asked("component", "list", "--json").stdout)["changed_files"]

    def test_a_parameter_is_set_where_it_runs_and_kept(self):
        edited(self.file, LIMIT)
        self.assertEqual([f["what"] for f in self.changed_files()], ["changed"])
        text, summary = self.apply()
        self.assertIn("set      brake/limit_m: 6.0 → 9.5", text)
        self.assertEqual(summary["set"], [{"process": "driving", "component": "brake", "parameter": "limit_m", "before": 6.0, "after": 9.5}])
        self.assertEqual(summary["restart"], [])
        self.assertEqual(self.running.pids(), self.before)
        self.assertEqual(self.running.state()["limit_m"], "9.5")
        self.assertEqual(self.changed_files(), [])
        self.cardan("component", "restart", "brake")
        self.assertEqual(self.running.state()["limit_m"], "9.5", "of the component")
        os.kill(self.before["brake"], signal.SIGKILL)
        self.running.wait_for(lambda: self.running.pids().get("brake", self.before["brake"]) != self.before["brake"])
        self.assertEqual(self.running.state()["limit_m"], "9.5", "of the process")

    def test_a_changed_process_is_restarted_and_no_other(self):
        edited(self.file, WATCHDOG, LIMIT)
        text, summary = self.apply()
        self.assertIn("'watchdog' of component 'brake', parameter brake/limit_m is 9.5", text)
        self.assertEqual([r["process"] for r in summary["restart"]], ["driving"])
        after = self.running.pids()
        self.assertEqual(after["radar"], self.before["radar"])
        self.assertNotEqual(after["brake"], self.before["brake"])
        self.assertEqual(self.running.state()["limit_m"], "9.5")
        self.assertEqual(self.running.end(), 0, self.running.text())

    def test_processes_come_and_go(self):
        edited(self.file, NEW)
        self.assertEqual(self.apply()[1]["start"], ["more"])
        after = self.running.pids()
        self.assertEqual({**self.before, "spare": after["spare"]}, after)
        self.copy()
        self.assertEqual(self.apply()[1]["stop"], ["more"])
        self.assertEqual(self.running.pids(), self.before)
        self.assertEqual(self.running.end(), 0, self.running.text())

    def test_a_topics_options_restart_those_that_use_it(self):
        edited(self.file, NEW)
        self.apply()
        before = self.running.pids()
        edited(self.file, ('"deadline_ms": 500', '"deadline_ms": 600'))
        self.assertEqual([r["process"] for r in self.apply()[1]["restart"]], ["sensors", "driving"])
        self.assertEqual(self.running.pids()["spare"], before["spare"])

    def test_nothing_to_do(self):
        text, summary = self.apply()
        self.assertIn("nothing to do", text)
        self.assertTrue(summary["applied"])
        self.file.write_text(self.file.read_text() + "// a comment\n")
        self.assertEqual(len(self.changed_files()), 1)
        self.assertIn("nothing to do", self.cardan("run", "--apply", self.file), "without a question")
        self.assertEqual(self.changed_files(), [])
        self.assertEqual(self.running.pids(), self.before)

    def test_from_another_folder(self):
        self.assertIn("nothing to do", self.cardan("run", "--apply", "brake.json", cwd=self.path))
        edited(self.file, LIMIT)
        self.apply(cwd="/")
        self.assertEqual(self.running.state()["limit_m"], "9.5")

    def test_a_wrong_file_changes_nothing(self):
        for change, says in ((('"class": "Brake"', '"class": "Brakee"'), "unknown component class 'Brakee'"),
                             (('"watchdog_ms": 500', '"watchdog_ms": "soon"'), "watchdog_ms"),
                             (('"limit_m": 6.0', '"limit_m": 6.0, "limit": 1'), "limit"),
                             (('"limit_m": 6.0', '"limit_m": -1e9'), "limit_m")):
            self.copy()
            edited(self.file, change, NEW)
            text = self.cardan("run", "--apply", self.file, "--yes", code=1)
            self.assertIn(says, text)
            self.assertIn(f"{self.file}:", text)
            self.assertIn("nothing is changed: the file has errors", text)
            self.assertEqual(self.running.pids(), self.before)
        self.file.unlink()
        self.cardan("run", "--apply", self.file, "--yes", code=2)
        self.assertEqual(self.running.pids(), self.before)

    def test_an_included_file(self):
        self.assertEqual(self.running.end(), 0, self.running.text())
        outer = self.path / "outer.json"
        outer.write_text('{"name": "brake", "include": [{"file": "brake.json"}], "processes": {}}')
        self.running = Running(self, outer)
        before = self.running.pids()
        edited(self.file, LIMIT)
        self.assertEqual([f["file"] for f in self.changed_files()], [str(self.file)])
        self.assertIn("brake/limit_m: 6.0 → 9.5", self.cardan("run", "--apply", outer, "--yes"))
        self.assertEqual(self.running.state()["limit_m"], "9.5")
        self.assertEqual(self.running.pids(), before)
        self.assertEqual(self.changed_files(), [])

    def test_a_topic_that_both_sides_rename(self):
        edited(self.file, ('"class": "Radar"}', '"class": "Radar", "topics": {"/distance": "/range"}}'),
               ('"class": "Brake",', '"class": "Brake", "topics": {"/distance": "/range"},'), ('"topics": {"/distance": {"dead', '"topics": {"/range": {"dead'))
        self.assertEqual([r["process"] for r in self.apply()[1]["restart"]], ["sensors", "driving"])
        self.assertEqual(self.running.state()["reads"], ["/range"])

    def test_changes_that_need_a_new_run(self):
        edited(self.file, ('"name": "brake"', '"name": "other"'))
        text, _ = self.apply(code=1)
        self.assertIn("system 'other' does not run here, but 'brake'", text)
        self.copy()
        edited(self.file, ('"name": "brake",', '"name": "brake", "realtime": true,'))
        text, _ = self.apply(code=1)
        self.assertIn("'realtime' of the system that runs is false, and of the file true: it cannot change while the system runs", text)
        self.copy()
        edited(self.file, ('"name": "brake",', '"name": "brake", "domain": "elsewhere",'))
        text, _ = self.apply(code=1)
        self.assertIn("system 'brake' does not run", text)
        self.assertEqual(self.running.pids(), self.before)

    def test_without_a_terminal_it_needs_yes(self):
        edited(self.file, LIMIT)
        text = self.cardan("run", "--apply", self.file, code=2)
        self.assertIn("brake/limit_m: 6.0 → 9.5", text)
        self.assertIn("the question needs a terminal — --yes applies it without asking", text)
        self.assertEqual(self.running.state()["limit_m"], "6.0")

    def on_a_terminal(self, answer):
        """Its output, and its exit code; `answer` is typed at the question."""
        master, slave = pty.openpty()
        process = subprocess.Popen([CARDAN, "run", "--apply", str(self.file)], env=self.environment, stdin=slave, stdout=slave, stderr=slave,
                                   start_new_session=True)
        os.close(slave)
        self.addCleanup(os.close, master)
        text = b""
        while True:
            try:
                text += os.read(master, 4096)
            except OSError as error:
                self.assertEqual(error.errno, errno.EIO)
                break
            if b"[y/N]" in text and answer is not None:
                process.send_signal(answer) if isinstance(answer, signal.Signals) else os.write(master, answer)
                answer = None
        return text.decode(), process.wait(60)

    def test_it_asks(self):
        edited(self.file, LIMIT)
        for answer in (b"\n", b"n\n", b"yess\n", b"\x04"):
            text, code = self.on_a_terminal(answer)
            self.assertEqual(code, 1, text)
            self.assertIn("nothing is changed", text)
        self.assertEqual(self.running.state()["limit_m"], "6.0")
        text, code = self.on_a_terminal(b"y\n")
        self.assertEqual(code, 0, text)
        self.assertEqual(self.running.state()["limit_m"], "9.5")

    def test_ctrl_c_at_the_question(self):
        edited(self.file, LIMIT)
        text, code = self.on_a_terminal(signal.SIGINT)
        self.assertEqual(code, 1, text)
        self.assertIn("interrupted: nothing is changed", text)
        self.assertEqual(self.running.state()["limit_m"], "6.0")
        self.apply()
        self.assertEqual(self.running.state()["limit_m"], "9.5", "and it is not in the way of the next")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_another_user_changes_nothing(self):
        edited(self.file, LIMIT)
        for folder in (self.path, self.path / "run", self.path / "run" / "default"):
            os.chmod(folder, 0o1777)
        os.chmod(self.file, 0o644)
        try:
            text = self.cardan("run", "--apply", self.file, "--yes", "--no-check", code=1, user=STRANGER, group=STRANGER, extra_groups=[], cwd="/")
        except PermissionError:
            self.skipTest("the program is in a folder that other users do not reach")
        self.assertIn("system 'brake' does not run", text)
        self.assertIn("user 'root'", text)
        self.assertEqual(self.running.state()["limit_m"], "6.0")

    def test_options_that_do_not_belong_to_it(self):
        for words in (["--stop", "driving"], ["--crash", "brake"], ["--seconds", "3"], ["--log", "x"], ["--log-level", "error"], ["--from", "x.mcap"]):
            self.cardan("run", "--apply", self.file, *words, code=2)
        self.cardan("run", "--apply", code=2)
        self.cardan("run", self.file, "--yes", code=2)


class Servant(PlanCase):
    """A component that says itself which values it accepts: `people` come in pairs."""

    def setUp(self):
        super().setUp()
        self.file = self.path / "house.json"
        self.write()
        self.running = Running(self, self.file, "--grace", "60", components=1)

    def write(self, threshold=0.5, people=4, model="small", **more):
        parameters = {"threshold": threshold, "people": people, "model": model}
        servant = {"library": COMPONENTS, "class": "Servant", "parameters": parameters, **more}
        self.file.write_text(json.dumps({"name": "house", "processes": {"house": {"components": {"servant": servant}, "restart": {"limit": 1}}}}))

    def crash(self):
        pid = self.running.pids()["servant"]
        os.kill(pid, signal.SIGKILL)
        self.running.wait_for(lambda: self.running.pids().get("servant", pid) != pid)

    def test_a_value_that_the_component_refuses_leaves_the_old_plan(self):
        self.write(threshold=0.7, people=5)
        for words in ([], ["--no-check"]):
            text = self.cardan("run", "--apply", self.file, "--yes", "--json", self.path / "out.json", *words, code=1)
            self.assertIn("people come in pairs", text)
            self.assertEqual((self.parameter("servant/threshold"), self.parameter("servant/people")), ("0.5", "4"))
        self.assertIn("servant/people is not set", text)
        self.assertIs(json.loads((self.path / "out.json").read_text())["applied"], False)
        self.crash()
        self.assertEqual((self.parameter("servant/threshold"), self.parameter("servant/people")), ("0.5", "4"))

    def test_a_fixed_parameter_needs_a_restart(self):
        self.write(model="large")
        self.assertIn("restart  house: parameter servant/model is \"large\"", self.cardan("run", "--apply", self.file, "--yes"))
        self.assertIn("large", self.parameter("servant/model"))

    def test_a_process_that_does_not_start_is_reported_and_mended_by_the_next(self):
        self.write(threshold=7, watchdog_ms=60000)
        text = self.cardan("run", "--apply", self.file, "--yes", "--no-check", "--json", self.path / "out.json", code=1)
        self.assertIn("the plan holds now, but house did not start: it ended with exit code 1", text)
        self.assertIn("threshold", text)
        self.assertIs(json.loads((self.path / "out.json").read_text())["applied"], True)
        self.write(threshold=0.9)
        self.cardan("run", "--apply", self.file, "--yes")
        self.running.wait_for(lambda: self.running.pids())
        self.assertEqual(self.parameter("servant/threshold"), "0.9")

    def test_a_process_that_has_crashed_and_starts_gets_the_new_values(self):
        slow = self.path / "run" / "default.slow"
        slow.touch()
        os.kill(self.running.pids()["servant"], signal.SIGKILL)
        self.running.wait_for((self.path / "run" / "default.starting").exists)
        self.write(threshold=0.7)
        process = subprocess.Popen([CARDAN, "run", "--apply", str(self.file), "--yes", "--no-check"], env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.running.wait_for(lambda: "an operator changes the plan" in self.running.text())
        slow.unlink()
        text = process.communicate(timeout=120)[0]
        self.assertEqual(process.returncode, 0, f"{text}\n{self.running.text()}")
        self.assertIn("servant/threshold: 0.5 → 0.7", text)
        self.running.wait_for(lambda: self.running.pids())
        self.assertEqual(self.parameter("servant/threshold"), "0.7")

    def test_a_process_that_does_not_end_in_its_time_is_killed(self):
        self.assertEqual(self.running.end(), 0, self.running.text())
        self.running = Running(self, self.file, "--grace", "0.2", components=1)
        os.kill(self.running.pids()["servant"], signal.SIGSTOP)
        self.write(priority=1)
        text = self.cardan("run", "--apply", self.file, "--yes", code=1)
        self.assertIn("the plan holds now, but a process did not end in time and was killed", text)
        self.running.wait_for(lambda: self.running.pids())
        self.assertIn("did not end within 0.2 s after SIGTERM, and is killed", self.running.text())


class NothingRuns(PlanCase):
    def test_there_is_nothing_to_change(self):
        (self.path / "run").mkdir()
        self.assertIn("system 'brake' does not run", self.cardan("run", "--apply", self.copy(), "--yes", code=1))


if __name__ == "__main__":
    main()
