# SPDX-License-Identifier: Apache-2.0
"""Recorded messages: the channels of opened files, and what their messages are decoded to."""

from __future__ import annotations

import typing
import warnings

from cardan import _cardan
from cardan._cardan import Message, Type
from cardan._classes import class_for, class_of
from cardan._errors import Error
from cardan._known import type_of

if typing.TYPE_CHECKING:
    import types

    import numpy as np
    import numpy.typing as npt

    from cardan import _record

MOST_PROBLEMS = 1000


class RecordingWarning(UserWarning):
    """A part of a recording could not be read. `bag.problems` names it. To make it an error:
    warnings.simplefilter("error", cardan.RecordingWarning)."""


def record_module() -> types.ModuleType:
    """The extension for recordings, which not every build of the package has."""
    try:
        from cardan import _record
    except ImportError as error:
        raise Error(
            "unavailable",
            f"this build of the package has no recordings ({error})",
            "build it where libdeflate, libmd, lz4, zstd and liburing are installed",
        ) from None
    return _record


class Channel(typing.NamedTuple):
    """A file's description of a channel. A topic has several if its type changed, or if a recording has several files."""

    topic: str
    type: str
    encoding: str
    schema_encoding: str
    metadata: dict[str, str]
    messages: int | None


class Encoded(Message):
    """A recorded message as its bytes: of an encoding that Cardan does not decode (Protobuf, JSON), or asked for with
    `raw=True`."""

    __slots__ = ()
    _channel: typing.ClassVar[tuple[Channel, bytes, str]]
    if typing.TYPE_CHECKING:
        data: npt.NDArray[np.uint8]
        """The bytes, as they are in the file."""

    @property
    def encoding(self) -> str:
        """"cdr", "protobuf", "json", …"""
        return type(self)._channel[0].encoding

    @property
    def type_name(self) -> str:
        """The name of its schema; "": the file has none."""
        return type(self)._channel[0].type

    @property
    def schema(self) -> bytes:
        """The schema as it is in the file: a ros2msg text, or Protobuf's FileDescriptorSet."""
        return type(self)._channel[1]

    @property
    def why(self) -> str:
        """Why it is not decoded."""
        return type(self)._channel[2]

    def cdr(self) -> bytes:
        if self.encoding == "cdr":
            return self["data"].tobytes()  # type: ignore[no-any-return]
        raise Error("invalid_argument", f"the message is encoded as '{self.encoding}', not as CDR", "use its data")


_encoded_type: Type | None = None


def encoded_type() -> Type:
    global _encoded_type  # noqa: PLW0603
    if _encoded_type is None:
        _encoded_type = Type.of_definition("cardan/msg/Encoded", "uint8[] data")
    return _encoded_type


class Form(typing.NamedTuple):
    """The Python form of a channel's messages."""

    cls: type[Message]
    type: Type
    encoded: bool
    topic: str


class Recorded:
    """Opened files, and what could not be read of them."""

    def __init__(self, paths: list[str], most_bytes: int) -> None:
        self.files: _record.BagFiles = record_module().BagFiles(paths, most_bytes)
        self.channels = [Channel(*one) for one in self.files.channels()]
        self.most_bytes = most_bytes
        self.bad = 0
        self.problems: list[str] = list(self.files.problems())
        self._forms: dict[tuple[int, bool, object], Form] = {}
        self.unfinished = [
            f"{path} was not finished: {cause} (byte {byte}); what is before is read"
            for path, byte, cause in self.files.unfinished()
        ]
        self.problems += self.unfinished
        if self.problems:
            shown = self.problems[0] + (f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else "")
            warnings.warn(shown, RecordingWarning, stacklevel=3)

    def form(self, index: int, raw: bool, kind: object) -> Form:
        known = self._forms.get((index, raw, kind))
        if known is None:
            known = self._forms[index, raw, kind] = self._make_form(index, raw, kind)
        return known

    def _make_form(self, index: int, raw: bool, kind: object) -> Form:
        channel = self.channels[index]
        if kind is not None:
            cls = class_of(kind)
            wanted = type_of(cls)
            made, why = self.files.type_as(index, wanted)
            if made is None:
                raise Error("incompatible", f"{channel.topic}: {why}", "leave the type out, or give the one of the file")
            return Form(cls, made, False, channel.topic)
        why = "raw=True"
        if not raw:
            made, why = self.files.type(index)
            if made is not None:
                return Form(class_for(made), made, False, channel.topic)
        own = {"__slots__": (), "__cardan_type__": encoded_type(), "_channel": (channel, self.files.schema(index), why)}
        return Form(type("Encoded", (Encoded,), own), encoded_type(), True, channel.topic)

    def note(self, text: str) -> None:
        """A problem of a message, or of a part of a file."""
        self.bad += 1
        if len(self.problems) < MOST_PROBLEMS and text not in self.problems:
            self.problems.append(text)


class Reading:
    """One pass over the messages of some channels, in the order of their log times."""

    def __init__(
        self,
        recorded: Recorded,
        indices: list[int],
        span: tuple[int, int],
        raw: bool,
        kind: object,
        progress: typing.Callable[[float], object] | None,
    ) -> None:
        self._recorded = recorded
        self._forms = {index: recorded.form(index, raw, kind) for index in indices}
        self._cursor: _record.BagCursor = record_module().BagCursor(
            recorded.files, indices, span[0], span[1], recorded.most_bytes
        )
        self._next = self._cursor.next
        self._known = 0
        self._before = recorded.bad
        self._progress = None if progress is None else _Progress(progress, recorded, span)

    def __iter__(self) -> Reading:
        return self

    def __next__(self) -> typing.Any:
        while (one := self._next()) is not None:
            index, data, log_ns, publish_ns, sequence, source_ns = one
            if self._progress is not None:
                self._progress.at(log_ns)
            cls, kind, encoded, topic = self._forms[index]
            made = _cardan._recorded(
                cls, kind, data, encoded, self._recorded.most_bytes, topic, log_ns, publish_ns, sequence, source_ns
            )
            if not isinstance(made, str):
                return made
            self._recorded.note(f"{topic}, message {sequence} of {log_ns} ns: {made}")
        self._end()
        raise StopIteration

    def _end(self) -> None:
        found = self._cursor.problems(self._known)
        self._known += len(found)
        for path, byte, cause in found:
            self._recorded.note(f"{path}, byte {byte}: {cause}")
        if self._progress is not None:
            self._progress.end()
        new, self._before = self._recorded.bad - self._before, self._recorded.bad
        if new > 0:
            text = f"{new} parts of the recording could not be read; the last: {self._recorded.problems[-1]}"
            warnings.warn(text, RecordingWarning, stacklevel=3)


class _Progress:
    """Calls a function with the part that is done, ten times a second."""

    def __init__(self, call: typing.Callable[[float], object], recorded: Recorded, span: tuple[int, int]) -> None:
        self._call = call
        self._first = max(span[0], recorded.files.first)
        self._length = max(1, min(span[1], recorded.files.last) - self._first)
        self._due = 0.0

    def at(self, log_ns: int) -> None:
        import time

        if (now := time.monotonic()) >= self._due:
            self._due = now + 0.1
            self._call(min(1.0, max(0.0, (log_ns - self._first) / self._length)))

    def end(self) -> None:
        self._call(1.0)
