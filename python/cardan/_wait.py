# SPDX-License-Identifier: Apache-2.0
"""Waiting for several things at once."""

from __future__ import annotations

import typing

from cardan import _cardan
from cardan._contract import nanoseconds
from cardan._errors import Error
from cardan._subscriber import Subscriber


class _HasFileno(typing.Protocol):
    def fileno(self) -> int: ...


Thing = typing.TypeVar("Thing", bound="_HasFileno | int")


def wait_any(*things: Thing, timeout: float | None = None) -> Thing | None:
    """Waits until one of up to 64 subscribers, timers, descriptors and objects with fileno() is ready, and returns it
    (the first of several). None: the `timeout` (seconds) is up, or a stop was requested. Ctrl-C ends it."""
    if not things:
        raise TypeError("wait_any() waits for subscribers, timers and descriptors; give at least one")
    given: list[_cardan.SubscriberHandle | int] = []
    for thing in things:
        if isinstance(thing, Subscriber):
            given.append(thing._handle)
        elif isinstance(thing, int):
            given.append(thing)
        elif hasattr(thing, "fileno"):
            given.append(thing.fileno())
        else:
            raise TypeError(f"wait_any() cannot wait for {type(thing).__name__}: it has no fileno()")
    index = _cardan.wait_any(given, -1 if timeout is None else nanoseconds(timeout, "timeout"))
    return None if index < 0 else things[index]


class Timer:
    """A periodic timer for wait_any(), of `period` seconds. It does not drift."""

    def __init__(self, period: float) -> None:
        if nanoseconds(period, "period") == 0:
            raise Error("invalid_argument", "period is 0 s", "give a period above 0")
        self._handle = _cardan.TimerHandle(nanoseconds(period, "period"))

    def expired(self) -> int:
        """Periods that have passed since the last call. Never blocks."""
        return self._handle.expired()

    def fileno(self) -> int:
        return self._handle.fileno()
