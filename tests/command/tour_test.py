# SPDX-License-Identifier: Apache-2.0
"""`cardan tour`: all ten steps with real processes, and an end by Ctrl-C that leaves nothing."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CARDAN = sys.argv[1]


class Tour(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-t-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.environment = {**os.environ, "TMPDIR": folder.name}

    def cameras(self):
        """Cameras of this test's tours that still run."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if b"--camera" in (process / "cmdline").read_bytes() and self.path.name.encode() in (process / "environ").read_bytes():
                    found.append(process.name)
            except OSError:
                pass
        return found

    def nothing_is_left(self):
        self.assertEqual(list(self.path.iterdir()), [])
        self.assertEqual(self.cameras(), [])

    def test_all_steps(self):
        done = subprocess.run([CARDAN, "tour", "--yes"], env=self.environment, capture_output=True, text=True, timeout=150, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for number in range(1, 11):
            self.assertIn(f"\n{number}/10  ", done.stdout)
        for words in ("$ cardan doctor", "$ cardan topic list", "/tour/camera", "640 x 480 mono8", " missed\n", "kill -KILL", "the reader got the event:",
                      "the same reader goes on", "$ cardan record /tour/camera", "came from the recording"):
            self.assertIn(words, done.stdout)
        self.nothing_is_left()

    def test_ctrl_c_ends_it_and_leaves_nothing(self):
        for wait_for in ("2/10", "6/10", "9/10"):
            with self.subTest(wait_for):
                tour = subprocess.Popen([CARDAN, "tour", "--yes"], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        stdin=subprocess.DEVNULL, start_new_session=True)
                text = ""
                for line in tour.stdout:
                    text += line
                    if wait_for in line:
                        break
                time.sleep(0.3)
                os.killpg(tour.pid, signal.SIGINT)  # as a terminal sends it: to all of them
                text += tour.stdout.read()
                self.assertEqual(tour.wait(timeout=60), 130, text)
                self.assertIn("the tour ends here", text)
                self.nothing_is_left()

    def test_a_killed_tour_ends_its_camera(self):
        tour = subprocess.Popen([CARDAN, "tour", "--yes"], env=self.environment, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        for line in tour.stdout:
            if line.startswith("5/10"):
                break
        self.assertEqual(len(self.cameras()), 1)
        tour.kill()
        tour.stdout.close()
        tour.wait()
        until = time.monotonic() + 60
        while self.cameras() and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.cameras(), [])

    def test_without_a_terminal_it_asks_for_yes(self):
        done = subprocess.run([CARDAN, "tour"], env=self.environment, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("add --yes", done.stderr)
        self.nothing_is_left()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
