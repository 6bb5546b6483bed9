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
_MOST_SAMPLES, _MOST_PUBLISHERS = 1 << 25, 1 << 16  # as RecordedCauses (src/record/recorded_chain.hpp)
_MOST_CELLS = 1 << 26  # as chain_csv (apps/bag/chain_table.cpp)
_LONGEST_US = 10**12  # as RecordedCauses (src/record/recorded_chain.cpp)
_NO_CAUSE, _UNKNOWN_AGE, _TOO_OLD = 0xFFFF, 0xFFFF_FFFF, -(2**31)
_NO_TIME = -(2**62)  # µs; earlier than all others by more than _LONGEST_US
_LONGEST_TOPIC = 1024
_LISTS = ("publisher", "sequence", "published_us", "age_us", "cause_publisher", "cause_sequence")


class _Samples(typing.NamedTuple):
    """All samples, by publisher and sequence."""

    topics: list[str]  # by number
    topic: Integers  # its number
    sequence: Integers
    published_us: Integers  # steady clock
    log_ns: Integers
    cause: Integers  # its row; -1: it is not followed


class _Causes(typing.NamedTuple):
    """A message, as src/record/causes.hpp describes it."""

    log_ns: Integers
    stamp_us: Integers
    publishers: list[int]
    topics: list[str]
    lists: list[Integers]  # _LISTS


def _read(message: typing.Any) -> _Causes | None:
    """None: no recorder wrote it; the checks are those of holds_together() in src/record/causes.cpp."""
    import numpy as np

    try:
        # Times wrap as in C++: a file can hold any number.
        log_ns = np.array([message.log_ns], np.uint64).astype(np.int64)
        stamp_us = np.array([message.stamp_ns], np.int64) // 1000
        publishers = np.array(message.publishers, np.uint64).tolist()
        topics = [str(topic) for topic in message.topics]
        lists = [np.array(getattr(message, name), np.int64) for name in _LISTS]
    except (AttributeError, TypeError, ValueError, OverflowError):  # the topic has messages of another type
        return None
    publisher, cause = lists[0], lists[4]
    if len(publishers) != len(topics) or len(topics) > _NO_CAUSE or any(one.shape != lists[1].shape for one in lists):
        return None
    if any(len(topic.encode("utf-8", "surrogatepass")) > _LONGEST_TOPIC for topic in topics):
        return None
    there = (publisher >= 0) & (publisher < len(publishers))
    there &= (cause == _NO_CAUSE) | ((cause >= 0) & (cause < len(publishers)))
    return _Causes(log_ns, stamp_us, publishers, topics, lists) if there.all() else None


def _samples(messages: typing.Iterable[typing.Any], note: typing.Callable[[str], object]) -> _Samples:
    import numpy as np

    places: dict[tuple[int, str], int] = {}
    names: list[str] = []  # of each place
    parts: list[list[Integers]] = []
    count = 0
    for message in messages:
        causes = _read(message)
        if causes is None:
            note(f"{CAUSES}, message of {message.log_ns} ns: no recorder wrote it")
            continue
        here = []
        for number, topic in zip(causes.publishers, causes.topics):
            known = places.setdefault((number, "" if number else topic), len(names))
            names.extend([""] if known == len(names) else [])
            names[known] = names[known] or topic
            here.append(known)
        count += len(causes.lists[0])
        if count > _MOST_SAMPLES or len(names) > _MOST_PUBLISHERS:
            what = "publishers" if count <= _MOST_SAMPLES else "samples with causes"
            raise Error("limit", f"the recording has too many {what}", "take a part of it with cardan bag cut")
        place_of = np.array([*here, 0], np.int64)  # one more, so that there is one
        publisher, sequence, after_us, age_us, cause_publisher, cause_sequence = causes.lists
        numbers = np.array([*causes.publishers, 1], np.uint64)  # 0: of another user
        # A sample without a time has neither causes nor effects that can be told.
        followed = (cause_publisher != _NO_CAUSE) & (age_us != _UNKNOWN_AGE) & (numbers[publisher] != 0) & (after_us != _TOO_OLD)
        followed &= numbers[np.where(followed, cause_publisher, -1)] != 0
        cause = place_of[np.where(followed, cause_publisher, -1)] << 32 | cause_sequence
        published = np.where(after_us == _TOO_OLD, _NO_TIME, causes.stamp_us + after_us)
        log_ns = causes.log_ns + after_us * 1000
        key = place_of[publisher] << 32 | sequence
        parts.append([key, place_of[publisher], sequence, published, log_ns, np.where(followed, cause, -1)])
    if not parts:
        raise Error("invalid_argument", f"no causes are recorded ({CAUSES})", "record without causes=False or --no-causes")
    columns = [np.concatenate(column) for column in zip(*parts)]
    order = np.lexsort((columns[3], columns[0]))
    # Merged files repeat some: the earliest counts.
    order = order[np.append(True, np.diff(columns[0][order]) != 0)] if len(order) else order
    key, place, sequence, published, log_ns, cause = (column[order] for column in columns)
    if not len(key):
        return _Samples([], key, key, key, key, key)
    row = np.minimum(np.searchsorted(key, cause), len(key) - 1)
    named = np.array([name != "" for name in names], np.bool_)
    row = np.where((cause >= 0) & (key[row] == cause) & named[place[row]], row, -1)
    topics = sorted(set(names))
    numbers_of = {name: number for number, name in enumerate(topics)}
    number_of = np.array([numbers_of[name] for name in names], np.int64)
    return _Samples(topics, number_of[place], sequence, published, log_ns, row)


def chain_of(messages: typing.Iterable[typing.Any], begin: str, end: str, note: typing.Callable[[str], object] = lambda _: None) -> Columns:
    """A row for each publication on `end` that can be followed back to `begin`: log_ns, sequence, seconds of each hop
    and in all. `note` gets what cannot be read."""
    import numpy as np

    all_ = _samples(messages, note)
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
            if name not in columns:
                # A small file can list many ways that share no hop, and then nearly all cells are empty.
                if (len(columns) + 2) * len(rows) > _MOST_CELLS:
                    what = f"the table is too large: {len(rows)} rows and more than {len(columns)} columns"
                    raise Error("limit", what, "take a part of the recording with cardan bag cut, or use cardan bag chain --json")
                columns[name] = np.full(len(rows), np.nan)
            column = columns[name]
            here = went & found & (pair == code)
            column[here] = np.nan_to_num(column[here]) + took[here] / 1e6  # a loop takes a hop twice
        total += np.where(went, took, 0) / 1e6
    columns["total"] = total
    order = np.argsort(columns["log_ns"], kind="stable")
    order = order[found[order]]
    for name in columns:  # one by one, so that the table is not in memory twice
        columns[name] = columns[name][order]
    return columns
