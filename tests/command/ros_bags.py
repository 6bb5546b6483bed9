# SPDX-License-Identifier: Apache-2.0
"""Recordings of ROS 1 and 2, written and read by PyPI's rosbags, for the tests of the command."""
import dataclasses

import numpy
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, StoragePlugin, Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from command_case import CommandCase
from recording import BEGIN, SECOND

ROS1 = get_typestore(Stores.ROS1_NOETIC)
ROS2 = get_typestore(Stores.ROS2_HUMBLE)
OWN = """uint8 ON=1
string GREETING=a # "b" is a part of it
bool[3] flags
int8 a
uint8 b
int16 c
uint16 d
int32 e
uint32 f
int64 g
uint64 h
float32 i
float64 j  # the last number
char k
byte l
string text
string[] texts
string[2] pair
time when
duration span
time[] times
duration[2] spans
geometry_msgs/Point[] points
Cell[] cells
Cell[2] two
std_msgs/Empty nothing
std_msgs/Empty[] nothings
uint8 m
"""
ROS1.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms\n", "tf2_msgs/msg/TFMessage") | get_types_from_msg(OWN, "own_msgs/msg/Own") | get_types_from_msg("string name\nfloat32[] values\nstd_msgs/Header header\n", "own_msgs/msg/Cell"))


def make(store, name, values):
    """A message of plain values: fields that are not given are zero or empty."""
    fields = {}
    for field, kind in store.fielddefs[name][1]:
        fields[field] = value_of(store, kind, values.get(field) if isinstance(values, dict) else None)
    return store.types[name](**fields)


def value_of(store, kind, value):
    node, detail = int(kind[0]), kind[1]
    if node == 1:
        return value if value is not None else "" if detail[0] == "string" else 0
    if node == 2:
        return make(store, detail, value or {})
    element, count = detail
    items = value if value is not None else [None] * count
    if int(element[0]) == 1 and element[1][0] != "string":
        form = {"bool": bool, "char": numpy.uint8, "byte": numpy.uint8, "octet": numpy.uint8}.get(element[1][0], element[1][0])
        return numpy.array([0 if x is None else x for x in items], dtype=form)
    return [value_of(store, element, x) for x in items]


def plain(value):
    """Values to be compared; what ROS 2 has not is left out."""
    if dataclasses.is_dataclass(value):
        return {f.name.lower(): plain(getattr(value, f.name)) for f in dataclasses.fields(value)
                if f.name not in ("seq", "structure_needs_at_least_one_member") and f.default is dataclasses.MISSING}
    if isinstance(value, numpy.ndarray):
        return value.tolist()
    return [plain(v) for v in value] if isinstance(value, list) else value


def header(i):
    return {"stamp": {"sec": 1_700_000_000 + i, "nanosec": 999_999_999 - i}, "frame_id": "camera" * i}


def messages(i):
    """Type → the values of its message with this number."""
    vector = {"x": 0.5 * i, "y": -i, "z": 1e9}
    transform = {"header": header(i), "child_frame_id": f"child {i}", "transform": {"translation": vector, "rotation": {"w": 1.0}}}
    cell = {"name": "c" * i, "values": [0.5] * i, "header": header(i)}
    time = {"sec": i, "nanosec": 7}
    return {
        "std_msgs/msg/String": {"data": "text ü " * i},
        "sensor_msgs/msg/Imu": {"header": header(i), "orientation": {"w": 1.0}, "angular_velocity": vector, "linear_acceleration_covariance": [float(c) for c in range(9)]},
        "sensor_msgs/msg/Image": {"header": header(i), "height": 3, "width": 40, "encoding": "mono8", "step": 40, "data": list(range(120))},
        "sensor_msgs/msg/PointCloud2": {"header": header(i), "height": 1, "width": i, "fields": [{"name": n, "offset": 4 * at, "datatype": 7, "count": 1} for at, n in enumerate("xyz")],
                                        "point_step": 12, "row_step": 12 * i, "data": [5] * 12 * i, "is_dense": True},
        "sensor_msgs/msg/CameraInfo": {"header": header(i), "height": 9, "distortion_model": "plumb_bob", "D": [0.1] * i, "d": [0.1] * i, "binning_x": 3},
        "tf2_msgs/msg/TFMessage": {"transforms": [transform] * i},
        "std_msgs/msg/Float64MultiArray": {"layout": {"dim": [{"label": "l", "size": i, "stride": 2}] * i, "data_offset": 1}, "data": [0.25] * i},
        "std_msgs/msg/Empty": {},
        "own_msgs/msg/Own": {"flags": [1, 0, 1], "a": -i, "b": i, "c": -300, "d": 300, "e": -i, "f": i, "g": -(2 ** 63), "h": 2 ** 64 - 1, "i": 0.5, "j": -0.1, "k": 65, "l": 100, "text": "t" * i,
                             "texts": ["one", "", "ü"] * i, "pair": ["a", "bc"], "when": time, "span": {"sec": -i, "nanosec": 5}, "times": [time] * i, "spans": [time, time], "points": [vector] * i,
                             "cells": [cell] * i, "two": [cell, {}], "nothing": {}, "nothings": [{}] * i, "m": 255},
    }


def topic_of(name):
    return "/" + name.replace("/msg/", "/").lower()


class BagCase(CommandCase):
    def bag1(self, name="in.bag", compression=None, count=4, latching=()):
        path = self.path / name
        with Writer1(path) if compression is None else self.packed(path, compression) as bag:
            connections = {t: bag.add_connection(topic_of(t), t, typestore=ROS1, callerid="/node", latching=int(t in latching)) for t in messages(0)}
            for i in range(count):
                for name, values in messages(i).items():
                    bag.write(connections[name], BEGIN + i * SECOND // 10, ROS1.serialize_ros1(make(ROS1, name, values), name))
        return path

    @staticmethod
    def packed(path, compression):
        bag = Writer1(path)
        bag.set_compression(Writer1.CompressionFormat[compression])
        return bag

    def bag2(self, name="in", count=4, types=None, storage=StoragePlugin.SQLITE3, compression=None):
        """A folder with a .db3, or an .mcap."""
        path = self.path / name
        bag = Writer2(path, version=8, storage_plugin=storage)
        if compression is not None:
            bag.set_compression(compression, CompressionFormat.ZSTD)
        with bag:
            types = types or [t for t in messages(0) if not t.startswith("own")]
            connections = {t: bag.add_connection(topic_of(t), t, typestore=ROS2) for t in types}
            for i in range(count):
                for t in types:
                    bag.write(connections[t], BEGIN + i * SECOND // 10, ROS2.serialize_cdr(make(ROS2, t, messages(i)[t]), t))
        return path

    def values(self, path):
        """Topic → what AnyReader makes of its messages."""
        found = {}
        with AnyReader([path]) as reader:
            for connection, stamp, data in reader.messages():
                found.setdefault((connection.topic, connection.msgtype), []).append((stamp, plain(reader.deserialize(data, connection.msgtype))))
        return found

    def convert(self, path, *words, code=0, out="out.mcap"):
        return self.json_of("bag", "convert", path, self.path / out, "--force", *words, code=code)
