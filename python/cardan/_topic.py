# SPDX-License-Identifier: Apache-2.0
"""The contract of a topic: its name, its type and its options."""

from __future__ import annotations

import math
import typing

from cardan import _cardan
from cardan._errors import Error
from cardan._messages import Sample, class_of

if typing.TYPE_CHECKING:
    from collections.abc import Callable

    from cardan._publisher import Publisher
    from cardan._subscriber import Subscriber

M = typing.TypeVar("M", bound=_cardan.Message)
D = typing.TypeVar("D")


def nanoseconds(seconds: float, name: str) -> int:
    """A duration for the library. Raises Error for negative ones and those that are no number."""
    if not isinstance(seconds, (int, float)):
        raise TypeError(f"{name} is in seconds, a float; not {type(seconds).__name__}")
    if math.isnan(seconds) or seconds < 0:
        raise Error("invalid_argument", f"{name} is {seconds} s", "give 0 or more")
    return min(int(seconds * 1e9), 1 << 60) if math.isfinite(seconds) else 1 << 60


def _whole(value: int, name: str, least: int, most: int) -> int:
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
    """Spins so long before it sleeps: a whole core while it spins."""
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


_ACCESS = {"owner": 0, "group": 1, "everyone": 2, "policy": 3}
_MOST_BYTES = 1 << 30


class Topic(typing.Generic[M]):
    """A topic: its name, the type of its messages and its contract. Both sides use the same one.

    Args:
        name: as "/camera/front".
        type: a class of Cardan (Image), a dataclass with @cardan.message, what from_ros2msg() made, or the ROS 2 name
            of one of Cardan's types. None: a subscriber takes the type of the topic's first publisher.
        max_bytes: payload bytes that a message may carry beyond its fixed part (pixels, points, lists, texts). Needed
            to publish types with lists. A subscriber of other users' topics refuses publishers that have more.
        depth: 1: the freshest sample. k: a queue of the last k.
        reliable: publish() waits for reliable subscribers, at most `reliable_timeout` seconds.
        deadline: seconds without a publication after which subscribers get an event. 0: none.
        lifespan: samples that are older (seconds) are dropped and counted. 0: no limit.
        waiting: how subscribers wait: block(), prewake(), anticipate(), follow(), spin_then_block().
        access: "owner", "group", "everyone" or "policy": which users.
        checksum: CRC-32C of every message.
        exclusive: one publisher at a time.
        process_private: cannot be reached from outside this process.
        loans: loans out at once.
        max_memory: upper bound of the topic's memory in bytes. 0: the library's.

    Raises:
        Error: an option that can never work.
        TypeError: a type that no message can have.
    """

    name: str
    message_class: type[M] | None

    @typing.overload
    def __init__(self, name: str, type: type[M], **options: typing.Unpack[_Options]) -> None: ...
    @typing.overload
    def __init__(
        self: Topic[_cardan.Message], name: str, type: str | None = None, **options: typing.Unpack[_Options]
    ) -> None: ...
    @typing.overload
    def __init__(self: Topic[Sample[D]], name: str, type: type[D], **options: typing.Unpack[_Options]) -> None: ...
    def __init__(
        self,
        name: str,
        type: typing.Any = None,
        **given: typing.Any,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a topic's name is a str, not {name.__class__.__name__}")
        unknown = set(given) - set(_OPTIONS)
        if unknown:
            raise TypeError(f"a topic has no option '{sorted(unknown)[0]}'; there are {', '.join(_OPTIONS)}")
        self.name = name
        self.message_class = None if type is None else class_of(type)
        self._given = given
        self._options = _options(given)

    def publisher(self, *, domain: str = "", via: str = "") -> Publisher[M]:
        """A publisher. Blocks for about 1 ms. `via`: for bridges, the networks that the messages came through."""
        from cardan._publisher import Publisher

        return Publisher(self, domain=domain, via=via)

    def subscriber(
        self,
        *,
        holds: int = 1,
        depth: int = 0,
        reliable: bool = True,
        background: bool = False,
        waiting: Waiting | None = None,
        domain: str = "",
        not_via: str = "",
        on_event: Callable[[_cardan.Event], None] | None = None,
    ) -> Subscriber[M]:
        """A subscriber. Blocks for about 1 ms, at most 1 s when a peer does not answer.

        Args:
            holds: messages (with arrays over them) that you keep at once, at most 200, beside the one that is being
                taken. Each costs the publisher a slot.
            depth: the subscriber's own depth; 0: the topic's.
            reliable: False: a reliable publisher does not wait for this subscriber.
            background: is woken after all others; for recorders and monitors.
            waiting: overrides the topic's.
            on_event: called for each event, on the thread that waits.
        """
        from cardan._subscriber import Subscriber

        return Subscriber(
            self,
            holds=holds,
            depth=depth,
            reliable=reliable,
            background=background,
            waiting=waiting,
            domain=domain,
            not_via=not_via,
            on_event=on_event,
        )

    def __repr__(self) -> str:
        kind = "any type" if self.message_class is None else self.message_class.__name__
        return f"Topic({self.name!r}, {kind})"


if typing.TYPE_CHECKING:

    class _Options(typing.TypedDict, total=False):
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


_OPTIONS = (
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


def _options(given: dict[str, typing.Any]) -> _cardan.TopicOptions:
    made = _cardan.TopicOptions()
    made.max_bytes = _whole(given.get("max_bytes", 0), "max_bytes", 0, _MOST_BYTES)
    made.depth = _whole(given.get("depth", 1), "depth", 1, (1 << 32) - 1)
    made.loans = _whole(given.get("loans", 1), "loans", 1, (1 << 32) - 1)
    made.max_memory = _whole(given.get("max_memory", 0), "max_memory", 0, (1 << 63) - 1)
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
    if access not in _ACCESS:
        raise Error("invalid_argument", f"access is {access!r}", f"use {', '.join(_ACCESS)}")
    made.set_access(_ACCESS[access])
    return made
