# SPDX-License-Identifier: Apache-2.0
"""Classes of messages of any type, and what all messages can do."""

from __future__ import annotations

import types
import typing

from cardan._cardan import Message, Records, Type
from cardan._errors import Error
from cardan._fields import fields_of
from cardan._known import type_of
from cardan._messages import BY_NAME
from cardan._types import described_type, resolved, with_standard_types

if typing.TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

D = typing.TypeVar("D")
T = typing.TypeVar("T")


class Info(typing.NamedTuple):
    """The data that travels with a message, whatever the names of its fields."""

    sequence: int
    missed: int
    publish_time: int
    """Nanoseconds of the steady clock; of a recorded message, of the wall clock."""
    source_time: int
    """Nanoseconds of the publisher's choice; 0: none."""
    log_time: int = 0
    """Of a recorded message: when it was recorded, nanoseconds since 1970."""
    topic: str = ""
    """Of a recorded message."""
    origin_time: int = 0
    """Nanoseconds of the steady clock: the oldest publication on which the message rests; 0: not known."""


def info(message: Message) -> Info:
    """sequence, missed and times of a message, also if a field has one of these names."""
    return Info(*Message._info(_checked(message, Message, "info")))


def _checked(value: T, kind: type, function: str) -> T:
    if isinstance(value, kind):
        return value
    what, remedy = "a message", "what take(), wait() or a loan gave"
    if kind is Records:
        what, remedy = "the messages in a message", "a field of one, as cloud.fields"
    raise TypeError(f"cardan.{function}() takes {what}, not a {type(value).__name__} — give {remedy}")


if typing.TYPE_CHECKING:

    from cardan._cardan import AnyMessage

    class _Generic(AnyMessage, typing.Generic[D]): ...
else:
    AnyMessage = Message

    class _Generic(Message):
        """Of one base: nanobind before 3.0, which Python 3.9 has, allows no more."""

        __slots__ = ()
        __class_getitem__ = classmethod(types.GenericAlias)


class Sample(_Generic[D]):
    """A message of a dataclass: its fields are attributes, and `value` makes the dataclass."""

    __slots__ = ()
    _dataclass: typing.ClassVar[type]

    @property
    def value(self) -> D:
        """The dataclass, with copies of all fields: lists for lists, NumPy arrays for arrays of numbers."""
        return typing.cast("D", _build(type(self)._dataclass, self))


def from_ros2msg(name: str, definition: str) -> type[AnyMessage]:
    """The class of a message by its ros2msg text: its own fields, then, after a line of 80 '=' and a line
    "MSG: package/Type", those of each message that it uses, except for Cardan's own ("std_msgs/Header header"). Raises
    Error with the line that makes no sense."""
    return typing.cast("type[AnyMessage]", _class(Type.of_definition(name, with_standard_types(name, definition))))


def class_of(kind: typing.Any) -> type[typing.Any]:
    """The class of messages that a topic's type means."""
    if isinstance(kind, str):
        return BY_NAME.get(kind) or _class(Type.known(kind))
    if not isinstance(kind, type):
        raise TypeError(f"a topic's type is a class or a name, not {type(kind).__name__}")
    if issubclass(kind, Message):
        type_of(kind)
        return kind
    made = kind.__dict__.get("__cardan_class__")
    if made is None:
        described = described_type(kind)
        own = {"__slots__": (), "__doc__": described.name, "_dataclass": kind, "__cardan_type__": described}
        made = type(kind.__name__, (Sample,), {**fields_of(described, Sample), **own})
        setattr(kind, "__cardan_class__", made)
    return typing.cast("type[typing.Any]", made)


def class_for(kind: Type) -> type[Message]:
    """A class for a topic's type, whose layout may be another than ours of that name."""
    return _class(kind, BY_NAME.get(kind.name, Message))


def _class(kind: Type, base: type[Message] = Message) -> type[Message]:
    own = {"__slots__": (), "__doc__": kind.name, "__cardan_type__": kind}
    return type(kind.name.rpartition("/")[2] or "Message", (base,), {**fields_of(kind, base), **own})


