# SPDX-License-Identifier: Apache-2.0
"""The messages of late readers of /tf_static and other latched topics through `cardan bridge dds`, and the QoS of /tf and /clock.

dds_latched_test.py BIN_DIRECTORY. Makes a network namespace; where it may not, the test is skipped (77).
"""
from dds_case import ENDPOINTS, PATIENCE, BridgeCase  # first: it enters the network

import json
import os
import signal
import subprocess
import sys
import time
import unittest

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription
from cyclonedds.domain import DomainParticipant
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic

import dds_types as t


def transforms(*children):
    header = t.Header(stamp=t.Time(sec=1, nanosec=2), frame_id="base")
    still = t.Transform(translation=t.Vector3(x=0, y=0, z=0), rotation=t.Quaternion(x=0, y=0, z=0, w=1))
    return t.TFMessage(transforms=[t.TransformStamped(header=header, child_frame_id=c, transform=still) for c in children])


class Latched(BridgeCase):
    def broadcast(self, child):
        process = self.start(ENDPOINTS, "transforms", child, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")

    def end(self, bridge, code=0):
        """A bridge that gets no processor for long loses transforms that come again and again. Then it says so, and of no other topic."""
        bridge.send_signal(signal.SIGTERM)
        ended = bridge.wait(PATIENCE)
        lost = {one["topic"] for one in self.report(bridge)["topics"] if one["lost"] > 0}
        self.assertLessEqual(lost, {"/tf", "/clock"})
        self.assertEqual(ended, 3 if lost else code, (self.path / f"bridge{self.bridges}.err").read_text())

    def words(self, kind, names):
        """The QoS of the bridge's endpoints, by their topic on DDS."""
        reader = BuiltinDataReader(self.peer, kind)
        found = {}

        def look():
            for one in reader.take(N=100):
                if one.sample_info.valid_data and one.topic_name in names:
                    found[one.topic_name] = " ".join(repr(policy) for policy in one.qos)
            return set(names) == found.keys()
        self.until(look, f"endpoints on {names}")
        return found

    def children(self, process, count):
        os.set_blocking(process.stdout.fileno(), False)
        got = []

        def more():
            while line := process.stdout.readline():
                got.extend(one.child_frame_id for one in t.TFMessage.deserialize(bytes.fromhex(line)).transforms)
            return len(got) >= count
        self.until(more, f"{count} transforms")
        return got

    def test_static_transforms_of_all_publishers_reach_a_late_reader(self):
        self.broadcast("left")
        self.broadcast("right")
        bridge = self.bridge()
        self.until(lambda: (c := self.topic(bridge, "/tf_static")) and c["carried"] == 2, "the bridge has both")
        late = self.reader("rt/tf_static", t.TFMessage, transient_local=True, depth=100)
        got = self.collect(late, 2)
        self.assertEqual({m.transforms[0].child_frame_id for m in got}, {"left", "right"})
        self.assertEqual(got[0].transforms[0].header.frame_id, "base")
        again = self.reader("rt/tf_static", t.TFMessage, transient_local=True, depth=100)
        self.collect(again, 2)
        # The bridge published nothing again: DDS keeps what was before a reader, for those that ask for it.
        self.assertEqual([s for s in late.take(N=10) if s.sample_info.valid_data], [])
        self.assertEqual(self.topic(bridge, "/tf_static")["carried"], 2)
        self.end(bridge)

    def test_transforms_and_the_clock_have_the_qos_of_ros(self):
        self.broadcast("left")
        bridge = self.bridge()
        moving = self.reader("rt/tf", t.TFMessage, depth=100)
        clock = self.reader("rt/clock", t.Clock, reliable=False, depth=1)
        self.assertEqual(self.collect(moving, 5)[0].transforms[0].child_frame_id, "left")
        self.assertGreater(self.collect(clock, 2)[-1].clock.sec, 0)
        found = self.words(BuiltinTopicDcpsPublication, ("rt/tf", "rt/tf_static", "rt/clock"))
        for name, durability in (("rt/tf", "Volatile"), ("rt/tf_static", "TransientLocal"), ("rt/clock", "Volatile")):
            self.assertIn("Policy.Durability." + durability, found[name])
            self.assertIn("Policy.Reliability.Reliable", found[name])
        self.end(bridge)

    def test_a_rule_has_the_last_word(self):
        self.broadcast("left")
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"out": [{"topics": "/tf_static", "latched": False}, {"topics": "/tf", "latched": True}]}))
        self.bridge(rules)
        found = self.words(BuiltinTopicDcpsPublication, ("rt/tf", "rt/tf_static"))
        self.assertIn("Policy.Durability.Volatile", found["rt/tf_static"])
        self.assertIn("Policy.Durability.TransientLocal", found["rt/tf"])

    def test_earlier_messages_come_in_and_wait_for_late_subscribers(self):
        others = [DomainParticipant(self.id) for _ in range(2)]
        q = t.qos(transient_local=True, depth=1)
        writers = [DataWriter(other, Topic(other, "rt/tf_static", t.TFMessage), qos=q) for other in others]
        writers[0].write(transforms("one"))
        writers[1].write(transforms("two"))
        bridge = self.bridge("--in", "/tf_static")
        self.until(lambda: (c := self.topic(bridge, "/tf_static", "in")) and c["carried"] == 2, "both come in")
        self.assertEqual(set(self.children(self.watch("any", "/tf_static"), 2)), {"one", "two"})
        # One that needs more room than those before it does not drive them out.
        many = [f"part{i}" for i in range(200)]
        writers[1].write(transforms(*many))
        self.until(lambda: self.topic(bridge, "/tf_static", "in")["carried"] == 3, "the large one comes in")
        self.assertEqual(set(self.children(self.watch("any", "/tf_static"), 202)), {"one", "two", *many})
        self.end(bridge)

    def test_another_writers_qos_brings_no_message_twice(self):
        """A writer that is not latched makes the bridge open a new reader; when it leaves, latched again."""
        bridge = self.bridge("--in", "/goal")
        other = DomainParticipant(self.id)
        latched = DataWriter(other, Topic(other, "rt/goal", t.String), qos=t.qos(transient_local=True, depth=1))
        latched.write(t.String(data="there"))
        carried = lambda: (c := self.topic(bridge, "/goal", "in")) and c["carried"]  # noqa: E731
        self.until(lambda: carried() == 1, "the goal")
        readers = BuiltinDataReader(self.peer, BuiltinTopicDcpsSubscription)

        def reads(durability):
            return any(one.sample_info.valid_data and one.topic_name == "rt/goal" and "Policy.Durability." + durability in " ".join(map(repr, one.qos))
                       for one in readers.take(N=100))
        self.until(lambda: reads("TransientLocal"), "it reads what is latched")
        volatile = self.writer("rt/goal", t.String)
        self.until(lambda: reads("Volatile"), "it reads what is not")
        del volatile
        self.until(lambda: reads("TransientLocal"), "it reads what is latched again")
        time.sleep(3)
        self.assertEqual(carried(), 1, "the goal came once")
        latched.write(t.String(data="elsewhere"))
        self.until(lambda: carried() == 2, "the next one")
        self.end(bridge)

    def test_a_clock_of_best_effort_comes_in(self):
        bridge = self.bridge("--in", "/clock", "--in", "/tf")
        clock = self.writer("rt/clock", t.Clock, reliable=False, depth=1)
        moving = self.writer("rt/tf", t.TFMessage, depth=100)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            clock.write(t.Clock(clock=t.Time(sec=5, nanosec=6)))
            moving.write(transforms("wheel"))
            if all((c := self.topic(bridge, name, "in")) and c["carried"] > 0 for name in ("/clock", "/tf")):
                break
            time.sleep(0.05)
        found = self.words(BuiltinTopicDcpsSubscription, ("rt/clock", "rt/tf"))
        self.assertIn("Policy.Reliability.BestEffort", found["rt/clock"])
        self.assertIn("Policy.Reliability.Reliable", found["rt/tf"])
        self.assertIn("Policy.Durability.Volatile", found["rt/tf"])
        self.assertEqual(self.topic(bridge, "/clock", "in")["refused"], 0)
        self.end(bridge)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
