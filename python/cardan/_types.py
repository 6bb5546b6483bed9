# SPDX-License-Identifier: Apache-2.0
"""Own messages from dataclasses: their annotations become a ROS 2 definition, from which the layout follows."""

from __future__ import annotations

import contextlib
import typing

from cardan._cardan import Message, Type
from cardan._errors import Error
from cardan._known import type_of

if typing.TYPE_CHECKING:
    from collections.abc import Callable

D = typing.TypeVar("D")


class _Number(typing.NamedTuple):
    ros: str


class Length(typing.NamedTuple):
    """`Annotated[list[cardan.float64], cardan.Length(9)]`: an array of exactly this number of elements."""

    elements: int


class MaxLength(typing.NamedTuple):
    """`Annotated[str, cardan.MaxLength(16)]`: at most this number of bytes; of a list: elements."""

    elements: int


int8 = typing.Annotated[int, _Number("int8")]
int16 = typing.Annotated[int, _Number("int16")]
int32 = typing.Annotated[int, _Number("int32")]
int64 = typing.Annotated[int, _Number("int64")]
uint8 = typing.Annotated[int, _Number("uint8")]
uint16 = typing.Annotated[int, _Number("uint16")]
uint32 = typing.Annotated[int, _Number("uint32")]
uint64 = typing.Annotated[int, _Number("uint64")]
float32 = typing.Annotated[float, _Number("float32")]
float64 = typing.Annotated[float, _Number("float64")]

_PLAIN: dict[object, str] = {bool: "bool", int: "int64", float: "float64", str: "string"}
_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
_ALLOWED = (
    "bool, int, float, str, bytes, cardan.int8 to cardan.float64, list[…] of one of them, numpy.typing.NDArray[…], "
    "a dataclass with @cardan.message, or a class of Cardan"
)
_RULE = "=" * 80
_MOST_TEXT, _MOST_PARTS = 1 << 20, 1000


def message(name: str) -> Callable[[type[D]], type[D]]:
    """Makes a dataclass a message. `name` is its ROS 2 name.

        @cardan.message("my_msgs/msg/Car")
        @dataclass
        class Car:
            stamp: cardan.int64 = 0                          # nanoseconds since 1970
            speed: float = 0.0                               # m/s
            ranges: list[cardan.float32] = field(default_factory=list)   # m
            mode: Annotated[str, cardan.MaxLength(16)] = ""

    Raises TypeError for annotations that no message has, and Error for a name that ROS 2 does not allow.
    """

    def described(cls: type[D]) -> type[D]:
        definition = _definition(cls)
        made = Type.of_definition(name, definition)
        cls.__cardan_type__ = made  # type: ignore[attr-defined]
        return cls

    return described


def described_type(cls: type) -> Type:
    """The result of message() for a dataclass."""
    made = cls.__dict__.get("__cardan_type__")
    if isinstance(made, Type):
        return made
    raise TypeError(
        f"{cls.__name__} is not a message: write @cardan.message('my_msgs/msg/{cls.__name__}') over its @dataclass"
    )


def _definition(cls: type) -> str:
    import dataclasses

    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        raise TypeError(f"@cardan.message decorates a @dataclass; {getattr(cls, '__name__', cls)} is not one")
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(f"{cls.__name__}: an annotation cannot be resolved: {error}") from None
    lines: list[str] = []
    parts: dict[str, str] = {}
    for field in dataclasses.fields(cls):
        lines.append(f"{_field(cls.__name__, field.name, hints[field.name], parts)} {field.name}")
    for used, text in parts.items():
        lines += [_RULE, f"MSG: {used}", text]
    return "\n".join(lines)


def resolved(hint: typing.Any) -> typing.Any:
    """The annotation after `type X = …`, which numpy.typing.NDArray is for Python 3.12 and newer."""
    while type(alias := typing.get_origin(hint) or hint).__name__ == "TypeAliasType":
        hint = alias.__value__[typing.get_args(hint)] if typing.get_args(hint) else alias.__value__
    return hint


