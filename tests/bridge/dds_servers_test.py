# SPDX-License-Identifier: Apache-2.0
"""Services of nodes of ROS 2 for clients of this computer, through `cardan bridge dds`, as rmw_cyclonedds answers them.

dds_servers_test.py BIN_DIRECTORY. Makes a network namespace; where it may not, the test is skipped (77).
"""
from dds_case import CARDAN, PATIENCE, BridgeCase  # first: it enters the network

import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest
from dataclasses import dataclass

import cyclonedds.idl.annotations as annotate
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import int64, uint8, uint64
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

import dds_types as t

SRV = "example_interfaces::srv::dds_::"
TRIGGER = "std_srvs::srv::dds_::"


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


@dataclass
@annotate.final
class HalfReply(IdlStruct, typename=SRV + "AddTwoInts_Response_"):
    """Not what its name says: it is too short."""
    guid: uint64
    seq: int64
    sum: uint8


@dataclass
@annotate.final
class TriggerRequest(IdlStruct, typename=TRIGGER + "Trigger_Request_"):
    guid: uint64
    seq: int64
    structure_needs_at_least_one_member: uint8


@dataclass
@annotate.final
class TriggerReply(IdlStruct, typename=TRIGGER + "Trigger_Response_"):
    guid: uint64
    seq: int64
    success: bool
    message: str


class Node:
    """Answers in a thread, with `answers(request)`: the replies to send."""

    def __init__(self, peer, answers, name="/add_two_ints", request=Request, reply=Reply):
        q = t.qos(depth=100)
        self.requests = DataReader(peer, Topic(peer, f"rq{name}Request", request), qos=q)
        self.replies = DataWriter(peer, Topic(peer, f"rr{name}Reply", reply), qos=q)
        self.answers, self.asked, self.ends = answers, [], False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends:
            for one in self.requests.take(N=100):
                if one.sample_info.valid_data:
                    self.asked.append(one)
                    for reply in self.answers(one):
                        self.replies.write(reply)
            time.sleep(0.002)

    def close(self):
        self.ends = True
        self.thread.join()
        self.requests = self.replies = None


def adds(request):
    return [Reply(guid=request.guid, seq=request.seq, sum=request.a + request.b)]


