# SPDX-License-Identifier: Apache-2.0
"""A bad link between two network namespaces, for kernels without netem: zenoh_link.py NAMESPACE NAMESPACE

It makes a tun device in each (`va`, `vb`) and passes IP packets between them: 50 Mbit/s, a queue of 1,000 packets, 20 ms ± 5
(so some overtake others), 1 % lost. Prints "ready"; ends with its standard input.
"""
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

RATE, QUEUE, DELAY, JITTER, LOSS = 50e6, 1000, 0.020, 0.005, 0.01
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def tun_in(namespace, name):
    libc = ctypes.CDLL(None, use_errno=True)
    own, there = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if libc.setns(there, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    if libc.setns(own, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(own)
    os.close(there)
    return tun


class Way:
    """One direction."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.waiting, self.free_at, self.number = [], 0.0, 0

    def read(self, now):
        for _ in range(64):
            try:
                packet = os.read(self.source, 65536)
            except OSError:  # nothing more, or the device is down
                return
            if len(self.waiting) >= QUEUE:
                continue
            self.free_at = max(now, self.free_at) + len(packet) * 8 / RATE
            if random.random() < LOSS:
                continue
            self.number += 1
            due = self.free_at + DELAY + random.uniform(-JITTER, JITTER)
            heapq.heappush(self.waiting, (due, self.number, packet))

    def write(self, now):
        while self.waiting and self.waiting[0][0] <= now:
            packet = heapq.heappop(self.waiting)[2]
            try:
                os.write(self.sink, packet)
            except OSError:  # the device is down: the packet is lost
                pass


def main():
    random.seed(1)
    a, b = tun_in(sys.argv[1], "va"), tun_in(sys.argv[2], "vb")
    ways = [Way(a, b), Way(b, a)]
    print("ready", flush=True)
    poller = select.poll()
    for fd in (a, b, 0):
        poller.register(fd, select.POLLIN)
    while True:
        due = min((w.waiting[0][0] for w in ways if w.waiting), default=time.monotonic() + 1)
        events = dict(poller.poll(max(0, (due - time.monotonic()) * 1000)))
        if 0 in events:
            return
        now = time.monotonic()
        for way in ways:
            if events.get(way.source, 0) & select.POLLIN:
                way.read(now)
            way.write(now)
        if any(flags & ~select.POLLIN for flags in events.values()):
            time.sleep(0.001)  # a device is down: poll says so again and again


main()
