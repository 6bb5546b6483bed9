#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that `cardan run` starts: supervised as its other processes are, and what a file may make it start.

    run_programs_test.py CARDAN BRAKE_JSON
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CARDAN, BRAKE = (os.path.abspath(name) for name in sys.argv[1:3])
OTHER_USER = 54321

# Says what it was given, then waits for its end.
PROGRAM = """#!/bin/sh
echo "mark $0 $*" >>"$CARDAN_TEST_MARK"
echo "I am $$ in $(pwd), level $LEVEL"
echo "descriptors:" /proc/$$/fd/*
echo "to the error output" >&2
trap 'echo "ends in order"; exit 0' TERM
while :; do sleep 0.05; done
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-run-programs-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.home = self.path / "home"
        self.home.mkdir()
        self.mark = self.path / "mark"
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run"), "CARDAN_TEST_MARK": str(self.mark)}
        self.environment.pop("CARDAN_DOMAIN", None)

    def program(self, name="gui", text=PROGRAM, mode=0o755, folder=None):
        file = (folder or self.home) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        return file

    def system(self, command, **more):
        """The example with a program more, which starts last."""
        file = self.home / "car.json"
        file.write_text(json.dumps({"name": "car", "include": [{"file": BRAKE}], "processes": {"gui": {"command": command, **more}}}))
        return str(file)

    def cardan(self, *words, code=0, cwd=None):
        done = subprocess.run([CARDAN, *words], env=self.environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, cwd=cwd or self.path)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def begin(self, file, *words, cwd=None, **how):
        self.log = self.path / "log"
        with self.log.open("w") as log:
            process = subprocess.Popen([CARDAN, "run", file, "--no-view", "--json", str(self.path / "out.json"), *words], env=self.environment, stdout=log, stderr=log,
                                       stdin=subprocess.DEVNULL, cwd=cwd or self.path, **how)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()

        self.addCleanup(end)
        self.running = process
        return process

    def until(self, pattern, times=1):
        deadline = time.monotonic() + 180
        while len(found := re.findall(pattern, self.log.read_text())) < times:
            self.assertLess(time.monotonic(), deadline, self.log.read_text())
            self.assertIsNone(self.running.poll(), self.log.read_text())
            time.sleep(0.05)
        return found[-1]

    def until_gone(self, pid):
        deadline = time.monotonic() + 180
        while os.path.exists(f"/proc/{pid}"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)


class Programs(Case):
    def test_one_is_started_restarted_logged_and_stopped(self):
        self.program()
        run = self.begin(self.system(["./gui", "--full screen", "", "-v", "-v"], environment={"LEVEL": "4"}))
        first = int(self.until(r"gui \(pid (\d+)\) runs after"))
        # Its own words, its folder, its environment.
        self.until(rf"I am {first} in {self.home}, level 4")
        self.until("to the error output")
        self.assertEqual(self.mark.read_text(), f"mark {self.home}/gui --full screen  -v -v\n")
        os.kill(first, signal.SIGKILL)
        second = int(self.until(r"gui \(pid (\d+)\) runs again"))
        self.until(rf"I am {second} in")
        self.cardan("run", "--stop", "gui")
        self.assertFalse(os.path.exists(f"/proc/{second}"))
        self.assertIn("ends in order", self.log.read_text())
        self.cardan("run", "--restart", "gui")
        third = int(self.until(r"gui \(pid (\d+)\) runs (?:after|again)", 3))
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(120), 0, self.log.read_text())
        self.assertFalse(os.path.exists(f"/proc/{third}"))
        processes = {p["process"]: p for p in json.loads((self.path / "out.json").read_text())["processes"]}
        self.assertEqual(processes["gui"]["restarts"], 1)

    def test_one_that_ends_by_itself_in_order_is_finished(self):
        self.program(text="#!/bin/sh\necho done\n")
        self.begin(self.system(["./gui"]))
        self.until("gui has ended in order")

    def test_one_that_fails_has_a_reason_and_is_given_up(self):
        self.program(text="#!/bin/sh\necho no display >&2\nexit 9\n")
        run = self.begin(self.system(["./gui"], restart={"limit": 1, "backoff_ms": 1}))
        self.until("gui is given up")
        self.until("ended with exit code 9")
        self.until("no display")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(120), 1)

    def test_a_launcher_that_is_killed_leaves_none(self):
        self.program(text="#!/bin/sh\necho here $$\nexec sleep 1000\n")
        run = self.begin(self.system(["./gui"]))
        pid = int(self.until(r"here (\d+)"))
        run.kill()
        run.wait()
        self.until_gone(pid)

    def test_children_of_it_end_with_it(self):
        self.program(text="#!/bin/sh\nsleep 1000 &\necho child $!\nexit 0\n")
        self.begin(self.system(["./gui"]))
        pid = int(self.until(r"child (\d+)"))
        self.until("gui has ended in order")
        self.until_gone(pid)

    def test_apply_starts_and_changes_one(self):
        self.program()
        file = self.home / "car.json"
        file.write_text(json.dumps({"name": "car", "include": [{"file": BRAKE}]}))
        self.begin(str(file))
        self.until("sensors .* runs after")
        self.until("driving .* runs after")
        self.system(["./gui", "one"])
        self.cardan("run", "--apply", str(file), "--yes")
        self.until(r"I am (\d+) in")
        self.system(["./gui", "two"])
        said = self.cardan("run", "--apply", str(file), "--yes")
        self.assertIn("command", said)
        self.until(r"I am (\d+) in", 2)
        self.assertEqual([line.split()[-1] for line in self.mark.read_text().splitlines()], ["one", "two"])

    def test_graph_check_and_conditions_know_it(self):
        self.program()
        file = self.system(["./gui"])
        self.assertIn("1 program; nothing wrong", self.cardan("check", file))
        self.assertIn("gui", self.cardan("graph", file))
        self.assertFalse(self.mark.exists(), "check and graph start no program")


class Attacks(Case):
    def refused(self, command, *said, code=1):
        """`check` and `run` say why, and nothing is run."""
        file = self.system(command)
        for words in (["check", file], ["run", file, "--no-view"]):
            text = self.cardan(*words, code=code)
            for one in said:
                self.assertIn(one, text)
        self.assertFalse(self.mark.exists(), "it was run")
        return text

    def test_check_runs_no_program(self):
        self.program()
        file = self.system(["./gui"])
        self.cardan("check", file)
        self.cardan("check", file, "--no-components", "--json")
        self.cardan("graph", file)
        self.assertFalse(self.mark.exists())

    def test_it_has_no_descriptor_of_ours(self):
        self.program(text="#!/bin/sh\nexec ls -l /proc/self/fd\n")
        kept = os.open("/etc/hostname", os.O_RDONLY)  # without O_CLOEXEC, as other code may open one
        os.set_inheritable(kept, True)
        self.addCleanup(os.close, kept)
        self.begin(self.system(["./gui"]), pass_fds=[kept])
        self.until("gui has ended in order")
        shown = re.findall(r"gui .* (\d+) -> (\S+)", self.log.read_text())
        self.assertEqual({number for number, file in shown if not file.startswith("/proc/")}, {"0", "1", "2"}, self.log.read_text())
        self.assertIn(("0", "/dev/null"), shown)

    def test_it_gains_no_rights(self):
        self.program(text="#!/bin/sh\ngrep NoNewPrivs /proc/self/status\n")
        self.begin(self.system(["./gui"]))
        self.assertEqual(self.until(r"NoNewPrivs:\D*(\d)"), "1")

    def test_the_working_folder_and_relative_entries_of_path_are_not_searched(self):
        evil = self.path / "evil"
        self.program(folder=evil)
        self.program("here/gui", folder=evil)
        for path in ("", ".", ":/usr/bin", "/usr/bin:", "here:/usr/bin"):
            self.environment["PATH"] = path
            for command in (["gui"], ["./gui"], ["here/gui"]):
                file = self.system(command)
                self.assertRegex(self.cardan("check", file, code=1, cwd=evil), "no program 'gui' is in PATH|gui is not there")
        self.assertFalse(self.mark.exists())

    def test_path_is_searched_for_a_name(self):
        tools = self.path / "tools"
        self.program("cardan-test-tool", folder=tools)
        self.environment["PATH"] = f"{tools}:{os.environ['PATH']}"
        self.begin(self.system(["cardan-test-tool"]))
        self.until(r"I am (\d+) in")
        # The environment of a process changes what it sees, not what is run.
        evil = self.path / "evil"
        self.program("cardan-test-tool2", folder=evil)
        self.running.send_signal(signal.SIGINT)
        self.running.wait(120)
        file = self.system(["cardan-test-tool2"], environment={"PATH": str(evil)})
        self.assertIn("no program 'cardan-test-tool2' is in PATH", self.cardan("check", file, code=1))

    def test_an_interpreter_imports_from_the_files_folder_not_from_where_it_is_typed(self):
        evil = self.path / "evil"
        evil.mkdir()
        for module in ("parts", "json"):
            (evil / f"{module}.py").write_text(f"open({str(self.mark)!r}, 'a').write('evil')\n")
        (self.home / "parts.py").write_text("print('the right one', flush=True)\n")
        self.begin(self.system([sys.executable, "-m", "parts"]), cwd=evil)
        self.until("the right one")
        self.until("gui has ended in order")
        self.assertFalse(self.mark.exists())

    def test_programs_that_every_user_can_write_are_not_started(self):
        self.program(mode=0o777)
        self.refused(["./gui"], "every user can write it", "chmod o-w")
        self.refused([str(self.home / "gui")], "every user can write it")
        self.program("sub/gui")
        (self.home / "sub").chmod(0o777)
        self.refused(["sub/gui"], "every user can replace it")

    def test_a_folder_that_every_user_can_write_is_not_a_working_folder(self):
        self.program()
        for mode in (0o777, 0o1777):
            self.home.chmod(mode)
            self.refused(["/bin/true"], "every user can write there")
        self.home.chmod(0o755)
        self.assertIn("nothing wrong", self.cardan("check", self.system(["/bin/true"])))

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_another_users_program_or_link_is_not_started(self):
        file = self.program()
        os.chown(file, OTHER_USER, -1)
        self.refused(["./gui"], "belongs to another user")
        file.unlink()
        real = self.program(folder=self.path)
        file.symlink_to(real)
        os.chown(file, OTHER_USER, -1, follow_symlinks=False)
        self.refused(["./gui"], "belongs to another user")
        file.unlink()
        os.chown(self.home, OTHER_USER, -1)
        self.program()
        configured = self.system(["./gui"])
        os.chown(configured, 0, -1)
        self.assertIn("another user's folder", self.cardan("check", configured, code=1))
        # The author of the configuration may have written its program, too.
        os.chown(configured, OTHER_USER, -1)
        os.chown(self.home / "gui", OTHER_USER, -1)
        self.assertIn("nothing wrong", self.cardan("check", configured))
        self.assertFalse(self.mark.exists())

    def test_a_file_that_is_not_a_program_is_reported(self):
        self.refused(["./gui"], "is not there")
        (self.home / "gui").mkdir()
        self.refused(["./gui"], "is not a program")
        (self.home / "gui").rmdir()
        self.program(mode=0o644)
        self.refused(["./gui"], "is not a program", "chmod +x")
        os.unlink(self.home / "gui")
        os.mkfifo(self.home / "gui")
        (self.home / "gui").chmod(0o755)
        self.refused(["./gui"], "is not a program")

    def test_one_that_is_replaced_while_the_system_runs_is_not_started(self):
        program = self.program()
        self.begin(self.system(["./gui"], restart={"limit": 1, "backoff_ms": 1}))
        pid = int(self.until(r"I am (\d+) in"))
        program.chmod(0o777)
        os.kill(pid, signal.SIGKILL)
        self.until("gui could not be started: .*every user can write it")
        self.until("gui is given up")
        self.assertEqual(len(self.mark.read_text().splitlines()), 1)

    def test_a_set_user_id_program_is_started_without_its_rights(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        tool = self.home / "ids"
        shutil.copy(shutil.which("id"), tool)
        os.chown(tool, OTHER_USER, -1)
        tool.chmod(0o4755)
        configured = self.system(["./ids", "-u"])
        os.chown(configured, OTHER_USER, -1)
        os.chown(self.home, OTHER_USER, -1)
        self.begin(configured)
        self.until("gui has ended in order")
        self.assertNotIn(str(OTHER_USER), re.findall(r"gui +\| (\d+)", self.log.read_text()))

    def test_many_and_long_words_end_in_an_error(self):
        self.program()
        file = self.system(["./gui", "x" * 300_000], restart={"when": "never"})
        self.begin(file)
        self.until("gui could not be started: .*(Argument list too long|cannot run)")
        self.assertFalse(self.mark.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
