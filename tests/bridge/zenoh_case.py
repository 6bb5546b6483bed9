# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of `cardan bridge zenoh`: computers, each with its own run directory, and their processes."""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv[1]).resolve()
CARDAN = str(BIN / "cardan")
ENDPOINTS = str(BIN / "bridge_endpoints")
PATIENCE = float(os.environ.get("CARDAN_TEST_PATIENCE", 90))  # s: only a test that hangs takes this long

if not (BIN / "cardan-zenoh").exists():
    print("skipped: no cardan-zenoh (make zenoh)")
    sys.exit(77)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def text_cdr(words):
    data = words.encode() + b"\0"
    return b"\0\1\0\0" + struct.pack("<I", len(data)) + data


def text_of(cdr):
    size, = struct.unpack_from("<I", cdr, 4)
    return cdr[8:8 + size - 1].decode()


class ZenohCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-zenoh-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.bridges = self.watches = 0

    def environment(self, computer):
        return {**{k: v for k, v in os.environ.items() if k not in ("CARDAN_DOMAIN", "ZENOH_CONFIG")},
                "CARDAN_RUN_DIR": str(self.path / computer)}

    def start(self, computer, *words, inside=(), **more):
        process = subprocess.Popen([*inside, *(str(w) for w in words)], env=self.environment(computer), text=True,
                                   cwd=self.path, **more)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        process.wait(PATIENCE)

    def publish(self, computer, width=64, height=48, hz=50, **more):
        process = self.start(computer, ENDPOINTS, "publish", width, height, hz, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, **more)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def watch(self, computer, what, topic, **more):
        """Arriving messages go to a file, one JSON object a line."""
        self.watches += 1  # of the same topic, an earlier one may still write
        log = self.path / f"{computer}-{what}-{topic.replace('/', '_')}-{self.watches}"
        with open(log, "w") as out:
            process = self.start(computer, ENDPOINTS, "watch", what, topic, stdin=subprocess.PIPE, stdout=out, **more)
        process.log = log
        return process

    @staticmethod
    def seen(process):
        return [json.loads(line) for line in process.log.read_text().split("\n")[:-1]]

    def bridge(self, computer, *options, owner=True, **more):
        """A bridge; its reports go to a file, where report() finds the newest. `owner`: it sends also what belongs to its owner
        alone, as the topics of these tests do."""
        options = ("--owner", *options) if owner else options
        self.bridges += 1
        log = self.path / f"bridge{self.bridges}.json"
        errors = open(self.path / f"bridge{self.bridges}.err", "w")
        self.addCleanup(errors.close)
        with open(log, "w") as out:
            process = self.start(computer, CARDAN, "bridge", "zenoh", "--json", *options, stdout=out, stderr=errors,
                                 **more)
        process.log, process.errors = log, self.path / f"bridge{self.bridges}.err"
        return process

    @staticmethod
    def report(bridge):
        lines = bridge.log.read_text().split("\n")[:-1]
        return json.loads(lines[-1]) if lines else {"bridge": "", "topics": [], "notes": []}

    def topic(self, bridge, name, direction="out"):
        for one in self.report(bridge)["topics"]:
            if one["topic"] == name and one["direction"] == direction:
                return one
        return None

    def count(self, bridge, name, what, direction="out"):
        one = self.topic(bridge, name, direction)
        return one[what] if one else 0

    def end(self, bridge, *codes):
        bridge.send_signal(signal.SIGTERM)
        self.assertIn(bridge.wait(PATIENCE), codes or (0,), bridge.errors.read_text())

    def until(self, what, why, patience=PATIENCE):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if value := what():
                return value
            time.sleep(0.05)
        said = "\n".join(f"{f.name}: {f.read_text()[-2000:]}" for f in sorted(self.path.glob("bridge*")))
        self.fail(f"did not happen: {why}\n{said}")
