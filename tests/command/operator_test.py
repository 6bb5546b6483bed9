#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Orders of an operator to a system that runs: of several processes at once, of one that was stopped, and of another user's.

    operator_test.py CARDAN BRAKE_JSON [unittest arguments]
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

CARDAN, BRAKE = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-operator-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
STRANGER = 65534


def ended(*words, code=0, environment=None, **how):
    done = subprocess.run([CARDAN, *words], env=environment or ENVIRONMENT, capture_output=True, text=True, timeout=120, **how)
    if done.returncode != code:
        raise AssertionError(f"cardan {' '.join(words)} ended with {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}")
    return done


def cardan(*words, **how):
    done = ended(*words, **how)
    return done.stdout + done.stderr


def report(*words):
    """Standard output alone: what a component does not answer in time is on standard error."""
    return json.loads(ended(*words, "--json").stdout)


def stranger(*words, **more):
    return cardan(*words, user=STRANGER, group=STRANGER, extra_groups=[], cwd="/", **more)


class Running:
    """`cardan run` in the background, until its components answer."""

    def __init__(self, test, **how):
        self.log = open(os.path.join(FOLDER, "log"), "w+")
        self.process = subprocess.Popen([CARDAN, "run", BRAKE, "--no-view", "--reports", os.path.join(FOLDER, "reports")],
                                        env=ENVIRONMENT, stdout=self.log, stderr=self.log, **how)
        test.addCleanup(self.kill)
        until = time.monotonic() + 60
        while len(self.pids()) != 2:
            if time.monotonic() > until:
                self.log.seek(0)
                raise AssertionError(f"not all components run\n{self.log.read()}")
            time.sleep(0.05)

    def pids(self):
        done = subprocess.run([CARDAN, "component", "list", "--json"], env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
        return {c["component"]: c["pid"] for c in json.loads(done.stdout)["components"]} if done.returncode == 0 else {}

    def kill(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.log.close()


class Several(unittest.TestCase):
    def test_processes_are_stopped_and_restarted_together(self):
        running = Running(self)
        before = running.pids()
        self.assertEqual(cardan("run", "--stop", "sensors", "driving").splitlines(), ["sensors is stopped", "driving is stopped"])
        self.assertEqual(running.pids(), {})
        text = cardan("run", "--restart", "sensors", "driving")
        self.assertIn("sensors runs again", text)
        self.assertIn("driving runs again", text)
        after = running.pids()
        self.assertEqual(sorted(after), ["brake", "radar"])
        self.assertFalse(set(after.values()) & set(before.values()))

    def test_one_that_is_not_there_does_not_save_the_others(self):
        running = Running(self)
        text = cardan("run", "--stop", "drivin", "sensors", code=1)
        self.assertIn("no running system has a process 'drivin'", text)
        self.assertIn("did you mean 'driving'?", text)
        self.assertIn("sensors is stopped", text)
        self.assertEqual(list(running.pids()), ["brake"])
        self.assertIn("'brake' is a component, of process 'driving' — cardan run --stop driving", cardan("run", "--stop", "brake", code=1))
        self.assertIn("cardan component restart brake", cardan("run", "--restart", "brake", code=1))

    def test_an_interrupted_question_blames_nobody(self):
        running = Running(self)
        radar = running.pids()["radar"]
        os.kill(radar, signal.SIGSTOP)  # so that the answers are not all there at once
        try:
            asks = subprocess.Popen([CARDAN, "run", "--restart", "driving"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            time.sleep(0.3)
            asks.send_signal(signal.SIGINT)
            text, _ = asks.communicate(timeout=60)
        finally:
            os.kill(radar, signal.SIGCONT)
        self.assertNotEqual(asks.returncode, 0, text)
        self.assertNotIn("does not answer", text)

    def test_stopped_processes_are_named_as_such(self):
        pid = Running(self).pids()["radar"]  # the other process has a watchdog, which would end it
        os.kill(pid, signal.SIGSTOP)
        try:
            text = cardan("component", "list")
        finally:
            os.kill(pid, signal.SIGCONT)
        self.assertRegex(text, rf"cardan:sensors \(pid {pid}\) did not answer within \d+ ms: it is stopped \(SIGSTOP\) — kill -CONT {pid} continues it")
        self.assertNotIn("no components run", text)

    def test_a_value_out_of_range_is_told_with_the_range(self):
        Running(self)
        self.assertIn("is above its maximum 100.0 — give a number from 0.0 to 100.0 (brakes below, metres)", cardan("param", "set", "brake/limit_m", "1e9", code=1))
        self.assertIn("use a number, 0.0 to 100.0", cardan("param", "set", "brake/limit_m", "far", code=1))
        for word in ("nan", "-inf"):
            self.assertIn("use a number, 0.0 to 100.0", cardan("param", "set", "--", "brake/limit_m", word, code=1))


class Stopped(unittest.TestCase):
    def test_a_stopped_process_is_listed_and_starts_again_by_its_component(self):
        running = Running(self)
        self.assertEqual(report("component", "list")["down"], [])
        cardan("run", "--stop", "driving")
        rows = {line.split()[0]: line for line in cardan("component", "list").splitlines()}
        self.assertIn("running", rows["radar"])
        self.assertRegex(rows["brake"], r"Brake +driving +stopped +-")
        down = report("component", "list")["down"]
        self.assertEqual([(c["component"], c["class"], c["process"], c["state"]) for c in down], [("brake", "Brake", "driving", "stopped")])
        self.assertEqual(cardan("component", "list", "--names").split(), ["radar", "brake"])
        for words in (["component", "stats", "brake", "--once"], ["component", "log", "brake", "info"], ["param", "list", "brake"],
                      ["param", "get", "brake/limit_m"], ["param", "set", "brake/limit_m", "7"]):
            self.assertIn("component 'brake' does not run: its process 'driving' is stopped — cardan component restart brake starts it",
                          cardan(*words, code=1), words)
        saved = cardan("param", "save", os.path.join(FOLDER, "all.json"), code=3)
        self.assertIn("component 'brake' does not run", saved)
        self.assertIn("which was stopped, has been started", cardan("component", "restart", "brake"))
        self.assertEqual(sorted(running.pids()), ["brake", "radar"])
        self.assertEqual(report("component", "list")["down"], [])
        cardan("run", "--stop", "driving")
        again = report("component", "restart", "brake")
        self.assertEqual((again["component"], again["process"], again["was"]), ("brake", "driving", "stopped"))
        self.assertEqual(again["pid"], running.pids()["brake"])


@unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
class OtherUsers(unittest.TestCase):
    def setUp(self):
        run = ENVIRONMENT["CARDAN_RUN_DIR"]
        os.chmod(FOLDER, 0o755)
        for folder in (run, os.path.join(run, "default")):
            os.makedirs(folder, exist_ok=True)
            os.chmod(folder, 0o1777)
        try:
            stranger("--version")
        except PermissionError:
            self.skipTest("the program is in a folder that other users do not reach")

    def test_processes_of_another_user_are_reported_with_their_user(self):
        Running(self)
        who = r"processes of user 'root' \(0\) run in this domain, and answer only that user — run the command as that user: sudo -u root CARDAN_RUN_DIR="
        for words, code in ((["component", "list"], 0), (["component", "list", "--names"], 0), (["component", "stats", "--once", "--seconds", "0.1"], 0),
                            (["component", "stats", "brake", "--once"], 1), (["component", "restart", "brake"], 1), (["component", "log", "brake", "info"], 1),
                            (["param", "list"], 0), (["param", "get", "brake/limit_m"], 1), (["param", "set", "brake/limit_m", "7"], 1),
                            (["param", "save", "/dev/null/nowhere"], 1), (["run", "--stop", "driving"], 1), (["run", "--restart", "driving"], 1)):
            text = stranger(*words, code=code)
            self.assertRegex(text, who, words)
            self.assertEqual(text.count("sudo"), 1, text)
            self.assertNotIn("none runs here", text)
        listed = stranger("topic", "list")
        self.assertIn("no topics in", listed)
        self.assertRegex(listed, r"not open to this user: .*/distance.* — user 'root' \(0\) publishes them; .*sudo -u root")
        self.assertRegex(stranger("topic", "stats", "--all", "--once", "--seconds", "0.1"), r"not open to this user: .*/distance.*sudo -u root")
        self.assertRegex(stranger("topic", "info", "/distanc", code=1), r"not open to this user: .*/distance")
        self.assertNotIn("sudo", cardan("component", "list"))

    def test_processes_of_another_user_in_another_run_directory_are_reported(self):
        Running(self)
        elsewhere = {**ENVIRONMENT, "CARDAN_RUN_DIR": os.path.join(tempfile.mkdtemp(prefix="elsewhere", dir=FOLDER), "run")}
        os.makedirs(elsewhere["CARDAN_RUN_DIR"])
        os.chown(elsewhere["CARDAN_RUN_DIR"], STRANGER, STRANGER)
        os.chmod(os.path.dirname(elsewhere["CARDAN_RUN_DIR"]), 0o755)
        for words, code in ((["component", "list"], 0), (["run", "--stop", "driving"], 1), (["param", "list"], 0), (["topic", "list"], 0),
                            (["component", "restart", "brake"], 1), (["topic", "info", "/distance"], 1)):
            self.assertRegex(stranger(*words, code=code, environment=elsewhere),
                             r"`cardan run` of .*user 'root' \(0\).* runs on this computer, in another run directory or domain", words)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
