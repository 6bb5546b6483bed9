# SPDX-License-Identifier: Apache-2.0
"""The effect of another user's packets on `cardan bridge dds`, and DDS Security. In its own network.

dds_enemies_test.py BIN_DIRECTORY. Makes a network namespace; where it may not, the test is skipped (77).
"""
from dds_case import BridgeCase  # first: it enters the network

import os
import shutil
import socket
import struct
import subprocess
import sys
import time
import unittest

import dds_types as t

RELIABLE_OR_NOT = struct.pack("<Iii", 1, 0, 0)  # best effort


def parameter(number, data):
    return struct.pack("<HH", number, len(data)) + data


def locator(port):
    return struct.pack("<iI", 1, port) + bytes(12) + bytes([127, 0, 0, 1])


def text(string):
    return struct.pack("<I", len(string) + 1) + string + b"\0" * (4 - len(string) % 4)


class Stranger:
    """A participant of RTPS that says only what the test wants."""

    def __init__(self, domain):
        self.prefix = b"\x01\x0f" + os.urandom(10)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.ports = [7400 + 250 * domain + 10 + 2 * index for index in range(12)]

    def data(self, reader, writer, number, parameters):
        body = struct.pack("<HH", 0, 16) + bytes.fromhex(reader + writer) + struct.pack("<iI", 0, number) + b"\0\3\0\0" + parameters + struct.pack("<HH", 1, 0)
        return struct.pack("<BBH", 0x15, 5, len(body)) + body

    def send(self, data):
        for port in self.ports:
            self.socket.sendto(b"RTPS\2\3\1\x0f" + self.prefix + data, ("127.0.0.1", port))

    def announce(self):
        self.send(self.data("000100c7", "000100c2", 1, parameter(0x15, b"\2\3\0\0") + parameter(0x16, b"\1\x0f\0\0") + parameter(0x50, self.prefix + bytes.fromhex("000001c1")) +
                            parameter(0x58, struct.pack("<I", 0x3f)) + parameter(0x31, locator(7999)) + parameter(0x32, locator(7999)) + parameter(2, struct.pack("<iI", 0x7fffffff, 0xffffffff))))

    def announce_writer(self, topic, kind, more=b""):
        self.send(self.data("000003c7", "000003c2", 1, parameter(0x5a, self.prefix + bytes.fromhex("00000103")) + parameter(5, text(topic)) + parameter(7, text(kind)) + more))

    def announce_readers(self, topic, kind, count):
        data = b""
        for i in range(count):
            guid = self.prefix + struct.pack(">I", (i + 1) << 8 | 4)
            data += self.data("000004c7", "000004c2", i + 1, parameter(0x5a, guid) + parameter(5, text(topic)) + parameter(7, text(kind)) + parameter(0x1a, RELIABLE_OR_NOT) + parameter(0x2f, locator(10_000 + i)))
            if len(data) > 20_000 or i == count - 1:
                self.send(data)
                data = b""
                time.sleep(0.02)  # or the socket's buffer loses them


class Enemies(BridgeCase):
    def others(self, bridge):
        return int((self.report(bridge).get("bridge") or "0 , 0 other").split(", ")[1].split()[0])

    def stranger(self, bridge):
        """One that the bridge knows, as it knows the test's own participant."""
        stranger = Stranger(self.id)
        self.addCleanup(stranger.socket.close)

        def known():
            stranger.announce()
            return self.others(bridge) >= 2
        self.until(known, "the unknown peer is found")
        return stranger

    def test_a_type_of_an_unknown_kind_ends_nobody(self):
        bridge = self.bridge("--in", "/*")
        watcher = self.watch("text", "/in")
        writer = self.writer("rt/in", t.String)
        self.send_until_seen(writer, lambda: t.String(data="before"), watcher)
        for kind in (0xf3, 0x80, 0x90, 0xff, 0x00):
            stranger = self.stranger(bridge)
            one = struct.pack("<IIB", 0x24, 0x14, kind) + os.urandom(14) + b"\0" + bytes(8) + struct.pack("<I", 4) + bytes(4)
            info = struct.pack("<II", 0x40001001, 0x28) + one + struct.pack("<II", 0x40001002, 0x28) + one
            stranger.announce_writer(b"rt/x", b"a::msg::dds_::B_", parameter(0x75, struct.pack("<I", len(info)) + info))
            self.send_until_seen(writer, lambda: t.String(data="after"), watcher)
            self.assertIsNone(bridge.poll(), f"kind {kind:#x}")
        self.end(bridge)

    def test_readers_at_thousands_of_addresses_stop_nobody(self):
        self.publish(320, 240, 20)
        bridge = self.bridge("--in", "/in")
        watcher = self.watch("text", "/in")
        writer = self.writer("rt/in", t.String)
        self.send_until_seen(writer, lambda: t.String(data="before"), watcher)
        stranger = self.stranger(bridge)
        stranger.announce_readers(b"rt/camera", b"sensor_msgs::msg::dds_::Image_", 4000)
        self.until(lambda: self.others(bridge) == 1, "it is forgotten")
        self.collect(self.reader("rt/text", t.String), 20)
        self.send_until_seen(writer, lambda: t.String(data="after"), watcher)
        late = self.writer("rt/in", t.String)
        self.send_until_seen(late, lambda: t.String(data="late"), watcher)
        self.end(bridge)


