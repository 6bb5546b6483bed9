#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One plan for all processes: what happens to the file while the system runs changes nothing in it.

    plan_test.py CARDAN BRAKE_JSON [unittest arguments]
"""
import os
import pathlib
import signal
import subprocess

from plan_case import BRAKE, CARDAN, PlanCase, Running, edited, main


class TheFileChanges(PlanCase):
    def crash_after(self, change, *words):
        """Runs the example, changes its file, kills a process, and returns what its successor is like."""
        file = self.copy()
        running = Running(self, file, *words)
        before = running.state()
        change(file)
        pid = running.pids()["brake"]
        os.kill(pid, signal.SIGKILL)
        running.wait_for(lambda: running.pids().get("brake", pid) != pid)
        return before, running.state(), running

    def expect_as_before(self, change, *words):
        before, after, running = self.crash_after(change, *words)
        self.assertEqual(after, before, running.text())
        self.assertEqual(after["limit_m"], "6.0")
        self.assertEqual(after["reads"], ["/distance"])
        self.assertEqual(running.end(), 0, running.text())

    def test_an_edit_and_a_crash(self):
        self.expect_as_before(lambda file: edited(file, ('"limit_m": 6.0', '"limit_m": 9.5'),
                                                  ('"watchdog_ms": 500', '"watchdog_ms": 500, "topics": {"/distance": "/elsewhere"}')))

    def test_a_half_saved_file_and_a_crash(self):
        self.expect_as_before(lambda file: file.write_text(file.read_text()[:200]))

    def test_a_file_that_is_gone_and_a_crash(self):
        self.expect_as_before(lambda file: file.unlink())

    def test_a_folder_in_its_place_and_a_crash(self):
        def change(file):
            file.unlink()
            file.mkdir()
        self.expect_as_before(change)

    def test_an_included_file_and_a_crash(self):
        inner = self.copy("inner.json")
        outer = self.path / "outer.json"
        outer.write_text('{"name": "brake", "include": [{"file": "inner.json"}], "processes": {}}')
        running = Running(self, outer)
        before = running.state()
        edited(inner, ('"limit_m": 6.0', '"limit_m": 9.5'))
        pid = running.pids()["brake"]
        os.kill(pid, signal.SIGKILL)
        running.wait_for(lambda: running.pids().get("brake", pid) != pid)
        self.assertEqual(running.state(), before)

    def test_parameters_of_the_command_line_hold_too(self):
        saved = self.path / "saved.json"
        saved.write_text('{"parameters": {"brake": {"limit_m": 7.0}}}')
        before, after, running = self.crash_after(lambda file: saved.unlink(), "--parameters", str(saved))
        self.assertEqual(before["limit_m"], "7.0")
        self.assertEqual(after["limit_m"], "7.0", running.text())

    def tuned(self, running, value):
        self.assertEqual(self.asked("param", "set", "brake/limit_m", value).returncode, 0)
        pid = running.pids()["brake"]
        os.kill(pid, signal.SIGKILL)
        running.wait_for(lambda: running.pids().get("brake", pid) != pid)
        return running.state()["limit_m"]

    def test_tuned_parameters_are_kept_when_asked(self):
        file = edited(self.copy(), ('"parameters": {"limit_m": 6.0}', '"parameters": {"limit_m": 6.0}, "keep": true'))
        running = Running(self, file)
        self.assertEqual(self.tuned(running, "12"), "12.0")
        self.assertEqual(self.tuned(running, "13.5"), "13.5")
        self.cardan("component", "restart", "brake")
        self.assertEqual(running.state()["limit_m"], "13.5")
        self.cardan("run", "--restart", "driving")
        self.assertEqual(running.state()["limit_m"], "13.5")
        # The file's value is the newer word when it changes, and only then.
        edited(file, ('"deadline_ms": 500', '"deadline_ms": 600'))
        self.cardan("run", "--apply", file, "--yes")
        self.assertEqual(running.state()["limit_m"], "13.5")
        edited(file, ('"limit_m": 6.0', '"limit_m": 7.0'))
        self.cardan("run", "--apply", file, "--yes")
        self.assertEqual(running.state()["limit_m"], "7.0")
        pid = running.pids()["brake"]
        os.kill(pid, signal.SIGKILL)
        running.wait_for(lambda: running.pids().get("brake", pid) != pid)
        self.assertEqual(running.state()["limit_m"], "7.0")

    def test_tuned_parameters_are_not_kept_by_themselves(self):
        running = Running(self, self.copy())
        self.assertEqual(self.tuned(running, "12"), "6.0")

    def test_topics_are_renamed(self):
        file = self.copy()
        running = Running(self, file, "--remap", "/distance:=/front/distance", "--remap", "/command:=/brake")
        state = running.state()
        self.assertEqual((state["reads"], state["publishes"]), (["/front/distance"], ["/brake"]))
        self.assertEqual(running.end(), 0, running.text())
        for wrong in ("/distance", "distance:=/x", "/distance:=x"):
            self.assertIn("--remap", self.cardan("run", file, "--remap", wrong, "--no-view", code=2))
        misspelt = self.cardan("run", file, "--remap", "/distanze:=/x", "--no-view", "--seconds", "1")
        self.assertIn("no component uses such a topic", misspelt)

    def test_an_order_to_restart_gives_the_plan_too(self):
        file = self.copy()
        running = Running(self, file)
        edited(file, ('"limit_m": 6.0', '"limit_m": 9.5'))
        self.cardan("run", "--restart", "driving")
        self.assertEqual(running.state()["limit_m"], "6.0")
        file.unlink()
        self.cardan("run", "--restart", "driving")
        self.assertEqual(running.state()["limit_m"], "6.0")

    def test_a_file_that_can_be_read_once_only(self):
        read, write = os.pipe()
        os.write(write, pathlib.Path(BRAKE).read_bytes())
        os.close(write)
        running = Running(self, f"/dev/fd/{read}", pass_fds=[read])
        self.assertEqual(running.state()["limit_m"], "6.0")
        self.assertEqual(running.end(), 0, running.text())


class ByHand(PlanCase):
    def host(self, *words):
        """`cardan host`, as under a debugger, until it is ready."""
        read, write = os.pipe()
        host = subprocess.Popen([CARDAN, "host", *words, "--ready-fd", str(write)], env=self.environment, pass_fds=[write],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        os.close(write)
        self.addCleanup(host.stdout.close)
        self.addCleanup(lambda: (host.kill(), host.wait()))
        with open(read) as ready:
            for line in ready:
                if line == "ready\n":
                    return host
        self.fail(host.stdout.read())

    def test_one_process_of_a_file(self):
        host = self.host(str(self.copy()), "--process", "driving", "--set", "brake/limit_m=7.25")
        self.assertEqual(self.cardan("param", "get", "brake/limit_m").split()[-1], "7.25")
        host.terminate()
        self.assertEqual(host.wait(60), 0)

    def test_errors_of_host(self):
        file = self.copy()
        self.assertIn("--process is required", self.cardan("host", file, code=2))
        self.assertIn("file is required", self.cardan("host", "--process", "driving", code=2))
        file.write_text("{")
        self.assertIn(f"{file}:1:", self.cardan("host", file, "--process", "driving", code=2))

    def test_a_file_that_is_not_a_plan(self):
        with open(self.copy()) as file:
            done = subprocess.run([CARDAN, "host", "--plan-fd", str(file.fileno()), "--process", "driving"], env=self.environment,
                                  pass_fds=[file.fileno()], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the descriptor does not give a plan: it is not sealed memory", done.stderr)


if __name__ == "__main__":
    main()
