#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the transforms of a recording of ROS 1 or ROS 2, as transforms_tf2_tests reads them; needs PyPI's rosbags.

    tf_lines.py RECORDING > LINES; transforms_tf2_tests LINES
"""
import pathlib
import sys

from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

with AnyReader([pathlib.Path(sys.argv[1])], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
    chosen = [c for c in reader.connections if c.topic.strip("/") in ("tf", "tf_static")]
    if not chosen:
        sys.exit(f"{sys.argv[1]}: it has no topic /tf or /tf_static")
    for connection, _, data in reader.messages(chosen):
        for one in reader.deserialize(data, connection.msgtype).transforms:
            t, r = one.transform.translation, one.transform.rotation
            is_static = connection.topic.strip("/") == "tf_static"
            stamp = one.header.stamp.sec * 1_000_000_000 + one.header.stamp.nanosec
            numbers = [repr(float(v)) for v in (t.x, t.y, t.z, r.x, r.y, r.z, r.w)]
            print(0 if is_static else stamp, one.header.frame_id.lstrip("/"), one.child_frame_id.lstrip("/"), int(is_static), *numbers)
