# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge zenoh` in the plain form, against PyPI's eclipse-zenoh on loopback.

zenoh_plain_test.py BIN_DIRECTORY
"""
import json
import signal
import struct
import subprocess
import sys
import time
import unittest

import zenoh

from zenoh_case import CARDAN, ZenohCase, free_port, text_cdr, text_of

IMAGE = 48 * 64 * 3
STRING = "std_msgs§msg§String"


class PlainCase(ZenohCase):
    def setUp(self):
        super().setUp()
        self.address = f"tcp/127.0.0.1:{free_port()}"

    def session(self, mode="client"):
        config = zenoh.Config()
        config.insert_json5("mode", json.dumps(mode))
        config.insert_json5("scouting/multicast/enabled", "false")
        where = "connect" if mode == "client" else "listen"
        config.insert_json5(f"{where}/endpoints", json.dumps([self.address]))

        def opened():
            try:
                return zenoh.open(config)
            except zenoh.ZError:  # the bridge does not listen yet
                return None
        session = self.until(opened, "a session")
        self.addCleanup(lambda: session.is_closed() or session.close())
        return session

    def collect(self, session, key):
        got = []
        subscriber = session.declare_subscriber(key, lambda s: got.append(
            (str(s.key_expr), s.payload.to_bytes(), None if s.attachment is None else s.attachment.to_bytes())))
        return got, subscriber


class Outwards(PlainCase):
    def test_messages_arrive_whole_and_large_ones_are_not_copied(self):
        self.publish("car")
        bridge = self.bridge("car", "--listen", self.address)
        session = self.session()
        images, _ = self.collect(session, "camera")
        texts, _ = self.collect(session, "text")
        self.until(lambda: len(images) >= 50 and len(texts) >= 50, "fifty of each")
        for _, cdr, _ in list(images):
            self.assertEqual(cdr[:4], b"\0\1\0\0")
            self.assertEqual(len(set(cdr[-IMAGE:])), 1, "all pixels of one frame")
            self.assertIn(b"front\0", cdr[:-IMAGE])
        numbers = [int(text_of(cdr).split()[1]) for _, cdr, _ in texts]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))), "in order, none lost")
        self.until(lambda: self.count(bridge, "/camera", "carried") >= 50, "a report")
        camera = self.topic(bridge, "/camera")
        self.assertEqual((camera["lost"], camera["refused"], camera["beyond"]), (0, 0, "/camera"))
        self.assertLess(camera["copied_bytes"], camera["bytes"] * 0.02)
        self.end(bridge)

    def test_a_topic_without_receivers_costs_nothing(self):
        self.publish("car")
        bridge = self.bridge("car", "--listen", self.address)
        session = self.session()
        self.until(lambda: self.topic(bridge, "/camera"), "the topic is known")
        _, subscriber = self.collect(session, "camera")
        self.until(lambda: self.count(bridge, "/camera", "receivers") == 1, "a receiver")
        self.assertEqual(self.count(bridge, "/lidar", "carried"), 0)
        subscriber.undeclare()
        self.until(lambda: self.count(bridge, "/camera", "receivers") == 0, "no receiver any more")
        before = self.count(bridge, "/camera", "carried")
        time.sleep(2.5)
        self.assertEqual(self.count(bridge, "/camera", "carried"), before)
        self.end(bridge)

    def test_a_receiver_that_comes_and_goes_does_not_open_the_subscription_each_time(self):
        self.publish("car")
        self.bridge("car", "--listen", self.address, "--topic", "/text")
        session = self.session()

        def received():
            """By the bridge's subscription: a new one counts from 0."""
            done = subprocess.run([CARDAN, "topic", "info", "/text", "--json"], env=self.environment("car"), capture_output=True, text=True, timeout=60)
            there = [s for p in json.loads(done.stdout)["publishers"] for s in p["subscribers"]]
            return there[0]["received"] if there else None
        before = 0
        for _ in range(5):
            texts, subscriber = self.collect(session, "text")
            self.until(lambda: len(texts) >= 5, "some messages")
            now = received()
            self.assertGreater(now, before)
            before = now
            subscriber.undeclare()
            time.sleep(0.6)
        self.until(lambda: received() is None, "nobody wants it for long")

    def test_names_rates_and_exclusions(self):
        rules = self.path / "bridge.json"
        rules.write_text(json.dumps({"out": [
            {"topics": "/text", "rename": "/words", "max_hz": 10},
            {"topics": ["/camera", "/lidar"], "exclude": "/lidar", "namespace": "/car1", "priority": "data_low"}],
            "zenoh": {"listen": self.address}}))
        self.publish("car")
        bridge = self.bridge("car", rules)
        session = self.session()
        got, _ = self.collect(session, "**")
        self.until(lambda: sum(k == "words" for k, _, _ in got) >= 30, "thirty of them")
        self.assertEqual({k for k, _, _ in got}, {"words", "car1/camera"})
        self.until(lambda: self.count(bridge, "/text", "carried") >= 30, "a report")
        text = self.topic(bridge, "/text")
        self.assertEqual(text["lost"], 0)
        ratio = (text["carried"] + text["thinned"]) / text["carried"]
        self.assertTrue(4 < ratio < 7, f"50 Hz at 10 Hz: 1 of {ratio}")
        self.end(bridge)

    def test_topics_are_announced_with_their_types(self):
        self.publish("car")
        bridge = self.bridge("car", "--listen", self.address)
        session = self.session()

        def tokens():
            return {str(r.ok.key_expr) for r in session.liveliness().get("@/*/@ros2_lv/MP/*/*/*") if r.ok}
        self.until(lambda: any("/camera/sensor_msgs§msg§Image/" in t for t in tokens()), "the camera's token")
        self.assertFalse(any("§cardan§" in t or "/cardan§" in t for t in tokens()), "Cardan's own topics stay")
        self.end(bridge)

    def test_latched_topics_answer_late_joiners(self):
        rules = self.path / "bridge.json"
        rules.write_text(json.dumps({"out": [{"topics": "/map", "latched": True}, {"topics": "*"}],
                                     "zenoh": {"listen": self.address}}))
        self.publish("car")
        bridge = self.bridge("car", rules)
        session = self.session()
        got = self.until(lambda: [r.ok.payload.to_bytes() for r in session.get("map") if r.ok], "the map")
        self.assertEqual([text_of(one) for one in got], ["the map"])
        self.end(bridge)

    def test_it_connects_again(self):
        self.publish("car")
        bridge = self.bridge("car", "--connect", self.address)
        for _ in range(2):
            session = self.session("router")
            got, _ = self.collect(session, "text")
            self.until(lambda: len(got) >= 20, "messages")
            session.close()
        self.end(bridge)


