# SPDX-License-Identifier: Apache-2.0
"""Small recordings, written by PyPI's mcap, for the tests of the command."""
import struct

from mcap.writer import CompressionType, Writer

SECOND = 1_000_000_000
BEGIN = 1_700_000_000 * SECOND
VECTOR3 = ("geometry_msgs/msg/Vector3", "ros2msg", "float64 x\nfloat64 y\nfloat64 z\n")
DISTANCE = ("example_msgs/msg/Distance", "ros2msg", "float64 metres\n")


class Cdr:
    """XCDR1, little-endian."""

    def __init__(self):
        self.bytes = bytearray()

    def number(self, form, *values):
        size = struct.calcsize("<" + form)
        for value in values:
            self.bytes += b"\0" * (-len(self.bytes) % size) + struct.pack("<" + form, value)
        return self

    def text(self, text):
        data = text.encode() + b"\0"
        self.number("I", len(data))
        self.bytes += data
        return self

    def done(self):
        return b"\0\1\0\0" + bytes(self.bytes)


def write(path, channels, messages, chunk_size=2000, compression=CompressionType.NONE):
    """`channels`: topic → (type, schema encoding, schema, message encoding, metadata); `messages`: (topic, nanoseconds after
    BEGIN, bytes)."""
    with open(path, "wb") as file:
        writer = Writer(file, chunk_size=chunk_size, compression=compression)
        writer.start()
        numbers = {}
        for topic, (name, schema_encoding, schema, encoding, metadata) in channels.items():
            data = schema if isinstance(schema, bytes) else schema.encode()
            numbers[topic] = writer.register_channel(topic, encoding, writer.register_schema(name, schema_encoding, data), metadata)
        for sequence, (topic, at, data) in enumerate(messages):
            writer.add_message(numbers[topic], BEGIN + at, data, BEGIN + at - 5, sequence)
        writer.finish()


def vectors(topic, count, period=SECOND // 50):
    return [(topic, i * period, Cdr().number("d", i, 0.5 * i, -i).done()) for i in range(count)]
