#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks Cardan's messages against rosbags, an independent implementation of the ROS 2 wire form.

usage: check_messages.py INTEROP_MESSAGES

Cardan writes every message type; rosbags reads the bytes with Cardan's schema text and compares every field, compares
the schema with ROS's own definition where it knows it, and writes the message again; Cardan reads that and compares.
"""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from rosbags.typesys import Stores, get_types_from_msg, get_typestore


def differences(expected, found, where, store):
    """Yields the fields in which a message differs from the values that Cardan gave."""
    if isinstance(expected, dict):
        names = {name for name, _ in store.fielddefs[found.__msgtype__][1]}
        if names != set(expected):
            yield f"{where}: fields {sorted(names)}, expected {sorted(expected)}"
            return
        for name, value in expected.items():
            yield from differences(value, getattr(found, name), f"{where}.{name}", store)
    elif isinstance(expected, list):
        if len(expected) != len(found):
            yield f"{where}: {len(found)} elements, expected {len(expected)}"
            return
        for index, (left, right) in enumerate(zip(expected, found)):
            yield from differences(left, right, f"{where}[{index}]", store)
    elif isinstance(expected, float):
        if not math.isclose(expected, float(found), rel_tol=0, abs_tol=0):
            yield f"{where}: {found!r}, expected {expected!r}"
    elif isinstance(found, (numpy.bool_, numpy.integer)):
        if expected != found.item():
            yield f"{where}: {found!r}, expected {expected!r}"
    elif expected != found:
        yield f"{where}: {found!r}, expected {expected!r}"


def check(path, newest, oldest):
    """Returns what is wrong with one message type, as lines; writes what rosbags makes of it."""
    description = json.loads(path.read_text(encoding="utf-8"))
    name = description["type"]
    schema = path.with_suffix(".ros2msg").read_text(encoding="utf-8")
    data = path.with_suffix(".cdr").read_bytes()

    types = get_types_from_msg(schema, name)
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    message = store.deserialize_cdr(data, name)
    wrong = list(differences(description["message"], message, name, store))

    known = 0
    for used, (constants, fields) in types.items():
        if used in newest.fielddefs:
            known += 1
            if (constants, fields) != newest.fielddefs[used]:
                wrong.append(f"{used}: {constants, fields}, in ROS {newest.fielddefs[used]}")
            if fields != oldest.fielddefs[used][1]:
                wrong.append(f"{used}: {fields}, in ROS 2 Humble {oldest.fielddefs[used][1]}")

    again = bytes(store.serialize_cdr(message, name))
    path.with_suffix(".python.cdr").write_bytes(again)
    padding = again[len(data):]
    if again[:len(data)] != data or len(padding) > 3 or any(padding):
        wrong.append(f"{name}: rosbags writes other bytes")
    print(f"{'FAILED' if wrong else 'ok':6} {name}: {len(data)} bytes, {len(types)} definitions, {known} of them ROS's own")
    return wrong


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    program = sys.argv[1]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="cardan-interop-") as folder:
        subprocess.run([program, "write", folder], check=True)
        newest = get_typestore(Stores.ROS2_JAZZY)
        oldest = get_typestore(Stores.ROS2_HUMBLE)
        paths = sorted(Path(folder).glob("*.json"))
        for path in paths:
            wrong += check(path, newest, oldest)
        if not paths:
            wrong.append("no messages were written")
        if subprocess.run([program, "read", folder], check=False).returncode != 0:
            wrong.append("Cardan reads otherwise what rosbags wrote")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
