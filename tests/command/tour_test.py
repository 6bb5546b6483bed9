# SPDX-License-Identifier: Apache-2.0
"""`cardan tour`: all ten steps with real processes; an end at any step that leaves nothing; a step that goes wrong.

    tour_test.py CARDAN [unittest arguments]
"""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

CARDAN = sys.argv[1]
PATIENCE = 150  # seconds; it only ends what hangs


class Tour(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-t-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        # Another run directory in the environment: the tour must not touch it.
        self.environment = {**os.environ, "TMPDIR": str(self.path / "tmp"), "CARDAN_RUN_DIR": str(self.path / "run")}
        (self.path / "tmp").mkdir()

    def processes(self, words=b""):
        """Processes of this test's tours that still run, with these words in their command lines."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                if line and words in line and self.path.name.encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
            except OSError:
                pass
        return found

    def nothing_is_left(self):
        self.assertEqual([str(p) for p in self.path.rglob("*")], [str(self.path / "tmp")])
        self.assertEqual(self.processes(), [])

    def tour(self, *words):
        return subprocess.run([CARDAN, "tour", *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)

    def begin(self, *words):
        """A tour that runs; ended with the test."""
        tour = subprocess.Popen([CARDAN, "tour", *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                stdin=subprocess.DEVNULL, start_new_session=True)
        end = threading.Timer(PATIENCE, tour.kill)
        end.start()

        def clean():
            end.cancel()
            tour.kill()
            tour.wait()
            tour.stdout.close()

        self.addCleanup(clean)
        return tour

    @staticmethod
    def read_until(tour, words):
        text = ""
        for line in tour.stdout:
            text += line
            if words in line:
                break
        return text

    def number(self, text, expression):
        found = re.search(expression, text)
        self.assertIsNotNone(found, f"{expression} is not in\n{text}")
        return tuple(int(n) for n in found.groups())

    def check_steps(self, text, code):
        """The measurements of the steps fit together."""
        titles = re.findall(r"^(\d+)/10  ", text, flags=re.M)
        self.assertEqual(titles, [str(n) for n in range(1, 11)], text)
        for words in ("$ cardan doctor", "out.publish(std::move(frame));", "$ cardan topic list", "in.wait()", "in.missed()", "in.event()"):
            self.assertIn(words, text)
        ok, = self.number(text, r"(\d+) checks are ok")
        self.assertGreater(ok, 5)
        first_camera, = self.number(text, r"the camera is process (\d+); its first frame \(640 x 480\)")
        for topic in "/tour/camera", "/tour/queue":
            self.assertRegex(text, rf"{topic} +sensor_msgs/msg/Image +1 ")
        read = [int(n) for n in re.findall(r"frame (\d+): 640 x 480, .* old when it was read, and whole", text)]
        self.assertEqual(len(read), 3)
        self.assertEqual(read, sorted(set(read)))
        before, after, passed = self.number(text, r"frame (\d+), then .* of other work, then frame (\d+): it is .* old; (\d+) older ones did not wait")
        self.assertEqual(passed, after - before - 1)
        self.assertGreaterEqual(after, before + 15)
        sent, taken, missed = self.number(text, r"other work: (\d+) frames were sent, (\d+) taken, (\d+) missed")
        self.assertEqual(sent, taken + missed)
        self.assertGreater(missed, 0)
        killed, = self.number(text, r"\$ kill -KILL (\d+)")
        died, = self.number(text, r"later the reader got the event: publisher of '/tour/camera' died: cardan \(pid (\d+)\)")
        self.assertEqual((killed, died), (first_camera, first_camera))
        self.assertIn("which the reader holds, is still whole: 307200 bytes", text)
        second_camera, = self.number(text, r"the same reader has frame \d+ of process (\d+)")
        self.assertNotEqual(second_camera, first_camera)
        self.assertRegex(text, r"\$ cardan record /tour/queue -o .*/tour.mcap")
        in_file, = self.number(text, r"(\d+) frames are in the file")
        self.assertGreater(in_file, 0)
        # A disk or a computer that is too slow loses frames; the tour then says so and ends with 3.
        self.assertEqual("none was lost" in text, code == 0)
        self.assertEqual("the recorder lost some" in text, code == 3)
        played, missed, recorded = self.number(text, r"(\d+) frames came from the file in .*, and (\d+) were missed; (\d+) were recorded")
        self.assertEqual(recorded, in_file)
        self.assertEqual(played + missed, recorded)
        self.assertIn("it left no files and no processes", text)

    def test_all_steps(self):
        done = self.tour("--yes")
        self.assertIn(done.returncode, (0, 3), done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        self.check_steps(done.stdout, done.returncode)
        self.nothing_is_left()

    def test_without_a_terminal_it_waits_for_no_key(self):
        tour = self.begin()
        self.assertIn("no terminal: the steps follow without waiting for a key", self.read_until(tour, "3/10"))
        tour.send_signal(signal.SIGTERM)
        tour.stdout.read()
        self.assertEqual(tour.wait(), 130)
        self.nothing_is_left()

    def test_each_step_by_itself(self):
        for step in range(1, 11):
            with self.subTest(step):
                done = self.tour("--step", str(step))
                self.assertIn(done.returncode, (0, 3) if step >= 9 else (0,), done.stdout + done.stderr)
                self.assertEqual(re.findall(r"^(\d+)/10  ", done.stdout, flags=re.M), [str(step)])
                self.nothing_is_left()

    def test_the_list_has_the_titles_of_the_steps(self):
        listed = self.tour("--list")
        self.assertEqual(listed.returncode, 0)
        lines = listed.stdout.splitlines()
        self.assertEqual([line[:2] for line in lines], [f"{n:2}" for n in range(1, 11)])
        self.assertIn(f"\n3/10  {lines[2][4:]}\n", self.tour("--step", "3").stdout)

    def test_completion_names_the_options_and_not_the_hidden_one(self):
        done = subprocess.run([CARDAN, "__complete", "tour", "--"], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        names = [line.split("\t")[0] for line in done.stdout.splitlines()]
        self.assertEqual(sorted(names), ["--help", "--list", "--step", "--yes"])

    def test_wrong_options(self):
        for words in (["--step", "0"], ["--step", "11"], ["--step", "x"], ["--step", "3", "--list"], ["now"]):
            done = self.tour(*words)
            self.assertEqual(done.returncode, 2, f"{words}: {done.stdout}{done.stderr}")
            self.assertNotIn("/10  ", done.stdout)
        self.nothing_is_left()

    def test_ctrl_c_at_each_step_leaves_nothing(self):
        for step in range(1, 11):
            with self.subTest(step):
                tour = self.begin("--step", str(step))
                text = self.read_until(tour, f"{step}/10")
                if step in (5, 6, 9, 10):
                    time.sleep(0.05 * step)  # in the middle of it: these take half a second and more
                os.killpg(tour.pid, signal.SIGINT)  # as a terminal sends it
                text += tour.stdout.read()
                code = tour.wait()
                if code != 130:  # the step was over before
                    self.assertEqual(code, 0, text)
                    self.assertIn(step, (1, 2, 3, 4, 7, 8))
                else:
                    self.assertIn("the tour ends here; it left no files and no processes", text)
                self.nothing_is_left()

    def test_ctrl_c_while_it_records_and_while_it_plays(self):
        for step, words in ((9, "$ cardan record"), (10, "$ cardan play")):
            with self.subTest(step):
                tour = self.begin("--step", str(step))
                text = self.read_until(tour, words)
                time.sleep(0.5)
                tour.send_signal(signal.SIGINT)
                text += tour.stdout.read()
                self.assertEqual(tour.wait(), 130, text)
                self.nothing_is_left()

    @staticmethod
    def ignores_ctrl_c(pid):
        with open(f"/proc/{pid}/status") as status:
            ignored = next(line for line in status if line.startswith("SigIgn:"))
        return int(ignored.split()[1], 16) & (1 << (signal.SIGINT - 1)) != 0

    def test_a_second_ctrl_c_does_not_leave_half_of_it(self):
        tour = self.begin("--step", "6")
        self.read_until(tour, "in.missed()")
        until = time.monotonic() + PATIENCE
        while not self.processes(b"--camera") and time.monotonic() < until:
            time.sleep(0.01)
        camera, = self.processes(b"--camera")
        os.kill(camera, signal.SIGSTOP)  # the tour waits for its end
        tour.send_signal(signal.SIGINT)
        until = time.monotonic() + PATIENCE
        while not self.ignores_ctrl_c(tour.pid) and time.monotonic() < until:
            time.sleep(0.01)
        for _ in range(2):
            tour.send_signal(signal.SIGINT)
            time.sleep(0.1)
        text = tour.stdout.read()
        self.assertEqual(tour.wait(), 130, text)
        self.nothing_is_left()

    def test_a_killed_tour_ends_its_processes(self):
        for step, words, child in ((9, "$ cardan record", b"cardan record"), (10, "$ cardan play", b"cardan play")):
            with self.subTest(step):
                tour = self.begin("--step", str(step))
                self.read_until(tour, words)
                until = time.monotonic() + PATIENCE
                while not self.processes(child) and time.monotonic() < until:
                    time.sleep(0.01)
                self.assertEqual(len(self.processes(child)), 1)
                tour.kill()
                tour.wait()
                while self.processes() and time.monotonic() < until:
                    time.sleep(0.02)
                self.assertEqual(self.processes(), [])

    def test_a_step_whose_camera_dies_fails(self):
        tour = self.begin("--step", "6")
        text = self.read_until(tour, "in.missed()")
        until = time.monotonic() + PATIENCE
        while not self.processes(b"--camera") and time.monotonic() < until:
            time.sleep(0.01)
        camera, = self.processes(b"--camera")
        os.kill(camera, signal.SIGKILL)
        text += tour.stdout.read()
        self.assertEqual(tour.wait(), 1, text)
        self.assertIn("step 6 failed", text)
        self.assertIn("the camera's process died by signal 9", text)
        self.nothing_is_left()

    def test_a_step_whose_command_fails_fails(self):
        for step, child in ((9, b"cardan record"), (10, b"cardan play")):
            with self.subTest(step):
                tour = self.begin("--step", str(step))
                until = time.monotonic() + PATIENCE
                while not self.processes(child) and time.monotonic() < until:
                    time.sleep(0.01)
                time.sleep(0.3)
                os.kill(self.processes(child)[0], signal.SIGKILL)
                text = tour.stdout.read()
                self.assertEqual(tour.wait(), 1, text)
                self.assertIn(f"step {step} failed", text)
                self.nothing_is_left()

    def test_a_folder_that_cannot_be_made_is_reported(self):
        self.environment["TMPDIR"] = str(self.path / "nothing")
        done = self.tour("--step", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot make the folder {self.path}/nothing/cardan-tour", done.stderr)
        self.assertIn("set TMPDIR", done.stderr)

    def test_a_reader_that_goes_ends_it_in_order(self):
        tour = self.begin("--yes")
        self.read_until(tour, "3/10")
        tour.stdout.close()
        self.assertEqual(tour.wait(), 1)
        self.nothing_is_left()

    def test_on_a_terminal_enter_continues_and_ctrl_c_ends(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(CARDAN, [CARDAN, "tour"], self.environment)
        text = b""

        def read_until(words):
            nonlocal text
            until = time.monotonic() + PATIENCE
            while words not in text and select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
                try:
                    text += os.read(terminal, 4096)
                except OSError:  # the terminal is closed
                    break
            self.assertIn(words, text)
            text = text[text.index(words) + len(words):]

        try:
            read_until(b"1/10")
            read_until(b"[Enter] ")
            self.assertEqual(select.select([terminal], [], [], 0.3)[0], [], "it continues without a key")
            os.write(terminal, b"\n")
            read_until(b"2/10")
            read_until(b"its first frame")
            read_until(b"[Enter] ")
            os.write(terminal, b"\x03")  # as the key: the terminal sends SIGINT
            read_until(b"the tour ends here; it left no files and no processes")
            _, status = os.waitpid(pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 130)
        finally:
            os.close(terminal)
        self.nothing_is_left()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