GOVERNANCE = """<domain_access_rules><domain_rule><domains><id_range><min>0</min><max>230</max></id_range></domains>
<allow_unauthenticated_participants>false</allow_unauthenticated_participants><enable_join_access_control>true</enable_join_access_control>
<discovery_protection_kind>ENCRYPT</discovery_protection_kind><liveliness_protection_kind>ENCRYPT</liveliness_protection_kind>
<rtps_protection_kind>NONE</rtps_protection_kind><topic_access_rules><topic_rule><topic_expression>*</topic_expression>
<enable_discovery_protection>true</enable_discovery_protection><enable_liveliness_protection>true</enable_liveliness_protection>
<enable_read_access_control>true</enable_read_access_control><enable_write_access_control>true</enable_write_access_control>
<metadata_protection_kind>NONE</metadata_protection_kind><data_protection_kind>ENCRYPT</data_protection_kind></topic_rule></topic_access_rules>
</domain_rule></domain_access_rules>"""
ALL = "<topics><topic>*</topic></topics><partitions><partition></partition></partitions>"
PERMISSIONS = f"""<permissions><grant name="g"><subject_name>C=NL,ST=x,O=E,CN=one</subject_name>
<validity><not_before>2020-01-01T01:00:00</not_before><not_after>2100-01-01T01:00:00</not_after></validity>
<allow_rule><domains><id_range><min>0</min><max>230</max></id_range></domains><publish>{ALL}</publish><subscribe>{ALL}</subscribe></allow_rule>
<default>DENY</default></grant></permissions>"""


@unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificates")
class Secured(BridgeCase):
    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.path, check=True, capture_output=True)

    def secure(self):
        """CYCLONEDDS_URI with a certificate, and encryption of all data."""
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/C=NL/ST=x/O=E/CN=ca", "-days", "3")
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "one.key", "-out", "one.csr", "-subj", "/C=NL/ST=x/O=E/CN=one")
        self.openssl("x509", "-req", "-in", "one.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "one.pem", "-days", "3")
        for name, content in (("governance", GOVERNANCE), ("permissions", PERMISSIONS)):
            (self.path / f"{name}.xml").write_text(f'<?xml version="1.0" encoding="utf-8"?><dds>{content}</dds>')
            self.openssl("smime", "-sign", "-in", f"{name}.xml", "-text", "-out", f"{name}.p7s", "-signer", "ca.pem", "-inkey", "ca.key")
        library = '<Library path="dds_security_{}" initFunction="init_{}" finalizeFunction="finalize_{}"/>'
        return ("<CycloneDDS><Domain><Security><Authentication>" + library.format("auth", *["authentication"] * 2) +
                f"<IdentityCertificate>file:{self.path}/one.pem</IdentityCertificate><IdentityCA>file:{self.path}/ca.pem</IdentityCA><PrivateKey>file:{self.path}/one.key</PrivateKey></Authentication>"
                "<AccessControl>" + library.format("ac", *["access_control"] * 2) +
                f"<PermissionsCA>file:{self.path}/ca.pem</PermissionsCA><Governance>file:{self.path}/governance.p7s</Governance><Permissions>file:{self.path}/permissions.p7s</Permissions></AccessControl>"
                "<Cryptographic>" + library.format("crypto", *["crypto"] * 2) + "</Cryptographic></Security></Domain></CycloneDDS>")

    def test_two_bridges_carry_encrypted_messages_and_nobody_else_reads_them(self):
        uri = self.secure()
        self.publish(640, 480, 20)  # an image becomes several packets
        eavesdropper = self.reader("rt/text", t.String)
        self.environment["CYCLONEDDS_URI"] = uri
        near = self.bridge()
        before, self.environment = self.environment, {**self.environment, "CARDAN_RUN_DIR": str(self.path / "far")}
        far = self.bridge("--in", "/*", "--network", "far")
        for topic in ("/text", "/camera"):
            def came(name=topic):
                return (c := self.topic(far, name, "in")) and c["carried"] >= 20
            self.until(came, topic)
        self.environment = before
        self.assertEqual(eavesdropper.take(N=50), [])
        self.assertIn("unless CYCLONEDDS_URI sets up DDS Security", (self.path / "bridge1.err").read_text())
        for bridge in (far, near):
            bridge.terminate()
            self.assertIn(bridge.wait(60), (0, 3))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