class Owners(PlainCase):
    def kept(self, bridge):
        return [n for n in self.report(bridge)["notes"] if n.startswith("/camera: not sent, because the access is 'owner'")]

    def test_topics_of_their_owner_alone_leave_only_if_a_rule_names_them(self):
        camera = self.publish("car")
        bridge = self.bridge("car", "--listen", self.address, "--topic", "/text", "--topic", "/cam*", owner=False)
        texts, _ = self.collect(self.session(), "text")
        self.until(lambda: len(texts) >= 3, "topics named in full")
        self.assertIn("--owner", self.until(lambda: self.kept(bridge), "a note")[0])
        self.assertIsNone(self.topic(bridge, "/camera"))
        self.stop(camera)
        self.until(lambda: not self.kept(bridge), "the note goes with the topic")
        self.end(bridge)

    def test_a_rule_may_name_them_by_a_pattern(self):
        self.publish("car")
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"out": [{"topics": "/te*", "owner": True}, {"topics": "/cam*"}], "zenoh": {"listen": self.address}}))
        bridge = self.bridge("car", rules, owner=False)
        texts, _ = self.collect(self.session(), "text")
        self.until(lambda: len(texts) >= 3, "messages")
        self.until(lambda: self.kept(bridge), "a note")
        self.assertIsNone(self.topic(bridge, "/camera"))
        self.end(bridge)


