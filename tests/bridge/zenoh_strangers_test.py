# SPDX-License-Identifier: Apache-2.0
"""`cardan bridge zenoh` against unknown peers that reach its port, in each of its forms: while they announce, ask and leave, an
honest session attaches and gets messages. These peers are separate processes, which a test can kill.

zenoh_strangers_test.py BIN_DIRECTORY
"""
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import zenoh

from zenoh_case import BIN, PATIENCE, ZenohCase, free_port, text_cdr

DDS_STRING = "std_msgs::msg::dds_::String_"
HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
FORMS = ("plain", "cardan", "rmw")
MOST_IN = 256  # topics that come in


def token(form, zid, number, name):
    """Announces a std_msgs/msg/String; `name` without the first slash."""
    if form == "plain":
        return f"@/{zid}/@ros2_lv/MP/{name.replace('/', '§')}/std_msgs§msg§String/:::"
    if form == "cardan":
        return f"@cardan/pub/{zid}/{number:016x}/{name.replace('/', '%')}/std_msgs%msg%String/{0:016x}/4"
    return f"@ros2_lv/0/{zid}/0/{number}/MP/%/%/evil/%{name.replace('/', '%')}/{DDS_STRING}/{HASH}/::,10:,:,:,,"


def key(form, name):
    return {"plain": name, "cardan": f"@cardan/data/{name}", "rmw": f"0/{name}/{DDS_STRING}/{HASH}"}[form]


def opened(address, timeout=10_000, **more):
    """A session; None: nobody listens, or nobody answers in time (ms)."""
    config = zenoh.Config()
    for name, value in (("mode", "client"), ("scouting/multicast/enabled", False), ("connect/endpoints", [address]),
                        ("transport/unicast/open_timeout", timeout), *more.items()):
        config.insert_json5(name, json.dumps(value))
    try:
        return zenoh.open(config)
    except zenoh.ZError:
        return None


def say(word):
    print(word, flush=True)
    return sys.stdin.readline()


def announcing(address, form, count):
    """Announces topics, and sends those that come in something at each further line of standard input."""
    session = opened(address)
    kept = [session.liveliness().declare_token(token(form, session.zid(), 1000 + n, f"cmd/evil{n}")) for n in range(count)]
    publishers = [session.declare_publisher(key(form, f"cmd/evil{n}"), congestion_control=zenoh.CongestionControl.BLOCK)
                  for n in range(min(count, 2 * MOST_IN))]
    while say("announced"):
        for publisher in publishers:
            publisher.put(text_cdr("evil"))
    del kept


def changing(address, form, count):
    """Announces and withdraws without a pause."""
    session = opened(address)
    kept = [session.liveliness().declare_token(token(form, session.zid(), 1000 + n, f"cmd/evil{n}")) for n in range(count)]
    print("announced", flush=True)
    while True:
        for n in range(count):
            kept[n].undeclare()
            kept[n] = session.liveliness().declare_token(token(form, session.zid(), 1000 + n, f"cmd/evil{n}"))


def receiving(address, form, _):
    """Gets all that leaves, until the test stops it."""
    while not (session := opened(address)):
        pass
    kept = [session.declare_subscriber(key(form, name), lambda s: None) for name in ("text", "camera")]
    say("announced")
    del kept


