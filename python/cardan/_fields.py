# SPDX-License-Identifier: Apache-2.0
"""Fields of classes of messages, for help(), dir() and type checkers. The extension reads and writes them in messages."""

from __future__ import annotations

import typing

from cardan._cardan import Message, Records
from cardan._errors import _no_field
from cardan._known import type_of

if typing.TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

M = typing.TypeVar("M", bound=Message)
T = typing.TypeVar("T")
S = typing.TypeVar("S")


class Field(typing.Generic[T, S]):
    # A field that gives a T and takes an S. Its type is the layout's: only its unit is written here. No docstring: help()
    # shows __doc__ of each field.

    def __init__(self, note: str = "", of: type[Message] | None = None) -> None:
        self.note, self.of, self.name = note, of, ""
        self.owner: type[Message] = Message

    def __set_name__(self, owner: type[Message], name: str) -> None:
        self.owner, self.name = owner, name

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        of = f"cardan.{self.of.__name__}" if self.of is not None else ""
        line = ", ".join(part for part in (self.type_name(), of, self.note) if part)
        inner = [f"{name}: {field.__doc__}" for name, field in described(self.of).items()] if self.of else []
        return "\n".join((line, *inner)).replace("\n", "\n    ")

    def type_name(self) -> str:
        return dict(type_of(self.owner).fields).get(self.name, "")

    @typing.overload
    def __get__(self, message: None, owner: type[Message]) -> Field[T, S]: ...
    @typing.overload
    def __get__(self, message: Message, owner: type[Message]) -> T: ...
    def __get__(self, message: Message | None, owner: type[Message]) -> Field[T, S] | T:
        if message is None:
            return self
        self._missing(message)

    def __set__(self, message: Message, value: S) -> None:
        self._missing(message)

    def _missing(self, message: Message) -> typing.NoReturn:
        # Of a publisher that has another layout of this type; else the extension has found the field.
        raise AttributeError(_no_field(Message._type_name(message), self.name, Message._fields(message)))


def integer(note: str = "") -> Field[int, typing.SupportsIndex]:
    return Field(note)


def number(note: str = "") -> Field[float, typing.SupportsFloat | typing.SupportsIndex]:
    return Field(note)


def truth(note: str = "") -> Field[bool, bool | np.bool_]:
    return Field(note)


def text(note: str = "") -> Field[str, str]:
    return Field(note)


def octets(note: str = "") -> Field[npt.NDArray[np.uint8], object]:
    return Field(note)


def doubles(note: str = "") -> Field[npt.NDArray[np.float64], object]:
    return Field(note)


def part(of: type[M], note: str = "") -> Field[M, object]:
    """A message in the message. It takes one, a dict, or an object with its fields."""
    return Field(note, of)


def records(of: type[M], note: str = "") -> Field[Records[M], Iterable[object]]:
    """A list of messages."""
    return Field(note, of)


def described(cls: type[Message]) -> dict[str, Field[typing.Any, typing.Any]]:
    """The fields of one of Cardan's classes, in their order."""
    return {name: field for name, field in vars(cls).items() if isinstance(field, Field)}


def fields_of(kind: typing.Any, base: type[Message]) -> dict[str, Field[typing.Any, typing.Any]]:
    """For a class of a type that only its definition describes. A name that the class has is left as it is, and so is one
    that Python may look up itself: a definition can come from another user."""
    return {name: Field() for name, _ in kind.fields if not name.startswith("_") and not hasattr(base, name)}
