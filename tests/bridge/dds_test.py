# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge dds` against another implementation's build of DDS, PyPI's cyclonedds, in its own network.

dds_test.py BIN_DIRECTORY. Makes a network namespace; where it may not, the test is skipped (77).
"""
from dds_case import BIN, CARDAN, PATIENCE, UNPRIVILEGED, BridgeCase  # first: it enters the network

import json
import os
import signal
import subprocess
import sys
import time
import unittest

from cyclonedds._clayer import ddspy_write
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsParticipant, BuiltinTopicDcpsPublication
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from rosbags.typesys import Stores, get_typestore

import dds_types as t


def user_data(qos):
    for policy in qos:
        if type(policy).__name__ == "Userdata":
            return bytes(policy.data).decode()
    return ""


class Outwards(BridgeCase):
    def test_images_clouds_and_texts_arrive_as_they_were(self):
        self.publish(640, 480, 30)
        bridge = self.bridge()
        self.until(lambda: self.topic(bridge, "/camera"), "the bridge finds the topic")
        self.assertEqual(self.topic(bridge, "/camera")["carried"], 0)
        info = json.loads(subprocess.run([CARDAN, "topic", "info", "/camera", "--json"], env=self.environment, capture_output=True, text=True).stdout)
        self.assertEqual(info["publishers"][0]["subscribers"], [], "without readers the bridge does not subscribe")

        images = self.reader("rt/camera", t.Image)
        clouds = self.reader("rt/lidar", t.PointCloud2, reliable=False)
        texts = self.reader("rt/text", t.String)
        before = 0
        for image in self.collect(images, 20):
            self.assertEqual((image.height, image.width, image.encoding, image.step, len(image.data)), (480, 640, "bgr8", 1920, 640 * 480 * 3))
            number = image.header.stamp.sec * 10**9 + image.header.stamp.nanosec
            self.assertGreater(number, before)
            before = number
            self.assertEqual(set(image.data), {number % 251})
            self.assertEqual(image.header.frame_id, "front")
            self.assertLess(abs(image.sample_info.source_timestamp - time.time_ns()), PATIENCE * 10**9)
        for cloud in self.collect(clouds, 5):
            self.assertEqual(len(cloud.data), cloud.width * cloud.point_step)
            self.assertEqual([f.name for f in cloud.fields], ["x", "y", "z", "intensity"])
        for text in self.collect(texts, 5):
            self.assertTrue(text.data.startswith("number "))
        counts = self.until(lambda: (c := self.topic(bridge, "/camera")) and c["carried"] >= 20 and c, "counts")
        self.assertEqual(counts["receivers"], 1)
        self.assertLess(counts["copied_bytes"], 0.3 * counts["bytes"], "only seams are copied")
        del images
        self.until(lambda: self.topic(bridge, "/camera")["receivers"] == 0, "the reader has left")
        seen = lambda: json.loads(subprocess.run([CARDAN, "topic", "info", "/camera", "--json"], env=self.environment, capture_output=True, text=True).stdout)["publishers"][0]["subscribers"] == []  # noqa: E731
        self.until(seen, "the bridge has left too")

    def test_a_rate_and_a_name_of_its_own(self):
        self.publish(64, 48, 100)
        bridge = self.bridge("--topic", "/text", "--rate", "5", "--rename", "/text=/other/name")
        texts = self.reader("rt/other/name", t.String)
        self.collect(texts, 3)
        counts = self.until(lambda: (c := self.topic(bridge, "/text")) and c["carried"] >= 3 and c, "counts")
        self.assertGreater(counts["thinned"], counts["carried"])
        self.assertEqual(len(self.report(bridge)["topics"]), 1)
        self.end(bridge)

    def test_a_late_reader_gets_latched_messages(self):
        self.publish()
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"out": [{"topics": "/map", "latched": True}]}))
        bridge = self.bridge(rules)
        self.until(lambda: (c := self.topic(bridge, "/map")) and c["carried"] == 1, "the bridge has the map")
        maps = self.reader("rt/map", t.String, transient_local=True)
        self.assertEqual(self.collect(maps, 1)[0].data, "the map")

    def test_it_continues_after_the_bridge_was_killed(self):
        self.publish()
        texts = self.reader("rt/text", t.String)
        bridge = self.bridge()
        self.collect(texts, 3)
        bridge.kill()
        bridge.wait(PATIENCE)
        texts.take(N=1000)
        again = self.bridge()
        first, second = [int(s.data.split()[1]) for s in self.collect(texts, 10)][:2]
        self.assertEqual(second, first + 1)
        self.until(lambda: (c := self.topic(again, "/text")) and c["carried"] > 0, "counts")

    def test_ros_sees_a_node_and_knows_the_types(self):
        self.publish()
        old = self.reader("ros_discovery_info", t.Info24, transient_local=True, depth=50)
        bridge = self.bridge("--gid", "24", "--node", "my_bridge")
        publications = BuiltinDataReader(self.peer, BuiltinTopicDcpsPublication)
        found = {}

        def look():
            for one in publications.take(N=50):
                if one.sample_info.valid_data:
                    found[one.topic_name] = one
            return {"rt/camera", "rt/lidar", "rt/text", "ros_discovery_info"} <= found.keys()
        self.until(look, "the bridge's writers")
        store = get_typestore(Stores.ROS2_JAZZY)
        for topic, name in (("rt/camera", "sensor_msgs/msg/Image"), ("rt/lidar", "sensor_msgs/msg/PointCloud2"), ("rt/text", "std_msgs/msg/String")):
            package, _, kind = name.split("/")
            self.assertEqual(found[topic].type_name, f"{package}::msg::dds_::{kind}_")
            self.assertEqual(user_data(found[topic].qos), f"typehash={store.hash_rihs01(name)};")
        participants = [p for p in BuiltinDataReader(self.peer, BuiltinTopicDcpsParticipant).take(N=50) if p.key == found["rt/camera"].participant_key]
        self.assertTrue(user_data(participants[0].qos).startswith("enclave=/;cardan="))

        keys = {found[n].key.bytes for n in ("rt/camera", "rt/lidar", "rt/text")}

        def node():
            for info in old.take(N=50):
                if hasattr(info, "nodes") and info.nodes and info.nodes[0].node_name == "my_bridge":
                    writers = {bytes(g.data[:16]) for g in info.nodes[0].writers}
                    if keys <= writers:
                        return info
            return None
        info = self.until(node, "the node names its writers")
        self.assertEqual(bytes(info.gid.data[:16]), found["rt/camera"].participant_key.bytes)
        self.assertEqual(bytes(info.gid.data[16:]), bytes(8))
        self.assertEqual(info.nodes[0].node_namespace, "/")
        self.end(bridge)

    def test_the_form_of_the_node_follows_others(self):
        self.publish()
        bridge = self.bridge()
        named = lambda reader: any(hasattr(i, "nodes") and i.nodes and i.nodes[0].node_name == "cardan_bridge" for i in reader.take(N=50))  # noqa: E731

        def node(info, gid, one):
            """A node of a separate release: its participant, what it hears, and what it says. A topic has one type in a participant."""
            other = DomainParticipant(self.id)
            topic = Topic(other, "ros_discovery_info", info)
            hears = DataReader(other, topic, qos=t.qos(transient_local=True, depth=50))
            says = DataWriter(other, topic, qos=t.qos(transient_local=True, depth=1))
            size = {t.Gid24: 24, t.Gid16: 16}[gid]
            return hears, lambda: says.write(info(gid=gid(data=(list(range(16)) + [0] * 8)[:size]),
                                                  nodes=[one(node_namespace="/", node_name="talker", readers=[], writers=[])]))
        hears_new, says_new = node(t.Info16, t.Gid16, t.Node16)
        hears_old, says_old = node(t.Info24, t.Gid24, t.Node24)
        self.until(lambda: int(self.report(bridge).get("bridge", ", 0 other").split(", ")[1].split()[0]) >= 3, "the bridge has met both and this test")
        time.sleep(1)
        self.assertFalse(named(hears_new) or named(hears_old), "none, as long as nobody says which")
        says_new()
        self.until(lambda: named(hears_new), "the new form")
        says_old()
        self.until(lambda: named(hears_old), "of both, the old one, which does not disturb the others")
        self.end(bridge)


class OrdinaryUser(BridgeCase):
    def test_it_starts_and_carries_as_a_user_without_privileges(self):
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if os.geteuid() == 0 and subprocess.run([*nobody, "test", "-x", CARDAN], capture_output=True).returncode == 0:
            os.chown(self.path, 65534, 65534)
        else:
            nobody = UNPRIVILEGED  # an ordinary user has no second one
        self.publish(user=nobody)
        bridge = self.bridge(user=nobody)
        self.collect(self.reader("rt/text", t.String), 3)
        self.end(bridge)


class Owners(BridgeCase):
    def test_topics_of_their_owner_alone_leave_only_if_a_rule_names_them(self):
        self.publish()
        bridge = self.bridge("--topic", "/text", "--topic", "/cam*", owner=False)
        self.collect(self.reader("rt/text", t.String), 3)
        note = self.until(lambda: [n for n in self.report(bridge)["notes"] if n.startswith("/camera: it is not sent")], "a note")[0]
        self.assertIn("--owner", note)
        self.assertIsNone(self.topic(bridge, "/camera"))
        self.end(bridge)
        said = (self.path / f"bridge{self.bridges}.err").read_text()
        self.assertIn("every user of this computer can read what leaves", said)

    def test_a_rule_may_name_them_by_a_pattern(self):
        self.publish()
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"out": [{"topics": "/te*", "owner": True}, {"topics": "/cam*"}]}))
        bridge = self.bridge(rules, owner=False)
        self.collect(self.reader("rt/text", t.String), 3)
        self.assertIsNone(self.topic(bridge, "/camera"))
        self.end(bridge)


class Inwards(BridgeCase):
    def test_only_topics_of_a_rule_come_in(self):
        bridge = self.bridge("--in", "/wanted")
        wanted = self.writer("rt/wanted", t.String)
        secret = self.writer("rt/secret", t.String)
        watcher = self.watch("text", "/wanted")
        begin = time.time_ns()

        def message():
            secret.write(t.String(data="secret"))
            return t.String(data="hello")
        seen = self.send_until_seen(wanted, message, watcher)
        self.assertEqual(seen["text"], "hello")
        self.assertLess(abs(seen["source"] - begin), PATIENCE * 10**9, "the writer's stamp")
        names = subprocess.run([CARDAN, "topic", "list", "--json"], env=self.environment, capture_output=True, text=True).stdout
        self.assertIn("/wanted", names)
        self.assertNotIn("/secret", names)
        counts = self.until(lambda: (c := self.topic(bridge, "/wanted", "in")) and c["carried"] > 0 and c, "counts")
        self.assertEqual((counts["lost"], counts["refused"]), (0, 0))
        self.end(bridge)

    def test_large_messages_arrive_as_they_were(self):
        bridge = self.bridge("--in", "/camera", "--in", "/lidar")
        images = self.writer("rt/camera", t.Image, depth=2)
        clouds = self.writer("rt/lidar", t.PointCloud2, reliable=False)
        header = t.Header(stamp=t.Time(sec=5, nanosec=6), frame_id="rear")
        image = t.Image(header=header, height=480, width=640, encoding="rgb8", is_bigendian=0, step=1920, data=[77] * (640 * 480 * 3))
        seen = self.send_until_seen(images, lambda: image, self.watch("image", "/camera"))
        self.assertEqual({k: seen[k] for k in ("height", "width", "bytes", "first", "same")}, {"height": 480, "width": 640, "bytes": 640 * 480 * 3, "first": 77, "same": True})
        fields = [t.PointField(name=n, offset=4 * i, datatype=7, count=1) for i, n in enumerate("xyz")]
        cloud = t.PointCloud2(header=header, height=1, width=100, fields=fields, is_bigendian=False, point_step=12, row_step=1200, data=[1] * 1200, is_dense=True)
        self.assertEqual(self.send_until_seen(clouds, lambda: cloud, self.watch("cloud", "/lidar")), {"width": 100, "bytes": 1200})
        counts = self.until(lambda: (c := self.topic(bridge, "/camera", "in")) and c["carried"] > 0 and c, "counts")
        self.assertEqual(counts["copied_bytes"], counts["bytes"], "each byte is copied once")

    def test_losses_of_the_network_are_counted_to_the_message(self):
        bridge = self.bridge("--in", "/camera")
        images = self.writer("rt/camera", t.Image, reliable=False, depth=2)
        header = t.Header(stamp=t.Time(sec=5, nanosec=6), frame_id="rear")
        image = t.Image(header=header, height=256, width=256, encoding="rgb8", is_bigendian=0, step=768, data=[7] * (256 * 256 * 3))
        self.send_until_seen(images, lambda: image, self.watch("image", "/camera"))
        arrived = lambda: (c := self.topic(bridge, "/camera", "in")) and c["carried"] + c["lost"]  # noqa: E731
        before = [0, -1]

        def still():
            before.append(arrived())
            time.sleep(1.5)
            return before[-1] if before[-1] == before[-2] else 0
        start = self.until(still, "nothing is under way")
        lost = self.topic(bridge, "/camera", "in")["lost"]
        bridge.send_signal(signal.SIGSTOP)  # its socket overflows: 30 MB do not fit in
        written = [150]
        for _ in range(written[0]):
            images.write(image)
        bridge.send_signal(signal.SIGCONT)

        def all_known():
            images.write(image)  # the loss shows when something arrives after it
            written[0] += 1
            time.sleep(2.5)
            return arrived() == start + written[0]
        self.until(all_known, "each message arrived or counts as lost")
        self.assertGreater(self.topic(bridge, "/camera", "in")["lost"], lost + 20)
        self.end(bridge, code=3)

    def test_a_type_of_a_package_is_found_and_an_unknown_one_is_reported(self):
        folder = self.path / "share" / "my_msgs" / "msg"
        folder.mkdir(parents=True)
        (folder / "Axle.msg").write_text("# two of them\nstd_msgs/Header header\nWheel[] wheels\nint32 FRONT=1\n")
        (folder / "Wheel.msg").write_text("float32 speed  # m/s\nstring name\n")
        bridge = self.bridge("--in", "*", "--message-path", self.path / "share")
        axles = self.writer("rt/axle", t.Axle)
        unknown = self.writer("rt/unknown", t.Unknown)
        axle = t.Axle(header=t.Header(stamp=t.Time(sec=1, nanosec=2), frame_id="f"), wheels=[t.Wheel(speed=2.5, name="left"), t.Wheel(speed=3.5, name="right")])

        def echoed():
            axles.write(axle)
            unknown.write(t.Unknown(number=1))
            done = subprocess.run([CARDAN, "topic", "echo", "/axle", "--once", "--json"], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
            return done.stdout if done.returncode == 0 else None
        text = self.until(echoed, "the message")
        self.assertIn('"left"', text)
        self.assertIn("3.5", text)
        note = self.until(lambda: [n for n in self.report(bridge)["notes"] if n.startswith("in /unknown")], "a note")[0]
        self.assertIn("my_msgs/msg/Unknown.msg is not there", note)

    def among_strangers(self, kind, *options):
        """A command arrives, although there are writers of another type: enough that one is looked at before its own."""
        others = [DomainParticipant(self.id) for _ in range(8)]
        strangers = [DataWriter(one, Topic(one, "rt/cmd", kind), qos=t.qos()) for one in others]
        bridge = self.bridge(*options)
        self.until(lambda: " 9 other participants" in self.report(bridge).get("bridge", ""), "they are there")
        time.sleep(1)
        commands = self.writer("rt/cmd", t.String)
        self.assertEqual(self.send_until_seen(commands, lambda: t.String(data="go"), self.watch("text", "/cmd"))["text"], "go")
        del strangers
        self.end(bridge)

    def test_writers_of_an_unknown_type_keep_no_other_out(self):
        self.among_strangers(t.Unknown, "--in", "/cmd")

    def test_a_type_that_fits_no_writer_is_noted(self):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"in": [{"topics": "/cmd", "types": "std_msgs/msg/Strin"}]}))
        bridge = self.bridge(rules)
        writer = self.writer("rt/cmd", t.String)
        note = self.until(lambda: [n for n in self.report(bridge)["notes"] if "no writer fits" in n], "a note")[0]
        self.assertIn("std_msgs/msg/Strin: /cmd has the type std_msgs/msg/String", note)
        del writer

    def test_writers_of_a_type_that_no_rule_names_keep_no_other_out(self):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"in": [{"topics": "/cmd", "types": "std_msgs/msg/String"}]}))
        self.among_strangers(t.PointCloud2, rules)

    def test_garbage_is_refused_counted_and_does_no_harm(self):
        bridge = self.bridge("--in", "/camera", "--in", "/text")
        garbage = self.writer("rt/camera", t.NotAnImage)

        def refused():
            garbage.write(t.NotAnImage(numbers=[1e300] * 1000))
            counts = self.topic(bridge, "/camera", "in")
            return counts and counts["refused"] > 3 and counts
        counts = self.until(refused, "garbage is refused")
        self.assertEqual(counts["carried"], 0)
        self.assertIn("sensor_msgs/msg/Image", counts["note"])
        texts = self.writer("rt/text", t.String)
        self.assertEqual(self.send_until_seen(texts, lambda: t.String(data="fine"), self.watch("text", "/text"))["text"], "fine")
        self.end(bridge, code=3)

    def test_too_large_a_message_is_refused(self):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"in": [{"topics": "/text", "max_mib": 1}]}))
        bridge = self.bridge(rules)
        texts = self.writer("rt/text", t.String)

        def refused():
            texts.write(t.String(data="x" * (1 << 20)))
            counts = self.topic(bridge, "/text", "in")
            return counts and counts["refused"] > 0 and counts
        self.assertIn("max_mib", self.until(refused, "it is refused")["note"])
        self.end(bridge, code=3)

    def test_a_message_without_bounds_costs_little_memory(self):
        """Cyclone keeps what has come of a message until it is whole, however large its writer says that it is."""
        bridge = self.bridge("--in", "/text")
        texts = self.writer("rt/text", t.String, reliable=False)  # what is lost of it is not sent again
        self.send_until_seen(texts, lambda: t.String(data="before"), self.watch("text", "/text"))
        size = 300 << 20
        ddspy_write(texts._ref, b"\0\1\0\0" + (size + 1).to_bytes(4, "little") + b"x" * size + b"\0")
        with open(f"/proc/{bridge.pid}/status") as status:
            peak_kib = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        self.assertLess(peak_kib, 120 << 10)
        watch = self.watch("text", "/text")
        self.until(lambda: self.send_until_seen(texts, lambda: t.String(data="after"), watch)["text"] == "after", "the message after it")
        self.end(bridge, code=3)


class Elsewhere(BridgeCase):
    """A second computer: a network namespace at the other end of a cable."""

    def setUp(self):
        super().setUp()
        far = self.start("unshare", "-n", "sh", "-c", "echo up; exec sleep 600", stdout=subprocess.PIPE)
        self.assertEqual(far.stdout.readline(), "up\n")
        self.far = ["nsenter", "-t", str(far.pid), "-n"]
        commands = [["ip", "link", "add", "near", "type", "veth", "peer", "name", "far"], ["ip", "link", "set", "far", "netns", str(far.pid)],
                    ["ip", "addr", "add", "10.11.12.1/24", "dev", "near"], ["ip", "link", "set", "near", "up"],
                    [*self.far, "ip", "addr", "add", "10.11.12.2/24", "dev", "far"], [*self.far, "ip", "link", "set", "far", "up"], [*self.far, "ip", "link", "set", "lo", "up"]]
        for command in commands:
            if subprocess.run(command, capture_output=True).returncode != 0:
                self.skipTest("no cable between network namespaces here: " + " ".join(command))
        self.addCleanup(subprocess.run, ["ip", "link", "del", "near"], capture_output=True)

    def far_bridge(self):
        """One with its own computer, which asks for ours by its address."""
        environment, self.environment = self.environment, {**self.environment, "CARDAN_RUN_DIR": str(self.path / "far")}
        log = self.path / "far.json"
        with open(log, "w") as out:
            process = self.start(*self.far, BIN / "cardan-bridge-dds", "--domain-id", self.id, "--json", "--discovery", "off", "--peer", "10.11.12.1", "--in", "/text", stdout=out)
        process.log = log
        self.environment = environment
        return process

    def test_nobody_elsewhere_reaches_a_bridge_that_stays_at_home(self):
        self.nobody_elsewhere_reaches_it()

    def test_nobody_elsewhere_reaches_a_bridge_that_uses_the_usual_address_too(self):
        self.environment["ROS_LOCALHOST_ONLY"] = "1"
        self.nobody_elsewhere_reaches_it()

    def nobody_elsewhere_reaches_it(self):
        self.publish()
        near = self.bridge("--gid", "16")
        far = self.far_bridge()
        local = self.reader("rt/text", t.String)
        self.collect(local, 10)
        self.collect(local, 300)  # six seconds, in which the far one asks several times
        self.assertIn(" 1 other participant", self.report(near)["bridge"])
        self.assertIsNone(self.topic(far, "/text", "in"))
        self.end(near)
        open_to_all = self.bridge("--discovery", "subnet")
        self.until(lambda: (c := self.topic(far, "/text", "in")) and c["carried"] > 0, "with 'subnet' it does reach it")
        self.end(open_to_all)

    def node_that_gets_text(self, name, interface, multicast):
        """As nodes of ROS 2 on Cyclone DDS that stay on the computer are configured: of Humble on loopback's address, of Jazzy on the usual one."""
        before = dict(self.environment)
        peers = "" if multicast else "<Peers><Peer address='localhost'/></Peers>"
        text = (f"<CycloneDDS><Domain><General><Interfaces><NetworkInterface name='{interface}' multicast='default'/></Interfaces>"
                f"<AllowMulticast>{multicast or 'false'}</AllowMulticast></General>"
                f"<Discovery><ParticipantIndex>auto</ParticipantIndex>{peers}</Discovery></Domain></CycloneDDS>")
        self.environment.update(CYCLONEDDS_URI=text, CARDAN_RUN_DIR=str(self.path / name))
        node = self.bridge("--discovery", "system", "--in", "/text", "--topic", "/none")
        self.environment = before
        return node

    def both_nodes_are_met(self, variable, value):
        self.publish()
        self.environment[variable] = value
        near = self.bridge()
        del self.environment[variable]
        jazzy = self.node_that_gets_text("jazzy", "near", None)
        humble = self.node_that_gets_text("humble", "lo", "true")
        gets = lambda node: (c := self.topic(node, "/text", "in")) and c["carried"] > 0  # noqa: E731
        self.until(lambda: gets(jazzy), "a node on the usual address gets the topic")
        self.until(lambda: gets(humble), "a node on loopback gets the topic")
        self.until(lambda: (c := self.topic(near, "/text")) and c["receivers"] == 2, "the bridge sees both")

    def test_nodes_are_met_at_both_addresses_with_localhost_only(self):
        self.both_nodes_are_met("ROS_LOCALHOST_ONLY", "1")

    def test_nodes_are_met_at_both_addresses_with_range_localhost(self):
        self.both_nodes_are_met("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")