class Inwards(PlainCase):
    def test_only_topics_of_a_rule_come_in(self):
        rules = self.path / "bridge.json"
        rules.write_text(json.dumps({"out": [], "in": [
            {"topics": "/cmd", "types": "std_msgs/msg/String", "max_mib": 1}], "zenoh": {"listen": self.address}}))
        cmd, other = self.watch("car", "text", "/cmd"), self.watch("car", "text", "/other")
        bridge = self.bridge("car", rules)
        session = self.session()
        numbers = iter(range(10 ** 6))

        def sent():
            number = next(numbers)
            session.put("cmd", text_cdr(f"go {number}"))
            session.put("other", text_cdr("no"))
            return self.seen(cmd)
        self.until(sent, "a command")
        self.assertTrue(self.seen(cmd)[0]["text"].startswith("go "))
        self.assertEqual(self.seen(other), [])
        # However slow the computer is, none of them is dropped on its way.
        publisher = session.declare_publisher("cmd", congestion_control=zenoh.CongestionControl.BLOCK)
        publisher.put(b"\0\1\0\0\xff\xff\xff\xff")
        publisher.put(b"")
        publisher.put(b"\0\1\0\0" + bytes(2 << 20))
        publisher.put(text_cdr("odd"), attachment=b"CDN2" + b"\xff" * 300)
        self.until(lambda: self.seen(cmd)[-1]["text"] == "odd", "what follows nonsense")
        self.until(lambda: self.count(bridge, "/cmd", "refused", "in") == 3, "three refusals")
        self.end(bridge, 3)

    def test_a_type_that_is_announced_needs_no_rule_of_its_own(self):
        bridge = self.bridge("car", "--listen", self.address, "--in", "/cmd/*")
        watch = self.watch("car", "text", "/cmd/a")
        session = self.session()
        for hostile in ("@/x/@ros2_lv/MP/cmd§b/..§..§etc/:::", "@/x/@ros2_lv/MP/§/a§msg§B/:::", "@/x/@ros2_lv/MP/a/b/c"):
            session.liveliness().declare_token(hostile)
        token = session.liveliness().declare_token(f"@/{session.zid()}/@ros2_lv/MP/cmd§a/{STRING}/:::")
        self.until(lambda: session.put("cmd/a", text_cdr("x")) or self.seen(watch), "a message")
        self.until(lambda: self.topic(bridge, "/cmd/a", "in"), "a report")
        self.assertEqual([t["topic"] for t in self.report(bridge)["topics"] if t["direction"] == "in"], ["/cmd/a"])
        token.undeclare()
        self.end(bridge)

    def first_announced(self, kind):
        """A std_msgs/msg/String arrives on /cmd, whatever another peer announced first."""
        bridge = self.bridge("car", "--listen", self.address, "--in", "/cmd")
        watch = self.watch("car", "text", "/cmd")
        session = self.session()
        tokens = [session.liveliness().declare_token(f"@/ee/@ros2_lv/MP/cmd/{kind}/:::")]
        time.sleep(1)
        tokens.append(session.liveliness().declare_token(f"@/{session.zid()}/@ros2_lv/MP/cmd/{STRING}/:::"))
        self.until(lambda: session.put("cmd", text_cdr("x")) or time.sleep(0.05) or self.seen(watch), "a message")
        self.until(lambda: (self.topic(bridge, "/cmd", "in") or {}).get("type") == "std_msgs/msg/String", "a report")
        self.end(bridge, 0, 3)

    def test_an_unknown_type_that_is_announced_first_keeps_no_other_out(self):
        self.first_announced("evil§msg§Thing")

    def test_a_wrong_type_that_is_announced_first_keeps_no_other_out(self):
        self.first_announced("sensor_msgs§msg§Image")

    def test_a_type_whose_publisher_has_gone_makes_room(self):
        bridge = self.bridge("car", "--listen", self.address, "--in", "/cmd")
        session = self.session()
        first = session.liveliness().declare_token("@/ee/@ros2_lv/MP/cmd/sensor_msgs§msg§Image/:::")
        kind = lambda: (self.topic(bridge, "/cmd", "in") or {}).get("type")
        self.until(lambda: kind() == "sensor_msgs/msg/Image", "the first")
        second = session.liveliness().declare_token(f"@/{session.zid()}/@ros2_lv/MP/cmd/{STRING}/:::")
        time.sleep(1)
        first.undeclare()
        self.until(lambda: kind() == "std_msgs/msg/String", "the second")
        second.undeclare()
        self.until(lambda: kind() is None, "a topic that nobody ever published takes no place")
        self.end(bridge)

    def test_a_flood_is_thinned_by_its_rule(self):
        rules = self.path / "bridge.json"
        rules.write_text(json.dumps({"out": [], "in": [
            {"topics": "/cmd", "types": "std_msgs/msg/String", "max_hz": 5}], "zenoh": {"listen": self.address}}))
        watch = self.watch("car", "text", "/cmd")
        bridge = self.bridge("car", rules)
        session = self.session()
        self.until(lambda: session.put("cmd", text_cdr("x")) or self.seen(watch), "a message")
        start, before = time.monotonic(), len(self.seen(watch))
        while time.monotonic() < start + 3:
            for _ in range(100):
                session.put("cmd", text_cdr("x"))
            time.sleep(0.01)
        came = len(self.seen(watch)) - before
        self.assertLess(came, 5 * (time.monotonic() - start) + 3)
        self.assertGreater(came, 5)
        self.until(lambda: self.count(bridge, "/cmd", "thinned", "in") > 100, "it is counted")
        self.end(bridge, 0, 3)