def _field(owner: str, name: str, hint: object, parts: dict[str, str]) -> str:
    """The ROS 2 type of an annotation. `parts` gets the definitions that it needs."""
    metadata: tuple[object, ...] = ()
    hint = resolved(hint)
    if typing.get_origin(hint) is typing.Annotated:
        metadata = hint.__metadata__  # type: ignore[attr-defined]
        hint = resolved(hint.__origin__)  # type: ignore[attr-defined]
    number = next((m.ros for m in metadata if isinstance(m, _Number)), None)
    if number is not None:
        return number
    length = next((m.elements for m in metadata if isinstance(m, Length)), None)
    most = next((m.elements for m in metadata if isinstance(m, MaxLength)), None)
    many = f"[{length}]" if length is not None else f"[<={most}]" if most is not None else "[]"
    if hint is str and most is not None:
        return f"string<={most}"
    if hint is bytes:
        return "uint8" + many
    element = _element(hint)
    if element is not None:
        inner = _field(owner, name, element, parts)
        if inner.endswith("]"):
            raise TypeError(f"{owner}.{name}: ROS 2 has no lists of lists; make a message of the inner one")
        return inner + many
    if length is not None or most is not None:
        raise TypeError(f"{owner}.{name}: Length and MaxLength are for lists and texts")
    if isinstance(hint, typing.Hashable) and hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type):
        known = _message_type(hint)
        if known is not None:
            _collect(known, parts)
            return _short(known.name)
    raise TypeError(f"{owner}.{name}: {hint!r} is not a type that a message can have; use {_ALLOWED}")


def _element(hint: object) -> object | None:
    """The element type of a list or an array; None: it is neither."""
    import collections.abc

    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (list, collections.abc.Sequence) and len(arguments) == 1:
        return typing.cast("object", arguments[0])
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return typing.cast("object", arguments[0])
    if getattr(origin, "__name__", "") == "ndarray" and len(arguments) == 2:
        scalar = typing.get_args(arguments[1])
        word = getattr(scalar[0], "__name__", "").rstrip("_") if scalar else ""
        if word in _DTYPES:
            return typing.Annotated[float, _Number(word)]
    return None


def _message_type(hint: type) -> Type | None:
    if issubclass(hint, Message):
        return type_of(hint)
    made = hint.__dict__.get("__cardan_type__")
    return made if isinstance(made, Type) else None


def _short(name: str) -> str:
    return name.replace("/msg/", "/")


def with_standard_types(name: str, definition: str) -> str:
    """The definition, and after it those of Cardan's own messages that it names and does not have."""
    own: dict[str, str] = {_short(name): ""}
    named: dict[str, str] = {}
    package = name.partition("/")[0]
    for line in definition.splitlines() if len(definition) <= _MOST_TEXT else ():
        if line.startswith("MSG:"):
            own[_short(line[4:].strip())] = ""
            package = line[4:].strip().partition("/")[0]
        elif len(words := line.partition("#")[0].split()) > 1:
            kind = words[0].partition("[")[0]
            named[_short(kind) if "/" in kind else f"{package}/{kind}"] = kind
    parts: dict[str, str] = {}
    for full, kind in named.items():
        for one in (full, "std_msgs/Header") if kind == "Header" else (full,):
            if one not in own and one not in parts and len(parts) < _MOST_PARTS:
                with contextlib.suppress(Error):  # what reads the definition names the line
                    _collect(Type.known(one.replace("/", "/msg/", 1)), parts)
    added = [line for used, text in parts.items() if used not in own for line in (_RULE, f"MSG: {used}", text)]
    return "\n".join([definition.rstrip("\n"), *added]) if added else definition


def _collect(kind: Type, parts: dict[str, str]) -> None:
    own, *others = kind.definition.split(_RULE + "\n")
    parts.setdefault(_short(kind.name), own.rstrip("\n"))
    for other in others:
        head, _, text = other.partition("\n")
        parts.setdefault(head.removeprefix("MSG: ").strip(), text.rstrip("\n"))
