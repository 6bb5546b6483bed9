# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge zenoh --form cardan` between two computers with Cardan: two run directories on this one.

zenoh_cardan_test.py BIN_DIRECTORY
"""
import json
import signal
import sys
import time
import unittest

import zenoh

from zenoh_case import ZenohCase, free_port


class CardanToCardan(ZenohCase):
    def setUp(self):
        super().setUp()
        self.address = f"tcp/127.0.0.1:{free_port()}"

    def pair(self, *options, car=()):
        """A car that listens, and a base that lets everything in."""
        first = self.bridge("car", "--form", "cardan", "--listen", self.address, *car)
        second = self.bridge("base", "--form", "cardan", "--connect", self.address, "--in", "*", *options)
        return first, second

    def numbers(self, watch):
        return [int(one["text"].split()[1]) for one in self.seen(watch)]

    def test_types_stamps_and_numbers_travel(self):
        self.publish("car")
        camera, texts = self.watch("base", "image", "/camera"), self.watch("base", "text", "/text")
        car, base = self.pair()
        self.until(lambda: len(self.seen(camera)) >= 50 and len(self.seen(texts)) >= 50, "fifty of each")
        self.assertTrue(all(one["same"] and one["bytes"] == 9216 for one in self.seen(camera)))
        now = time.time_ns()
        self.assertTrue(all(0 < now - one["source"] < 600e9 for one in self.seen(texts)), "when they were published")
        numbers = self.numbers(texts)
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.until(lambda: any("clock of bridge" in n for n in self.report(base)["notes"]), "the clock is measured")
        note = next(n for n in self.report(base)["notes"] if "clock of bridge" in n)
        self.assertLess(float(note.split(" is ")[1].split(" ms")[0]), 50, "one clock, measured over loopback: " + note)
        self.end(base, 0, 3)  # a busy computer loses some
        self.end(car, 0, 3)

    def test_a_late_joiner_gets_the_last_messages(self):
        self.publish("car", hz=1000)
        car, first = self.pair()
        self.until(lambda: self.count(first, "/text", "carried", "in") > 0, "the first one is served")
        late = self.watch("third", "text", "/map")
        second = self.bridge("third", "--form", "cardan", "--connect", self.address, "--in", "/map")
        self.until(lambda: self.seen(late), "the map, which was published once, before")
        time.sleep(1)
        self.assertEqual([one["text"] for one in self.seen(late)], ["the map"])
        for bridge in (second, first, car):
            self.end(bridge, 0, 3)

    def test_losses_are_counted_end_to_end(self):
        self.publish("car", hz=200)
        watch = self.watch("base", "text", "/text")
        car, base = self.pair()
        self.until(lambda: len(self.seen(watch)) >= 20, "messages")
        child = self.child_of(car)
        child.stop()
        time.sleep(2)  # 400 messages, of which 16 wait
        child.go_on()
        before = len(self.seen(watch))
        self.until(lambda: len(self.seen(watch)) >= before + 50, "messages again")
        self.until(lambda: self.count(base, "/text", "lost", "in") > 0, "the loss is known at the other end")
        # Seen at the end: what is missing between the first and the last number, but for what the watcher itself lost.
        self.end(base, 3)
        numbers = self.numbers(watch)
        gaps = numbers[-1] - numbers[0] + 1 - len(numbers)
        watcher_lost = sum(one["missed"] for one in self.seen(watch)[1:])
        self.assertGreater(gaps, 100)
        self.assertLess(watcher_lost, gaps / 2)
        self.assertEqual(self.count(base, "/text", "lost", "in"), gaps - watcher_lost)
        self.end(car, 0, 3)

    def test_thinned_messages_are_not_losses(self):
        self.publish("car", hz=100)
        watch = self.watch("base", "text", "/text")
        car, base = self.pair(car=("--rate", "10"))
        self.until(lambda: len(self.seen(watch)) >= 40, "forty of them")
        self.until(lambda: self.count(car, "/text", "thinned") > 100, "it is counted")
        # The real losses of a busy computer are few compared with nine of ten.
        self.assertLess(4 * self.count(base, "/text", "lost", "in"), self.count(car, "/text", "thinned"))
        self.end(base, 0, 3)
        self.end(car, 0, 3)

    def test_nothing_comes_back(self):
        self.publish("car")
        watch = self.watch("base", "text", "/text")
        car, base = self.pair(car=("--in", "*"))
        self.until(lambda: len(self.seen(watch)) >= 20, "messages")
        time.sleep(2)
        self.assertIsNone(self.topic(base, "/text", "out"))
        self.assertIsNone(self.topic(car, "/text", "in"))
        self.end(base, 0, 3)  # a busy computer loses some
        self.end(car, 0, 3)

    def test_unknown_peers_with_the_same_form_do_no_damage(self):
        self.publish("car")
        watch = self.watch("base", "text", "/text")
        car, base = self.pair()
        self.until(lambda: len(self.seen(watch)) >= 5, "messages")
        config = zenoh.Config()
        config.insert_json5("mode", '"client"')
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("connect/endpoints", json.dumps([self.address]))
        session = zenoh.open(config)
        self.addCleanup(session.close)
        tokens = [session.liveliness().declare_token(f"@cardan/pub/ff/00000000000000{n:02x}/evil{n}/a%msg%B/00000000000000ff/4000000000")
                  for n in range(50)]
        replies = session.declare_queryable("@cardan/**", lambda q: q.reply(q.key_expr, b"[" * 100000))
        for n in range(200):
            session.put("@cardan/data/text", b"\0\1\0\0" + bytes([n]) * 40, attachment=b"CDN2" + bytes([n]) * 68)
        before = len(self.seen(watch))
        self.until(lambda: len(self.seen(watch)) >= before + 100, "messages in spite of it")
        self.until(lambda: self.count(base, "/text", "refused", "in") > 0, "it is counted")
        replies.undeclare()
        for token in tokens:
            token.undeclare()
        self.end(base, 0, 3)
        self.end(car, 0, 3)

    def test_a_false_announcement_that_comes_first_keeps_no_honest_one_out(self):
        base = self.bridge("base", "--form", "cardan", "--listen", self.address, "--in", "*")
        watch = self.watch("base", "text", "/text")
        config = zenoh.Config()
        config.insert_json5("mode", '"client"')
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("connect/endpoints", json.dumps([self.address]))

        def opened():
            try:
                return zenoh.open(config)
            except zenoh.ZError:  # the bridge does not listen yet
                return None
        session = self.until(opened, "a session")
        self.addCleanup(session.close)
        # The first does not announce its type, the second has a definition, though of another type.
        definition = "bool data"
        number = 0xcbf29ce484222325
        for byte in definition.encode():
            number = (number ^ byte) * 0x100000001b3 % 2 ** 64
        answers = session.declare_queryable(f"@cardan/type/ff/{number:016x}", lambda q: q.reply(q.key_expr, definition))
        tokens = [session.liveliness().declare_token(token) for token in (
            "@cardan/pub/ff/00000000000000ff/text/evil%msg%Thing/00000000000000ff/4",
            f"@cardan/pub/ff/00000000000000ff/text/evil%msg%Bool/{number:016x}/4")]
        self.until(lambda: self.topic(base, "/text", "in"), "the false ones are first")
        self.publish("car")
        car = self.bridge("car", "--form", "cardan", "--connect", self.address)
        self.until(lambda: len(self.seen(watch)) >= 20, "messages of the honest one")
        answers.undeclare()
        for token in tokens:
            token.undeclare()
        self.end(car, 0, 3)
        self.end(base, 0, 3)

    def child_of(self, bridge):
        """The program that carries, which the command started."""
        def find():
            with open(f"/proc/{bridge.pid}/task/{bridge.pid}/children") as children:
                return children.read().split()
        pid = int(self.until(find, "the child")[0])

        class Child:
            @staticmethod
            def stop():
                import os
                os.kill(pid, signal.SIGSTOP)

            @staticmethod
            def go_on():
                import os
                os.kill(pid, signal.SIGCONT)
        return Child


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
