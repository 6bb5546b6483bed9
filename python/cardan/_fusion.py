# SPDX-License-Identifier: Apache-2.0
"""How a component joins topics: the policies of Context.fuse()."""

from __future__ import annotations

import typing

from cardan._cardan import FusionPolicy
from cardan._contract import nanoseconds, whole
from cardan._errors import Error

if typing.TYPE_CHECKING:
    from collections.abc import Sequence

_TIMES = ("source", "publish", "header")
_MOST_QUEUE = 1024


def primary(
    input: int = 0,
    *,
    max_age: float = 0.0,
    max_ages: Sequence[float | None] = (),
    required: Sequence[bool] = (),
    time: str = "source",
) -> FusionPolicy:
    """A set when a message of one input comes, with the newest of each other input.

    Args:
        input: whose messages fire, counted from 0.
        max_age: how old the others may be at most, seconds before the firing message; 0: any age.
        max_ages: the same for each input, in their order; None: `max_age`.
        required: for each input: False: a set fires without it, with None, when it has nothing or is too old.
        time: which time of a message counts: "source" (its publisher's stamp, else when it was published), "publish",
            or "header" (its own header.stamp).
    """
    ages = [None if one is None else nanoseconds(one, "max_ages") for one in max_ages]
    needs = [bool(one) for one in required]
    return FusionPolicy.primary(whole(input, "input", 0, 7), nanoseconds(max_age, "max_age"), ages, needs, _time(time))


def approximate(
    *,
    tolerance: float = 0.01,
    queue: int = 10,
    patience: float = 0.0,
    min_periods: Sequence[float] = (),
    clock_step: float = 1.0,
    time: str = "source",
) -> FusionPolicy:
    """Sets of messages that are close in time; each message is in one set at most. The sets follow from the stamps, not
    from when messages come.

    Args:
        tolerance: seconds from the earliest to the latest message of a set, at most.
        queue: messages of each input that may wait.
        patience: a set is decided when some input is this far past it, seconds; 0: not before it is certain.
        min_periods: the shortest time between two messages of each input, if known: sets are decided sooner.
        clock_step: an input that goes back by more has had its clock set.
        time: as of primary().
    """
    periods = [nanoseconds(one, "min_periods") for one in min_periods]
    return FusionPolicy.approximate(
        nanoseconds(tolerance, "tolerance"),
        whole(queue, "queue", 1, _MOST_QUEUE),
        nanoseconds(patience, "patience"),
        periods,
        nanoseconds(clock_step, "clock_step"),
        _time(time),
    )


def exact(*, queue: int = 10, clock_step: float = 1.0, time: str = "source") -> FusionPolicy:
    """Sets of messages with equal times, for what was computed from one measurement. Arguments as of approximate()."""
    queue = whole(queue, "queue", 1, _MOST_QUEUE)
    return FusionPolicy.exact(queue, nanoseconds(clock_step, "clock_step"), _time(time))


def _time(word: str) -> int:
    if word not in _TIMES:
        raise Error("invalid_argument", f"time is {word!r}", f"use {', '.join(_TIMES)}")
    return _TIMES.index(word)
