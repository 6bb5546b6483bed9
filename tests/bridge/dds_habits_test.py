# SPDX-License-Identifier: Apache-2.0
"""What a user of ROS 2 expects beside topics, through `cardan bridge dds`: components' parameters as a node's, /diagnostics.

dds_habits_test.py BIN_DIRECTORY SOURCES. Needs root, because it makes a network namespace; without it the test is skipped (77).
"""
from dds_case import CARDAN, BridgeCase  # first: it enters the network

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

import dds_services as s
import dds_types as t

SYSTEM = pathlib.Path(sys.argv[2]).resolve() / "examples" / "component" / "brake.json"
NODE = "/cardan_bridge"


class Client:
    """Of one service, as rmw_cyclonedds makes it."""

    def __init__(self, case, name, number=4711):
        self.case, self.number, self.sequence = case, number, 0
        self.request, reply = s.SERVICES[name]
        q = t.qos(depth=10)
        self.replies = DataReader(case.peer, Topic(case.peer, f"rr{NODE}/{name}Reply", reply), qos=q)
        self.requests = DataWriter(case.peer, Topic(case.peer, f"rq{NODE}/{name}Request", self.request), qos=q)

    def call(self, **fields):
        """As rcl does: it asks once the service is there, and waits for the answer to this request."""
        self.case.until(lambda: self.requests.get_matched_subscriptions() and self.replies.get_matched_publications(), "the service is there")
        self.sequence += 1
        self.requests.write(self.request(guid=self.number, seq=self.sequence, **fields))
        got = []

        def answered():
            got.extend(one for one in self.replies.take(N=10) if one.sample_info.valid_data and (one.guid, one.seq) == (self.number, self.sequence))
            return got
        return self.case.until(answered, "an answer")[0]


class Parameters(BridgeCase):
    def run_system(self):
        self.start(CARDAN, "run", SYSTEM, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        name = "brake.limit_m"
        listing = Client(self, "list_parameters")
        self.until(lambda: name in listing.call(prefixes=[], depth=0).names, "the component's parameter is listed")
        return name

    def test_parameters_are_listed_read_and_described(self):
        bridge = self.bridge()
        name = self.run_system()
        self.assertEqual(Client(self, "get_parameters").call(names=[name, "nobody.nothing"]).values[0].double_value, 6.0)
        types = Client(self, "get_parameter_types").call(names=["nobody.nothing", name]).types
        self.assertEqual(list(types), [0, 3])
        described = Client(self, "describe_parameters").call(names=[name]).descriptors[0]
        self.assertEqual((described.name, described.type, described.description, described.read_only), (name, 3, "brakes below, metres", True))
        self.assertEqual([(r.from_value, r.to_value) for r in described.floating_point_range], [(0.0, 100.0)])
        self.assertEqual(list(described.integer_range), [])
        self.assertIn("brake", Client(self, "list_parameters").call(prefixes=["brake"], depth=1).prefixes)
        self.end(bridge)

    def test_nobody_sets_them_unless_a_rule_says_so(self):
        bridge = self.bridge()
        name = self.run_system()
        result = Client(self, "set_parameters").call(parameters=[s.Parameter(name=name, value=s.Value.of(9.0))]).results[0]
        self.assertFalse(result.successful)
        self.assertIn("set_parameters", result.reason)
        self.assertEqual(Client(self, "get_parameters").call(names=[name]).values[0].double_value, 6.0)
        self.end(bridge)

    def test_a_rule_lets_them_be_set_within_their_range(self):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"dds": {"set_parameters": True}}))
        bridge = self.bridge(rules)
        name = self.run_system()
        setting, getting = Client(self, "set_parameters"), Client(self, "get_parameters")
        wishes = [s.Parameter(name=n, value=s.Value.of(v)) for n, v in ((name, 9.5), (name, 500.0), ("nobody.nothing", 1.0))]
        results = setting.call(parameters=wishes).results
        self.assertEqual([r.successful for r in results], [True, False, False], results)
        self.assertIn("100", results[1].reason)
        self.assertIn("no component has this parameter", results[2].reason)
        self.assertEqual(getting.call(names=[name]).values[0].double_value, 9.5)
        shown = subprocess.run([CARDAN, "param", "list", "--json"], env=self.environment, capture_output=True, text=True).stdout
        self.assertIn("9.5", shown, "the component has it")
        self.end(bridge)

    def test_requests_of_another_form_are_refused_and_counted(self):
        bridge = self.bridge()
        writer = DataWriter(self.peer, Topic(self.peer, f"rq{NODE}/list_parametersRequest", s.BareRequest), qos=t.qos())

        def refused():
            writer.write(s.BareRequest(prefixes=[], depth=0))
            counts = self.topic(bridge, NODE + "/list_parameters")
            return counts and counts["refused"] > 3
        self.until(refused, "they are refused")
        self.assertTrue(any("rmw_cyclonedds" in note for note in self.report(bridge)["notes"]))
        self.end(bridge, code=3)

    def test_they_can_be_left_out(self):
        rules = self.path / "rules.json"
        rules.write_text(json.dumps({"dds": {"parameters": False, "diagnostics": False}}))
        self.publish()
        bridge = self.bridge(rules)
        self.collect(self.reader("rt/text", t.String), 3)
        listing = Client(self, "list_parameters")
        statuses = self.reader("rt/diagnostics", t.DiagnosticArray)
        time.sleep(1)
        self.assertEqual(len(listing.requests.get_matched_subscriptions()), 0)
        self.assertEqual(len(statuses.get_matched_publications()), 0)
        self.end(bridge)


