# SPDX-License-Identifier: Apache-2.0
"""Messages of which `cardan bridge dds` gets a part only: by loss in a small receive buffer, and by an enemy's will.

dds_parts_test.py BIN_DIRECTORY. Makes a network namespace; where it may not, the test is skipped (77).
"""
from dds_case import BridgeCase  # first: it enters the network

import json
import pathlib
import signal
import socket
import struct
import sys
import time
import unittest

from cyclonedds._clayer import ddspy_write

import dds_types as t

# As the kernel's default.
SMALL_BUFFER = "<CycloneDDS><Domain><Internal><SocketReceiveBufferSize min='default' max='208KiB'/></Internal></Domain></CycloneDDS>"
FRAME_BYTES = 1280 * 720 * 3


class Loss(BridgeCase):
    """Of each frame that is written while the bridge stands still, its socket holds the first fragments."""

    def setUp(self):
        super().setUp()
        header = t.Header(stamp=t.Time(sec=5, nanosec=6), frame_id="rear")
        image = t.Image(header=header, height=720, width=1280, encoding="rgb8", is_bigendian=0, step=3840, data=[7])
        cdr = image.serialize()  # ends with the number of bytes and the only one
        head = cdr[: cdr.rindex(b"\1\0\0\0\7")]
        self.frame, self.small_frame = [head + size.to_bytes(4, "little") + b"\7" * size for size in (FRAME_BYTES, 60_000)]

    def bridge_with_small_buffer(self, *options):
        self.environment["CYCLONEDDS_URI"] = SMALL_BUFFER
        return self.bridge(*options)

    def rules(self, **more):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"in": [{"topics": "/camera", **more}]}))
        return rules

    def counts(self, bridge):
        return self.topic(bridge, "/camera", "in") or {"carried": 0, "lost": 0}

    def meet(self, bridge, writer):
        self.until(lambda: writer.get_matched_subscriptions(), "the bridge reads the topic")
        self.until(lambda: self.topic(bridge, "/camera", "in"), "it reports the topic")

    def write(self, writer, frame=None):
        ddspy_write(writer._ref, frame or self.frame)

    def stand_still(self, bridge):
        bridge.send_signal(signal.SIGSTOP)
        self.until(lambda: "T" in (pathlib.Path(f"/proc/{bridge.pid}/stat").read_text().rsplit(")", 1)[1][:3]), "it stands still")

    def write_in_part(self, bridge, writer):
        self.stand_still(bridge)
        self.write(writer)
        bridge.send_signal(signal.SIGCONT)
        time.sleep(0.3)  # so that the next frame finds the socket empty; if not, a later one does

    def goes_on_after(self, frame, *options):
        bridge = self.bridge_with_small_buffer(*options)
        writer = self.writer("rt/camera", t.Image, depth=2)
        self.meet(bridge, writer)
        for _ in range(12):  # more than a reader's table of messages that have come in part holds
            self.write_in_part(bridge, writer)
        carried = lambda: self.counts(bridge)["carried"]  # noqa: E731
        wanted = carried() + 4  # the writer still has two of those

        def more():
            before = carried()
            self.write(writer, frame)
            end = time.monotonic() + 10  # the next one takes this one's place in the writer: a busy computer repairs slowly
            while carried() == before and time.monotonic() < end:
                time.sleep(0.05)
            return carried() >= wanted
        self.until(more, "images come in again")
        return bridge

    def test_a_reliable_writer_of_large_images_is_heard_for_good(self):
        self.goes_on_after(self.frame, "--in", "/camera")

    def test_a_reliable_writer_that_is_read_best_effort_is_heard_for_good(self):
        bridge = self.goes_on_after(self.small_frame, self.rules(reliable=False))  # that fits into the buffer, in fragments
        self.until(lambda: self.counts(bridge)["lost"] > 0, "what was lost is counted")
        self.end(bridge, code=3)

    def test_a_best_effort_writer_takes_nothing_from_a_reliable_one(self):
        other = self.writer("rt/camera", t.Image, reliable=False, depth=2)
        self.goes_on_after(self.small_frame, "--in", "/camera")
        del other

    def test_losses_of_a_reliable_reader_are_counted_and_noted(self):
        bridge = self.bridge_with_small_buffer("--in", "/camera")
        writer = self.writer("rt/camera", t.Image, depth=2)
        self.meet(bridge, writer)
        self.until(lambda: self.write(writer, self.small_frame) or self.counts(bridge)["carried"] > 0, "images come in")
        self.stand_still(bridge)
        for _ in range(30):  # of which the socket holds few, and the writer keeps two
            self.write(writer, self.small_frame)
        bridge.send_signal(signal.SIGCONT)
        self.until(lambda: self.counts(bridge)["lost"] > 0, "the loss is counted")
        if int(pathlib.Path("/proc/sys/net/core/rmem_max").read_text()) < 16 << 20:
            noted = lambda: any("rmem_max" in note for note in self.report(bridge)["notes"])  # noqa: E731
            self.until(noted, "and noted")
            del writer
            time.sleep(4)  # the bridge reads the topic for two seconds more
            self.assertTrue(noted(), "the note outlives the writer, as the count does")
        self.end(bridge, code=3)

    def test_a_writer_of_which_nothing_comes_whole_is_counted_and_noted(self):
        bridge = self.bridge_with_small_buffer("--in", "/camera")
        writer = self.writer("rt/camera", t.Image, reliable=False, depth=2)
        self.meet(bridge, writer)

        def noted():
            self.write_in_part(bridge, writer)
            counts = self.counts(bridge)
            return counts["lost"] > 0 and "rmem_max" in counts.get("note", "")
        self.until(noted, "the loss is counted and noted")
        self.assertEqual(self.counts(bridge)["carried"], 0)
        self.end(bridge, code=3)


