# SPDX-License-Identifier: Apache-2.0
"""Receiving."""

from __future__ import annotations

import typing

from cardan import _cardan
from cardan._classes import class_for
from cardan._contract import MOST_BYTES, check_contract, nanoseconds, topic_options, whole
from cardan._ends import remember
from cardan._known import type_of
from cardan._program import introduce

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cardan._contract import Contract, Waiting

M = typing.TypeVar("M", bound=_cardan.Message)


class Subscriber(typing.Generic[M]):
    """Receives messages from every publisher of a topic. One thread at a time; each thread needs its own subscriber.

        with front.subscriber() as sub:
            for frame in sub:            # or: async for
                detect(frame.mat)

    An iteration ends after stop_on_signals() or request_stop(), and when the subscriber is closed. Every wait lets
    other threads run, and Ctrl-C ends it with KeyboardInterrupt within 0.1 s.
    """

    def __init__(
        self,
        topic: Contract[M],
        *,
        holds: int = 1,
        depth: int = 0,
        reliable: bool = True,
        background: bool = False,
        waiting: Waiting | None = None,
        domain: str = "",
        not_via: str = "",
        on_event: Callable[[_cardan.Event], None] | None = None,
    ) -> None:
        check_contract(topic, "subscriber")
        introduce()
        options = topic._options
        if "max_bytes" not in topic._given:
            options = topic_options({**topic._given, "max_bytes": MOST_BYTES})
        if topic.message_class is None:
            found = _cardan.Type.of_topic(topic.name, domain)
            cls = typing.cast("type[M]", class_for(found))
        else:
            cls = topic.message_class
            found = type_of(cls)
        own = _cardan.SubscriberOptions()
        own.domain, own.not_via = domain, not_via
        own.holds = whole(holds, "holds", 1, 200)
        own.depth = whole(depth, "depth", 0, (1 << 32) - 1)
        own.reliable, own.background = reliable, background
        own.events_end_wait = on_event is not None
        if waiting is not None:
            own.set_waiting(waiting.kind, waiting.limit)
        self.topic = topic.name
        self.message_class: type[M] = cls
        self.definition = found.definition
        """The type's ros2msg text."""
        self._on_event = on_event
        self._handle = _cardan.SubscriberHandle(topic.name, found, cls, options, own)
        remember(self)

    def take(self) -> M | None:
        """The next message: the newest with depth 1, the oldest that is left otherwise. None: there is nothing new, or
        `reason` says why. Never blocks."""
        message: M | None = self._handle.take()
        if self._on_event is not None:
            self._tell()
        return message

    def wait(self, timeout: float | None = None) -> M | None:
        """The next message; waits for it at most `timeout` seconds (None: without end). None: `reason` says why."""
        if timeout is None and self._on_event is None:
            message: M | None = self._handle.wait(-1)
            return message
        left = -1 if timeout is None else nanoseconds(timeout, "timeout")
        return self._wait(left)

    def _wait(self, left: int) -> M | None:
        import time

        until = time.monotonic_ns() + left
        while True:
            message: M | None = self._handle.wait(left if left < 0 else max(until - time.monotonic_ns(), 0))
            ended = message is not None or self._handle.reason() != "event"
            self._tell()  # also between messages: a stream that never pauses has events too
            if ended:
                return message

    def _tell(self) -> None:
        while self._on_event is not None and (event := self._handle.event()) is not None:
            self._on_event(event)

    @property
    def reason(self) -> str:
        """Why the last take() or wait() gave None: "none" (nothing new), "stopped", "timed_out", "limit" (as many
        messages are kept as `holds` announced)."""
        return self._handle.reason()

    def event(self) -> _cardan.Event | None:
        """The next event that has not been read. At most 256 are kept."""
        return self._handle.event()

    def fileno(self) -> int:
        """A descriptor that is readable when a message or an event may be there, for select and event loops. Then
        take() until it gives None."""
        return self._handle.fileno()

    @property
    def missed(self) -> int:
        """Messages lost since the attach, exact."""
        return self._handle.missed()

    @property
    def received(self) -> int:
        """Messages received."""
        return self._handle.received()

    @property
    def bad(self) -> int:
        """Checksum mismatches and malformed messages. They are skipped."""
        return self._handle.bad()

    @property
    def publishers(self) -> int:
        """Publishers attached now."""
        return self._handle.publishers()

    @property
    def closed(self) -> bool:
        return self._handle.closed()

    def close(self) -> None:
        """Ends it. Messages and arrays that are kept stay valid."""
        self._handle.close()

    def __enter__(self) -> Subscriber[M]:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[M]:
        # Without events the extension iterates: no Python runs between the wake-up and the frame.
        return self._handle if self._on_event is None else self

    def __next__(self) -> M:
        if self._handle.closed():
            raise StopIteration
        message = self.wait()
        if message is None:
            self._handle.refuse_limit()
            raise StopIteration
        return message

    def __aiter__(self) -> Subscriber[M]:
        return self

    async def __anext__(self) -> M:
        import asyncio

        loop = asyncio.get_running_loop()
        while not self._handle.closed() and not _cardan.stopping():
            message = self.take()
            if message is not None:
                return message
            self._handle.refuse_limit()
            ready = loop.create_future()
            descriptor = self._handle.fileno()
            loop.add_reader(descriptor, _set, ready)
            try:
                await asyncio.wait((ready,), timeout=1)  # a stop is seen then at the latest
            finally:
                loop.remove_reader(descriptor)
        raise StopAsyncIteration


def _set(future: typing.Any) -> None:
    if not future.done():
        future.set_result(None)
