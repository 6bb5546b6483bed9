# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge zenoh --form rmw` against PyPI's pyzeros, which speaks rmw_zenoh's form, and for latched topics against
eclipse-zenoh's advanced publishers and subscribers, which rmw_zenoh is made of. All as rmw_zenoh's sessions are: peers, which
find each other through the bridge.

zenoh_rmw_test.py BIN_DIRECTORY
"""
import json
import os
import struct
import sys
import tempfile
import time
import unittest

import zenoh
import zenoh.ext

from zenoh_case import ZenohCase, free_port, text_cdr, text_of

# pyzeros compiles what serializes a type: once, and not below this folder. Another user than the one that installed it does so each time.
CACHE = tempfile.TemporaryDirectory(prefix="cardan-cydr-")
os.environ.setdefault("CYDR_CACHE_DIR", os.path.join(sys.prefix if os.access(sys.prefix, os.W_OK) else CACHE.name, "cydr_cache"))
import numpy as np
import pyzeros
from pyzeros.builtin_msgs import Attachment
from pyzeros.pub import Pub
from pyzeros.sub import RawSub
from pyzeros.utils import rmw_zenoh_gid
from ros2_pyterfaces.cyclone.all_msgs import Image, String

STRING, IMAGE = "std_msgs::msg::dds_::String_", "sensor_msgs::msg::dds_::Image_"
HASH = String.hash_rihs01()
BOOL_HASH = "RIHS01_feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9"
QOS, LATCHED = "::,10:,:,:,,", ":1:,10:,:,:,,"


def compile_types():
    """Before anything waits for a message."""
    Attachment(sequence_number=0, source_timestamp=0, source_gid=np.zeros(16, np.uint8)).serialize()
    for one in (String(), Image()):
        type(one).deserialize(one.serialize())


class RmwCase(ZenohCase):
    def setUp(self):
        super().setUp()
        self.address = f"tcp/127.0.0.1:{free_port()}"
        self.kept = []  # an endpoint ends with its object

    def environment(self, computer):
        return {k: v for k, v in super().environment(computer).items() if k != "ROS_DOMAIN_ID"}

    def session(self, mode="peer"):
        config = zenoh.Config()
        config.insert_json5("mode", json.dumps(mode))
        config.insert_json5("scouting/multicast/enabled", "false")
        config.insert_json5("connect/endpoints", json.dumps([self.address]))
        config.insert_json5("listen/endpoints", json.dumps(["tcp/127.0.0.1:0"] if mode == "peer" else []))
        config.insert_json5("timestamping/enabled", "true")

        def opened():
            try:
                return zenoh.open(config)
            except zenoh.ZError:  # the bridge does not listen yet
                return None
        session = self.until(opened, "a session")
        self.addCleanup(lambda: session.is_closed() or session.close())
        return session

    def node(self, name, session=None, domain_id=0):
        return pyzeros.Session(node=name, zenoh_session=session or self.session(), domain_id=domain_id)

    def collect(self, node, message_type, topic):
        got = []
        self.kept.append(RawSub(
            message_type, topic, lambda s: got.append((s.payload.to_bytes(), s.attachment and s.attachment.to_bytes())),
            session=node, scope=None))
        return got

    def rules(self, name="bridge.json", **rules):
        path = self.path / name
        path.write_text(json.dumps({**rules, "zenoh": {"form": "rmw", "listen": self.address}}))
        return path

    @staticmethod
    def tokens(session):
        return [str(r.ok.key_expr) for r in session.liveliness().get("@ros2_lv/**") if r.ok]

    def token(self, session, number, name, dds_type, type_hash, qos=QOS, kind="MP", node="honest"):
        token = session.liveliness().declare_token(
            f"@ros2_lv/0/{session.zid()}/0/{number}/{kind}/%/%/{node}/{name.replace('/', '%')}/{dds_type}/{type_hash}/{qos}")
        self.kept.append(token)
        return token


class Outwards(RmwCase):
    def test_a_node_of_ros_2_gets_messages(self):
        self.publish("car")
        bridge = self.bridge("car", "--form", "rmw", "--listen", self.address)
        session = self.session()
        node = self.node("listener", session)
        texts, images = self.collect(node, String, "/text"), self.collect(node, Image, "/camera")
        self.until(lambda: len(texts) >= 50 and len(images) >= 50, "fifty of each")
        numbers = [int(text_of(cdr).split()[1]) for cdr, _ in texts]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))), "in order, none lost")
        self.assertEqual({len(Image.deserialize(cdr).data) for cdr, _ in images}, {48 * 64 * 3})
        token = next(t for t in self.tokens(session) if "/MP/" in t and "/%text/" in t)
        attached = [struct.unpack("<qqB16s", a) for _, a in texts]
        self.assertEqual([a[0] for a in attached], list(range(attached[0][0], attached[0][0] + len(attached))))
        self.assertEqual({a[2:] for a in attached}, {(16, rmw_zenoh_gid(token))})
        self.assertTrue(all(0 < time.time_ns() - a[1] < 600e9 for a in attached), "when they were published")
        self.until(lambda: self.count(bridge, "/camera", "carried") >= 50, "a report")
        camera = self.topic(bridge, "/camera")
        self.assertEqual((camera["lost"], camera["refused"]), (0, 0))
        self.assertLess(camera["copied_bytes"], max(camera["bytes"], 1) * 0.02)
        self.end(bridge)

    def test_it_is_a_node_with_publishers(self):
        self.publish("car")
        bridge = self.bridge("car", "--form", "rmw", "--listen", self.address, "--node", "vehicle")
        session = self.session()
        self.until(lambda: any("/%camera/" in t for t in self.tokens(session)), "the camera's token")
        own = [t.split("/") for t in self.tokens(session)]
        nodes = [t for t in own if t[5] == "NN"]
        self.assertEqual([(t[1], t[7], t[8]) for t in nodes], [("0", "%", "vehicle")])
        publishers = {t[9]: t[8:] for t in own if t[5] == "MP"}
        self.assertEqual(publishers["%camera"], ["vehicle", "%camera", IMAGE, Image.hash_rihs01(), publishers["%camera"][4]])
        self.assertEqual(publishers["%text"][3], HASH)
        self.assertFalse(any("cardan%" in name for name in publishers), "Cardan's own topics stay")
        self.assertEqual(len({t[4] for t in own}), len(own), "each has its own number")
        self.end(bridge)

    def advanced(self, session, key, depth=10):
        """As rmw_zenoh subscribes to a latched topic."""
        got = []
        subscriber = zenoh.ext.declare_advanced_subscriber(
            session, key, lambda s: got.append(s.payload.to_bytes()),
            history=zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=depth),
            recovery=zenoh.ext.RecoveryConfig(heartbeat=True), subscriber_detection=True)
        return got, subscriber

    def test_a_late_joiner_gets_a_latched_topic_once(self):
        rules = self.rules(out=[{"topics": "/map", "latched": True}, {"topics": "*"}])
        self.publish("car")
        bridge = self.bridge("car", rules)
        key = f"0/map/{STRING}/{HASH}"
        for _ in range(2):
            session = self.session()
            self.until(lambda: any("/%map/" in t for t in self.tokens(session)), "the map's token")
            got, _ = self.advanced(session, key)
            self.until(lambda: got, "the map, which was published once, before")
            time.sleep(1)
            self.assertEqual([text_of(one) for one in got], ["the map"])
        token = next(t for t in self.tokens(session) if "/%map/" in t and "/MP/" in t)
        self.assertEqual(token.split("/")[-1].split(":")[1], "1", "transient local")
        self.end(bridge)

    def test_a_waiting_reader_gets_a_latched_topic_when_the_bridge_comes(self):
        router = self.bridge("other", "--form", "rmw", "--listen", self.address, "--topic", "/nothing")
        got, _ = self.advanced(self.session(), f"0/map/{STRING}/{HASH}", 1)
        time.sleep(1)
        path = self.rules(out=[{"topics": "/map", "latched": True}])
        rules = json.loads(path.read_text())
        rules["zenoh"] = {"form": "rmw", "connect": self.address}
        path.write_text(json.dumps(rules))
        self.publish("car")
        bridge = self.bridge("car", path)
        self.until(lambda: got, "the map")
        time.sleep(1)
        self.assertEqual([text_of(one) for one in got], ["the map"])
        self.end(bridge)
        self.end(router)

    def test_domains_are_apart(self):
        self.publish("car")
        bridge = self.bridge("car", "--form", "rmw", "--listen", self.address, "--domain-id", "7")
        session = self.session()
        other, same = (self.collect(self.node(f"in{n}", session, n), String, "/text") for n in (0, 7))
        self.until(lambda: len(same) >= 20, "messages in its domain")
        self.assertEqual(other, [])
        self.end(bridge)

    def test_peers_find_each_other_through_it(self):
        bridge = self.bridge("car", "--form", "rmw", "--listen", self.address)
        got = self.collect(self.node("listener"), String, "/chatter")
        talker = Pub(String, "/chatter", session=self.node("talker"), scope=None)
        self.until(lambda: talker.publish(String(data="hello")) or got, "a message from peer to peer")
        self.end(bridge)


class Inwards(RmwCase):
    def test_only_topics_of_a_rule_come_in(self):
        rules = self.rules(out=[], **{"in": [{"topics": "/cmd", "types": "std_msgs/msg/*", "max_mib": 1}]})
        cmd, other = self.watch("car", "text", "/cmd"), self.watch("car", "text", "/other")
        bridge = self.bridge("car", rules)
        session = self.session()
        node = self.node("talker", session)
        talker, stranger = (Pub(String, topic, session=node, scope=None) for topic in ("/cmd", "/other"))
        foreign = Pub(String, "/cmd", session=self.node("foreign", session, 3), scope=None)

        def sent():
            for one in (talker, stranger):
                one.publish(String(data="go"))
            foreign.publish(String(data="of another domain"))
            return len(self.seen(cmd)) >= 20
        self.until(sent, "twenty commands")
        self.assertEqual({one["text"] for one in self.seen(cmd)}, {"go"})
        self.assertTrue(all(0 < time.time_ns() - one["source"] < 600e9 for one in self.seen(cmd)))
        self.assertEqual(self.seen(other), [])
        tokens = self.tokens(session)
        self.assertTrue(any("/MS/" in t and "/%cmd/" in t and HASH in t for t in tokens), tokens)
        self.until(lambda: self.count(bridge, "/cmd", "carried", "in") >= 20, "a report")
        self.assertEqual(self.count(bridge, "/cmd", "lost", "in"), 0)
        self.end(bridge)

    def test_lost_numbers_are_counted(self):
        bridge = self.bridge("car", self.rules(out=[], **{"in": [{"topics": "/cmd"}]}))
        watch = self.watch("car", "text", "/cmd")
        talker = Pub(String, "/cmd", session=self.node("talker"), scope=None)
        self.until(lambda: talker.publish(String(data="x")) or len(self.seen(watch)) >= 2, "messages")
        talker.count += 5
        talker.publish(String(data="after the gap"))
        self.until(lambda: self.count(bridge, "/cmd", "lost", "in") == 5, "five that never came")
        self.end(bridge, 3)

    def test_a_latched_topic_comes_in_late(self):
        router = self.bridge("other", "--form", "rmw", "--listen", self.address, "--topic", "/nothing")
        session = self.session()
        key = f"0/map/{STRING}/{HASH}"
        publisher = zenoh.ext.declare_advanced_publisher(
            session, key, cache=zenoh.ext.CacheConfig(max_samples=10), publisher_detection=True,
            sample_miss_detection=zenoh.ext.MissDetectionConfig(sporadic_heartbeat=0.5))
        token = self.token(session, 1, "/map", STRING, HASH, LATCHED)
        for n in range(3):
            publisher.put(text_cdr(f"map {n}"), attachment=struct.pack("<qqB16s", n + 1, time.time_ns(), 16, b"g" * 16))
        watch = self.watch("car", "text", "/map")
        bridge = self.bridge("car", "--form", "rmw", "--connect", self.address, "--in", "/map", "--topic", "/nothing")
        self.until(lambda: len(self.seen(watch)) >= 3, "what was published before")
        publisher.put(text_cdr("map 3"), attachment=struct.pack("<qqB16s", 4, time.time_ns(), 16, b"g" * 16))
        self.until(lambda: len(self.seen(watch)) >= 4, "what comes now")
        time.sleep(1)
        self.assertEqual([one["text"] for one in self.seen(watch)], [f"map {n}" for n in range(4)])
        token.undeclare()
        self.end(bridge)
        self.end(router)

    def test_hostile_tokens_and_attachments_do_no_harm(self):
        # Other peers can take all places of a rule with patterns, but none that a rule names.
        bridge = self.bridge("car", self.rules(out=[], **{"in": [{"topics": topics, "types": "std_msgs/msg/String"}
                                                                 for topics in ("/cmd", "/cmd*")]}))
        watch = self.watch("car", "text", "/cmd")
        session = self.session()
        for n, (name, kind, type_hash, qos) in enumerate([
                ("/cmd\x1b[2J", STRING, HASH, QOS), ("/cmd/../x", STRING, HASH, QOS), ("cmd", STRING, HASH, QOS),
                ("/cmd//b", STRING, HASH, QOS), ("/cmd", "std_msgs::msg::dds_::..%etc_", HASH, QOS),
                ("/cmd", STRING, "RIHS01_" + "0" * 64, QOS), ("/cmd", STRING, "x", QOS), ("/cmd", STRING, HASH, "x" * 400),
                ("/cmd", STRING, HASH, ":1:,4294967295:,:,:,,"), ("/cmd" + "x" * 600, STRING, HASH, QOS)]):
            self.token(session, n, name, kind, type_hash, qos, node="evil")
        for n in range(2000):
            self.token(session, 100 + n, f"/cmd/n{n}", STRING, HASH, node="evil")
        key = f"0/cmd/{STRING}/{HASH}"
        hostile = [b"", b"x", bytes(32), bytes(33), bytes(34), b"\xff" * 33, b"\xff" * 4096, b"CDN2" + b"\xff" * 300]

        def sent():
            for attachment in hostile:
                session.put(key, text_cdr("odd"), attachment=attachment)
            session.put(key, b"\0\1\0\0\xff\xff\xff\xff")
            session.put(key, text_cdr("schema"), encoding=zenoh.Encoding.APPLICATION_CDR.with_schema("cardan=zz\n" * 25))
            session.put(key, text_cdr("plain"))
            return any(one["text"] == "plain" for one in self.seen(watch))
        self.until(sent, "what is well-formed")
        self.assertLessEqual(len(self.report(bridge)["topics"]), 256)
        honest = Pub(String, "/cmd", session=self.node("honest", session), scope=None)
        self.until(lambda: honest.publish(String(data="honest")) or
                   any(one["text"] == "honest" for one in self.seen(watch)), "an honest one")
        self.until(lambda: self.count(bridge, "/cmd", "refused", "in") > 0, "it is counted")
        self.assertNotIn("\x1b", json.dumps(self.report(bridge)).encode().decode("unicode_escape"))
        self.end(bridge, 3)

    def test_a_publishers_number_that_another_peer_uses_keeps_nobody_out(self):
        bridge = self.bridge("car", self.rules(out=[], **{"in": [{"topics": "/cmd", "types": "std_msgs/msg/String"}]}))
        watch = self.watch("car", "text", "/cmd")
        session = self.session()
        talker = Pub(String, "/cmd", session=self.node("talker", session), scope=None)
        self.until(lambda: talker.publish(String(data="before")) or self.seen(watch), "a message")
        session.put(f"0/cmd/{STRING}/{HASH}", text_cdr("evil"),
                    attachment=struct.pack("<qqB16s", 2 ** 62, 0, 16, bytes(talker.gid)))
        self.until(lambda: any(one["text"] == "evil" for one in self.seen(watch)), "what anybody can send")
        self.until(lambda: talker.publish(String(data="after")) or
                   any(one["text"] == "after" for one in self.seen(watch)), "the honest one continues")
        self.end(bridge, 0, 3)

    def test_a_wrong_announcement_keeps_no_honest_one_out(self):
        bridge = self.bridge("car", self.rules(out=[], **{"in": [{"topics": "/cmd", "types": "std_msgs/msg/*"}]}))
        watch = self.watch("car", "text", "/cmd")
        session = self.session()
        token = self.token(session, 9, "/cmd", "std_msgs::msg::dds_::Bool_", BOOL_HASH, node="evil")
        topic = self.until(lambda: self.topic(bridge, "/cmd", "in"), "the wrong one is first")
        self.assertEqual(topic["type"], "std_msgs/msg/Bool")
        honest = Pub(String, "/cmd", session=self.node("honest", session), scope=None)
        self.until(lambda: honest.publish(String(data="go")) or time.sleep(0.1) or self.seen(watch), "the honest one")
        self.assertEqual(self.seen(watch)[0]["text"], "go")
        token.undeclare()
        self.end(bridge, 3)


class Loops(RmwCase):
    def test_two_bridges_of_one_domain_pass_nothing_back(self):
        self.publish("car")
        first = self.bridge("car", "--form", "rmw", "--listen", self.address, "--in", "*")
        texts = self.collect(self.node("listener"), String, "/text")
        self.until(lambda: len(texts) >= 10, "messages of the first bridge")
        second = self.bridge("car", "--form", "rmw", "--connect", self.address, "--in", "*")
        self.until(lambda: self.count(second, "/text", "carried") >= 50, "the second sends too")
        time.sleep(2)
        for bridge in (first, second):
            self.assertEqual([t for t in self.report(bridge)["topics"] if t["direction"] == "in"], [])
        self.end(second)
        self.end(first)

    def test_messages_of_another_network_do_not_go_back_there(self):
        plain = f"tcp/127.0.0.1:{free_port()}"
        rule = {"topics": "/cmd", "types": "std_msgs/msg/String"}
        bridges = {}
        for computer in ("car", "base"):
            path = self.path / f"plain-{computer}.json"
            where = {"listen" if computer == "car" else "connect": plain}
            path.write_text(json.dumps({"in": [rule] if computer == "car" else [], "zenoh": where}))
            bridges[computer, "plain"] = self.bridge(computer, path)
            path = self.path / f"rmw-{computer}.json"
            where = {"form": "rmw", "listen" if computer == "car" else "connect": self.address}
            path.write_text(json.dumps({"in": [rule] if computer == "base" else [], "zenoh": where}))
            bridges[computer, "rmw"] = self.bridge(computer, path)
        watch = self.watch("base", "text", "/cmd")
        self.address, address = plain, self.address
        session = self.session("client")
        self.address = address
        self.until(lambda: session.put("cmd", text_cdr("x")) or len(self.seen(watch)) >= 20, "over both networks")
        time.sleep(2)
        self.assertIsNone(self.topic(bridges["base", "plain"], "/cmd"), "it came from there")
        self.assertIsNone(self.topic(bridges["base", "rmw"], "/cmd"))
        for bridge in bridges.values():
            self.end(bridge, 0, 3)


if __name__ == "__main__":
    compile_types()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