class UnknownPeers(PlainCase):
    """Anybody can attach what bridges of Cardan attach to their messages."""

    @staticmethod
    def stamp(publisher, sequence, via="", age_ns=0):
        return b"CDN2" + struct.pack("<4Q3q", 0xabc, publisher, sequence, 0, 1, 0, age_ns) + via.encode()

    def topic_in(self):
        rules = self.path / "bridge.json"
        rules.write_text(json.dumps({"out": [], "in": [{"topics": "/cmd", "types": "std_msgs/msg/String"}], "zenoh": {"listen": self.address}}))
        watch = self.watch("car", "text", "/cmd")
        return self.bridge("car", rules), watch, self.session()

    def test_a_message_is_as_old_as_its_sender_says_and_no_lie_overflows(self):
        bridge, watch, session = self.topic_in()
        numbers = iter(range(1, 10 ** 6))
        for age_ns, is_known in [(7_000_000_000, True), (-1, False), (2 ** 63 - 1, False), (-2 ** 63, False)]:
            self.until(lambda: session.put("cmd", text_cdr(str(age_ns)), attachment=self.stamp(7, next(numbers), age_ns=age_ns)) or time.sleep(0.05)  # noqa: B023
                       or any(s["text"] == str(age_ns) for s in self.seen(watch)), "a message")  # noqa: B023
            ages = {s["age_ns"] for s in self.seen(watch) if s["text"] == str(age_ns)}
            self.assertTrue(all(7_000_000_000 <= age < 600_000_000_000 for age in ages) if is_known else ages == {None}, ages)
        self.end(bridge, 0, 3)

    def test_a_number_that_is_invented_silences_nobody(self):
        bridge, watch, session = self.topic_in()
        numbers = iter(range(1, 10 ** 6))
        send = lambda words: session.put("cmd", text_cdr(words), attachment=self.stamp(7, next(numbers)))  # noqa: E731
        self.until(lambda: send("before") or time.sleep(0.05) or self.seen(watch), "a message")
        session.put("cmd", b"rubbish", attachment=self.stamp(7, 2 ** 64 - 1))
        self.until(lambda: send("after") or time.sleep(0.05) or self.seen(watch)[-1]["text"] == "after", "the publisher's next", patience=20)
        self.end(bridge, 3)

    def test_networks_that_are_invented_keep_nobody_out(self):
        bridge, watch, session = self.topic_in()
        numbers = iter(range(1, 10 ** 6))

        def crowded():
            for n in range(8):
                session.put("cmd", text_cdr(f"stranger {n}"), attachment=self.stamp(n, next(numbers), f"net{n}"))
            time.sleep(0.1)
            return len({s["text"] for s in self.seen(watch)}) >= 4
        self.until(crowded, "messages over four other ways")
        self.until(lambda: session.put("cmd", text_cdr("x")) or time.sleep(0.05) or any(s["text"] == "x" for s in self.seen(watch)), "what comes straight", patience=20)
        far = lambda: session.put("cmd", text_cdr("far"), attachment=self.stamp(99, time.time_ns(), "fleet"))  # noqa: E731
        self.until(lambda: far() or time.sleep(0.05) or any(s["text"] == "far" for s in self.seen(watch)), "what came through another network", patience=20)
        self.end(bridge, 0, 3)


    def test_topics_that_have_gone_keep_no_other_out(self):
        bridge = self.bridge("car", "--listen", self.address, "--in", "/cmd/*")
        watch = self.watch("car", "text", "/cmd/honest")
        session = self.session()
        count = 256  # as many as come in
        token = lambda name: session.liveliness().declare_token(f"@/{session.zid()}/@ros2_lv/MP/cmd§{name}/{STRING}/:::")  # noqa: E731
        tokens = [token(f"evil{n}") for n in range(count)]
        there = lambda: [t for t in self.report(bridge)["topics"] if t["direction"] == "in"]  # noqa: E731
        self.until(lambda: len(there()) == count, "all of them come in")
        publishers = [session.declare_publisher(f"cmd/evil{n}", congestion_control=zenoh.CongestionControl.BLOCK) for n in range(count)]

        def touched():
            for publisher in publishers:
                publisher.put(b"rubbish")
            time.sleep(0.5)
            return all(t["refused"] for t in there())
        self.until(touched, "none of them is untouched")
        for one in tokens:
            one.undeclare()
        honest = token("honest")
        self.until(lambda: session.put("cmd/honest", text_cdr("x")) or time.sleep(0.05) or self.seen(watch), "a message", patience=20)
        self.until(lambda: sum(t["refused"] > 0 for t in there()) == count and len(there()) == count + 1, "nothing is forgotten")
        honest.undeclare()
        self.end(bridge, 3)

    def test_a_topic_without_a_place_comes_in_when_there_is_one(self):
        bridge = self.bridge("car", "--listen", self.address, "--in", "/cmd/*")
        watch = self.watch("car", "text", "/cmd/honest")
        session = self.session()
        token = lambda name: session.liveliness().declare_token(f"@/{session.zid()}/@ros2_lv/MP/cmd§{name}/{STRING}/:::")  # noqa: E731
        tokens = [token(f"evil{n}") for n in range(256)]  # as many as come in
        self.until(lambda: sum(t["direction"] == "in" for t in self.report(bridge)["topics"]) == 256, "all of them come in")
        honest = token("honest")
        self.until(lambda: any("at most 256 topics" in note for note in self.report(bridge)["notes"]), "there is no place")
        for one in tokens:
            one.undeclare()
        self.until(lambda: session.put("cmd/honest", text_cdr("x")) or time.sleep(0.05) or self.seen(watch), "a message", patience=30)
        self.until(lambda: not self.report(bridge)["notes"], "all is well")
        honest.undeclare()
        self.end(bridge, 0, 3)

    def test_a_peer_that_never_answers_stops_nothing(self):
        bridge, watch, session = self.topic_in()
        self.until(lambda: session.put("cmd", text_cdr("first")) or time.sleep(0.05) or self.seen(watch), "a message")
        asked, tokens = [], []
        silent = session.declare_queryable("cmd", lambda query: asked.append(query))
        sent, end = 0, time.monotonic() + 10
        while time.monotonic() < end:
            # A peer that announces the topic is asked for its last messages.
            tokens.append(session.liveliness().declare_token(f"@/{sent:x}/@ros2_lv/MP/cmd/{STRING}/:::"))
            session.put("cmd", text_cdr(f"number {sent}"))
            sent += 1
            time.sleep(0.1)
        arrived = lambda: len({s["text"] for s in self.seen(watch)} & {f"number {n}" for n in range(sent)})  # noqa: E731
        self.until(lambda: arrived() > 0.8 * sent, f"most of {sent} messages", patience=10)
        self.assertTrue(asked, "it was asked")
        asked.clear()
        silent.undeclare()
        self.end(bridge, 0, 3)


