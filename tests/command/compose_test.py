#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`check`, `graph` and `run` on a configuration of several files: examples/composition.

    compose_test.py CARDAN CAR_JSON [unittest arguments]
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

CARDAN, CAR = sys.argv[1:3]
CORNER = os.path.join(os.path.dirname(CAR), "corner.json")
FOLDER = tempfile.mkdtemp(prefix="cardan-compose-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)
os.mkdir(ENVIRONMENT["CARDAN_RUN_DIR"])  # commands that look make none


def cardan(*words, code=0):
    done = subprocess.run([CARDAN, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    if done.returncode != code:
        raise AssertionError(f"cardan {' '.join(words)} ended with {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


class Composition(unittest.TestCase):
    def test_the_example_is_right_with_each_of_its_variables(self):
        for variables, processes, components in (((), 4, 5), (("rear=false",), 3, 4), (("sides=off", "limit_m=2"), 3, 3)):
            words = [word for variable in variables for word in ("--var", variable)]
            self.assertIn(f"{processes} processes, {components} components; nothing wrong", cardan("check", CAR, *words))
        self.assertIn("2 processes, 2 components; nothing wrong", cardan("check", CORNER))
        self.assertIn("has no variable 'raer' — did you mean 'rear'?", cardan("check", CAR, "--var", "raer=true", code=2))
        self.assertIn("--var limit_m=700: error: parameter 'limit_m' of component 'front.brake' is 700.0, out of its range", cardan("check", CAR, "--var", "limit_m=700", code=1))
        self.assertIn("cannot be 'near'", cardan("run", CAR, "--var", "limit_m=near", code=2))

    def test_the_graph_has_names_in_their_namespaces(self):
        drawn = cardan("graph", CAR, "--var", "sides=off")
        for part in ("/front/distance", "/rear/distance", "front.brake", "rear.radar"):
            self.assertIn(part, drawn)
        self.assertNotIn("left.radar", drawn)
        self.assertNotIn("rear.brake", drawn)

    def test_errors_in_a_part_are_reported_with_their_file_and_line(self):
        for name in (CAR, CORNER):
            shutil.copy(name, FOLDER)
        corner = os.path.join(FOLDER, "corner.json")
        with open(corner) as file:
            text = file.read()
        line = text[:text.index('"limit_m": "${limit_m}"')].count("\n") + 1
        with open(corner, "w") as file:
            file.write(text.replace('"limit_m": "${limit_m}"', '"limit": "${limit_m}"'))
        said = cardan("check", os.path.join(FOLDER, "car.json"), code=1)
        self.assertIn(f"{corner}:{line}:26: error: component 'front.brake' has no parameter 'limit' — there is 'limit_m'", said)
        report = json.loads(cardan("check", os.path.join(FOLDER, "car.json"), "--json", code=1))
        self.assertEqual([(p["file"], p["line"]) for p in report["problems"]], [(corner, line)])

    def test_it_runs(self):
        with open(os.path.join(FOLDER, "log"), "w+") as log:
            run = subprocess.Popen([CARDAN, "run", CAR, "--var", "rear=false", "--var", "limit_m=3", "--no-view", "--reports", FOLDER],
                                   env=ENVIRONMENT, stdout=log, stderr=log)
            try:
                deadline = time.monotonic() + 60
                names, topics = [], []
                while time.monotonic() < deadline and (len(names) < 4 or len(topics) < 3):
                    found = subprocess.run([CARDAN, "component", "list", "--names"], env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
                    names = sorted(found.stdout.split())
                    found = subprocess.run([CARDAN, "topic", "list", "--names"], env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
                    topics = [name for name in found.stdout.split() if name.endswith("/distance")]
                    time.sleep(0.05)
                log.seek(0)
                self.assertEqual(names, ["front.brake", "front.radar", "left.radar", "right.radar"], log.read())
                self.assertEqual(sorted(topics), ["/front/distance", "/left/distance", "/right/distance"])
                self.assertIn("3.0", cardan("param", "get", "front.brake/limit_m"))
                once = cardan("topic", "echo", "/front/command", "--once", "--json")
                self.assertIn("brake", json.loads(once)["message"])
            finally:
                run.send_signal(signal.SIGINT)
                self.assertEqual(run.wait(60), 0)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
