#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists on a terminal of 80 columns: nothing is wider, and no word is broken.

    columns_test.py CARDAN PUBLISHER CONFIGURATION [unittest arguments]
"""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

PUBLISHER, CONFIGURATION = sys.argv.pop(2), sys.argv.pop(2)

from command_case import CARDAN, CommandCase, main

COLUMNS = 80


class Columns(CommandCase):
    def start(self, *words, **streams):
        process = subprocess.Popen([*map(str, words)], env=self.environment, **streams)

        def end():
            process.send_signal(signal.SIGINT)
            process.wait(60)
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()

        self.addCleanup(end)
        return process

    def on_a_terminal(self, *words):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        process = subprocess.Popen([CARDAN, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
        process.wait(60)
        return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")

    def fits(self, *words):
        """On the terminal, and as a pipe gets it."""
        shown = self.on_a_terminal(*words)
        for line in shown.splitlines():
            self.assertLessEqual(len(line), COLUMNS, shown)
        return shown

    def same_words(self, *words):
        shown = self.fits(*words)
        piped = subprocess.run([CARDAN, *words], env=self.environment, capture_output=True, text=True, timeout=120).stdout
        numbers = re.compile(r"\d[\d.,]*")  # they change
        self.assertEqual({numbers.sub("", word) for word in shown.split()}, {numbers.sub("", word) for word in piped.split()})

    def test_lists(self):
        publisher = self.start(PUBLISHER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(publisher.stdout.readline(), "ready\n")
        self.assertIn("/test/image  sensor_msgs/msg/Image", self.fits("topic", "list"))
        self.same_words("topic", "list", "--verbose")
        piped = self.run_cardan("topic", "list", "--verbose")
        self.assertGreater(max(len(line) for line in piped.splitlines()), COLUMNS, piped)  # a pipe gets each row as a line
        self.start(CARDAN, "run", CONFIGURATION, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while "running" not in self.run_cardan("component", "list"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        self.same_words("component", "list")
        self.same_words("param", "list")

    def test_the_doctor(self):
        shown = self.on_a_terminal("doctor")
        for line in shown.splitlines():
            longest = max((len(word) for word in line.split()), default=0)
            self.assertTrue(len(line) <= COLUMNS or longest > 50, line)
        piped = subprocess.run([CARDAN, "doctor"], env=self.environment, capture_output=True, text=True, timeout=120).stdout
        letters = re.compile(r"[a-z]{4,}")
        self.assertEqual(set(letters.findall(shown)), set(letters.findall(piped)))


if __name__ == "__main__":
    main()
