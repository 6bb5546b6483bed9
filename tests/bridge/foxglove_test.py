#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge foxglove` against PyPI's websockets; messages are decoded by PyPI's rosbags.

    foxglove_test.py FOLDER_WITH_PROGRAMS SOURCE_FOLDER [unittest arguments]
"""
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import numpy
from mcap.reader import make_reader
from rosbags.typesys import Stores, get_typestore
from websockets.exceptions import ConnectionClosed, InvalidStatus

from foxglove_case import LONG, NEW, OLD, SOURCES, FoxgloveCase, Viewer

TYPES = get_typestore(Stores.ROS2_HUMBLE)


class Foxglove(FoxgloveCase):
    # ---- what comes

    def test_both_protocols(self):
        self.sensors(64, 48, 20, 0, 0)
        bridge = self.bridge()
        for offered, taken in (((NEW,), NEW), ((OLD,), OLD), ((OLD, NEW), NEW)):
            viewer = self.viewer(bridge, offered)
            self.assertEqual(viewer.socket.subprotocol, taken)
            self.assertEqual(viewer.info["name"], "Cardan")
            self.assertNotIn("clientPublish", viewer.info["capabilities"])
            channel = viewer.channel("/camera")
            self.assertEqual((channel["encoding"], channel["schemaName"], channel["schemaEncoding"]), ("cdr", "sensor_msgs/msg/Image", "ros2msg"))
            viewer.subscribe("/camera", 77)
            number, at, data = viewer.message()
            self.assertEqual(number, 77)
            image = TYPES.deserialize_cdr(data, "sensor_msgs/msg/Image")
            self.assertEqual((image.width, image.height, image.encoding, image.header.frame_id), (64, 48, "bgr8", "camera"))
            viewer.close()
        code = self.end(bridge)
        self.assertEqual(code, 3 if self.of(bridge, "/camera")["lost"] else 0)  # a busy computer loses some

    def test_images_and_clouds_arrive_as_they_are_recorded(self):
        self.sensors(640, 480, 10, 40_000, 10)
        bridge = self.bridge()
        viewer = self.viewer(bridge).subscribe("/camera", 1).subscribe("/cloud", 2)
        seen = {1: {}, 2: {}}
        viewer.message(1)
        recorder = self.start("cardan", "record", "-o", self.path / "all.mcap", "--min-space", "0", stdin=subprocess.DEVNULL)
        self.assertTrue(any(line.startswith("ready") for line in recorder.stdout))
        ready, since = time.time_ns(), {1: 0, 2: 0}
        while min(since.values()) < 10:
            number, at, data = viewer.message()
            seen[number][data[:12]] = data  # after the header of CDR: the stamp
            since[number] += at > ready
        recorder.send_signal(signal.SIGINT)
        self.assertIn(recorder.wait(LONG), (0, 3))
        recorded = {"/camera": [], "/cloud": []}
        with open(self.path / "all.mcap", "rb") as file:
            for _, channel, message in make_reader(file).iter_messages(topics=list(recorded)):
                recorded[channel.topic].append(message.data)
        for number, topic in ((1, "/camera"), (2, "/cloud")):
            both = [data for data in recorded[topic] if data[:12] in seen[number]]
            self.assertGreater(len(both), 0, topic)
            for data in both:
                self.assertEqual(data, seen[number][data[:12]], topic)
        image = TYPES.deserialize_cdr(next(iter(seen[1].values())), "sensor_msgs/msg/Image")
        expected = (numpy.arange(image.data.size) + int(image.data[0])).astype(numpy.uint8)
        self.assertTrue(numpy.array_equal(image.data, expected))
        cloud = TYPES.deserialize_cdr(next(iter(seen[2].values())), "sensor_msgs/msg/PointCloud2")
        self.assertEqual((cloud.width, cloud.point_step), (40_000, 16))
        self.assertEqual(float(cloud.data.view(numpy.float32)[4 * 39_999]), 39_999.0)

    def test_earlier_messages_are_not_losses(self):
        self.sensors(640, 480, 20, 0, 0)
        time.sleep(5)  # a hundred are published
        bridge = self.bridge()
        self.viewer(bridge).subscribe("/camera").message()
        self.end_in_order(bridge)
        self.assertLess(self.of(bridge, "/camera")["lost"], 50, "only a busy computer loses some of the later ones")

    def test_topics_come_and_go(self):
        bridge = self.bridge()
        viewer = self.viewer(bridge)
        sensors = self.sensors(64, 48, 20, 100, 20)
        viewer.subscribe("/camera").message()
        first = viewer.channel("/camera")["id"]
        sensors.kill()
        while first not in viewer.text("unadvertise")["channelIds"]:
            pass
        viewer.channels.clear()
        self.sensors(32, 32, 20, 0, 0)
        viewer.subscribe("/camera", 5)
        image = TYPES.deserialize_cdr(viewer.message(5)[2], "sensor_msgs/msg/Image")
        self.assertEqual(image.width, 32)
        self.assertNotEqual(viewer.channel("/camera")["id"], first)

    def test_a_topic_without_clients_costs_its_publisher_nothing(self):
        publisher = self.publisher()
        bridge = self.bridge()
        viewer = self.viewer(bridge)
        viewer.channel("/test/own")
        self.assertEqual(publisher.order("status"), "published 0 subscribers 0 0 0")
        viewer.subscribe("/test/own", 3)
        while publisher.order("status") != "published 0 subscribers 0 1 0":
            time.sleep(0.01)
        publisher.order("publish 1")
        self.assertEqual(struct.unpack_from("<I", viewer.message()[2][4:])[0], 0)
        viewer.send("unsubscribe", subscriptionIds=[3])
        while publisher.order("status") != "published 1 subscribers 0 0 0":
            time.sleep(0.01)
        other = self.viewer(bridge).subscribe("/test/own", 4)
        other.message()
        other.socket.socket.close()  # without a word
        while publisher.order("status") != "published 1 subscribers 0 0 0":
            time.sleep(0.01)

    def test_small_messages_of_a_burst_all_arrive(self):
        publisher = self.publisher()
        bridge = self.bridge()
        viewer = self.viewer(bridge).subscribe("/test/own")
        while "subscribers 0 1" not in publisher.order("status"):
            time.sleep(0.01)
        for burst in range(20):
            publisher.order("publish 8")  # its depth
            numbers = [struct.unpack_from("<i", viewer.message()[2], 4)[0] for _ in range(8)]
            self.assertEqual(len(numbers), 8)
        self.end_in_order(bridge)
        self.assertEqual((self.of(bridge, "/test/own")["carried"], self.of(bridge, "/test/own")["lost"]), (160, 0))

    def test_the_rate_of_a_rule(self):
        self.sensors(64, 48, 100, 0, 0)
        viewer = self.viewer(self.bridge("--rate", 5)).subscribe("/camera")
        at = [viewer.message()[1] for _ in range(12)]
        self.assertLessEqual(len(at) - 1, 5 * (at[-1] - at[0]) / 1e9 + 1)

    def test_the_names_of_a_rule(self):
        self.sensors(64, 48, 20, 100, 20)
        viewer = self.viewer(self.bridge("--topic", "/camera", "--namespace", "/vehicle1"))
        self.assertEqual(viewer.channel("/vehicle1/camera")["schemaName"], "sensor_msgs/msg/Image")
        viewer.subscribe("/vehicle1/camera").message()
        self.assertEqual(list(viewer.channels), ["/vehicle1/camera"])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_topics_of_their_owner_alone_are_for_our_own_clients(self):
        self.sensors(64, 48, 20, 100, 20, "clock")
        bridge = self.bridge("--topic", "/camera", "--topic", "/cl*")
        ours, other = self.viewer(bridge), self.of_another_user(bridge)
        ours.subscribe("/cloud", 2).message(2)
        other.subscribe("/camera").message()
        self.assertEqual(list(other.channels), ["/camera"])
        self.assertNotIn("time", other.info["capabilities"])
        cloud = ours.channels["/cloud"]["id"]
        other.send("subscribe", subscriptions=[{"id": 2, "channelId": cloud}])
        other.status(f"Channel {cloud} does not exist")
        other.status("Topics of access 'owner' are not shown to other users")
        while not any("--owner" in note for note in bridge.report["notes"]):
            time.sleep(0.05)
        self.end_in_order(bridge)
        self.of_another_user(self.bridge("--owner")).subscribe("/cloud").message()

    def test_the_time_of_a_clock(self):
        self.sensors(64, 48, 0, 0, 0, "clock")
        bridge = self.bridge()
        while True:
            viewer = self.viewer(bridge)
            if "time" in viewer.info["capabilities"]:
                break
            viewer.close()
        frames = [viewer.binary() for _ in range(3)]
        times = [struct.unpack("<Bq", frame) for frame in frames]
        self.assertEqual([kind for kind, _ in times], [2, 2, 2])
        self.assertGreater(times[2][1], times[0][1])
        self.assertEqual(times[0][1] % 100_000_000, 0)

    # ---- slow ones, and many

    def test_a_slow_client_delays_nobody_and_gets_the_newest_of_each_channel(self):
        self.sensors(1280, 720, 25, 40_000, 25)
        bridge = self.bridge()
        slow = self.viewer(bridge, max_queue=1)
        slow.subscribe("/camera", 1).subscribe("/cloud", 2)
        slow.message()
        fast = self.viewer(bridge).subscribe("/camera", 1)
        fast_at = [fast.message()[1] for _ in range(60)]  # while the slow one reads nothing
        self.assertEqual(sorted(fast_at), fast_at)
        slow.status("too slow")
        numbers = set()
        newest = 0
        for _ in range(60):  # what was in the kernel's buffers, and then what is new
            number, at, _ = slow.message()
            numbers.add(number)
            newest = max(newest, at)
        self.assertEqual(numbers, {1, 2})
        self.assertGreater(newest, fast_at[-1])
        self.assertEqual(self.end(bridge), 3, "something was lost")
        self.assertGreater(self.of(bridge, "/camera")["lost"], 0)

    def test_many_stuck_clients_use_up_no_slots(self):
        self.sensors(1280, 720, 25, 0, 0)
        bridge = self.bridge()
        for _ in range(8):  # each has an older message under way than the next one
            self.viewer(bridge, max_queue=1).subscribe("/camera").message()
        fast = self.viewer(bridge).subscribe("/camera")
        for _ in range(60):
            fast.message()

    def test_many_clients(self):
        self.sensors(320, 240, 20, 0, 0)
        bridge = self.bridge("--max-clients", 12)
        viewers = [self.viewer(bridge).subscribe("/camera") for _ in range(12)]
        with self.assertRaises(InvalidStatus) as refused:
            Viewer(bridge.port)
        self.assertEqual(refused.exception.response.status_code, 503)
        for viewer in viewers:
            for _ in range(5):
                self.assertEqual(len(viewer.message()[2]) > 320 * 240 * 3, True)
        viewers[0].close()
        while True:
            try:
                self.viewer(bridge).subscribe("/camera").message()
                break
            except InvalidStatus:
                time.sleep(0.05)

    def test_a_bridge_that_was_killed_comes_again(self):
        self.sensors(64, 48, 20, 0, 0)
        bridge = self.bridge()
        viewer = self.viewer(bridge).subscribe("/camera")
        viewer.message()
        bridge.kill()
        bridge.wait()
        with self.assertRaises(ConnectionClosed):
            while True:
                viewer.one()
        again = self.bridge("--port", bridge.port)
        self.assertEqual(again.port, bridge.port)
        self.viewer(again).subscribe("/camera").message()

    # ---- what clients send

    def publish(self, viewer, topic, data, number=9, kind="geometry_msgs/Vector3", **members):
        viewer.send("advertise", channels=[{"id": number, "topic": topic, "encoding": "cdr", "schemaName": kind, **members}])
        viewer.socket.send(struct.pack("<BI", 1, number) + data)

    def test_incoming_topics_need_a_rule(self):
        bridge = self.bridge("--in", "/point")
        viewer = self.viewer(bridge)
        self.assertIn("clientPublish", viewer.info["capabilities"])
        self.assertEqual(viewer.info["supportedEncodings"], ["cdr"])
        data = TYPES.serialize_cdr(TYPES.types["geometry_msgs/msg/Vector3"](1.0, 2.0, 3.0), "geometry_msgs/msg/Vector3").tobytes()
        self.publish(viewer, "/brake", data, 8, schema="float64 x\nfloat64 y\nfloat64 z\n")
        viewer.status("'/brake' may not come in")
        viewer.status("not advertised")
        self.publish(viewer, "/point", data, 9, schema="float64 x\nfloat64 y\nfloat64 z\n")
        echo = self.start("cardan", "topic", "echo", "/point", "--wait", "--count", "1", "--json", stdin=subprocess.DEVNULL)
        while echo.poll() is None:
            viewer.socket.send(struct.pack("<BI", 1, 9) + data)
            time.sleep(0.05)
        self.assertEqual(json.loads(echo.stdout.read())["message"], {"x": 1.0, "y": 2.0, "z": 3.0})
        # Clients see what clients publish.
        viewer.subscribe("/point", 4)
        viewer.socket.send(struct.pack("<BI", 1, 9) + data)
        self.assertEqual(viewer.message(4)[2], data)
        viewer.send("unadvertise", channelIds=[9])
        while viewer.channel("/point")["id"] not in viewer.text("unadvertise")["channelIds"]:
            pass
        self.end_in_order(bridge)
        self.assertGreater(self.of(bridge, "/point", "in")["carried"], 1)

    def test_malformed_messages_are_refused_and_counted(self):
        bridge = self.bridge("--in", "/point*")
        viewer = self.viewer(bridge)
        self.publish(viewer, "/point", b"\0\1\0\0rubbish", schema="float64 x\nfloat64 y\nfloat64 z\n")
        viewer.status("Vector3")
        self.publish(viewer, "/point", b"", 10, schema="float64 x\n")
        viewer.status("another type")
        self.publish(viewer, "/point", b"", 11, kind="own_msgs/msg/Unknown")
        viewer.status("definition")
        self.publish(viewer, "/point2", b"", 12, kind="own_msgs/msg/Broken", schema="float64[ x\n")
        viewer.status("'/point2' may not come in")
        self.assertEqual(self.end(bridge), 3)
        self.assertGreaterEqual(self.of(bridge, "/point", "in")["refused"], 1)

    def test_nobody_gives_orders_to_cardans_programs(self):
        viewer = self.viewer(self.bridge("--in", "*"))
        control = "uint64 asker\nuint32 number\nuint32 part\nuint32 parts\nstring host\nstring text\n"
        self.publish(viewer, "/cardan/control", b"", kind="cardan_msgs/msg/Control", schema=control)
        viewer.status("Cardan's own")
        names = self.start("cardan", "topic", "list", "--json", stdin=subprocess.DEVNULL).stdout.read()
        self.assertNotIn("/cardan/control", names)

    def test_nothing_comes_in_by_itself(self):
        viewer = self.viewer(self.bridge())
        self.publish(viewer, "/point", b"", schema="float64 x\n")
        viewer.status("may not come in")

    def test_nonsense_is_answered_and_the_connection_stays(self):
        self.sensors(64, 48, 20, 0, 0)
        viewer = self.viewer(self.bridge())
        for nonsense in ("", "{", "[" * 50_000, '{"op":"nonsense"}', '{"op":"subscribe","subscriptions":[{"id":1,"channelId":12345}]}', '{"op":"unsubscribe","subscriptionIds":[5]}', '{"op":"setParameters","parameters":[]}'):
            viewer.socket.send(nonsense)
            viewer.text("status")
        viewer.socket.send(b"\x02\0\0\0\0\0")
        viewer.status("malformed")
        viewer.socket.send(b"\x09\0\0\0\0\0")
        viewer.status("not advertised")
        viewer.subscribe("/camera", 1)
        viewer.subscribe("/camera", 2)
        viewer.status("already subscribes")
        viewer.message(1)
        with self.assertRaises(ConnectionClosed):
            viewer.socket.send(" " * 300_000)
            while True:
                viewer.one()

    def test_other_origins_are_refused(self):
        bridge = self.bridge("--origin", "https://app.foxglove.dev")
        self.viewer(bridge, origin="https://app.foxglove.dev")
        self.viewer(bridge, origin=f"http://127.0.0.1:{bridge.port}")
        with self.assertRaises(InvalidStatus) as refused:
            Viewer(bridge.port, origin="https://evil.example")
        self.assertEqual(refused.exception.response.status_code, 403)
        with self.assertRaises(InvalidStatus):
            Viewer(bridge.port, protocols=("chat",))
        while "evil.example" not in str(bridge.report["notes"]):
            time.sleep(0.1)

    def test_names_of_the_page(self):
        def status(bridge, host, path="/look.json"):
            connection = http.client.HTTPConnection("127.0.0.1", bridge.port, timeout=LONG)
            try:
                connection.putrequest("GET", path, skip_host=True)
                connection.putheader("Host", host)
                connection.endheaders()
                return connection.getresponse().status
            finally:
                connection.close()

        bridge, named = self.bridge(), self.bridge("--host", "vehicle.local")
        for host in ("localhost", f"127.0.0.1:{bridge.port}", "a.localhost"):
            self.assertEqual(status(bridge, host), 200, host)
        for host in ("evil.example", "vehicle.local", "unlikely-" + socket.gethostname(), socket.gethostname() + ".local", "192.0.2.1"):
            self.assertEqual(status(bridge, host), 403, host)
        self.assertEqual(status(named, f"vehicle.local:{named.port}"), 200)
        self.viewer(named, origin=None)
        with self.assertRaises(InvalidStatus):
            Viewer(bridge.port, origin=f"http://{socket.gethostname()}.local:{bridge.port}")
        while "evil.example" not in str(bridge.report["notes"]):
            time.sleep(0.1)

    # ---- the graph and parameters

    def test_the_connection_graph(self):
        publisher = self.publisher()
        viewer = self.viewer(self.bridge())
        viewer.send("subscribeConnectionGraph")
        published = lambda text: {t["name"]: t["publisherIds"] for t in text["publishedTopics"]}
        update = viewer.text("connectionGraphUpdate", lambda text: "/test/own" in published(text))
        self.assertEqual(published(update)["/test/own"], [f"command_publisher ({publisher.pid})"])
        publisher.order("subscribe")
        update = viewer.text("connectionGraphUpdate", lambda text: text["subscribedTopics"])
        self.assertEqual(update["subscribedTopics"], [{"name": "/test/own", "subscriberIds": [f"command_publisher ({publisher.pid})"]}])
        self.assertEqual(update["publishedTopics"], [], "only what has changed")
        publisher.order("end")
        update = viewer.text("connectionGraphUpdate", lambda text: text["removedTopics"])
        self.assertIn("/test/own", update["removedTopics"])

    def test_parameters(self):
        system = SOURCES / "examples" / "component" / "brake.json"
        self.start("cardan", "run", system, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rules = self.path / "bridge.json"
        rules.write_text(json.dumps({"foxglove": {"set_parameters": True}}))
        viewer = self.viewer(self.bridge(rules))
        while True:
            viewer.send("getParameters", parameterNames=[], id="all")
            known = {p["name"]: p for p in viewer.text("parameterValues", lambda text: text.get("id") == "all")["parameters"]}
            if known:
                break
        name, value = next((n, p["value"]) for n, p in known.items() if isinstance(p["value"], (int, float)) and not isinstance(p["value"], bool))
        viewer.send("subscribeParameterUpdates", parameterNames=[name])
        viewer.text("parameterValues", lambda text: text["parameters"][0]["name"] == name)
        viewer.send("setParameters", parameters=[{"name": name, "value": value + 1}], id="set")
        changed = viewer.text("parameterValues", lambda text: text.get("id") == "set")
        self.assertEqual([(p["name"], p["value"]) for p in changed["parameters"]], [(name, value + 1)])
        viewer.text("parameterValues", lambda text: "id" not in text and text["parameters"][0]["value"] == value + 1)
        viewer.send("setParameters", parameters=[{"name": "nobody/nothing", "value": 1}])
        viewer.status("no component has a parameter")
        reader = self.viewer(self.bridge())
        reader.send("setParameters", parameters=[{"name": name, "value": value}])
        reader.status("does not let clients set parameters")

    # ---- HTTP

    def test_the_page(self):
        self.sensors(64, 48, 20, 0, 0)
        bridge = self.bridge()
        get = lambda path: urllib.request.urlopen(f"http://127.0.0.1:{bridge.port}{path}", timeout=LONG)
        with get("/") as page:
            self.assertIn("text/html", page.headers["Content-Type"])
            self.assertIn("default-src 'none'", page.headers["Content-Security-Policy"])
            self.assertIn(f"connect-src 'self' ws://127.0.0.1:{bridge.port};", page.headers["Content-Security-Policy"])
            self.assertIn("<title>", page.read().decode())
        with self.assertRaises(urllib.error.HTTPError) as missing:
            get("/../etc/passwd")
        self.assertEqual(missing.exception.code, 404)
        while True:
            with get("/look.json") as look:
                publishers = json.load(look).get("publishers", [])
            if publishers:
                break
        self.assertEqual(publishers[0]["topic"], "/camera")
        self.assertGreater(publishers[0]["published"], 0)

    @unittest.skipUnless(shutil.which("node"), "node is not here")
    def test_the_page_decodes_as_rosbags_does(self):
        """cdr.js against PyPI's rosbags, for types with texts, lists and messages in messages."""
        kinds = ["sensor_msgs/msg/PointCloud2", "geometry_msgs/msg/PoseWithCovariance", "diagnostic_msgs/msg/DiagnosticArray", "sensor_msgs/msg/JointState", "std_msgs/msg/Empty", "std_msgs/msg/Float64MultiArray", "sensor_msgs/msg/CameraInfo"]
        random = numpy.random.default_rng(3)

        def made(name, depth=0):
            if name in ("float32", "float64"):
                return float(numpy.float32(random.normal()))
            if name in ("bool",):
                return bool(random.integers(2))
            if name == "string":
                return "".join(random.choice(list("aé€ #"), random.integers(6)))
            if name in TYPES.fielddefs:
                return TYPES.types[name](**{field: filled(kind) for field, kind in TYPES.fielddefs[name][1]})
            return int(random.integers(0, 100))

        def filled(kind):
            node, what = kind
            if node.name in ("BASE", "NAME"):
                return made(what[0] if isinstance(what, tuple) else what)
            inner, count = what
            count = count if node.name == "ARRAY" else int(random.integers(5))
            values = [filled(inner) for _ in range(count)]
            base = inner[1][0] if isinstance(inner[1], tuple) else inner[1]
            return values if base in TYPES.fielddefs or base == "string" else numpy.array(values, dtype=base.replace("byte", "uint8").replace("char", "uint8"))

        def plain(value):
            if isinstance(value, numpy.ndarray):
                return [plain(v) for v in value.tolist()]
            if isinstance(value, list):
                return [plain(v) for v in value]
            if hasattr(value, "__msgtype__"):
                return {f: plain(getattr(value, f)) for f, _ in TYPES.fielddefs[value.__msgtype__][1] if f != "structure_needs_at_least_one_member"}
            return value

        cases, expected = [], []
        for kind in kinds * 5:
            message = made(kind)
            definition, _ = TYPES.generate_msgdef(kind, ros_version=2)
            for little in (True, False):
                data = TYPES.serialize_cdr(message, kind, little_endian=little).tobytes()
                cases.append({"name": kind, "schema": definition, "data": data.hex()})
                expected.append(plain(message))
        page = SOURCES / "src" / "bridge" / "foxglove" / "page"
        (self.path / "package.json").write_text('{"type": "module"}')
        shutil.copy(page / "cdr.js", self.path)
        (self.path / "decode.js").write_text("""
            import { readFileSync } from "node:fs";
            import { decode, parseSchema } from "./cdr.js";
            const plain = (key, value) => ArrayBuffer.isView(value) ? Array.from(value, (v) => typeof v === "bigint" ? Number(v) : v) : typeof value === "bigint" ? Number(value) : value;
            for (const { name, schema, data } of JSON.parse(readFileSync("cases.json"))) {
              const bytes = Uint8Array.from(Buffer.from(data, "hex"));
              const parsed = parseSchema(name, schema);
              console.log(JSON.stringify(decode(parsed, bytes), plain));
              for (let end = 0; end < bytes.length; ++end) {  // no cut hangs or fills the memory
                try { decode(parsed, bytes.subarray(0, end)); } catch {}
              }
            }""")
        (self.path / "cases.json").write_text(json.dumps(cases))
        done = subprocess.run(["node", "decode.js"], cwd=self.path, capture_output=True, text=True, timeout=LONG)
        self.assertEqual(done.returncode, 0, done.stderr)
        for case, line, wanted in zip(cases, done.stdout.splitlines(), expected, strict=True):
            self.assertEqual(json.loads(line), wanted, case["name"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
