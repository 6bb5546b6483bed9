# SPDX-License-Identifier: Apache-2.0
"""The parts of a topic's contract: options, durations, and how a subscriber waits."""

from __future__ import annotations

import math
import typing

from cardan import _cardan
from cardan._errors import Error

if typing.TYPE_CHECKING:
    M = typing.TypeVar("M", bound=_cardan.Message)

    class Contract(typing.Protocol[M]):
        """A Topic, as its publishers and subscribers see it."""

        name: str
        message_class: type[M] | None
        _given: dict[str, typing.Any]
        _options: _cardan.TopicOptions

    class Options(typing.TypedDict, total=False):
        max_bytes: int
        depth: int
        reliable: bool
        reliable_timeout: float
        deadline: float
        lifespan: float
        waiting: Waiting
        access: str
        checksum: bool
        exclusive: bool
        process_private: bool
        loans: int
        max_memory: int


def check_contract(topic: object, end: str) -> None:
    """Raises TypeError: it is not a Topic, as a name is not."""
    if not hasattr(topic, "_options"):
        name = topic if isinstance(topic, str) else "/name"
        raise TypeError(
            f"a {end} is of a cardan.Topic, not of a {type(topic).__name__} — write cardan.Topic({name[:80]!r}, type).{end}()"
        )


def nanoseconds(seconds: float, name: str) -> int:
    """A duration for the library. Raises Error for negative ones and for others than numbers."""
    if not isinstance(seconds, (int, float)):
        raise TypeError(f"{name} is in seconds, a float; not {type(seconds).__name__}")
    if math.isnan(seconds) or seconds < 0:
        raise Error("invalid_argument", f"{name} is {seconds} s", "give 0 or more")
    return min(int(seconds * 1e9), 1 << 60) if math.isfinite(seconds) else 1 << 60


def whole(value: int, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is an int, not {type(value).__name__}")
    if not least <= value <= most:
        raise Error("invalid_argument", f"{name} is {value}", f"use {least} to {most}")
    return value


class Waiting(typing.NamedTuple):
    """How a subscriber waits. Made by block(), spin_then_block(), prewake(), anticipate() and follow()."""

    kind: int
    limit: int
    """Nanoseconds."""


def block() -> Waiting:
    """Sleeps in the kernel: no CPU, the full wake-up for each sample."""
    return Waiting(0, 0)


def spin_then_block(seconds: float) -> Waiting:
    """Spins for this time before it sleeps: a whole core while it spins."""
    return Waiting(1, nanoseconds(seconds, "the time to spin"))


def prewake(limit: float = 0.005) -> Waiting:
    """Is woken when the publisher takes a loan, and spins until it publishes, at most `limit` seconds."""
    return Waiting(2, nanoseconds(limit, "limit"))


def anticipate(margin: float = 0.0001) -> Waiting:
    """Learns the rhythm of a periodic stream, and spins from `margin` seconds before the next sample is due."""
    return Waiting(3, nanoseconds(margin, "margin"))


def follow(margin: float = 0.0002) -> Waiting:
    """Learns the rhythm of a periodic stream, and looks `margin` seconds after the next sample is due: the publisher has
    nobody to wake."""
    return Waiting(4, nanoseconds(margin, "margin"))


ACCESS = {"owner": 0, "group": 1, "everyone": 2, "policy": 3}
INTROSPECTION = ("off", "metadata", "contents")
MOST_BYTES = 1 << 30
OPTIONS = (
    "max_bytes",
    "depth",
    "reliable",
    "reliable_timeout",
    "deadline",
    "lifespan",
    "waiting",
    "access",
    "checksum",
    "exclusive",
    "process_private",
    "loans",
    "max_memory",
)


def topic_options(given: dict[str, typing.Any]) -> _cardan.TopicOptions:
    made = _cardan.TopicOptions()
    made.max_bytes = whole(given.get("max_bytes", 0), "max_bytes", 0, MOST_BYTES)
    made.depth = whole(given.get("depth", 1), "depth", 1, (1 << 32) - 1)
    made.loans = whole(given.get("loans", 1), "loans", 1, (1 << 32) - 1)
    made.max_memory = whole(given.get("max_memory", 0), "max_memory", 0, (1 << 63) - 1)
    for name in ("reliable", "checksum", "exclusive", "process_private"):
        value = given.get(name, False)
        if not isinstance(value, bool):
            raise TypeError(f"{name} is a bool, not {type(value).__name__}")
        setattr(made, name, value)
    if "reliable_timeout" in given:
        made.set_reliable_timeout(nanoseconds(given["reliable_timeout"], "reliable_timeout"))
    made.set_deadline(nanoseconds(given.get("deadline", 0), "deadline"))
    made.set_lifespan(nanoseconds(given.get("lifespan", 0), "lifespan"))
    waiting = given.get("waiting", block())
    if not isinstance(waiting, Waiting):
        raise TypeError(f"waiting is made by block(), prewake() and so on; not {type(waiting).__name__}")
    made.set_waiting(waiting.kind, waiting.limit)
    access = given.get("access", "owner")
    if access not in ACCESS:
        raise Error("invalid_argument", f"access is {access!r}", f"use {', '.join(ACCESS)}")
    made.set_access(ACCESS[access])
    return made
