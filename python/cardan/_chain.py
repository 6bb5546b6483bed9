# SPDX-License-Identifier: Apache-2.0
"""Where the time of recorded publications went, by the causes that the recorder wrote (docs/chains.md)."""

from __future__ import annotations

import typing

from cardan._errors import Error

if typing.TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from cardan._frame import Columns

    Integers = npt.NDArray[np.int64]

CAUSES = "/cardan/causes"
_MOST_HOPS = 32
_LONGEST_US = 10**12  # as RecordedCauses (src/record/recorded_chain.cpp)
_NO_CAUSE, _UNKNOWN_AGE, _TOO_OLD = 0xFFFF, 0xFFFF_FFFF, -(2**31)


class _Samples(typing.NamedTuple):
    """All samples, by publisher and sequence."""

    topics: list[str]  # by number
    topic: Integers  # its number
    sequence: Integers
    published_us: Integers  # steady clock
    log_ns: Integers
    cause: Integers  # its row; -1: it is not followed


def _samples(messages: typing.Iterable[typing.Any]) -> _Samples:
    import numpy as np

    places: dict[tuple[int, str], int] = {}
    names: list[str] = []  # of each place
    parts: list[list[Integers]] = []
    for message in messages:
        here = []
        for number, topic in zip(np.asarray(message.publishers).tolist(), map(str, message.topics)):
            known = places.setdefault((number, "" if number else topic), len(names))
            names.extend([""] if known == len(names) else [])
            names[known] = names[known] or topic
            here.append(known)
        place_of = np.array([*here, 0], np.int64)  # one more, so that there is one
        lists = [np.array(getattr(message, name), np.int64) for name in ("publisher", "sequence", "published_us", "age_us")]
        publisher, sequence, after_us, age_us = lists
        cause_publisher = np.array(message.cause_publisher, np.int64)
        numbers = np.array([*message.publishers, 1], np.uint64)  # 0: of another user
        followed = (cause_publisher != _NO_CAUSE) & (age_us != _UNKNOWN_AGE) & (numbers[publisher] != 0)
        followed &= numbers[np.where(followed, cause_publisher, -1)] != 0
        cause = place_of[np.where(followed, cause_publisher, -1)] << 32 | np.array(message.cause_sequence, np.int64)
        published = message.stamp_ns // 1000 + after_us
        log_ns = message.log_ns + (published - message.stamp_ns // 1000) * 1000
        # A sample without a time has no effects that can be told.
        key = np.where(after_us == _TOO_OLD, -2, place_of[publisher] << 32 | sequence)
        parts.append([key, place_of[publisher], sequence, published, log_ns, np.where(followed, cause, -1)])
    if not parts:
        raise Error("invalid_argument", f"no causes are recorded ({CAUSES})", "record without causes=False or --no-causes")
    columns = [np.concatenate(column) for column in zip(*parts)]
    order = np.argsort(columns[0], kind="stable")
    order = order[np.append(True, np.diff(columns[0][order]) != 0)] if len(order) else order  # merged files repeat some
    key, place, sequence, published, log_ns, cause = (column[order] for column in columns)
    if not len(key):
        return _Samples([], key, key, key, key, key)
    row = np.minimum(np.searchsorted(key, cause), len(key) - 1)
    row = np.where((cause >= 0) & (key[row] == cause), row, -1)
    topics = sorted(set(names))
    number_of = np.array([topics.index(name) for name in names], np.int64)
    return _Samples(topics, number_of[place], sequence, published, log_ns, row)


def chain_of(messages: typing.Iterable[typing.Any], begin: str, end: str) -> Columns:
    """A row for each publication on `end` that can be followed back to `begin`: log_ns, sequence, seconds of each hop
    and in all."""
    import numpy as np

    all_ = _samples(messages)
    for topic in (begin, end):
        if topic not in all_.topics:
            raise Error("invalid_argument", f"no causes of '{topic}' are recorded", "there are " + ", ".join(filter(None, all_.topics)))
    first, last = all_.topics.index(begin), all_.topics.index(end)
    rows = np.flatnonzero(all_.topic == last)
    at, found = rows, np.zeros(len(rows), bool)
    going = np.ones(len(rows), bool)
    hops: list[tuple[npt.NDArray[np.bool_], Integers, Integers]] = []  # who went, from which topic to which, µs
    for _ in range(_MOST_HOPS):
        cause = all_.cause[at]
        took = all_.published_us[at] - all_.published_us[cause]
        going = going & ~found & (cause >= 0) & (took >= 0) & (took <= _LONGEST_US)
        if not going.any():
            break
        hops.append((going, all_.topic[cause] * len(all_.topics) + all_.topic[at], took))
        found = found | (going & (all_.topic[cause] == first))
        at = np.where(going, cause, at)
    columns: Columns = {"log_ns": all_.log_ns[rows], "sequence": all_.sequence[rows]}
    total = np.zeros(len(rows))
    for went, pair, took in reversed(hops):
        for code in np.unique(pair[went & found]).tolist():
            name = " → ".join(all_.topics[number] for number in divmod(code, len(all_.topics)))
            column = columns.setdefault(name, np.full(len(rows), np.nan))
            here = went & found & (pair == code)
            column[here] = np.nan_to_num(column[here]) + took[here] / 1e6  # a loop takes a hop twice
        total += np.where(went, took, 0) / 1e6
    columns["total"] = total
    order = np.argsort(columns["log_ns"], kind="stable")
    order = order[found[order]]
    return {name: column[order] for name, column in columns.items()}
