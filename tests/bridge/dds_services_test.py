# SPDX-License-Identifier: Apache-2.0
"""Services of this computer for nodes of ROS 2, through `cardan bridge dds`, as rmw_cyclonedds asks them.

dds_services_test.py BIN_DIRECTORY. Makes a network namespace; where it may not, the test is skipped (77).
"""
from dds_case import CARDAN, BridgeCase  # first: it enters the network

import json
import pathlib
import signal
import subprocess
import sys
import unittest
from dataclasses import dataclass

import cyclonedds.idl.annotations as annotate
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsSubscription
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import int64, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

import dds_types as t

PUBLISHER = pathlib.Path(CARDAN).parent / "command_publisher"
SRV = "example_interfaces::srv::dds_::"


@dataclass
@annotate.final
class Request(IdlStruct, typename=SRV + "AddTwoInts_Request_"):
    guid: uint64
    seq: int64
    a: int64
    b: int64


@dataclass
@annotate.final
class Reply(IdlStruct, typename=SRV + "AddTwoInts_Response_"):
    guid: uint64
    seq: int64
    sum: int64


class Services(BridgeCase):
    def server(self):
        process = self.start(PUBLISHER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.stdin.write("add\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "done\n")
        return process

    def rules(self, **dds):
        path = self.path / "rules.json"
        path.write_text(json.dumps({"dds": dds}))
        return path

    def client(self, name="/add_two_ints"):
        q = t.qos(depth=100)
        replies = DataReader(self.peer, Topic(self.peer, f"rr{name}Reply", Reply), qos=q)
        requests = DataWriter(self.peer, Topic(self.peer, f"rq{name}Request", Request), qos=q)
        return requests, replies

    def test_a_node_asks_a_server_of_cardan(self):
        server = self.server()
        bridge = self.bridge(self.rules(call_services=True))
        requests, replies = self.client()
        self.until(lambda: requests.get_matched_subscriptions() and replies.get_matched_publications(), "the service is there")
        for number in range(20):
            requests.write(Request(guid=4711, seq=number, a=number, b=100))
            got, = self.collect(replies, 1)
            self.assertEqual((got.guid, got.seq, got.sum), (4711, number, number + 100))
        requests.write(Request(guid=4711, seq=99, a=-1, b=0))
        self.until(lambda: any("declines: no negative numbers" in note for note in self.report(bridge)["notes"]), "the reason is in the report")
        carried = self.topic(bridge, "/add_two_ints")
        self.assertEqual((carried["type"], carried["carried"], carried["lost"]), ("example_interfaces/srv/AddTwoInts", 20, 1))
        server.kill()
        self.until(lambda: not requests.get_matched_subscriptions(), "the service has gone")
        self.end(bridge, 3)

    def test_a_participant_waits_for_eight_replies_and_loses_what_is_beyond(self):
        server = self.server()
        bridge = self.bridge(self.rules(call_services=True))
        requests, replies = self.client()
        self.until(lambda: requests.get_matched_subscriptions() and replies.get_matched_publications(), "the service is there")
        requests.write(Request(guid=1, seq=0, a=1, b=1))
        self.collect(replies, 1)
        server.send_signal(signal.SIGSTOP)
        self.addCleanup(server.send_signal, signal.SIGCONT)
        # One thread takes the signal; until it runs, the others answer.
        tasks = pathlib.Path(f"/proc/{server.pid}/task")
        self.until(lambda: all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks.iterdir()), "all threads have stopped")
        for number in range(1, 21):
            requests.write(Request(guid=1, seq=number, a=number, b=1))
        self.until(lambda: (self.topic(bridge, "/add_two_ints") or {"lost": 0})["lost"] >= 12, "the others are counted")
        self.assertTrue(any("waits for 8 replies" in note for note in self.report(bridge)["notes"]))
        server.send_signal(signal.SIGCONT)

        def answered():
            requests.write(Request(guid=3, seq=8, a=1, b=1))
            return any(one.guid == 3 for one in replies.take(N=200) if one.sample_info.valid_data)
        self.until(answered, "an answer")
        bridge.terminate()
        self.assertEqual(bridge.wait(60), 3, "requests were lost")

    def test_nobody_asks_unless_a_rule_says_so(self):
        self.server()
        names = set()
        readers = BuiltinDataReader(self.peer, BuiltinTopicDcpsSubscription)
        bridge = self.bridge()

        def look():
            names.update(one.topic_name for one in readers.take(N=100) if one.sample_info.valid_data)
            return "rq/cardan_bridge/get_parametersRequest" in names
        self.until(look, "the bridge is there")
        self.until(lambda: len(bridge.log.read_text().splitlines()) > 4, "some seconds are over")
        look()
        self.assertNotIn("rq/add_two_intsRequest", names)
        self.end(bridge)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
