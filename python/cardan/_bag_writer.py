# SPDX-License-Identifier: Apache-2.0
"""Messages into a file."""

from __future__ import annotations

import time
import typing

from cardan import _cardan
from cardan._cardan import Message
from cardan._classes import class_of
from cardan._ends import remember
from cardan._errors import Error
from cardan._known import type_of
from cardan._recorded import Encoded, record_module

if typing.TYPE_CHECKING:
    from types import TracebackType

    from cardan import _record

M = typing.TypeVar("M", bound=Message)

_LEAST = 4096
_MOST = 4 << 30
_NEEDS_TYPE = "a dict and bytes need a type: write(topic, message, type=cardan.Imu)"


class BagWriter:
    def __init__(self, path: str, replace: bool, compression: str, level: int, chunk_bytes: int) -> None:
        made = record_module().BagWriter
        try:
            self.handle: _record.BagWriter = made(path, replace, compression, level, chunk_bytes)
        except Error as error:
            raise Error(error.code, error.cause, error.remedy.replace("--force", "replace=True")) from None
        self._channels: dict[tuple[str, object], int] = {}
        self._sequences: dict[int, int] = {}
        self._capacities: dict[type, int] = {}
        remember(self)

    def close(self) -> None:
        """When the interpreter ends: what was written is worth a file."""
        self.handle.close()

    def write(
        self,
        topic: str,
        message: object,
        kind: object,
        log_ns: int | None,
        publish_ns: int | None,
        source_time: int | None,
        sequence: int | None,
    ) -> None:
        if not isinstance(topic, str) or not topic:
            raise Error("invalid_argument", f"the topic is {topic!r}", "give its name, as '/imu'")
        own_sequence, own_publish, own_source, own_log = 0, 0, 0, 0
        if isinstance(message, Message):
            own_sequence, _, own_publish, own_source, own_log, _, _ = Message._info(message)
            if own_log == 0 and own_publish != 0:  # it came from a topic: by the steady clock
                own_publish += time.time_ns() - time.monotonic_ns()
        if isinstance(message, Encoded) and kind is None:
            channel = self._encoded_channel(topic, type(message))
            data: typing.Any = message["data"]
        else:
            cls, data = self._encode(message, kind)
            channel = self._native_channel(topic, cls)
        log = log_ns if log_ns is not None else own_log or time.time_ns()
        publish = publish_ns if publish_ns is not None else own_publish or log
        source = source_time if source_time is not None else own_source
        number = sequence if sequence is not None else own_sequence or self._sequences.get(channel, 0) + 1
        self._sequences[channel] = number
        self.handle.write(channel, data, _time(log, "log_ns"), _time(publish, "publish_ns"), number & 0xFFFFFFFF, source)

    def loan(self, topic: str, kind: type[M], max_bytes: int, log_ns: int | None) -> BagLoan[M]:
        cls = class_of(kind)
        return BagLoan(self, topic, _cardan._draft(cls, type_of(cls), max_bytes), log_ns)

    def add_metadata(self, name: str, fields: dict[str, str]) -> None:
        self.handle.add_metadata(name, fields)

    def _native_channel(self, topic: str, cls: type[Message]) -> int:
        kind = type_of(cls)
        key = (topic, (kind.name, kind.hash, kind.definition))
        if key not in self._channels:
            self._channels[key] = self.handle.add_native(topic, kind)
        return self._channels[key]

    def _encoded_channel(self, topic: str, cls: type[Encoded]) -> int:
        key = (topic, cls)
        if key not in self._channels:
            said, schema, _ = cls._channel
            self._channels[key] = self.handle.add_encoded(
                topic, said.encoding, said.type, said.schema_encoding, schema, said.metadata
            )
        return self._channels[key]

    def _encode(self, message: object, kind: object) -> tuple[type[Message], bytes]:
        """The class of a message, and its CDR form."""
        if isinstance(message, (bytes, bytearray, memoryview)):
            if kind is None:
                raise TypeError(_NEEDS_TYPE)
            cls = class_of(kind)
            self._check(cls, message)
            return cls, bytes(message)
        if isinstance(message, Message) and kind is None:
            cls = type(message)
            try:
                return cls, Message.cdr(message)
            except TypeError:  # a part of a message
                return cls, self._drafted(cls, message)
        if isinstance(message, dict) and kind is None:
            raise TypeError(_NEEDS_TYPE)
        cls = class_of(type(message) if kind is None else kind)
        return cls, self._drafted(cls, message)

    def _check(self, cls: type[Message], data: bytes | bytearray | memoryview) -> None:
        made = _cardan._recorded(cls, type_of(cls), data, False, _MOST, "", 0, 0, 0, 0)
        if isinstance(made, str):
            raise Error("invalid_argument", f"the bytes are not a {type_of(cls).name}: {made}", "give CDR of this type")

    def _drafted(self, cls: type[Message], message: object) -> bytes:
        capacity = self._capacities.get(cls, _LEAST)
        while True:
            draft = _cardan._draft(cls, type_of(cls), capacity)
            try:
                draft.fill(message)
            except Error as error:
                if error.code != "limit" or capacity >= _MOST:
                    raise
                capacity = min(8 * capacity, _MOST)
                continue
            self._capacities[cls] = capacity
            return Message.cdr(draft)


class BagLoan(typing.Generic[M]):
    """A message that is being filled, to be written at the end of the block; given up if the block raises."""

    def __init__(self, writer: BagWriter, topic: str, message: M, log_ns: int | None) -> None:
        self._writer, self._topic, self._message, self._log_ns = writer, topic, message, log_ns

    def __enter__(self) -> M:
        return self._message

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._writer.write(self._topic, self._message, None, self._log_ns, None, None, None)


def _time(ns: int, name: str) -> int:
    if isinstance(ns, bool) or not isinstance(ns, int):
        raise TypeError(f"{name} is an int of nanoseconds, not {type(ns).__name__}")
    if not 0 <= ns < 1 << 63:
        raise Error("invalid_argument", f"{name} is {ns}", "give nanoseconds since 1970")
    return ns
