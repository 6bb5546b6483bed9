# SPDX-License-Identifier: Apache-2.0
"""The types of classes of messages."""

from __future__ import annotations

from cardan._cardan import Message, Type

NAMES_OF: dict[type[Message], str] = {}
"""Of Cardan's own classes, whose types are looked up when they are used first."""


def type_of(cls: type[Message]) -> Type:
    """The type of a class of messages. Raises TypeError: it has none."""
    known: Type | None = getattr(cls, "__cardan_type__", None)
    if known is None:
        name = NAMES_OF.get(cls)
        if name is None:
            raise TypeError(f"{cls.__name__} is not a message type; use from_ros2msg(), or a dataclass with @cardan.message")
        known = Type.known(name)
        cls.__cardan_type__ = known  # type: ignore[attr-defined]
    return known