class Servers(BridgeCase):
    def setUp(self):
        super().setUp()
        for package, name, text in (("example_interfaces", "AddTwoInts", "int64 a\nint64 b\n---\nint64 sum\n"),
                                    ("std_srvs", "Trigger", "---\nbool success # or not\nstring message\n")):
            folder = self.path / "share" / package / "srv"
            folder.mkdir(parents=True)
            (folder / f"{name}.srv").write_text(text)

    def node(self, *words, **more):
        node = Node(self.peer, *words, **more)
        self.addCleanup(node.close)
        return node

    def offering(self, *options):
        return self.bridge("--in", "*", "--offer-services", "--message-path", self.path / "share", *options)

    def ask(self, question, name="/add_two_ints", timeout=PATIENCE):
        return self.start(CARDAN, "service", "call", name, json.dumps(question), "--json", "--timeout", timeout, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)

    def outcome(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        process.stdout = None
        return process.returncode, json.loads(out) if out else {}, err

    def listed(self):
        done = subprocess.run([CARDAN, "service", "list", "--json"], env=self.environment, capture_output=True, text=True)
        return done.stdout

    def offered(self, name="/add_two_ints"):
        self.until(lambda: f'"{name}"' in self.listed(), f"{name} is offered")

    def test_a_client_of_cardan_asks_a_node(self):
        node = self.node(adds)
        bridge = self.offering()
        self.offered()
        for number in range(3):
            code, said, err = self.outcome(self.ask({"a": number, "b": 40}))
            self.assertEqual((code, said["answer"]["sum"]), (0, number + 40), err)
        self.assertEqual(len(node.asked), 3)
        self.assertEqual(len({one.guid for one in node.asked}), 1)
        self.assertEqual(len({one.seq for one in node.asked}), 3)
        carried = self.until(lambda: (one := self.topic(bridge, "/add_two_ints", "in")) and one["carried"] == 3 and one, "the report")
        self.assertEqual((carried["type"], carried["lost"]), ("example_interfaces/srv/AddTwoInts", 0))
        self.end(bridge)

    def test_a_type_without_fields_has_ros_2s_byte(self):
        self.node(lambda r: [TriggerReply(guid=r.guid, seq=r.seq, success=r.structure_needs_at_least_one_member == 0, message="done")],
                  name="/reset", request=TriggerRequest, reply=TriggerReply)
        bridge = self.offering()
        self.offered("/reset")
        code, said, err = self.outcome(self.ask({}, "/reset"))
        self.assertEqual((code, said["answer"]["success"], said["answer"]["message"]), (0, True, "done"), err)
        self.end(bridge)

    def test_replies_to_others_and_to_no_request_are_not_answers(self):
        def answers(r):
            return [Reply(guid=r.guid + 1, seq=r.seq, sum=666), Reply(guid=r.guid, seq=r.seq + 1, sum=667), *adds(r),
                    Reply(guid=r.guid, seq=r.seq, sum=668)]
        self.node(answers)
        bridge = self.offering()
        self.offered()
        for number in range(5):
            code, said, err = self.outcome(self.ask({"a": number, "b": 1}))
            self.assertEqual((code, said["answer"]["sum"]), (0, number + 1), err)
        self.end(bridge)

    def test_a_node_that_goes_is_told_and_comes_again(self):
        node = self.node(lambda request: [])
        bridge = self.offering()
        self.offered()
        client = self.ask({"a": 1, "b": 2})
        self.until(lambda: node.asked, "the request has come")
        node.close()
        code, said, err = self.outcome(client)
        self.assertEqual(code, 1)
        self.assertRegex(json.dumps(said) + err, "has gone|ended")
        self.until(lambda: "/add_two_ints" not in self.listed(), "the service has gone")
        self.node(adds)
        self.offered()
        code, said, err = self.outcome(self.ask({"a": 20, "b": 2}))
        self.assertEqual((code, said["answer"]["sum"]), (0, 22), err)
        self.end(bridge, 3)

    def test_without_a_reply_the_clients_time_out_ends_it(self):
        answers = [lambda request: []]
        node = self.node(lambda request: answers[0](request))
        bridge = self.offering()
        self.offered()
        code, _, _ = self.outcome(self.ask({"a": 1, "b": 2}, timeout=0.5))
        self.assertEqual(code, 1)
        self.assertEqual(len(node.asked), 1)
        answers[0] = adds
        code, said, err = self.outcome(self.ask({"a": 1, "b": 2}))
        self.assertEqual((code, said["answer"]["sum"]), (0, 3), err)
        self.end(bridge)

    def test_more_questions_than_wait_do_not_keep_the_bridge_busy(self):
        node = self.node(lambda request: [])
        bridge = self.offering()
        self.offered()
        clients = [self.ask({"a": n, "b": 2}) for n in range(70)]
        self.until(lambda: len(node.asked) >= 64, "as many as may wait were asked")

        def used():
            fields = pathlib.Path(f"/proc/{bridge.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        before = used()
        time.sleep(2)
        self.assertLess(used() - before, 1, "seconds of a processor, in two")
        self.assertEqual(len(node.asked), 64)
        for client in clients:
            client.kill()
            client.communicate()
            client.stdout = None
        node.answers = adds
        code, said, err = self.outcome(self.ask({"a": 1, "b": 2}))
        self.assertEqual((code, said["answer"]["sum"]), (0, 3), err)
        self.end(bridge)

    def test_a_second_node_of_another_type_takes_no_service(self):
        self.node(adds)
        bridge = self.offering()
        self.offered()
        others = [DomainParticipant(self.id) for _ in range(4)]
        announced = [DataWriter(other, Topic(other, "rr/add_two_intsReply", TriggerReply), qos=t.qos(depth=1)) for other in others]
        self.until(lambda: f", {len(others) + 1} other participants" in self.report(bridge).get("bridge", ""), "the bridge sees them")
        for number in range(10):
            code, said, err = self.outcome(self.ask({"a": number, "b": 1}))
            self.assertEqual((code, said["answer"]["sum"]), (0, number + 1), err)
        self.assertEqual(self.topic(bridge, "/add_two_ints", "in")["lost"], 0)
        del announced
        self.end(bridge)

    def test_a_reply_of_another_form_is_an_error(self):
        self.node(lambda r: [HalfReply(guid=r.guid, seq=r.seq, sum=1)], reply=HalfReply)
        bridge = self.offering()
        self.offered()
        code, said, err = self.outcome(self.ask({"a": 1, "b": 2}))
        self.assertEqual(code, 1)
        self.assertIn("does not fit", json.dumps(said) + err)
        self.end(bridge, 3)

    def test_many_services_of_an_unknown_peer_are_bounded(self):
        q = t.qos(depth=1)
        announced = [DataWriter(self.peer, Topic(self.peer, f"rr/s{n}Reply", Reply), qos=q) for n in range(100)]
        announced.append(DataWriter(self.peer, Topic(self.peer, "rr/unknownReply", t.String), qos=q))
        bridge = self.offering()
        self.until(lambda: any("64 services" in note for note in self.report(bridge)["notes"]), "the bound is in the report")
        self.assertEqual(len(json.loads(self.listed())["services"]), 64)
        del announced
        self.until(lambda: not json.loads(self.listed())["services"], "all have gone")
        self.end(bridge)

    def test_nothing_is_offered_unless_a_rule_says_so(self):
        self.node(adds)
        for options in (("--in", "*"), ("--offer-services",), ("--in", "/other", "--offer-services")):
            bridge = self.bridge(*options, "--message-path", self.path / "share")
            self.until(lambda: len(bridge.log.read_text().splitlines()) > 3, "some seconds are over")
            self.assertNotIn("add_two_ints", self.listed())
            said = any("no rule of 'in'" in note for note in self.report(bridge)["notes"])
            self.assertEqual(said, "--in" not in options)
            self.end(bridge)

    def test_a_missing_definition_is_named(self):
        self.node(adds)
        bridge = self.bridge("--in", "*", "--offer-services")
        self.until(lambda: any("example_interfaces/srv/AddTwoInts.srv is not there" in note for note in self.report(bridge)["notes"]), "the note")
        self.end(bridge)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
