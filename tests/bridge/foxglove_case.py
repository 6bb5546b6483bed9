# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of the Foxglove bridge: its client, and the programs in their own run directory."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

from websockets.sync.client import connect

PROGRAMS, SOURCES = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
NEW, OLD = "foxglove.sdk.v1", "foxglove.websocket.v1"
LONG = 100  # seconds; only ends what hangs


class Viewer:
    def __init__(self, port, protocols=(NEW, OLD), **options):
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(connect(f"ws://127.0.0.1:{port}", subprotocols=list(protocols), max_size=None, compression=None, ping_interval=None, open_timeout=LONG, close_timeout=1, **options))
        self.channels, self.seen = {}, []
        self.info = self.text("serverInfo")

    def close(self):
        self.stack.close()

    def send(self, op, **members):
        self.socket.send(json.dumps({"op": op, **members}))

    def one(self):
        """The next text as an object, or the next binary frame."""
        got = self.socket.recv(timeout=LONG)
        if isinstance(got, bytes):
            return got
        text = json.loads(got)
        if text["op"] == "advertise":
            self.channels.update({c["topic"]: c for c in text["channels"]})
        self.seen.append(text)
        return text

    def text(self, op, fits=lambda text: True):
        for text in self.seen:
            if text["op"] == op and fits(text):
                self.seen.remove(text)
                return text
        while True:
            got = self.one()
            if not isinstance(got, bytes) and got["op"] == op and fits(got):
                self.seen.remove(got)
                return got

    def channel(self, topic):
        while topic not in self.channels:
            self.one()
        return self.channels[topic]

    def subscribe(self, topic, number=1):
        self.send("subscribe", subscriptions=[{"id": number, "channelId": self.channel(topic)["id"]}])
        return self

    def binary(self):
        while True:
            got = self.one()
            if isinstance(got, bytes):
                return got

    def message(self, number=None):
        """(subscription, nanoseconds, bytes)"""
        while True:
            frame = self.binary()
            if frame[0] != 1:  # a time
                continue
            subscription, at = struct.unpack_from("<xIq", frame)
            if number in (None, subscription):
                return subscription, at, frame[13:]

    def status(self, part):
        return self.text("status", lambda text: part in text["message"])


class FoxgloveCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-foxglove-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run")}
        self.environment.pop("CARDAN_DOMAIN", None)

    def start(self, *words, **streams):
        process = subprocess.Popen([str(PROGRAMS / words[0]), *map(str, words[1:])], env=self.environment, text=True, cwd=self.path, **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **streams})

        def end():
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()

        self.addCleanup(end)
        return process

    def sensors(self, *words):
        process = self.start("bridge_sensors", *words)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def publisher(self):
        process = self.start("command_publisher")
        self.assertEqual(process.stdout.readline(), "ready\n")

        def order(text):
            process.stdin.write(text + "\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        process.order = order
        return process

    def bridge(self, *words):
        """The bridge; its reports come each second."""
        process = self.start("cardan", "bridge", "foxglove", "--json", *(() if "--port" in words else ("--port", 0)), *words, stdin=subprocess.DEVNULL)
        process.report = json.loads(process.stdout.readline())
        process.port = int(process.report["bridge"].split("ws://127.0.0.1:")[1].split(",")[0])

        def read():
            for line in process.stdout:
                process.report = json.loads(line)

        process.reader = threading.Thread(target=read)
        process.reader.start()
        self.addCleanup(process.reader.join)
        self.addCleanup(process.kill)
        return process

    def viewer(self, bridge, *words, **options):
        viewer = Viewer(bridge.port, *words, **options)
        self.addCleanup(viewer.close)
        return viewer

    def of_another_user(self, bridge):
        """The viewer of another user; as root alone."""
        os.seteuid(47110)  # a socket belongs to the user that makes it
        try:
            other = socket.create_connection(("127.0.0.1", bridge.port))
        finally:
            os.seteuid(0)
        return self.viewer(bridge, sock=other)

    def end(self, bridge):
        """Its exit code; its last report is in bridge.report."""
        bridge.send_signal(signal.SIGINT)
        code = bridge.wait(LONG)
        bridge.reader.join()
        return code

    def end_in_order(self, bridge):
        """A busy computer may overwrite what the bridge has not read; then that is counted, and the code has to be 3."""
        code = self.end(bridge)
        self.assertEqual(code, 3 if any(t["lost"] for t in bridge.report["topics"]) else 0)

    def of(self, bridge, topic, direction="out"):
        return next(t for t in bridge.report["topics"] if t["topic"] == topic and t["direction"] == direction)
