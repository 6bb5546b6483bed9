# SPDX-License-Identifier: Apache-2.0
"""The contract of a topic: its name, its type and its options."""

from __future__ import annotations

import typing

from cardan import _cardan
from cardan._classes import Sample, class_of
from cardan._contract import OPTIONS, topic_options
from cardan._publisher import Publisher
from cardan._subscriber import Subscriber

if typing.TYPE_CHECKING:
    from collections.abc import Callable

    from cardan._cardan import AnyMessage
    from cardan._contract import Options, Waiting

M = typing.TypeVar("M", bound=_cardan.Message)
D = typing.TypeVar("D")


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
    def __init__(self, name: str, type: type[M], **options: typing.Unpack[Options]) -> None: ...
    @typing.overload
    def __init__(
        self: Topic[AnyMessage], name: str, type: str | None = None, **options: typing.Unpack[Options]
    ) -> None: ...
    @typing.overload
    def __init__(self: Topic[Sample[D]], name: str, type: type[D], **options: typing.Unpack[Options]) -> None: ...
    def __init__(
        self,
        name: str,
        type: typing.Any = None,
        **given: typing.Any,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a topic's name is a str, not {name.__class__.__name__}")
        unknown = set(given) - set(OPTIONS)
        if unknown:
            raise TypeError(f"a topic has no option '{sorted(unknown)[0]}'; there are {', '.join(OPTIONS)}")
        self.name = name
        self.message_class = None if type is None else class_of(type)
        self._given = given
        self._options = topic_options(given)

    def publisher(self, *, domain: str = "", via: str = "") -> Publisher[M]:
        """A publisher. Blocks for about 1 ms. `via`: for bridges, the networks that the messages came through."""
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
            holds: messages (with arrays over them) that you keep at once, at most 200, besides the one that is being
                taken. Each costs the publisher a slot.
            depth: the subscriber's own depth; 0: the topic's.
            reliable: False: a reliable publisher does not wait for this subscriber.
            background: is woken after all others; for recorders and monitors.
            waiting: overrides the topic's.
            on_event: called for each event, on the thread that waits.
        """
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
