#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The live views on terminals of 80 x 24 and 200 x 50, one of which shrinks meanwhile.

    view_test.py CARDAN BRAKE_JSON
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

CARDAN, BRAKE = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-view-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run"), "TERM": "xterm"}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
LARGE, SMALL = (200, 50), (80, 24)


class Screen:
    """The screen of a terminal: the sequences that Cardan writes, lines that are broken at the edge, and broken again when its size changes."""

    def __init__(self, size):
        self.columns, self.rows = size
        self.lines = [""]  # logical ones: broken at the edge only when shown
        self.row, self.column = 0, 0  # in the rows that are shown
        self.above = 0  # rows that have scrolled out

    def broken(self):
        """Rows as (line, part of it)."""
        rows = []
        for number, line in enumerate(self.lines):
            parts = max(1, -(-len(line) // self.columns))
            rows += [(number, line[i * self.columns:(i + 1) * self.columns]) for i in range(parts)]
        return rows

    def text(self):
        return [part for _, part in self.broken()][self.above:]

    def resize(self, size):
        before = self.broken()
        line = before[min(self.above + self.row, len(before) - 1)][0]
        self.columns, self.rows = size
        rows = [number for number, _ in self.broken()]
        place = rows.index(line)
        self.above = max(0, min(len(rows) - 1, place) - self.rows + 1, len(rows) - self.rows)
        self.row, self.column = place - self.above, 0

    def down(self):
        self.row += 1
        if self.row == self.rows:
            self.row -= 1
            self.above += 1
        while len(self.broken()) <= self.above + self.row:
            self.lines.append("")

    def place(self):
        """The logical line at the cursor, and the column in it."""
        rows = self.broken()
        at = self.above + self.row
        line = rows[at][0]
        first = next(i for i, (number, _) in enumerate(rows) if number == line)
        return line, (at - first) * self.columns + self.column

    def write(self, text):
        line, at = self.place()
        self.lines[line] = self.lines[line].ljust(at)[:at] + text + self.lines[line][at + len(text):]
        rows = self.broken()
        first = next(i for i, (number, _) in enumerate(rows) if number == line)
        end = at + len(text)
        down, self.column = divmod(end, self.columns)
        if self.column == 0 and end:
            down, self.column = down - 1, self.columns
        self.row = first + down - self.above
        while self.row >= self.rows:
            self.row -= 1
            self.above += 1

    def feed(self, text):
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", text):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self.column = 0  # the terminal makes \r\n of it
                self.down()
            elif part[0] != "\x1b":
                self.write(part)
            else:
                self.order(part[-1], part[2:-1])

    def order(self, what, number):
        if what == "A":
            self.row = max(0, self.row - int(number or 1))
        elif what == "H":
            assert number == "", number
            self.row = self.column = 0
        elif what == "K":
            line, at = self.place()
            self.lines[line] = self.lines[line][:at]
        elif what == "J":
            if number == "2":
                del self.lines[self.broken()[self.above][0]:]
                self.lines += [""] * self.rows
            else:
                line, at = self.place()
                self.lines[line] = self.lines[line][:at]
                del self.lines[line + 1:]
            while len(self.broken()) <= self.above + self.row:
                self.lines.append("")
        else:
            assert what == "m", what


class Terminal:
    def __init__(self, test, size, *words):
        self.screen = Screen(size)
        self.output, other = pty.openpty()
        self.resize(size)
        self.process = subprocess.Popen([CARDAN, *words], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=other, stderr=other, start_new_session=True)
        os.close(other)
        self.rest = b""
        self.drawn = 0  # how often a view cleared the rest of the screen, as each of them does when it draws
        test.addCleanup(self.close)

    def resize(self, size):
        fcntl.ioctl(self.output, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.screen.resize(size)

    def read(self):
        """The output so far; False: nothing more will."""
        while select.select([self.output], [], [], 0)[0]:
            try:
                data = os.read(self.output, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.rest += data
            # Whole letters and whole orders only.
            end = max(self.rest.rfind(b"\n"), self.rest.rfind(b"J")) + 1
            whole, self.rest = self.rest[:end], self.rest[end:]
            self.drawn += whole.count(b"\x1b[J")
            self.screen.feed(whole.decode(errors="replace").replace("\r\n", "\n"))
        return True

    def shows(self, *parts):
        text = "\n".join(self.screen.text())
        return all(part in text for part in parts)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
            time.sleep(0.02)
        self.read()
        return self.process.wait(1)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.output)


def wait(terminals, until):
    deadline = time.monotonic() + 60
    while not until():
        for terminal in terminals:
            terminal.read()
        if time.monotonic() > deadline:
            raise AssertionError("\n----\n".join("\n".join(t.screen.text()) for t in terminals))
        time.sleep(0.02)


# Each view must show these at any size.
VIEWS = {
    "run": ("COMPONENT", "STATE", "LOST", "FAILED", "radar", "brake"),
    "component": ("COMPONENT", "CALLBACK", "DROPPED", "MISSED", "FAILED", "radar"),
    "topic": ("TOPIC", "RATE", "LOST", "/distance", "cardan topic stats"),
    "record": ("topic", "recorded", "lost", "/distance", "left on the disk"),
}


class Views(unittest.TestCase):
    maxDiff = None

    def all_views(self, size):
        run = Terminal(self, size, "run", BRAKE, "--reports", FOLDER)
        wait([run], lambda: run.shows("radar", "brake", "LOST"))
        return {"run": run,
                "component": Terminal(self, size, "component", "stats", "--seconds", "0.3"),
                "topic": Terminal(self, size, "topic", "stats", "--all", "--seconds", "0.3"),
                "record": Terminal(self, size, "record", "-o", os.path.join(FOLDER, f"{size[0]}.mcap"), "/distance")}

    def end(self, views):
        for name in ("record", "topic", "component", "run"):
            self.assertIn(views[name].end(), (0, 3), name)

    def check(self, views):
        for name, parts in VIEWS.items():
            screen = views[name].screen
            text = "\n".join(screen.text())
            for part in parts:
                self.assertIn(part, text, f"{name} at {screen.columns} x {screen.rows}\n{text}")
            head = [line for line in screen.text() if line.startswith(parts[0]) or parts[0] == "COMPONENT" and line.startswith("PROCESS")]
            self.assertEqual(len(head), 1, f"{name} at {screen.columns} x {screen.rows}: one head, and no line of an earlier one\n{text}")
            for line in screen.text():
                self.assertLessEqual(len(line), screen.columns)

    def test_all_that_matters_is_there_at_80_by_24(self):
        views = self.all_views(SMALL)
        wait(views.values(), lambda: all(views[name].shows(*parts) for name, parts in VIEWS.items()))
        self.check(views)
        self.end(views)

    def test_unmeasured_values_are_not_shown_as_zero(self):
        run = Terminal(self, SMALL, "run", BRAKE, "--reports", FOLDER)
        row = []

        def shown():
            row[:] = [line for line in run.screen.text() if " radar " in line]
            return row

        wait([run], shown)
        head = next(line for line in run.screen.text() if line.startswith("PROCESS"))
        calls = row[0][head.index("COMPONENT") + len("COMPONENT"):head.index("CALLS/S") + len("CALLS/S")].split()[-1]
        self.assertTrue(calls == "-" or float(calls) > 0, row)
        self.assertEqual(run.end(), 0)

    def test_latencies_have_room_at_80_by_24(self):
        run = Terminal(self, SMALL, "run", BRAKE, "--reports", FOLDER)
        wait([run], lambda: run.shows("radar", "brake"))
        view = Terminal(self, SMALL, "component", "stats", "--seconds", "0.3")
        wait([run, view], lambda: view.shows("RUNNING", "TRANSPORT", "RATE Hz", "DROPPED", "MISSED", "FAILED", "latencies p99", "radar"))
        self.assertIn(view.end(), (0, 3))
        self.assertEqual(run.end(), 0)

    def test_a_terminal_that_shrinks_keeps_no_debris(self):
        views = self.all_views(LARGE)
        wait(views.values(), lambda: all(views[name].shows(*parts) for name, parts in VIEWS.items()))
        self.check(views)
        self.assertTrue(views["run"].shows("TRANSPORT", "MEMORY", "PID"), "there is room for all")
        for view in views.values():
            view.read()
            view.resize(SMALL)
        # Drawn again, and then once more over that.
        begun = {name: view.drawn for name, view in views.items()}
        wait(views.values(), lambda: all(view.drawn >= begun[name] + 2 for name, view in views.items()))
        self.check(views)
        self.end(views)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
