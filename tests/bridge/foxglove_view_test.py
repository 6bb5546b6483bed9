#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan view`: its options.

    foxglove_view_test.py FOLDER_WITH_PROGRAMS SOURCE_FOLDER [unittest arguments]
"""
import os
import re
import signal
import subprocess
import sys
import unittest
import urllib.request

from foxglove_case import LONG, PROGRAMS, FoxgloveCase


class View(FoxgloveCase):
    def view(self, *words, **environment):
        self.environment.update(environment)
        return self.start("cardan", "view", *words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def title(self, view):
        """Its last word before it serves: from then on a signal ends it in order."""
        return next(line for line in view.stderr if "0 clients" in line)

    def stop(self, view):
        view.send_signal(signal.SIGINT)
        self.assertEqual(view.wait(LONG), 0)

    def test_view_says_where_its_page_is(self):
        view = self.view("--port", 0)
        self.assertRegex(self.title(view), r"http://127\.0\.0\.1:[1-9]\d*, 0 clients")
        self.stop(view)
        bridge = self.bridge()
        view = self.view("--port", bridge.port)
        self.assertIn("choose another --port", view.stderr.read())
        self.assertEqual(view.wait(LONG), 1)

    def test_its_help_is_its_own(self):
        def help_of(*words):
            return subprocess.run([str(PROGRAMS / "cardan"), *words, "--help"], capture_output=True, text=True, timeout=LONG, check=True, env=self.environment).stdout

        view, bridge = help_of("view"), help_of("bridge", "foxglove")
        for part in ("cardan view --open", "cardan view --set-parameters", "Open the page in this user's browser"):
            self.assertIn(part, view)
        self.assertNotIn("cardan bridge foxglove --", view)
        self.assertIn("cardan bridge foxglove --rate 10", bridge)
        self.assertNotIn("--open", bridge)

    def browser(self, folder):
        """A folder with a program xdg-open, which writes down what it was called with."""
        programs, asked = self.path / folder, self.path / f"{folder}.asked"
        programs.mkdir()
        os.mkfifo(asked)
        opener = programs / "xdg-open"
        opener.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >"{asked}"\n')
        opener.chmod(0o755)
        return programs, asked

    def test_it_opens_the_page_in_a_browser(self):
        programs, asked = self.browser("programs")
        view = self.view("--port", 0, "--open", DISPLAY=":0", PATH=f"{programs}:{os.environ['PATH']}")
        self.assertRegex(asked.read_text(), r"^http://127\.0\.0\.1:\d+/\|$")  # waits until it is written
        self.assertRegex(self.title(view), r"http://127\.0\.0\.1:[1-9]\d*, 0 clients")
        self.stop(view)
        view = self.view("--port", 0, "--open", "--address", "0.0.0.0", DISPLAY=":0")
        self.assertRegex(asked.read_text(), r"^http://127\.0\.0\.1:\d+/\|$")
        self.title(view)
        self.stop(view)

    def test_without_a_browser_it_says_the_address_and_serves(self):
        for environment, why in (({"DISPLAY": "", "WAYLAND_DISPLAY": ""}, "no screen here"), ({"DISPLAY": ":0", "PATH": "/nowhere"}, "xdg-utils")):
            view = self.view("--port", 0, "--open", **environment)
            line = view.stderr.readline()
            self.assertIn(why, line)
            self.title(view)
            address = re.search(r"open (http://127\.0\.0\.1:\d+/) yourself", line)[1]
            with urllib.request.urlopen(address, timeout=LONG) as page:
                self.assertIn("<title>", page.read().decode())
            self.stop(view)

    def test_it_runs_no_program_of_the_folder_where_it_is_typed(self):
        _, asked = self.browser("here")
        (self.path / "xdg-open").symlink_to(self.path / "here" / "xdg-open")
        view = self.view("--port", 0, "--open", DISPLAY=":0", PATH=":.:here")
        self.assertIn("xdg-utils", view.stderr.readline())
        self.title(view)
        self.stop(view)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
