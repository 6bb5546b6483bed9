# SPDX-License-Identifier: Apache-2.0
"""Recordings in MCAP files: read, sliced, as columns, and written."""

from __future__ import annotations

import os
import typing

from cardan._cardan import Message
from cardan._chain import CAUSES, chain_of
from cardan._errors import Error
from cardan._frame import as_frame
from cardan._recorded import Recorded
from cardan._selection import NEVER, BagTopic, Progress, Selection, chosen

if typing.TYPE_CHECKING:
    from typing_extensions import Self

    from cardan._bag_writer import BagLoan, BagWriter
    from cardan._cardan import AnyMessage
    from cardan._classes import Sample
    from cardan._selection import Columns

    class _Part(typing.TypedDict, total=False):
        """The arguments of read() besides the type."""

        start: float | None
        end: float | None
        start_ns: int | None
        end_ns: int | None
        progress: Progress | None

M = typing.TypeVar("M", bound=Message)
D = typing.TypeVar("D")
Path = typing.Union[str, "os.PathLike[str]"]


class Bag:
    """A recording: an MCAP file, or a folder of a recording in several files. Not for two threads at a time.

        with cardan.Bag("drive.mcap") as bag:
            for frame in bag.read("/camera/front", start=2.0, end=5.0):
                detect(frame.mat)
            imu = bag.frame("/imu")                      # a dict of NumPy arrays

        with cardan.Bag("short.mcap", "w") as out:
            out.write("/speed", Speed(1.0))

    Args:
        path: the file or the folder; to read, also a list of them.
        mode: "r" to read, "w" to write a new file.
        replace: "w": may replace a file that is there. Otherwise it raises.
        compression: "w": "none", "lz4" or "zstd".
        level: "w": of the compression; 0: its default.
        chunk_bytes: "w": messages that are written, and compressed, together.
        max_memory: "r": bytes that one message, or the compressed chunks that overlap in time, may take in memory.
            Larger ones are left out and reported.

    Raises:
        Error: the file is not there, or not an MCAP file; the file is there already; the disk fails.
    """

    def __init__(
        self,
        path: Path | typing.Iterable[Path],
        mode: typing.Literal["r", "w"] = "r",
        *,
        replace: bool = False,
        compression: str = "none",
        level: int = 0,
        chunk_bytes: int = 1 << 20,
        max_memory: int = 1 << 30,
    ) -> None:
        paths = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(one) for one in path]
        if not paths or not all(isinstance(one, str) and one and "\0" not in one for one in paths):
            raise Error("invalid_argument", "a recording without a name", "give the path of an MCAP file")
        self.path = paths[0]
        self.mode = mode
        self._files: Recorded | None = None
        self._writer: BagWriter | None = None
        if mode == "w":
            from cardan._bag_writer import BagWriter

            if len(paths) != 1:
                raise Error("invalid_argument", "a recording that is written has one file", "give one path")
            self._writer = BagWriter(self.path, replace, compression, level, chunk_bytes)
        elif mode == "r":
            self._files = Recorded(paths, max_memory)
            by_name: dict[str, list[int]] = {}
            for index, channel in enumerate(self._files.channels):
                by_name.setdefault(channel.topic, []).append(index)
            self._topics = {name: BagTopic(self._files, name, by_name[name]) for name in sorted(by_name)}
        else:
            raise Error("invalid_argument", f"mode is {mode!r}", 'use "r" or "w"')

    # Reading

    @property
    def topics(self) -> dict[str, BagTopic]:
        """By name: `type`, `count`, `start`, `end`, `definition`."""
        self._reader()
        return dict(self._topics)

    @property
    def start(self) -> int:
        """Log time of the first message, nanoseconds since 1970; 0: there is none."""
        return self._reader().files.first

    @property
    def end(self) -> int:
        """Log time of the last message."""
        return self._reader().files.last

    @property
    def duration(self) -> float:
        """Seconds from the first message to the last."""
        return (self.end - self.start) * 1e-9

    @property
    def complete(self) -> bool:
        """False: the file was never finished, because its recorder crashed or still writes. It is read as far as it
        goes."""
        return not self._reader().unfinished

    @property
    def problems(self) -> list[str]:
        """Everything that could not be read so far, each with its place and reason; the first 1000."""
        return list(self._reader().problems)

    @property
    def bad(self) -> int:
        """Messages and parts of the file that iterations had to leave out so far."""
        return self._reader().bad

    @property
    def metadata(self) -> dict[str, dict[str, str]]:
        """The file's metadata records by name; of several with one name, the last."""
        return dict(self._reader().files.metadata())

    @typing.overload
    def read(  # type: ignore[overload-overlap]
        self, *topics: str, type: type[M], **part: typing.Unpack[_Part]
    ) -> Selection[M]: ...
    @typing.overload
    def read(self, *topics: str, type: type[D], **part: typing.Unpack[_Part]) -> Selection[Sample[D]]: ...
    @typing.overload
    def read(self, *topics: str, raw: bool = False, **part: typing.Unpack[_Part]) -> Selection[AnyMessage]: ...
    def read(
        self,
        *topics: str,
        type: typing.Any = None,
        start: float | None = None,
        end: float | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        raw: bool = False,
        progress: Progress | None = None,
    ) -> Selection[typing.Any]:
        """Messages to iterate over, of some topics or all, of some time or all.

        Args:
            topics: names, or patterns with `*` and `?`. None: all.
            type: the class of the messages, as for a Topic. None: what the file says.
            start: seconds after the recording's start, inclusive; negative: before its end.
            end: the same, exclusive.
            start_ns, end_ns: the same as log times, nanoseconds since 1970.
            raw: the bytes as they are in the file, as `Encoded` messages.
            progress: called about ten times a second with the part that is done, 0 to 1.

        Raises:
            Error: there is no such topic, or its messages are not of this type.
        """
        recorded = self._reader()
        if raw and type is not None:
            raise Error("invalid_argument", "a type for raw messages", "give the type, or raw=True")
        if (start is not None and start_ns is not None) or (end is not None and end_ns is not None):
            raise Error("invalid_argument", "a time in seconds and in nanoseconds", "give one of them")
        picked = chosen(self._topics, topics) if topics else self._topics
        selection: Selection[typing.Any] = Selection(recorded, picked, (0, NEVER), raw, type, progress)
        if type is not None:
            for topic in picked.values():
                for index in topic._indices:
                    recorded.form(index, False, type)
        first, last = selection._within(start, end)
        first = first if start_ns is None else min(max(int(start_ns), 0), NEVER)
        last = last if end_ns is None else min(max(int(end_ns), 0), NEVER)
        return selection._narrowed(picked, (first, max(first, last)))

    def __iter__(self) -> typing.Iterator[AnyMessage]:
        return iter(self.read())

    def __getitem__(self, part: slice | str) -> Selection[AnyMessage]:
        """`bag[2.0:5.0]`: messages from 2 s to 5 s after the start; negative: from the end. `bag["/imu"]`: of a topic.
        `bag["/imu"][2.0:5.0]`: both."""
        return self.read()[part]

    @typing.overload
    def frame(
        self, topic: str, *, fields: typing.Iterable[str] | None = None, progress: Progress | None = None
    ) -> Columns: ...
    @typing.overload
    def frame(
        self, topic: str, as_: str, *, fields: typing.Iterable[str] | None = None, progress: Progress | None = None
    ) -> typing.Any: ...
    def frame(
        self,
        topic: str,
        as_: str = "dict",
        *,
        fields: typing.Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> typing.Any:
        """The numbers of a topic's messages as columns: a dict of NumPy arrays, or a DataFrame (`as_="pandas"`,
        `as_="polars"`). There are log_ns, publish_ns, source_time and sequence, and each field that is a number, by its
        whole name ("angular_velocity.x"). An array of a fixed length is a column with an axis more; in a DataFrame, a
        column for each element. Texts, and lists that vary in length, have none.

        Args:
            fields: only these; "angular_velocity" for all below it.
            progress: as for read().
        """
        return self.read(topic, progress=progress).frame(as_, fields=fields)

    def chain(self, begin: str, end: str, as_: str = "dict", *, progress: Progress | None = None) -> typing.Any:
        """Where the time of each publication on `end` went, from the topic `begin` on, by the causes that the recorder
        wrote: a row for each publication that can be followed back. The columns are log_ns, sequence, the seconds of each
        hop ("/camera → /objects"; NaN where the way did not take it), and `total`; as frame() returns them.

        Args:
            progress: as for read().
        """
        if CAUSES not in self.topics:
            raise Error("invalid_argument", f"no causes are recorded ({CAUSES})", "record without causes=False or --no-causes")
        return as_frame(chain_of(self.read(CAUSES, progress=progress), begin, end, self._reader().note), as_)

    # Writing

    def write(
        self,
        topic: str,
        message: object,
        *,
        type: object = None,
        log_ns: int | None = None,
        publish_ns: int | None = None,
        source_time: int | None = None,
        sequence: int | None = None,
    ) -> None:
        """Writes a message: one that was received or read from another recording, a dataclass with @cardan.message, or
        a dict or CDR bytes with `type`. Blocks for the disk at most.

        Args:
            type: the class of the message, as for a Topic. Needed for a dict and for bytes.
            log_ns: when it was recorded, nanoseconds since 1970. None: of a recorded message its own, else now.
            publish_ns: when it was published. None: the message's own, else log_ns.
            source_time: the publisher's own stamp. None: the message's own.
            sequence: None: the message's own, else counted for each topic.

        Raises:
            Error: the disk fails, the recording is closed, or the bytes are not of the type.
            TypeError, ValueError, OverflowError: a value that its field cannot have.
        """
        self._writing().write(topic, message, type, log_ns, publish_ns, source_time, sequence)

    def loan(
        self, topic: str, type: type[M], *, max_bytes: int = 64 << 20, log_ns: int | None = None
    ) -> BagLoan[M]:
        """An empty message to fill in place, as a publisher's loan: it is written at the end of the `with` block.
        `max_bytes` is reserved, and only what is filled takes memory."""
        return self._writing().loan(topic, type, max_bytes, log_ns)

    def add_metadata(self, name: str, fields: dict[str, str]) -> None:
        """Writes a metadata record."""
        self._writing().add_metadata(name, fields)

    def discard(self) -> None:
        """Gives a recording up that is being written: there will be no file."""
        self._writing().handle.discard()

    # Both

    @property
    def closed(self) -> bool:
        return self._writer.handle.closed() if self._writer is not None else self._files is None

    def close(self) -> None:
        """Finishes a file that is written: only then it has its name (until then it is PATH.partial). A second call
        does nothing."""
        self._files = None
        if self._writer is not None:
            self._writer.handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Bag({self.path!r}, {self.mode!r})"

    def _repr_html_(self) -> str | None:
        from cardan._notebook import recording

        if self._files is None:
            return None
        try:
            return recording(self.path, self.duration, len(self.problems), self.topics)
        except Error:  # it is closed
            return None

    def _reader(self) -> Recorded:
        if self._files is None:
            raise Error("invalid_argument", f"{self.path} is not open for reading", 'open it: cardan.Bag(path), mode "r"')
        return self._files

    def _writing(self) -> BagWriter:
        if self._writer is None:
            raise Error("invalid_argument", f"{self.path} is not open for writing", 'open it: cardan.Bag(path, "w")')
        return self._writer