class Loops(PlainCase):
    def test_two_bridges_of_one_domain_pass_nothing_back(self):
        self.publish("car")
        first = self.bridge("car", "--listen", self.address, "--in", "*")
        session = self.session()
        texts, _ = self.collect(session, "text")
        self.until(lambda: len(texts) >= 10, "messages of the first bridge")
        second = self.bridge("car", "--connect", self.address, "--in", "*")
        self.until(lambda: self.count(second, "/text", "carried") >= 50, "the second sends too")
        time.sleep(2)
        for bridge in (first, second):
            for topic in self.report(bridge)["topics"]:
                if topic["direction"] == "in":
                    self.assertEqual(topic["carried"], 0, topic)
        self.end(second)
        self.end(first)

    def test_incoming_messages_do_not_leave(self):
        rules = self.path / "bridge.json"
        rules.write_text(json.dumps({"in": [{"topics": "/cmd", "types": "std_msgs/msg/String"}],
                                     "zenoh": {"listen": self.address}}))
        watch = self.watch("car", "text", "/cmd")
        bridge = self.bridge("car", rules)
        session = self.session()
        self.until(lambda: session.put("cmd", text_cdr("x")) or self.seen(watch), "a message")
        time.sleep(2)  # so that the bridge could find the topic
        self.assertIsNone(self.topic(bridge, "/cmd", "out"))
        self.end(bridge)


