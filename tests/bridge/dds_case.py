# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of `cardan bridge dds`: a separate network, the bridge, and a peer of PyPI's cyclonedds.

A program that imports it runs again in a network namespace, which it makes as root or, as an ordinary user, together with a
user namespace. Where that is forbidden the test is skipped (code 77). Bridges run without privileges, as a user starts them. The
first argument is the folder of Cardan's programs.
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv[1]).resolve()
CARDAN = str(BIN / "cardan")
ENDPOINTS = str(BIN / "bridge_endpoints")
INSIDE = "CARDAN_TEST_OWN_NETWORK"
PATIENCE = float(os.environ.get("CARDAN_TEST_PATIENCE", 90))  # s: only a test that hangs takes this long


def enter_network():
    """Runs this program again where only loopback is."""
    if os.environ.get(INSIDE):
        return
    unshare = ["unshare", "-n" if os.geteuid() == 0 else "-rn"]
    tried = subprocess.run([*unshare, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        print(f"skipped: network namespaces cannot be made here ({tried.stderr.strip()})")
        sys.exit(77)
    setup = "ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && exec \"$@\""
    done = subprocess.run([*unshare, "sh", "-c", setup, "sh", sys.executable, *sys.argv], env={**os.environ, INSIDE: "1"})
    sys.exit(done.returncode)


enter_network()
# Before a program: what an ordinary user may do, on files of the user that runs this test.
UNPRIVILEGED = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]

from cyclonedds.domain import DomainParticipant  # noqa: E402
from cyclonedds.pub import DataWriter  # noqa: E402
from cyclonedds.sub import DataReader  # noqa: E402
from cyclonedds.topic import Topic  # noqa: E402

import dds_types as t  # noqa: E402


class BridgeCase(unittest.TestCase):
    next_domain = 20

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-bridge-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run")}
        for name in [n for n in self.environment if n.startswith(("ROS_", "AMENT_")) or n in ("CARDAN_DOMAIN", "CYCLONEDDS_URI")]:
            del self.environment[name]
        BridgeCase.next_domain += 1
        self.id = BridgeCase.next_domain
        self.peer = DomainParticipant(self.id)
        self.bridges = 0

    # ------------------------------------------------------------ processes
    def start(self, *words, **more):
        process = subprocess.Popen([str(w) for w in words], env=self.environment, text=True, cwd=self.path, **more)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.stdin:
            # A peer's own end: Fast DDS's files in /dev/shm outlive a process that a signal ends.
            process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
        if process.stdout:
            process.stdout.close()
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE)

    def publish(self, width=64, height=48, hz=50, user=()):
        process = self.start(*user, ENDPOINTS, "publish", width, height, hz, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def bridge(self, *options, user=UNPRIVILEGED, owner=True):
        """A bridge; its reports go to a file, where report() finds the newest. `user`: words before its command. `owner`: it sends
        also what belongs to its owner alone, as the topics of these tests do."""
        options = ("--owner", *options) if owner else options
        self.bridges += 1
        log = self.path / f"bridge{self.bridges}.json"
        errors = open(self.path / f"bridge{self.bridges}.err", "w")
        self.addCleanup(errors.close)
        with open(log, "w") as out:
            process = self.start(*user, CARDAN, "bridge", "dds", "--domain-id", self.id, "--json", *options, stdout=out, stderr=errors)
        process.log = log
        return process

    def report(self, bridge):
        text = bridge.log.read_text()
        lines = text[: text.rfind("\n") + 1].splitlines()  # the last one may be half written
        return json.loads(lines[-1]) if lines else {"topics": [], "notes": []}

    def topic(self, bridge, name, direction="out"):
        for one in self.report(bridge)["topics"]:
            if one["topic"] == name and one["direction"] == direction:
                return one
        return None

    def end(self, bridge, code=0):
        """A busy computer may overwrite what the bridge has not read; then the code has to be 3."""
        bridge.send_signal(signal.SIGTERM)
        ended = bridge.wait(PATIENCE)
        if any(topic["lost"] for topic in self.report(bridge)["topics"]):
            code = 3
        self.assertEqual(ended, code, (self.path / f"bridge{self.bridges}.err").read_text())

    def until(self, what, why):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := what():
                return value
            time.sleep(0.05)
        said = "\n".join(f.read_text()[-2000:] for f in sorted(self.path.glob("bridge*")))
        self.fail(f"did not happen: {why}\n{said}")

    # ------------------------------------------------------------ DDS
    def reader(self, name, kind, **qos):
        q = t.qos(**qos)
        return DataReader(self.peer, Topic(self.peer, name, kind), qos=q)

    def writer(self, name, kind, **qos):
        q = t.qos(**qos)
        return DataWriter(self.peer, Topic(self.peer, name, kind), qos=q)

    def collect(self, reader, count):
        """This many messages."""
        got = []
        self.until(lambda: got.extend(s for s in reader.take(N=50) if s.sample_info.valid_data) or len(got) >= count,
                   f"{count} messages")
        return got

    def watch(self, kind, topic):
        process = self.start(ENDPOINTS, "watch", kind, topic, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return process

    def send_until_seen(self, writer, message, watcher):
        """Writes again and again until the first has arrived in Cardan."""
        os.set_blocking(watcher.stdout.fileno(), False)

        def arrived():
            writer.write(message())
            return watcher.stdout.readline()
        line = self.until(arrived, "a message arrives")
        return json.loads(line)
