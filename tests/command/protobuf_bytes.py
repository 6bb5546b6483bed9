# SPDX-License-Identifier: Apache-2.0
"""Protobuf's bytes made by hand, so that the tests need no package, and can say what no package would."""
import struct

GROUP, MESSAGE, ENUM = 10, 11, 14
SCALARS = {"double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7, "bool": 8, "string": 9, "bytes": 12, "uint32": 13, "sfixed32": 15,
           "sfixed64": 16, "sint32": 17, "sint64": 18}
OPTIONAL, REPEATED = 1, 3


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def tag(number, wire):
    return varint(number << 3 | wire)


def put(number, value):
    """A field: an int as a varint, a float as a double, text and bytes with their length."""
    if isinstance(value, int):
        return tag(number, 0) + varint(value)
    if isinstance(value, float):
        return tag(number, 1) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else bytes(value)
    return tag(number, 2) + varint(len(data)) + data


def field(name, number, kind, label=OPTIONAL, oneof=None, optional=False):
    """`kind`: "int32", ".package.Message", "group .package.Message" or "enum .package.Enum"."""
    out = put(1, name) + put(3, number) + put(4, label)
    if kind in SCALARS:
        out += put(5, SCALARS[kind])
    else:
        word, _, rest = kind.rpartition(" ")
        out += put(5, {"": MESSAGE, "group": GROUP, "enum": ENUM}[word]) + put(6, rest)
    if oneof is not None:
        out += put(9, oneof)
    return out + (put(17, 1) if optional else b"")


def message(name, *fields, nested=(), oneofs=(), enums=()):
    return put(1, name) + b"".join(put(2, one) for one in fields) + b"".join(put(3, one) for one in nested) + b"".join(put(4, one) for one in enums) + b"".join(put(8, put(1, one)) for one in oneofs)


def enum(name, **values):
    return put(1, name) + b"".join(put(2, put(1, key) + put(2, number)) for key, number in values.items())


def file(name, package, *messages, imports=(), enums=(), syntax="proto3"):
    return put(1, put(1, name) + (put(2, package) if package else b"") + b"".join(put(3, one) for one in imports) + b"".join(put(4, one) for one in messages) +
               b"".join(put(5, one) for one in enums) + (put(12, syntax) if syntax else b""))


TIMESTAMP = file("google/protobuf/timestamp.proto", "google.protobuf", message("Timestamp", field("seconds", 1, "int64"), field("nanos", 2, "int32")))


def foxglove(name, *fields, imports=()):
    """As Foxglove's own: a time, then the rest."""
    time = field("timestamp", 1, ".google.protobuf.Timestamp")
    return TIMESTAMP + file(f"foxglove/{name}.proto", "foxglove", message(name, time, *fields), imports=["google/protobuf/timestamp.proto", *imports])
