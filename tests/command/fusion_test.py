#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A fusion makes of a recording the sets that it made live, and somebody else's reader reads that recording.

    fusion_test.py CARDAN LIBRARY [unittest arguments]
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

from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

CARDAN, LIBRARY = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-fusion-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": os.path.join(FOLDER, "run")}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)


def path(name):
    return os.path.join(FOLDER, name)


def cardan(*words, code=0):
    done = subprocess.run([CARDAN, *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    cardan.stderr = done.stderr
    if done.returncode != code:
        raise AssertionError(f"cardan {words} ended with {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def until(true):
    for _ in range(1200):
        if found := true():
            return found
        time.sleep(0.05)
    raise AssertionError("it never happened")


def by_topic(file):
    """Topic → the numbers of its frames, read by PyPI's mcap."""
    numbers = {}
    with open(file, "rb") as stream:
        for _, channel, message in make_reader(stream).iter_messages():
            numbers.setdefault(channel.topic, []).append(message.sequence)
    return numbers


class Fusion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Runs it live, and records until there are enough sets."""
        cls.file = path("fusion.json")
        with open(cls.file, "w") as file:
            json.dump({"name": "fusion", "processes": {
                "sensors": {"components": {"source": {"library": LIBRARY, "class": "FusionSource"}}},
                "joining": {"components": {"joiner": {"library": LIBRARY, "class": "FusionJoiner"}}}}}, file)
        cls.bag = path("live.mcap")
        with open(path("log"), "w") as log:
            system = subprocess.Popen([CARDAN, "run", cls.file, "--no-view"], env=ENVIRONMENT, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            recorder = None
            try:
                until(lambda: cls.joiner())
                recorder = subprocess.Popen([CARDAN, "record", "-o", cls.bag, "--min-space", "0"], env=ENVIRONMENT, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
                until(lambda: os.path.exists(cls.bag + ".active"))
                begin = cls.joiner()["fusions"][0]["fired_total"]
                until(lambda: cls.joiner()["fusions"][0]["fired_total"] > begin + 60)
                cls.stats = cls.joiner()
                cls.table = cardan("component", "stats", "joiner", "--once", "--seconds", "0.5")
                cls.info = json.loads(cardan("topic", "info", "/right", "--json"))
                cls.info_text = cardan("topic", "info", "/right")
            finally:
                for process in filter(None, (recorder, system)):
                    process.send_signal(signal.SIGINT)
                    process.wait(60)
        with open(path("log")) as log:
            cls.log = log.read()
        cls.recorded = by_topic(cls.bag)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(FOLDER)

    @staticmethod
    def joiner():
        done = subprocess.run([CARDAN, "component", "stats", "joiner", "--once", "--seconds", "0.2", "--json"], env=ENVIRONMENT,
                              capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout)["components"][0] if done.stdout else None

    def pairs(self):
        """Sets that can be made of what was recorded."""
        return sorted(set(self.recorded["/left"]) & set(self.recorded["/right"]))

    def test_the_recording_makes_the_sets_that_were_made_live(self):
        self.assertGreater(len(self.pairs()), 50)
        cardan("run", self.file, "--from", self.bag, "--without", "sensors", "--output", path("again.mcap"), "--json", path("report.json"))
        with open(path("report.json")) as file:
            report = json.load(file)
        fusion, = report["fusions"]
        self.assertEqual((fusion["component"], fusion["fusion"], fusion["silent"]), ("joiner", "pairs", None))
        self.assertEqual(fusion["fired"], len(self.pairs()))
        self.assertEqual(len(by_topic(path("again.mcap"))["/pairs"]), len(self.pairs()))

    def test_every_message_of_somebody_elses_reader_is_ours(self):
        ours = [json.loads(line) for line in cardan("bag", "ls", self.bag, "--json").splitlines()]
        with open(self.bag, "rb") as stream:
            theirs = [(channel.topic, message.sequence) for _, channel, message in make_reader(stream).iter_messages()]
        self.assertEqual(sorted((m["topic"], m["sequence"]) for m in ours), sorted(theirs))
        for m in ours:
            if m["topic"] in ("/left", "/right"):
                self.assertEqual(m["source_time"], 1_700_000_000_000_000_000 + m["sequence"] * 10_000_000)
        cardan("bag", "verify", self.bag)

    def test_cut_merged_and_recovered_it_makes_the_same(self):
        begin = min(m["log_time"] for m in map(json.loads, cardan("bag", "ls", self.bag, "--json").splitlines()))
        with open(self.bag, "rb") as whole, open(path("crashed.mcap.active"), "wb") as crashed:
            crashed.write(whole.read()[:-5000])  # without its end
        cardan("bag", "recover", path("crashed.mcap.active"), "-o", path("recovered.mcap"), code=3 if self.loses(path("crashed.mcap.active")) else 0)
        self.assertGreater(begin, 0)
        cardan("bag", "cut", self.bag, "--end", "0.3", "-o", path("first.mcap"))
        cardan("bag", "cut", self.bag, "--start", "0.3", "-o", path("second.mcap"))
        cardan("bag", "merge", path("second.mcap"), path("first.mcap"), "-o", path("merged.mcap"))
        for name in ("recovered.mcap", "merged.mcap"):
            cardan("run", self.file, "--from", path(name), "--without", "sensors", "--json", path("report.json"))
            with open(path("report.json")) as file:
                fusion, = json.load(file)["fusions"]
            there = by_topic(path(name))
            self.assertEqual(fusion["fired"], len(set(there["/left"]) & set(there["/right"])), name)
            self.assertGreater(fusion["fired"], 10, name)

    @staticmethod
    def loses(file):
        done = subprocess.run([CARDAN, "bag", "recover", file, "-o", path("try.mcap")], env=ENVIRONMENT, capture_output=True, timeout=60)
        return done.returncode == 3

    def test_without_the_stamps_it_reports_that_there_are_no_sets(self):
        # As a tool leaves it that does not know them.
        with open(self.bag, "rb") as stream, open(path("plain.mcap"), "wb") as out:
            writer = Writer(out, compression=CompressionType.NONE)
            writer.start()
            schemas, channels = {}, {}
            for schema, channel, message in make_reader(stream).iter_messages():
                if channel.topic not in ("/left", "/right"):
                    continue
                if schema.id not in schemas:
                    schemas[schema.id] = writer.register_schema(schema.name, schema.encoding, schema.data)
                if channel.id not in channels:
                    channels[channel.id] = writer.register_channel(channel.topic, channel.message_encoding, schemas[schema.id], channel.metadata)
                writer.add_message(channels[channel.id], message.log_time, message.data, message.publish_time, message.sequence)
            writer.finish()
        cardan("run", self.file, "--from", path("plain.mcap"), "--without", "sensors", code=3)
        self.assertIn("joiner: fusion 'pairs' got samples but made no set", cardan.stderr)

    def test_a_running_component_shows_its_fusions(self):
        fusion, = self.stats["fusions"]
        self.assertEqual((fusion["fusion"], fusion["policy"], fusion["time"], fusion["silent"]), ("pairs", "exact", "source", None))
        self.assertEqual([i["input"] for i in fusion["inputs"]], ["/left", "/right"])
        self.assertIn("pairs (exact by source)", self.table)

    def test_a_reader_that_wants_more_than_is_kept_is_shown(self):
        publisher, = self.info["publishers"]
        self.assertEqual(publisher["depth"], 64)
        self.assertIn(100, [s["depth"] for s in publisher["subscribers"]])
        self.assertIn("requests the last 100, more than are kept", self.info_text)
        self.assertIn("'/right' keeps the last 64 samples, but this reader requests the last 100", self.log)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