def structured(records: Records[typing.Any]) -> npt.NDArray[typing.Any]:
    """A list of messages as a structured NumPy array over the message, for messages of numbers and arrays of numbers.
    Raises TypeError for others."""
    import numpy as np

    described = _checked(records, Records, "structured")._described()
    if described is None:
        raise TypeError(f"{records._type_name()} has texts or lists, which a structured array cannot have")
    made: npt.NDArray[typing.Any] = np.ndarray((len(records),), _structured(described), records._bytes())
    records._track(made)
    return made


def _structured(described: typing.Any) -> np.dtype[typing.Any]:
    import numpy as np

    fields, size = described
    formats = []
    for _, kind, _, count in fields:
        inner: typing.Any = _structured(kind) if isinstance(kind, tuple) else kind
        formats.append((inner, count) if count else inner)
    return np.dtype(
        {"names": [f[0] for f in fields], "formats": formats, "offsets": [f[2] for f in fields], "itemsize": size}
    )


def to_dict(message: Message) -> dict[str, typing.Any]:
    """A private copy: numbers, texts, NumPy arrays, lists, and dicts for messages."""
    return {name: _copied(message[name]) for name in Message._fields(_checked(message, Message, "to_dict"))}


def _copied(value: typing.Any) -> typing.Any:
    if isinstance(value, Message):
        return to_dict(value)
    if isinstance(value, Records):
        return [to_dict(one) for one in value]
    return value.copy() if hasattr(value, "flags") else value


def _build(cls: type, message: Message) -> typing.Any:
    import dataclasses

    hints = typing.get_type_hints(cls)
    values: dict[str, typing.Any] = {}
    for field in dataclasses.fields(cls):
        values[field.name] = _built(hints[field.name], message[field.name])
    return cls(**values)


def _built(hint: typing.Any, value: typing.Any) -> typing.Any:
    hint = resolved(hint)
    if isinstance(value, Message):
        return to_dict(value) if issubclass(hint, Message) else _build(hint, value)
    if isinstance(value, Records):
        inner = typing.get_args(hint)[0]
        return [_built(inner, one) for one in value]
    if not hasattr(value, "flags"):
        return value
    if hint is bytes:
        return value.tobytes()
    array = getattr(typing.get_origin(hint), "__name__", "") == "ndarray"
    return value.copy() if array else value.tolist()


def _repr(self: Message) -> str:
    shown = []
    try:
        for name in Message._fields(self):
            value = self[name]
            if hasattr(value, "flags") and value.size > 8:
                shown.append(f"{name}=<{value.size} {value.dtype}>")
            elif isinstance(value, Records):
                shown.append(f"{name}=<{len(value)} {value._type_name()}>")
            else:
                shown.append(f"{name}={value!r}")
    except Error as error:
        return f"<{type(self).__name__}: {error.cause}>"
    return f"{type(self).__name__}({', '.join(shown)})"


def _dir(self: Message) -> list[str]:
    return sorted({*object.__dir__(self), *Message._fields(self)})


def _no_init(self: Message, *values: object, **fields: object) -> typing.NoReturn:
    import reprlib

    raise TypeError(
        f"{type(self).__name__}() cannot make a message: it would not be in a topic's memory — fill a loan, or give "
        f"publish() the fields; a message in a message is a dict, {reprlib.repr(fields) if fields else '{…}'}"
    )


def _no_pickle(self: Message, version: int) -> typing.NoReturn:
    raise TypeError("a message is a view and cannot be pickled: send message.cdr() or cardan.to_dict(message)")


def _deepcopy(self: Message, memory: object) -> Message:
    return self.copy()


setattr(Message, "__init__", _no_init)
setattr(Message, "__reduce_ex__", _no_pickle)
setattr(Message, "__deepcopy__", _deepcopy)
setattr(Message, "__repr__", _repr)
setattr(Message, "__dir__", _dir)
setattr(Records, "__class_getitem__", classmethod(types.GenericAlias))  # Records[Detection2D] in annotations
