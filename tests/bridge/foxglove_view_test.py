#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan view`: its options, what it serves, and the log of `cardan run` as a topic.

    foxglove_view_test.py FOLDER_WITH_PROGRAMS SOURCE_FOLDER [unittest arguments]
"""
import os
import re
import signal
import struct
import subprocess
import sys
import unittest
import urllib.request

from foxglove_case import LONG, PROGRAMS, SOURCES, FoxgloveCase


def log_line(message):
    """(level, name, text) of rcl_interfaces/msg/Log in CDR."""
    at = 13
    words = []
    for _ in range(2):
        at += -(at - 4) % 4
        (size,) = struct.unpack_from("<I", message, at)
        words.append(message[at + 4 : at + 3 + size].decode())
        at += 4 + size
    return message[12], *words


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
        for environment, why in (({"DISPLAY": "", "WAYLAND_DISPLAY": ""}, "has no screen"), ({"DISPLAY": ":0", "PATH": "/nowhere"}, "xdg-utils")):
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

    def test_the_page_has_its_libraries_and_their_licences(self):
        bridge = self.bridge()
        get = lambda path: urllib.request.urlopen(f"http://127.0.0.1:{bridge.port}{path}", timeout=LONG).read().decode()
        made = re.search(r"new Set\(\[(.*)\]\)", get("/libraries.js"))[1]
        licences = get("/licences.txt")
        for name, files, words in (("dygraphs", ("/dygraph.js", "/dygraph.css"), ("dygraphs is MIT-licenced", "Dan Vanderkam")), ("dagre", ("/dagre.js",), ("Chris Pettitt", "lodash"))):
            if f'"{name}"' not in made:
                print(f"this build has no {name}")
                continue
            for word in words:
                self.assertIn(word, licences)
            for file in files:
                self.assertGreater(len(get(file)), 500)
                self.assertNotIn("sourceMappingURL", get(file), "it would ask for a file that is not there")

    # ---- places that never change

    def test_a_client_that_comes_later_gets_what_was_published_on_tf_static(self):
        def place(child):
            data = struct.pack("<4BIiI", 0, 1, 0, 0, 1, 1000, 0)
            for name in ("base_link", child):
                data += b"\0" * (-(len(data) - 4) % 4) + struct.pack("<I", len(name) + 1) + name.encode() + b"\0"
            return data + b"\0" * (-(len(data) - 4) % 8) + struct.pack("<7d", 1, 2, 3, 0, 0, 0, 1)

        bridge = self.bridge("--in", "/tf_static")
        publisher, all_of = self.viewer(bridge), [place(f"sensor {i}") for i in range(5)]
        publisher.send("advertise", channels=[{"id": 1, "topic": "/tf_static", "encoding": "cdr", "schemaName": "tf2_msgs/msg/TFMessage"}])
        publish = lambda data: publisher.socket.send(struct.pack("<BI", 1, 1) + data)
        publish(all_of[0])
        early = self.viewer(bridge).subscribe("/tf_static")
        self.assertEqual(early.message()[2], all_of[0], "from its publisher's memory")
        for data in all_of[1:]:
            publish(data)
            self.assertEqual(early.message()[2], data)
        late = self.viewer(bridge).subscribe("/tf_static")
        self.assertEqual([late.message()[2] for _ in all_of], all_of, "while another one reads")

    # ---- the log of `cardan run`

    def run_system(self):
        return self.start("cardan", "run", SOURCES / "examples" / "component" / "brake.json", "--no-view", stdin=subprocess.DEVNULL)

    def test_the_log_of_a_system_is_a_topic_for_views_of_logs(self):
        bridge = self.bridge()
        early = self.viewer(bridge)
        self.run_system()
        channel = early.channel("/cardan/log")
        self.assertEqual((channel["schemaName"], channel["encoding"]), ("rcl_interfaces/msg/Log", "cdr"))
        self.assertIn("string msg", channel["schema"])

        def lines(viewer, until):
            found = []
            while not any(until in text for _, _, text in found):
                found.append(log_line(viewer.message()[2]))
            return found

        found = lines(early.subscribe("/cardan/log"), "state: starting → running")
        self.assertTrue(all(level == 20 for level, _, _ in found), found)
        self.assertIn("cardan", {name for _, name, _ in found})
        # A client that comes later gets the last lines, also while another one reads.
        self.assertTrue(lines(self.viewer(bridge).subscribe("/cardan/log"), "state: starting → running"))

    def test_rules_hold_for_the_log(self):
        self.run_system()
        bridge = self.bridge("--exclude", "/cardan/*")
        viewer = self.viewer(bridge)
        viewer.channel("/distance")
        self.assertNotIn("/cardan/log", viewer.channels)

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_the_log_is_its_owners(self):
        self.run_system()
        bridge = self.bridge()
        self.viewer(bridge).channel("/cardan/log")
        stranger = self.of_another_user(bridge)
        stranger.status("Topics of access 'owner' are not shown to other users")
        self.assertNotIn("/cardan/log", stranger.channels)

    def test_another_type_under_the_logs_name_is_not_sent(self):
        publisher = self.publisher()
        self.assertEqual(publisher.order("log"), "done")
        bridge = self.bridge()
        self.sensors(64, 48, 20, 0, 0)
        viewer = self.viewer(bridge)
        viewer.channel("/camera")
        self.assertNotIn("/cardan/log", viewer.channels)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