class Logs(BridgeCase):
    def test_the_log_of_components_goes_to_rosout_also_for_late_readers(self):
        bridge = self.bridge()
        run = self.start(CARDAN, "run", SYSTEM, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        driving = self.kill_driving(run, 0)
        self.until(lambda: (c := self.topic(bridge, "/cardan/log")) and c["carried"] > 0, "lines are sent")
        reader = self.reader("rt/rosout", t.Log, transient_local=True, depth=1000)
        lines = []
        said = lambda: lines.extend(self.collect(reader, 1)) or any(line.name == "cardan" and line.level >= 30 and "driving" in line.msg for line in lines)  # noqa: E731
        self.until(said, "a late reader gets what the launcher said of its end")
        self.assertTrue(all(line.level in (20, 30, 40) and line.name and line.msg for line in lines), lines)
        self.assertLess(abs(lines[0].stamp.sec - time.time()), 90)
        lines.clear()
        self.kill_driving(run, driving)
        self.until(said, "and of its second end at once")
        self.end(bridge)

    def kill_driving(self, run, before):
        """Kills the process "driving", once it is another than `before`."""
        def pids():
            children = [int(pid) for pid in pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]
            return [pid for pid in children if pid != before and name(pid).startswith("cardan:driving")]

        def name(pid):
            try:
                return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
            except FileNotFoundError:
                return ""
        pid = self.until(pids, "the process runs")[0]
        os.kill(pid, signal.SIGKILL)
        return pid


class Diagnostics(BridgeCase):
    def test_processes_and_components_say_how_they_are(self):
        bridge = self.bridge()
        self.start(CARDAN, "run", SYSTEM, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        reader = self.reader("rt/diagnostics", t.DiagnosticArray)
        last = {}

        def there():
            for one in reader.take(N=10):
                if one.sample_info.valid_data:
                    last.clear()
                    last.update({status.name: status for status in one.status}, stamp=one.header.stamp.sec)
            return "cardan: component brake" in last
        self.until(there, "the component is named")
        self.assertLess(abs(last["stamp"] - time.time()), 90)
        brake = last["cardan: component brake"]
        self.assertIn(brake.level, (0, 1))
        keys = {v.key: v.value for v in brake.values}
        self.assertGreater(int(keys["pid"]), 0)
        self.assertTrue(any(key.endswith(": calls") for key in keys))
        self.assertTrue(any(name.startswith("cardan: process ") for name in last), last.keys())
        self.end(bridge)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