class Tls(PlainCase):
    def test_zenohs_own_file_gives_certificates(self):
        key, certificate = self.path / "key.pem", self.path / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-addext", "basicConstraints=critical,CA:FALSE"], check=True, capture_output=True)
        self.address = f"tls/localhost:{free_port()}"
        own = self.path / "zenoh.json5"
        own.write_text(json.dumps({
            "mode": "router", "scouting": {"multicast": {"enabled": False}}, "listen": {"endpoints": [self.address]},
            "transport": {"link": {"tls": {"listen_private_key": str(key), "listen_certificate": str(certificate)}}}}))
        self.publish("car")
        bridge = self.bridge("car", "--config", own)
        config = zenoh.Config()
        config.insert_json5("mode", '"client"')
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("connect/endpoints", json.dumps([self.address]))
        self.until(lambda: self.report(bridge)["bridge"].startswith("Zenoh, plain"), "the bridge listens")
        with self.assertRaises(zenoh.ZError, msg="a peer without the certificate does not connect"):
            zenoh.open(config)
        config.insert_json5("transport/link/tls/root_ca_certificate", json.dumps(str(certificate)))
        session = zenoh.open(config)
        self.addCleanup(session.close)
        texts, _ = self.collect(session, "text")
        self.until(lambda: len(texts) >= 20, "messages")
        self.end(bridge)


class Ends(PlainCase):
    def test_a_killed_bridge_leaves_no_child(self):
        bridge = self.bridge("car", "--listen", self.address)
        self.session().close()
        bridge.send_signal(signal.SIGKILL)
        bridge.wait()
        again = self.bridge("car", "--listen", self.address)

        def listens():
            if again.poll() is not None:
                self.fail(again.errors.read_text())
            return self.report(again)["bridge"].startswith("Zenoh, plain")
        self.until(listens, "the address is free again")
        self.end(again)

    def test_an_address_that_is_taken_is_reported(self):
        first = self.bridge("car", "--listen", self.address)
        self.session().close()
        second = self.bridge("car", "--listen", self.address)
        self.assertEqual(second.wait(60), 1)
        self.assertIn("--connect", second.errors.read_text())
        self.end(first)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
