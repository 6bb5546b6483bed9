#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan service`: what it shows of a running server, and questions that are written as JSON.

    service_test.py CARDAN MAP_SERVER PUBLISHER [unittest arguments]
"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

SERVER = sys.argv.pop(2)
PUBLISHER = sys.argv.pop(2)

from command_case import CommandCase, main


class Service(CommandCase):
    def start(self):
        server = subprocess.Popen([SERVER], env=self.environment, stdin=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        end = time.monotonic() + 120
        while "/map/region\n" not in self.run_cardan("service", "list", "--names"):
            self.assertLess(time.monotonic(), end, "the server does not come")
        return server

    def test_a_running_server_is_shown(self):
        server = self.start()
        shown = self.run_cardan("service", "list")
        self.assertRegex(shown, rf"/map/region +example_msgs/msg/Region +example_msgs/msg/Map +\S+ +{server.pid} +0 +0 +0 +- +-\n")
        (one,) = self.json_of("service", "list")["services"]
        self.assertEqual((one["service"], one["pid"], one["pending"], one["clients"]), ("/map/region", server.pid, 2, []))
        self.assertEqual((one["question"]["type"], one["answer"]["max_bytes"]), ("example_msgs/msg/Region", 1 << 20))
        shown = self.run_cardan("service", "info", "/map/region", "--schema")
        self.assertIn("float64 radius", shown)
        self.assertIn("uint8[] cells", shown)
        self.assertNotIn("/map/region", self.run_cardan("topic", "list"), "its card is not a topic of users")

    def test_a_question_gets_its_answer(self):
        self.start()
        answer = self.json_of("service", "call", "/map/region", '{"radius": 10}', "--list", 4)
        self.assertEqual((answer["service"], answer["answer"]["width"]), ("/map/region", 20))
        self.assertEqual(answer["answer"]["cells"]["count"], 400)
        self.assertGreater(answer["took_ms"], 0)
        self.assertRegex(self.run_cardan("service", "call", "/map/region", '{"x": 3, "radius": 5}'), r"width: +10\n")
        self.run_cardan("service", "call", "/map/region", code=1)  # declined
        done = self.json_of("service", "info", "/map/region")["statistics"]
        self.assertEqual((done["taken"], done["answered"], done["declined"], done["expired"]), (3, 2, 1, 0))
        self.assertGreater(done["answer_us"]["p50"], 0)
        self.assertRegex(self.run_cardan("service", "info", "/map/region"), r"answered +2 of 3 questions, 1 declined")
        (top,) = [json.loads(line) for line in self.run_cardan("top", "--once", "--json").splitlines()]
        (one,) = top["services"]
        self.assertEqual((one["service"], one["taken"], one["answered"]), ("/map/region", 0, 0), "within the measurement")

    def test_the_reason_of_a_missing_answer_is_printed(self):
        self.start()
        self.run_cardan("service", "call", "/map/region", "{}", code=1)
        self.assertIn("declines: the radius is not within 0 to 500 m", self.errors)
        self.assertEqual(self.json_of("service", "call", "/map/region", code=1)["reason"], "declined")
        self.run_cardan("service", "call", "/map/regoin", code=1)
        self.assertIn("did you mean /map/region?", self.errors)

    def test_a_wrong_question_is_not_asked(self):
        self.start()
        self.run_cardan("service", "call", "/map/region", '{"radios": 1}', code=2)
        self.assertIn("radios", self.errors)
        self.assertIn("radius", self.errors)
        self.run_cardan("service", "call", "/map/region", "{", code=2)
        self.assertIn("not JSON", self.errors)
        self.run_cardan("service", "call", "/map/region", "{}", "--timeout", "0", code=2)
        self.run_cardan("service", "call", code=2)

    def test_a_stopped_server_is_an_error(self):
        server = self.start()
        server.send_signal(signal.SIGSTOP)
        self.addCleanup(server.send_signal, signal.SIGCONT)
        self.run_cardan("service", "call", "/map/region", '{"radius": 1}', code=1)
        self.assertRegex(self.errors, "does not answer|did not answer|has no server|does not describe")

    def test_a_server_that_keeps_a_question_is_waited_for_as_long_as_said(self):
        self.silent_server()
        began = time.monotonic()
        self.assertEqual(self.json_of("service", "call", "/test/silent", "--timeout", "0.3", code=1)["reason"], "timed out")
        self.assertGreater(time.monotonic() - began, 0.3)

    def silent_server(self, order="serve", **options):
        silent = subprocess.Popen([PUBLISHER], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        self.addCleanup(silent.wait)
        self.addCleanup(silent.stdin.close)
        self.addCleanup(silent.stdout.close)
        self.assertEqual(silent.stdout.readline(), "ready\n")
        silent.stdin.write(order + "\n")
        silent.stdin.flush()
        self.assertEqual(silent.stdout.readline(), "done\n")

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_a_server_of_another_user_is_asked_only_on_request(self):
        os.chmod(self.path, 0o755)
        run = self.path / "run"
        for folder in run, run / "default":
            folder.mkdir()
            os.chmod(folder, 0o1777)
        try:
            self.silent_server(user=12345, group=12345, extra_groups=[])
        except PermissionError:
            self.skipTest("the program is in a folder that other users do not reach")
        self.assertIn("12345", self.run_cardan("service", "list"))
        for command in ["info"], ["call", "--timeout", "0.2"]:
            self.run_cardan("service", *command, "/test/silent", code=1)
            self.assertIn("--others asks it", self.errors)
        self.assertIn("12345", self.run_cardan("service", "info", "/test/silent", "--others"))
        self.assertEqual(self.json_of("service", "call", "/test/silent", "--others", "--timeout", "0.2", code=1)["reason"], "timed out")
        self.silent_server("serve_own")  # of this user, and the name is free: it is the one that is described and asked
        self.assertNotIn("12345", self.run_cardan("service", "info", "/test/silent"))
        self.assertEqual(self.json_of("service", "call", "/test/silent", "--timeout", "0.2", code=1)["reason"], "timed out")

    def test_nothing_runs(self):
        self.run_cardan("service", "info", "/map/region", code=1)
        self.assertEqual(self.run_cardan("service", "list", "--names"), "")
        self.assertEqual(self.json_of("service", "list")["services"], [])


if __name__ == "__main__":
    main()
