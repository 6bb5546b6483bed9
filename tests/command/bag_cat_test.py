#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The output of `cardan bag cat` and `cardan topic echo` for messages that few tools decode: events of services, wide texts.

    bag_cat_test.py CARDAN [unittest arguments]
"""
import json
import struct
import subprocess

from command_case import CARDAN, CommandCase, main
from recording import BEGIN, SECOND, Cdr, write

LINE = "=" * 80 + "\n"
SERVICE = LINE + "SRV: example_interfaces/srv/AddTwoInts\nint64 a  # the first\nint64 b\n---\nint64 sum\n"  # as rosbag2 writes it
EVENT_INFO = LINE + ("MSG: service_msgs/msg/ServiceEventInfo\nuint8 REQUEST_SENT = 0\nuint8 RESPONSE_SENT = 2\nuint8 event_type\nbuiltin_interfaces/Time stamp\n"
                     "char[16] client_gid\nint64 sequence_number\n" + LINE + "MSG: builtin_interfaces/msg/Time\nint32 sec\nuint32 nanosec\n")
PLAIN_EVENT = ("service_msgs/ServiceEventInfo info\nexample_interfaces/srv/AddTwoInts_Request[<=1] request\nexample_interfaces/srv/AddTwoInts_Response[<=1] response\n" + EVENT_INFO +
               LINE + "MSG: example_interfaces/srv/AddTwoInts_Request\nint64 a\nint64 b\n" + LINE + "MSG: example_interfaces/srv/AddTwoInts_Response\nint64 sum\n")
TOPIC = "/add/_service_event"


def event(kind, number, request=(), response=()):
    cdr = Cdr().number("B", kind).number("i", 1_700_000_000).number("I", 5)
    cdr.bytes += bytes(range(16))
    cdr.number("q", number).number("I", 1 if request else 0)
    if request:
        cdr.number("q", *request)
    cdr.number("I", 1 if response else 0)
    if response:
        cdr.number("q", *response)
    return cdr.done()


def shown(number):
    """The fields of the event with this number: requests and responses take turns."""
    info = {"event_type": 2 * (number % 2), "stamp": {"sec": 1_700_000_000, "nanosec": 5}, "client_gid": list(range(16)), "sequence_number": number // 2}
    return {"info": info, "request": [] if number % 2 else [{"a": number, "b": 2}], "response": [{"sum": number + 1}] if number % 2 else []}


class Events(CommandCase):
    def recording(self, text, count=6):
        path = self.path / "in.mcap"
        messages = [(TOPIC, i * SECOND // 20, event(2 * (i % 2), i // 2, response=(i + 1,)) if i % 2 else event(0, i // 2, request=(i, 2))) for i in range(count)]
        write(path, {TOPIC: ("example_interfaces/srv/AddTwoInts_Event", "ros2msg", text, "cdr", {})}, messages)
        return path

    def test_events_of_services_are_decoded(self):
        for text in (SERVICE, SERVICE.split("\n", 2)[2], PLAIN_EVENT, PLAIN_EVENT.replace(EVENT_INFO, "")):
            lines = self.run_cardan("bag", "cat", self.recording(text), "--json").splitlines()
            self.assertEqual([json.loads(line)["message"] for line in lines], [shown(i) for i in range(6)])

    def test_a_full_standard_output_is_a_failure(self):
        path = self.recording(SERVICE)
        for words in (["cat"], ["cat", "--json"], ["ls"], ["ls", "--json"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([CARDAN, "bag", words[0], path, *words[1:]], env=self.environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
            self.assertEqual(done.returncode, 1, words)
            self.assertEqual(done.stderr.count("cannot write standard output: No space left on device"), 1, done.stderr)

    def test_events_of_services_are_played_and_echoed(self):
        path = self.recording(SERVICE, 10)
        playing = subprocess.Popen([CARDAN, "play", path, "--loop", "--json"], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (playing.kill(), playing.communicate()))
        for line in self.run_cardan("topic", "echo", TOPIC, "--wait", "--count", 3, "--json").splitlines():
            message = json.loads(line)["message"]
            number = message["info"]["sequence_number"] * 2 + message["info"]["event_type"] // 2
            self.assertEqual(message, shown(number))


class HostileJson(CommandCase):
    def cat(self, *texts, as_json=False):
        path = self.path / "in.mcap"
        write(path, {"/json": ("", "", b"", "json", {})}, [("/json", i, text.encode()) for i, text in enumerate(texts)])
        return self.run_cardan("bag", "cat", path, *["--json"][:as_json])

    def test_deep_nesting_ends_nobody(self):
        for deep in ("[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000):
            shown = self.cat(deep, '{"good":1}')
            self.assertIn(f"bytes: {len(deep)}", shown)
            self.assertIn("good: 1", shown)
            self.assertEqual([json.loads(line)["message"].get("good") for line in self.cat(deep, '{"good":1}', as_json=True).splitlines()], [None, 1])

    def test_names_that_the_decoder_uses_too(self):
        for text in ('{"a":{"count":"x","first":[1]}}', '{"a":{"count":1,"first":{"b":2}}}', '{"a":{"count":-1,"first":"text"}}'):
            self.assertIn("a:", self.cat(text))


class WideTexts(CommandCase):
    TEXT = "héllo wörld €😀"

    def wide(self, form):
        """A text in each of the forms of DDS implementations, between other fields."""
        cdr = Cdr().number("H", 7)
        units = struct.unpack(f"<{len(self.TEXT.encode('utf-16-le')) // 2}H", self.TEXT.encode("utf-16-le"))
        for part in (units, (), units[:1], units[:3]):
            cdr.number("I", 2 * len(part) if form == "bytes" else len(part))
            cdr.number("I" if form == "four" else "H", *part)
        return cdr.number("d", 0.5).done()

    def test_every_form(self):
        expected = {"first": 7, "text": self.TEXT, "nothing": "", "more": [self.TEXT[0], self.TEXT[:3]], "last": 0.5}
        schema = "uint16 first\nwstring text\nwstring nothing\nwstring[2] more\nfloat64 last\n"
        for form in ("two", "four", "bytes"):
            path = self.path / "in.mcap"
            write(path, {"/wide": ("own_msgs/msg/Wide", "ros2msg", schema, "cdr", {})}, [("/wide", 0, self.wide(form))])
            shown = json.loads(self.run_cardan("bag", "cat", path, "--json"))["message"]
            self.assertEqual((form, shown), (form, expected))

    def test_invalid_text_is_shown_as_bytes(self):
        path = self.path / "in.mcap"
        for data in (b"\0\1\0\0\xff\xff\xff\xff", b"\0\1\0\0\3\0\0\0ab", b"\0\1\0\0"):
            write(path, {"/wide": ("own_msgs/msg/Wide", "ros2msg", "wstring text\n", "cdr", {})}, [("/wide", 0, data)])
            self.assertEqual(json.loads(self.run_cardan("bag", "cat", path, "--json"))["message"]["bytes"], len(data))


if __name__ == "__main__":
    main()
