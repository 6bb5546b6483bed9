# SPDX-License-Identifier: Apache-2.0
"""Parts of a recording: some topics, some time."""

from __future__ import annotations

import re
import typing

from cardan._cardan import Message
from cardan._errors import Error
from cardan._recorded import Reading, Recorded

if typing.TYPE_CHECKING:
    import numpy.typing as npt

    Columns = dict[str, npt.NDArray[typing.Any]]

M = typing.TypeVar("M", bound=Message)
Progress = typing.Callable[[float], object]
NEVER = (1 << 64) - 1


class BagTopic:
    """A topic of a recording."""

    def __init__(self, recorded: Recorded, name: str, indices: list[int]) -> None:
        channels = [recorded.channels[i] for i in indices]
        self.name = name
        self.type = ", ".join(dict.fromkeys(c.type for c in channels))
        """The name of the messages' type; of several types, all of them. "": the file does not say."""
        self.encoding = ", ".join(dict.fromkeys(c.encoding for c in channels))
        """"cdr", "protobuf", …"""
        counts = [c.messages for c in channels]
        self.count: int | None = None if None in counts else sum(typing.cast("list[int]", counts))
        """Messages; None: the file does not say."""
        self._recorded, self._indices = recorded, indices
        self._times: tuple[int, int] | None = None

    @property
    def start(self) -> int:
        """Log time of its first message, nanoseconds since 1970; 0: it has none. Reads a little of the file."""
        return self._bounds()[0]

    @property
    def end(self) -> int:
        """Log time of its last message."""
        return self._bounds()[1]

    @property
    def definition(self) -> str:
        """The type's ros2msg text, if it has one."""
        text = self._recorded.channels[self._indices[0]].schema_encoding == "ros2msg"
        return self._recorded.files.schema(self._indices[0]).decode("utf-8", "replace") if text else ""

    @property
    def metadata(self) -> dict[str, str]:
        """The file's data about the topic beyond MCAP's fields: ROS 2's QoS and type hash."""
        return dict(self._recorded.channels[self._indices[0]].metadata)

    def _bounds(self) -> tuple[int, int]:
        if self._times is None:
            self._times = self._recorded.files.bounds(self._indices) or (0, 0)
        return self._times

    def __repr__(self) -> str:
        return f"BagTopic({self.name!r}, {self.type!r}, count={self.count})"


class Selection(typing.Generic[M]):
    """Messages of a recording. Each iteration reads them again, in the order of their log times; of one time, in the
    order of the file. Every message is in this process's own memory: keep as many as you like.

    A message has `topic`, `log_ns` (when it was recorded) and `publish_ns` (when it was published), by the wall clock,
    `sequence` and `source_time`, in addition to its fields. Anything that could not be read is in `bag.problems`, and warned of at
    the end of the iteration.
    """

    def __init__(
        self,
        recorded: Recorded,
        topics: dict[str, BagTopic],
        span: tuple[int, int],
        raw: bool,
        kind: type | None,
        progress: Progress | None,
    ) -> None:
        self._recorded, self._topics, self._span = recorded, topics, span
        self._raw, self._kind, self._progress = raw, kind, progress

    @property
    def topics(self) -> list[str]:
        return list(self._topics)

    @property
    def start(self) -> int:
        """Where it starts, nanoseconds since 1970, of log time."""
        return max(self._span[0], self._recorded.files.first)

    @property
    def end(self) -> int:
        """Where it ends: the last message is before this time, or at the end of the recording."""
        return min(self._span[1], self._recorded.files.last)

    @property
    def duration(self) -> float:
        """Seconds."""
        return max(0, self.end - self.start) * 1e-9

    def __iter__(self) -> typing.Iterator[M]:
        indices = [i for topic in self._topics.values() for i in topic._indices]
        return Reading(self._recorded, indices, self._span, self._raw, self._kind, self._progress)

    @typing.overload
    def __getitem__(self, part: slice) -> Selection[M]: ...
    @typing.overload
    def __getitem__(self, part: str) -> Selection[M]: ...
    def __getitem__(self, part: slice | str) -> Selection[M]:
        """`selection[2.0:5.0]`: from 2 s after its start to 5 s after it; negative: from its end. `selection["/imu"]`:
        one topic."""
        if isinstance(part, str):
            return self._narrowed(chosen(self._topics, (part,)), self._span)
        if not isinstance(part, slice) or part.step is not None:
            raise TypeError("a recording is sliced by seconds, bag[2.0:5.0], or by a topic's name")
        return self._narrowed(self._topics, self._within(part.start, part.stop))

    def _narrowed(self, topics: dict[str, BagTopic], span: tuple[int, int]) -> Selection[M]:
        return Selection(self._recorded, topics, span, self._raw, self._kind, self._progress)

    def _within(self, start: object, end: object) -> tuple[int, int]:
        """Seconds of a slice as log times."""

        def time(seconds: object) -> int:
            try:
                given = float(seconds)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                raise TypeError(f"a time of a recording is in seconds, not {type(seconds).__name__}") from None
            if given != given:
                raise Error("invalid_argument", "a time of a recording is not a number", "give seconds")
            given = min(max(given, -1e10), 1e10)
            base = self.start if given >= 0 else self.end + 1
            return min(max(base + int(given * 1e9), 0), NEVER)

        first = self._span[0] if start is None else max(self._span[0], time(start))
        last = self._span[1] if end is None else min(self._span[1], time(end))
        return first, max(first, last)

    @typing.overload
    def frame(self, *, fields: typing.Iterable[str] | None = None) -> Columns: ...
    @typing.overload
    def frame(self, as_: str, *, fields: typing.Iterable[str] | None = None) -> typing.Any: ...
    def frame(self, as_: str = "dict", *, fields: typing.Iterable[str] | None = None) -> typing.Any:
        """As Bag.frame(), of the one topic that is selected."""
        from cardan._frame import frame_of

        if len(self._topics) != 1:
            raise Error("invalid_argument", f"a frame of {len(self._topics)} topics", "select one: bag.frame('/imu')")
        return frame_of(self, self._class_of_nothing, as_, fields)

    def _class_of_nothing(self) -> type:
        topic = next(iter(self._topics.values()))
        form = self._recorded.form(topic._indices[0], self._raw, self._kind)
        if form.encoded:
            raise Error("invalid_argument", f"{topic.name} has no columns", "read its messages instead")
        return form.cls

    def __repr__(self) -> str:
        return f"Selection({', '.join(self._topics) or 'nothing'}, {self.duration:.3f} s)"


def chosen(topics: dict[str, BagTopic], names: typing.Iterable[str]) -> dict[str, BagTopic]:
    """The topics of these names, or that match these patterns (`*` and `?`), in the order of the recording."""
    wanted: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a topic's name is a str, not {type(name).__name__}")
        pattern = re.compile(re.escape(name).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)
        found = [one for one in topics if pattern.fullmatch(one)]
        if not found:
            import difflib

            near = difflib.get_close_matches(name, topics, 3) or list(topics)[:10]
            there = f"it has {', '.join(near)}" if near else "it has no topics"
            raise Error("invalid_argument", f"the recording has no topic '{name}'", there)
        wanted.update(found)
    return {name: topic for name, topic in topics.items() if name in wanted}