FRAGMENT = 60_000


def fragment(guid, sequence, number, of):
    """A packet with one fragment of a message that has more: DATA_FRAG of RTPS, little endian."""
    body = struct.pack("<HH4s4siIIHHI", 0, 28, bytes(4), guid[12:], 0, sequence, number, 1, FRAGMENT, FRAGMENT * of) + b"x" * FRAGMENT
    return b"RTPS\2\1\1\x10" + guid[:12] + struct.pack("<BBH", 0x16, 1, len(body)) + body


class Enemy(BridgeCase):
    def ports(self, process):
        """UDP ports on which the process receives."""
        inodes = set()
        for link in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
            target = str(link.readlink())
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
        lines = [line.split() for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]]
        return {int(words[1].split(":")[1], 16) for words in lines if words[9] in inodes}

    def peak_mib(self, process):
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) >> 10

    def test_writers_of_messages_that_never_end_cost_a_bounded_memory(self):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"in": [{"topics": "/text", "max_mib": 4}]}))
        bridge = self.bridge(rules)
        writers = [self.writer("rt/text", t.String, reliable=i % 2 == 0) for i in range(50)]
        self.until(lambda: all(w.get_matched_subscriptions() for w in writers), "all are read")
        ports = self.ports(bridge)
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(sender.close)
        guids = [w.guid.bytes for w in writers]
        of = 320  # 19 MB each
        for number in range(2, of):  # the first one never comes
            for guid in guids:
                packet = fragment(guid, 1_000_000, number, of)
                for port in ports:
                    sender.sendto(packet, ("127.0.0.1", port))
            time.sleep(0.02)
        self.assertIsNone(bridge.poll(), "it lives")
        self.assertLess(self.peak_mib(bridge), 320, "of 950 MB")
        self.until(lambda: any("in part" in note for note in self.report(bridge)["notes"]), "it is noted")
        honest = self.writer("rt/text", t.String)
        self.assertEqual(self.send_until_seen(honest, lambda: t.String(data="fine"), self.watch("text", "/text"))["text"], "fine")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
