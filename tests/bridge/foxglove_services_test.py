#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Services of this computer for clients of `cardan bridge foxglove`.

    foxglove_services_test.py FOLDER_WITH_PROGRAMS SOURCE_FOLDER [unittest arguments]
"""
import struct
import subprocess
import sys
import unittest

from foxglove_case import FoxgloveCase


class Services(FoxgloveCase):
    def test_services(self):
        server = self.start("example_map_server", stdin=subprocess.DEVNULL)
        bridge = self.bridge("--call-services")
        viewer = self.viewer(bridge)
        self.assertIn("services", viewer.info["capabilities"])
        self.assertEqual(viewer.info["supportedEncodings"], ["cdr"])
        (service,) = viewer.text("advertiseServices")["services"]
        self.assertEqual((service["name"], service["request"]["schemaName"], service["response"]["schemaName"]), ("/map/region", "example_msgs/msg/Region", "example_msgs/msg/Map"))
        self.assertIn("float64 radius", service["request"]["schema"])

        def call(number, question, encoding=b"cdr", of=service["id"]):
            viewer.socket.send(struct.pack("<BIII", 2, of, number, len(encoding)) + encoding + question)

        def failure(number):
            return viewer.text("serviceCallFailure", lambda text: text["callId"] == number)["message"]

        region = lambda radius: b"\0\1\0\0" + struct.pack("<3d", 0, 0, radius)
        for number in (1, 2):
            call(number, region(10 * number))
            frame = viewer.binary()
            self.assertEqual((frame[0], *struct.unpack_from("<III", frame, 1), frame[13:16]), (3, service["id"], number, 3, b"cdr"))
            width, cells = struct.unpack_from("<II", frame, 20)
            self.assertEqual((width, cells, len(frame)), (20 * number, (20 * number) ** 2, 28 + cells))
        call(3, region(0))
        self.assertIn("declines: the radius is not within", failure(3))
        call(4, region(1)[:9])
        self.assertIn("does not fit", failure(4))
        call(5, region(1), b"json")
        self.assertIn("encoded as 'cdr'", failure(5))
        call(6, region(1), of=77)
        self.assertIn("does not exist", failure(6))
        viewer.socket.send(struct.pack("<BIII", 2, service["id"], 7, 1 << 30))
        viewer.status("malformed")
        server.kill()
        self.assertEqual(viewer.text("unadvertiseServices")["serviceIds"], [service["id"]])
        call(8, region(1))
        self.assertIn("does not exist", failure(8))

    def test_services_are_called_only_where_the_rules_say_so(self):
        self.start("example_map_server", stdin=subprocess.DEVNULL)
        viewer = self.viewer(self.bridge())
        self.assertNotIn("services", viewer.info["capabilities"])
        viewer.socket.send(struct.pack("<BIII", 2, 1, 1, 3) + b"cdr" + bytes(28))
        self.assertIn("does not let clients call services", viewer.text("serviceCallFailure")["message"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
