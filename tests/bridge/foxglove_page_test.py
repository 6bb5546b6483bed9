#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bridge's previews for the page of `cardan view`: pictures and points, at the page's pace.

    foxglove_page_test.py FOLDER_WITH_PROGRAMS SOURCE_FOLDER [unittest arguments]
"""
import json
import pathlib
import struct
import subprocess
import sys
import time
import unittest

from foxglove_case import LONG, PROGRAMS, FoxgloveCase


class Pages(FoxgloveCase):
    def page(self, bridge, topic, preview, most):
        """A client that asks for previews as the page does."""
        viewer = self.viewer(bridge)
        viewer.send("subscribe", subscriptions=[{"id": 1, "channelId": viewer.channel(topic)["id"], "preview": preview, "most": most}])

        def preview_of():
            while True:
                frame = viewer.binary()
                opcode, number, _, length = struct.unpack_from("<BIqI", frame)
                self.assertEqual((opcode, number), (0x80, 1))
                return json.loads(frame[17 : 17 + length]), frame[17 + length :]

        viewer.preview_of = preview_of
        viewer.ready = lambda: viewer.send("cardanReady", subscriptionIds=[1])
        return viewer

    def test_pages_get_pictures_and_points_at_their_own_pace(self):
        self.sensors(1280, 720, 20, 40_000, 20)
        bridge = self.bridge()
        raw = self.viewer(bridge).subscribe("/camera")
        page = self.page(bridge, "/camera", "picture", 600)
        head, jpeg = page.preview_of()
        self.assertEqual((head["width"], head["height"], head["encoding"], head["shown"]), (1280, 720, "bgr8", {"width": 640, "height": 360}))
        self.assertEqual(jpeg[:2] + jpeg[-2:], b"\xff\xd8\xff\xd9")
        for _ in range(10):  # while it draws, the others get theirs, and it gets no more
            self.assertGreater(len(raw.message()[2]), 1280 * 720 * 3)
        stamps = [head["header"]["stamp"]]
        for _ in range(5):
            page.ready()
            stamps.append(page.preview_of()[0]["header"]["stamp"])
        self.assertEqual(stamps, sorted(stamps, key=lambda s: (s["sec"], s["nanosec"])))
        self.assertEqual(len({str(s) for s in stamps}), len(stamps), "each is a newer one")
        head, points = self.page(bridge, "/cloud", "points", 5000).preview_of()
        self.assertEqual((head["width"], head["shown"]), (40_000, {"points": 5000, "colour": "z"}))
        self.assertEqual(struct.unpack_from("<f", points, 16)[0], 8.0, "every eighth")
        self.end(bridge)
        self.assertGreater(self.of(bridge, "/camera")["thinned"], 0)

    def test_pages_cost_the_publisher_no_more_than_one(self):
        """Slots, wake-ups and copies of the publisher: the same with one page and with ten."""
        self.sensors(1280, 720, 20, 0, 0)
        bridge = self.bridge()

        def look():
            listed = subprocess.run([str(PROGRAMS / "cardan"), "topic", "list", "--json"], env=self.environment, capture_output=True, text=True, timeout=LONG, check=True)
            return next(t["publishers"][0] for t in json.loads(listed.stdout)["topics"] if t["topic"] == "/camera")

        pages, seen = [], []
        for count in (1, 10):
            while len(pages) < count:
                pages.append(self.page(bridge, "/camera", "picture", 320))
            for _ in range(5):
                for page in pages:
                    page.preview_of()
                    page.ready()
            at = look()
            seen.append((len(at["subscribers"]), at["slots"]))
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0][0], 1, "the bridge alone")
        before = after = look()
        while after["published"] < before["published"] + 30:  # to ten pages that draw nothing: it continues
            time.sleep(0.1)
            after = look()
        self.assertEqual((after["slots"], len(after["subscribers"])), (before["slots"], 1))
        self.assertLessEqual(after["wakes"] - before["wakes"], after["published"] - before["published"], "one wake-up of a publish at most")

    def test_a_client_that_comes_and_goes_in_a_loop_keeps_no_thread_coding(self):
        """A preview of a message is made once: asking again costs no coding, however often and for whom."""
        self.sensors(1920, 1200, 1, 0, 0)
        bridge = self.bridge()
        page = self.page(bridge, "/camera", "picture", 1920)

        def coding_ns():
            """CPU time of all threads but the one that serves."""
            tasks = pathlib.Path(f"/proc/{bridge.pid}/task")
            return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir() if int(task.name) != bridge.pid)

        def watch(messages, meanwhile):
            """The cost of coding one message."""
            before = coding_ns()
            for _ in range(messages):
                page.ready()
                page.preview_of()
                meanwhile()
            return (coding_ns() - before) / messages

        page.preview_of()
        alone = watch(4, lambda: None)
        attacker = self.viewer(bridge)
        channel = attacker.channel("/camera")["id"]
        got = 0

        def attack():
            nonlocal got
            for number in range(100):
                attacker.send("subscribe", subscriptions=[{"id": number + 1, "channelId": channel, "preview": "picture", "most": 1920}])
                frame = attacker.binary()
                self.assertEqual(frame[0], 0x80)
                got += 1
                attacker.send("unsubscribe", subscriptionIds=[number + 1])

        attacked = watch(4, attack)
        self.assertEqual(got, 400, "each time it gets the picture")
        self.assertLess(attacked, 10 * alone, "a hundred times as many requests, and the same work")

    def test_twelve_clients_cost_the_publish_path_what_one_costs(self):
        """Whole messages, pictures and small messages together: one subscriber for each topic, the same slots and wake-ups."""
        self.sensors(640, 480, 20, 1000, 20)
        bridge = self.bridge()
        topics = ("/camera", "/cloud")

        def look():
            listed = subprocess.run([str(PROGRAMS / "cardan"), "topic", "list", "--json"], env=self.environment, capture_output=True, text=True, timeout=LONG, check=True)
            return {t["topic"]: t["publishers"][0] for t in json.loads(listed.stdout)["topics"] if t["topic"] in topics}

        def browser():
            raw = self.viewer(bridge).subscribe("/camera", 1).subscribe("/cloud", 2)
            page = self.page(bridge, "/camera", "picture", 320)
            return raw, page

        browsers, seen = [], []
        for count in (1, 6):
            while len(browsers) < count:  # each is two clients
                browsers.append(browser())
            before = look()
            after = before
            while any(after[t]["published"] < before[t]["published"] + 40 for t in topics):
                for raw, page in browsers:
                    for _ in range(4):
                        raw.message()
                    page.preview_of()
                    page.ready()
                after = look()
            seen.append([(len(after[t]["subscribers"]), after[t]["slots"]) for t in topics])
            for t in topics:
                # A publish wakes the bridge once at most, whatever the number of its clients.
                self.assertLessEqual(after[t]["wakes"] - before[t]["wakes"], after[t]["published"] - before[t]["published"])
        self.assertEqual(seen[0], seen[1])
        self.assertEqual([subscribers for subscribers, _ in seen[1]], [1, 1], "the bridge alone")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
