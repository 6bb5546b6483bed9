# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge zenoh --form cardan` between two network namespaces, over a link that is slow, loses packets and is cut:
20 ms ± 5, 1 % loss, 50 Mbit/s, ten seconds without a link. Arrived and lost messages must add up.

zenoh_netem_test.py BIN_DIRECTORY. Needs root; without it the test is skipped (code 77).
"""
import os
import pathlib
import subprocess
import sys
import time
import unittest

from zenoh_case import ZenohCase

ADDRESS = "tcp/10.77.0.1:7447"
LINK = "delay 20ms 5ms loss 1% rate 50mbit limit 1000".split()


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


def can():
    """Whether namespaces can be made, and whether the kernel has netem."""
    if os.geteuid() != 0:
        return "it needs root for network namespaces", False
    name = f"cardan-can-{os.getpid()}"
    try:
        run("ip", "netns", "add", name)
        shaped = subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "lo", "root", "netem", *LINK],
                                capture_output=True)
        return None, shaped.returncode == 0
    except (subprocess.CalledProcessError, FileNotFoundError) as e:
        return f"namespaces cannot be made here: {getattr(e, 'stderr', e)}", False
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


why, HAS_NETEM = can()
if why or not (HAS_NETEM or os.path.exists("/dev/net/tun")):
    print("skipped:", why or "there is neither netem nor /dev/net/tun")
    sys.exit(77)
print("the link:", "netem" if HAS_NETEM else "a program with the same figures (this kernel has no netem)")


class TwoNetworks(ZenohCase):
    def setUp(self):
        super().setUp()
        self.spaces = {c: f"cardan-{os.getpid()}-{c}" for c in ("car", "base")}
        for name in self.spaces.values():
            run("ip", "netns", "add", name)
            self.addCleanup(subprocess.run, ["ip", "netns", "del", name], capture_output=True)
        car, base = self.spaces["car"], self.spaces["base"]
        if HAS_NETEM:
            run("ip", "link", "add", "va", "netns", car, "type", "veth", "peer", "name", "vb", "netns", base)
        else:
            link = self.start("link", sys.executable, pathlib.Path(__file__).with_name("zenoh_link.py"), car, base,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.assertEqual(link.stdout.readline(), "ready\n")
        for space, device, address in ((car, "va", "10.77.0.1/24"), (base, "vb", "10.77.0.2/24")):
            inside = ["ip", "netns", "exec", space]
            run(*inside, "ip", "addr", "add", address, "dev", device)
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, "ip", "link", "set", device, "up")
            if HAS_NETEM:
                run(*inside, "tc", "qdisc", "add", "dev", device, "root", "netem", *LINK)

    def inside(self, computer):
        return {"inside": ["ip", "netns", "exec", self.spaces[computer]]}

    def link(self, how):
        run("ip", "netns", "exec", self.spaces["car"], "ip", "link", "set", "va", how)

    def pair(self, *car):
        first = self.bridge("car", "--form", "cardan", "--listen", ADDRESS, *car, **self.inside("car"))
        second = self.bridge("base", "--form", "cardan", "--connect", ADDRESS, "--in", "*", **self.inside("base"))
        return first, second

    def adds_up(self, watch, base, topic, number_of):
        numbers = [number_of(one) for one in self.seen(watch)]
        self.assertEqual(sorted(set(numbers)), numbers, "in order, none twice")
        missing = numbers[-1] - numbers[0] + 1 - len(numbers)
        lost = self.count(base, topic, "lost", "in")
        late = sum(one["missed"] for one in self.seen(watch)[1:])  # the bridge published it, the subscriber was too slow
        print(f"  {topic}: {len(numbers)} arrived, {missing} are missing, {lost} were lost on the way, {late} after it")
        self.assertEqual(lost + late, missing)
        return len(numbers), missing

    def test_small_messages_arrive_in_spite_of_the_link(self):
        self.publish("car", hz=50, **self.inside("car"))
        watch = self.watch("base", "text", "/text", **self.inside("base"))
        car, base = self.pair("--topic", "/text")
        self.until(lambda: len(self.seen(watch)) >= 500, "five hundred of them")
        self.end(base, 0, 3)
        self.adds_up(watch, base, "/text", lambda one: int(one["text"].split()[1]))
        self.end(car, 0, 3)

    def test_a_cut_link_is_found_again_and_its_losses_are_counted(self):
        self.publish("car", hz=50, **self.inside("car"))
        watch = self.watch("base", "text", "/text", **self.inside("base"))
        car, base = self.pair("--topic", "/text")
        self.until(lambda: len(self.seen(watch)) >= 50, "fifty of them")
        self.link("down")
        time.sleep(10)
        before = len(self.seen(watch))
        self.link("up")
        self.until(lambda: len(self.seen(watch)) >= before + 200, "messages again, without a restart")
        self.end(base, 0, 3)
        self.adds_up(watch, base, "/text", lambda one: int(one["text"].split()[1]))
        self.end(car, 0, 3)

    def test_of_a_stream_that_is_too_large_the_newest_arrive(self):
        # 1.4 MB at 20 Hz: 221 Mbit/s over 50.
        self.publish("car", 800, 600, 20, **self.inside("car"))
        watch = self.watch("base", "text", "/text", **self.inside("base"))
        camera = self.watch("base", "image", "/camera", **self.inside("base"))
        car, base = self.pair("--topic", "/text", "--topic", "/camera")
        self.until(lambda: len(self.seen(camera)) >= 20, "twenty frames")
        self.assertTrue(all(one["same"] and one["bytes"] == 800 * 600 * 3 for one in self.seen(camera)), "whole")
        self.until(lambda: self.count(car, "/camera", "lost") > 10, "the loss is known where it happens")
        self.until(lambda: self.count(base, "/camera", "lost", "in") > 10, "and at the other end")
        self.end(base, 3)
        print(f"  /camera: {len(self.seen(camera))} arrived, "
              f"{self.count(base, '/camera', 'lost', 'in')} were counted as lost")
        self.end(car, 0, 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