class Loops(BridgeCase):
    def test_two_bridges_of_one_computer_do_not_feed_each_other(self):
        self.publish()
        bridges = [self.bridge("--in", "*", "--node", f"b{i}", "--network", f"net{i}") for i in range(2)]
        pings = self.writer("rt/ping", t.String)
        echoes = self.reader("rt/text", t.String)
        watcher = self.watch("text", "/ping")
        self.send_until_seen(pings, lambda: t.String(data="ping"), watcher)
        self.collect(echoes, 50)

        def lets_a_ping_in(bridge):  # they find the writer one after the other
            pings.write(t.String(data="ping"))
            return (c := self.topic(bridge, "/ping", "in")) and c["carried"] > 0

        for bridge in bridges:
            self.until(lambda b=bridge: lets_a_ping_in(b), "each lets the ping in")
        for bridge in bridges:
            sent, before = self.topic(bridge, "/ping", "in")["carried"], None
            for _ in range(30):  # what is on its way comes in; what went round would never end
                if sent == before:
                    break
                time.sleep(4)
                before, sent = sent, self.topic(bridge, "/ping", "in")["carried"]
            self.assertIsNone(self.topic(bridge, "/text", "in"), "what the other bridge writes is here already")
            # Messages that came in through one network may leave through the other, but comes back through neither.
            time.sleep(1.5)
            self.assertEqual(self.topic(bridge, "/ping", "in")["carried"], sent)

    def test_a_bridge_does_not_send_back_what_it_lets_in(self):
        bridge = self.bridge("--in", "*")
        back = self.reader("rt/ping", t.String)
        pings = self.writer("rt/ping", t.String)
        self.send_until_seen(pings, lambda: t.String(data="ping"), self.watch("text", "/ping"))
        time.sleep(0.5)
        writers = {one.sample_info.publication_handle for one in back.take(N=1000)}
        self.assertEqual(len(writers), 1, "ours alone")
        out = self.until(lambda: (c := self.topic(bridge, "/ping")) and c["receivers"] == 1 and c, "our reader reads the bridge's topic too")
        self.assertEqual(out["carried"], 0)
        self.end(bridge)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
