#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checks of `cardan run` before it starts anything, and the place of its own messages.

    run_once_test.py CARDAN BRAKE_JSON [unittest arguments]
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CARDAN, BRAKE = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-once-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
os.mkdir(ENVIRONMENT["CARDAN_RUN_DIR"])  # commands that look make none


def path(name):
    return os.path.join(FOLDER, name)


def run(*words, code=0):
    done = subprocess.run([CARDAN, "run", *words, "--no-view"], env=ENVIRONMENT, cwd=FOLDER, capture_output=True, text=True, timeout=120)
    if done.returncode != code:
        raise AssertionError(f"cardan run {words} ended with {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def until(true):
    for _ in range(1200):
        if found := true():
            return found
        time.sleep(0.05)
    raise AssertionError("it never happened")


def locks():
    return glob.glob(path("run/default/r.*"))


class Once(unittest.TestCase):
    def begin(self, name="log"):
        with open(path(name), "w") as log:
            begun = subprocess.Popen([CARDAN, "run", BRAKE, "--no-view"], env=ENVIRONMENT, cwd=FOLDER, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

        def end():
            if begun.poll() is None:
                begun.kill()
                begun.wait()
        self.addCleanup(end)
        return begun

    def text(self, name="log"):
        with open(path(name)) as file:
            return file.read()

    def test_a_second_run_of_the_system_is_refused_with_the_pid_of_the_first(self):
        first = self.begin()
        until(lambda: "starting → running" in self.text())
        text = run(BRAKE, code=1)
        self.assertIn(f"system 'brake' already runs in domain 'default', pid {first.pid}", text)
        self.assertIn("--domain", text)
        self.assertIn("--stop", text)
        self.assertIn("stopped", run(BRAKE, "--domain", "elsewhere", "--seconds", "0.2"))
        first.send_signal(signal.SIGINT)
        self.assertEqual(first.wait(60), 0, self.text())
        self.assertEqual(glob.glob(path("run/*")), [], "nothing is left")

    def test_of_many_that_start_together_one_runs(self):
        all_of_them = [self.begin(f"log{i}") for i in range(5)]
        until(lambda: sum(one.poll() is None for one in all_of_them) == 1)
        winner, = (one for one in all_of_them if one.poll() is None)
        until(lambda: "starting → running" in self.text(f"log{all_of_them.index(winner)}"))
        winner.send_signal(signal.SIGINT)
        self.assertEqual(winner.wait(60), 0)
        for i, one in enumerate(all_of_them):
            if one is not winner:
                self.assertEqual(one.returncode, 1)
                self.assertIn(f"pid {winner.pid}", self.text(f"log{i}"))

    def test_a_run_that_was_killed_is_in_nobodys_way(self):
        first = self.begin()
        until(lambda: "starting → running" in self.text())
        first.kill()
        first.wait()
        self.assertEqual(len(locks()), 1, "the name; the kernel has unlocked it")
        # The next program that starts in the domain removes it.
        self.assertEqual(subprocess.run([CARDAN, "component", "list"], env=ENVIRONMENT, capture_output=True, timeout=60).returncode, 0)
        self.assertEqual(locks(), [])
        second = self.begin()
        until(lambda: "starting → running" in self.text())
        second.kill()
        second.wait()
        run(BRAKE, "--seconds", "0.2")
        self.assertEqual(locks(), [])


class Words(unittest.TestCase):
    def test_warnings_of_run_itself_are_in_the_merged_log(self):
        lonely = path("alone.json")
        with open(lonely, "w") as file:  # nobody writes what it reads
            file.write('{"processes": {"driving": {"components": {"brake": {"library": "libexample_components.so", "class": "Brake"}}}}}')
        said = run(lonely, "--seconds", "0.2", "--log", path("run.log"))
        with open(path("run.log")) as file:
            log = file.read()
        for where in (said, log):
            self.assertRegex(where, r"cardan +\| .*alone\.json:.*warning: .*/distance")

    def test_a_refusal_is_in_the_log_file_too(self):
        with open(path("wrong.json"), "w") as file:
            file.write('{"processes": {"p": {"component": {}}}}')
        run(path("wrong.json"), "--log", path("refused.log"), code=1)
        with open(path("refused.log")) as file:
            self.assertRegex(file.read(), r"cardan +! .*wrong\.json:.*error: ")


class Paths(unittest.TestCase):
    def test_output_files_are_tried_at_the_start(self):
        with open(path("a-file"), "w") as file:
            file.write("as it was")
        for words in (["--json", path("nowhere/summary.json")], ["--json", FOLDER], ["--reports", path("a-file/reports")], ["--reports", path("a-file")]):
            with self.subTest(words):
                text = run(BRAKE, *words, "--seconds", "0.2", code=2)
                self.assertIn(f"{words[0]} {words[1]}: ", text)
                self.assertIn(f"give another one with {words[0]}", text)
                self.assertNotIn("runs after", text)
        run(BRAKE, "--seconds", "0.2", "--json", path("new.json"), "--reports", path("new/deep"))
        self.assertTrue(os.path.getsize(path("new.json")) > 0)
        self.assertFalse(os.path.exists(path("new")), "no crash, no folder")
        run(BRAKE, "--seconds", "0.2", "--json", path("a-file"), "--set", "nobody/x=1", code=2)
        with open(path("a-file")) as file:
            self.assertEqual(file.read(), "as it was")

    def test_the_folder_that_nobody_named_is_only_warned_of(self):
        shutil.rmtree(path("out"), ignore_errors=True)  # reports of other tests here, which a slow computer may have written
        with open(path("out"), "w"):
            pass
        self.addCleanup(os.remove, path("out"))
        self.assertIn("--reports out: the folder cannot be written", run(BRAKE, "--seconds", "0.2"))


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