def shut(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # the other side was first
        pass


def talking(address, form, count):
    """Sessions that do a little of everything, however far they come."""
    for n in range(count):
        session = opened(address, timeout=300)
        if not session:
            continue
        try:
            kept = [session.liveliness().declare_token(token(form, session.zid(), n, f"cmd/t{n}")),
                    session.declare_subscriber("**", lambda s: None), session.declare_queryable("cmd/**", lambda q: None),
                    session.liveliness().declare_subscriber("**", lambda s: None)]
            session.put(key(form, f"cmd/t{n}"), text_cdr("x" * 1000), attachment=b"CDN2" + bytes(68))
            session.get("**", lambda r: None, timeout=0.1)
            time.sleep(0.05)
            del kept
            session.close()
        except zenoh.ZError:
            pass


class StrangersCase(ZenohCase):
    def setUp(self):
        super().setUp()
        self.address = f"tcp/127.0.0.1:{free_port()}"

    def stranger(self, what, form, count):
        process = self.start("elsewhere", sys.executable, os.path.abspath(__file__), BIN, what.__name__, self.address, form, count,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.told(process)
        return process

    def told(self, process):
        self.assertEqual(process.stdout.readline(), "announced\n")

    def listening(self, form, *options, **images):
        """A bridge with a topic that leaves, /text, and room for others that come in."""
        self.publish("car", **images)
        bridge = self.bridge("car", "--form", form, "--listen", self.address, "--in", "/cmd/*", *options)
        self.until(lambda: self.report(bridge)["bridge"].startswith("Zenoh"), "it listens")
        return bridge

    def attach(self, form):
        """An honest session attaches and gets a message. Returns the time that it took; nothing depends on it."""
        began, got = time.monotonic(), []
        session = self.until(lambda: opened(self.address), "an honest session")
        subscriber = session.declare_subscriber(key(form, "text"), got.append)
        self.until(lambda: got, "a message for it")
        subscriber.undeclare()
        session.close()
        return time.monotonic() - began

    def attach_for(self, form, seconds, why):
        """The same again and again."""
        end, times = time.monotonic() + seconds, []
        while time.monotonic() < end:
            times.append(self.attach(form))
        print(f"{form}, {why}: {len(times)} sessions attached, the slowest in {max(times):.2f} s", flush=True)

    def incoming(self, bridge):
        return [t for t in self.report(bridge)["topics"] if t["direction"] == "in"]

    def comes_in(self, form):
        """An honest topic that is announced arrives."""
        watch = self.watch("car", "text", "/cmd/honest")
        session = self.until(lambda: opened(self.address), "an honest session")
        own = session.liveliness().declare_token(token(form, session.zid(), 7, "cmd/honest"))
        send = lambda: session.put(key(form, "cmd/honest"), text_cdr("honest")) or time.sleep(0.05)  # noqa: E731
        began = time.monotonic()
        self.until(lambda: send() or self.seen(watch), "a message")
        print(f"{form}: came in after {time.monotonic() - began:.2f} s", flush=True)
        own.undeclare()
        session.close()


class Announcing(StrangersCase):
    def announce(self, form, count):
        bridge = self.listening(form)
        stranger = self.stranger(announcing, form, count)
        self.until(lambda: len(self.incoming(bridge)) == min(count, MOST_IN), "its topics come in")

        def touched():
            stranger.stdin.write("\n")
            stranger.stdin.flush()
            self.told(stranger)
            return all(t["carried"] for t in self.incoming(bridge))
        self.until(touched, "each has got something")
        # In this time the bridge looks at all announcements twice, if there are more than come in.
        self.attach_for(form, 11, f"among {count} announcements")
        stranger.kill()
        stranger.wait()
        self.attach_for(form, 6, "after their end")
        self.comes_in(form)
        self.end(bridge, 0, 3)

    def test_a_few_hundred_topics_plain(self):
        self.announce("plain", 300)

    def test_a_few_hundred_topics_cardan(self):
        self.announce("cardan", 300)

    def test_a_few_hundred_topics_rmw(self):
        self.announce("rmw", 300)

    def test_five_thousand_topics_plain(self):
        self.announce("plain", 5000)

    def test_five_thousand_topics_cardan(self):
        self.announce("cardan", 5000)

    def test_five_thousand_topics_rmw(self):
        self.announce("rmw", 5000)


class Changing(StrangersCase):
    def change(self, form):
        bridge = self.listening(form)
        stranger = self.stranger(changing, form, 200)
        self.attach_for(form, 6, "while announcements come and go")
        self.comes_in(form)
        stranger.kill()
        stranger.wait()
        self.attach(form)
        self.end(bridge, 0, 3)

    def test_announcements_that_come_and_go_plain(self):
        self.change("plain")

    def test_announcements_that_come_and_go_cardan(self):
        self.change("cardan")

    def test_announcements_that_come_and_go_rmw(self):
        self.change("rmw")


class Receivers(StrangersCase):
    def test_receivers_that_read_nothing_stop_no_topic(self):
        """They are ended together, those that come again sooner. Zenoh alone ends one after the other, after five seconds each."""
        bridge = self.listening("plain", width=640, height=480)
        session, came = self.until(lambda: opened(self.address), "an honest session"), []
        subscriber = session.declare_subscriber(key("plain", "text"), lambda s: came.append(time.monotonic()))
        self.until(lambda: len(came) > 10, "messages for it")

        def ended():
            """How many of them the bridge has ended."""
            said = [n for n in self.report(bridge)["notes"] if n.startswith("receivers that read nothing were ended")]
            return int(said[0].rpartition("(")[2].split()[0]) if said else 0
        for _ in range(3):
            stuck = [self.stranger(receiving, "plain", 0) for _ in range(3)]
            began, times = len(came), ended()
            for one in stuck:
                one.send_signal(signal.SIGSTOP)
            self.until(lambda: ended() > times, "they are ended")
            before = len(came)
            self.until(lambda: len(came) > before + 200, "messages as before")
            gap = max(b - a for a, b in zip(came[began - 1:], came[began:]))
            print(f"three receivers read nothing: the honest one had nothing for {gap:.1f} s", flush=True)
        subscriber.undeclare()
        session.close()
        self.end(bridge, 0, 3)


class Connections(StrangersCase):
    def test_connections_that_say_nothing_keep_nobody_out(self):
        bridge = self.listening("plain")
        host, port = self.address.removeprefix("tcp/").split(":")
        silent, ended = [], threading.Event()

        def again():
            """300 of them, whichever of them the bridge has closed."""
            while not ended.is_set():
                closed = select.select(silent, [], [], 0.01)[0]
                for one in closed:
                    one.close()
                    silent.remove(one)
                while len(silent) < 300:
                    silent.append(socket.create_connection((host, int(port))))
        attacker = threading.Thread(target=again)
        attacker.start()
        self.addCleanup(lambda: (ended.set(), attacker.join(), [one.close() for one in silent]))
        self.until(lambda: len(silent) >= 300, "they are there")
        self.attach_for("plain", 8, "among connections that say nothing")
        self.end(bridge, 0, 3)

    def between(self, change):
        """An address that passes everything on to the bridge, changed."""
        server, done = socket.create_server(("127.0.0.1", 0)), threading.Event()
        host, port = self.address.removeprefix("tcp/").split(":")

        def pass_on(source, sink, change):
            try:
                while some := source.recv(65536):
                    sink.sendall(change(some))
            except OSError:
                pass
            for one in (source, sink):
                shut(one)

        def pass_all_on():
            while not done.is_set():
                if not select.select([server], [], [], 0.1)[0]:
                    continue
                here = server.accept()[0]
                try:
                    there = socket.create_connection((host, int(port)))
                except OSError:  # the bridge starts again
                    here.close()
                    continue
                for ways in ((here, there, change), (there, here, lambda some: some)):
                    threading.Thread(target=pass_on, args=ways, daemon=True).start()
        passing = threading.Thread(target=pass_all_on)
        passing.start()
        self.addCleanup(lambda: (done.set(), passing.join(), server.close()))
        return f"tcp/127.0.0.1:{server.getsockname()[1]}"

    def test_bytes_that_are_changed_on_their_way_stop_nothing_for_long(self):
        """The bytes of a session, with some bits changed at random."""
        bridge = self.listening("plain")
        seed = int(os.environ.get("CARDAN_TEST_SEED", time.time()))
        chance = random.Random(seed)
        print(f"CARDAN_TEST_SEED={seed}", flush=True)

        def change(some):
            some = bytearray(some)
            if chance.random() < 0.3:
                some[chance.randrange(len(some))] ^= 1 << chance.randrange(8)
            return some
        between = self.between(change)
        for _ in range(5):
            stranger = self.start("elsewhere", sys.executable, os.path.abspath(__file__), BIN, "talking", between, "plain", 40)
            self.attach("plain")
            stranger.wait(PATIENCE)
        self.attach("plain")
        self.assertIsNone(bridge.poll())
        self.end(bridge, 0, 3)

    def test_an_invalid_key_stops_nothing_for_long(self):
        """Zenoh 1.10.2 panics, and its locks are of no use after that: cardan-zenoh starts itself again."""
        for form in FORMS:
            bridge = self.listening(form)
            address = self.between(lambda some: some.replace(b"**", b"*j"))
            again = lambda: any("started again" in note for note in self.report(bridge)["notes"])  # noqa: E731

            def sent():
                if session := opened(address, timeout=1000):
                    for declare in (session.declare_subscriber, session.declare_queryable):
                        declare("**", lambda one: None)
                    session.put("cmd/a", b"x")
                    time.sleep(0.1)
                    session.close()
                return "panicked" in bridge.errors.read_text()
            self.until(sent, "Zenoh fails")
            self.until(again, "it starts again, and says so")
            self.attach_for(form, 2, "after an invalid key")
            self.comes_in(form)
            self.end(bridge, 0, 3)


class Tls(StrangersCase):
    def certificates(self):
        """An authority, and what it has signed for a computer."""
        def run(*words):
            subprocess.run(["openssl", *words], cwd=self.path, check=True, capture_output=True)
        run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=ca")
        run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "our.key", "-out", "our.csr", "-subj", "/CN=our")
        (self.path / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        run("x509", "-req", "-in", "our.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names",
            "-out", "our.pem", "-days", "2")
        return {name: str(self.path / name) for name in ("ca.pem", "our.key", "our.pem")}

    def test_connections_that_are_not_tls_keep_nobody_out(self):
        """Zenoh let all others wait for 0.1 s after each of them."""
        if not shutil.which("openssl"):
            self.skipTest("no openssl")
        files = self.certificates()
        self.address = self.address.replace("tcp/", "tls/")
        tls = {"root_ca_certificate": files["ca.pem"], "listen_private_key": files["our.key"],
               "listen_certificate": files["our.pem"], "enable_mtls": True}
        own = self.path / "zenoh.json5"
        own.write_text(json.dumps({"mode": "router", "scouting": {"multicast": {"enabled": False}}, "transport": {"link": {"tls": tls}}}))
        bridge = self.listening("plain", "--config", own)

        known = {"transport/link/tls/root_ca_certificate": files["ca.pem"]}
        own = {"transport/link/tls/connect_private_key": files["our.key"],
               "transport/link/tls/connect_certificate": files["our.pem"], "transport/link/tls/enable_mtls": True}
        honest = lambda: opened(self.address, timeout=3000, **known, **own)  # noqa: E731
        self.until(honest, "an honest session").close()
        self.assertIsNone(opened(self.address, timeout=3000, **known), "without a certificate")
        self.assertIsNone(opened(self.address.replace("tls/", "tcp/"), timeout=3000), "without TLS")
        host, port = self.address.removeprefix("tls/").split(":")
        for _ in range(3000):  # five minutes of waiting
            with socket.create_connection((host, int(port))) as one:
                one.sendall(b"hello\n")
        began = time.monotonic()
        self.until(honest, "an honest session after them").close()
        print(f"after 3,000 connections that are not TLS: attached within {time.monotonic() - began:.1f} s", flush=True)
        self.end(bridge, 0, 3)


if __name__ == "__main__":
    if len(sys.argv) > 5:
        {one.__name__: one for one in (announcing, changing, receiving, talking)}[sys.argv[2]](sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
