# SPDX-License-Identifier: Apache-2.0
"""Topics into a file, and back: the recorder and the player of the command, in this process."""

from __future__ import annotations

import os
import typing

from cardan import _cardan
from cardan._contract import ACCESS, nanoseconds, whole
from cardan._ends import remember
from cardan._errors import Error
from cardan._program import introduce
from cardan._recorded import record_module

if typing.TYPE_CHECKING:
    from typing_extensions import Self

    from cardan import _record
    from cardan._bag import Path


def record(
    path: Path,
    *topics: str,
    exclude: typing.Iterable[str] = (),
    types: typing.Iterable[str] = (),
    reliable: bool = False,
    compression: str = "none",
    level: int = 0,
    split_bytes: int = 0,
    split_time: float = 0,
    keep_last: float = 0,
    min_space: int = 1 << 30,
    paused: bool = False,
    access: str = "owner",
    simulated_clock: bool = False,
    causes: bool = True,
    domain: str = "",
) -> Recorder:
    """Starts to record topics into a file, as `cardan record` does, on its own threads.

        with cardan.record("drive.mcap", "/camera/*", "/imu") as recorder:
            drive()
        print(recorder.recorded, recorder.lost)

    Args:
        path: the file; while it is written its name is PATH.active. A folder, or a name that ends with "/": the
            recording has it to itself, with the metadata.yaml of ROS 2's tools. A file that is there is not replaced.
        topics: names, or patterns with `*` and `?`. None: all, also those that come later.
        exclude: names, or patterns.
        types: names of types, or patterns.
        reliable: publishers of reliable topics wait for the recorder, so that there is no gap.
        compression: "none", "lz4" or "zstd", of small samples; `level` 0: its default.
        split_bytes, split_time: a new file after this number of bytes or seconds; 0: never.
        keep_last: flight recorder: only the last seconds are kept, until trigger().
        min_space: bytes that stay free on the disk.
        paused: starts paused.
        access: whose publications: "owner", "group", "everyone" or "policy".
        simulated_clock: log times are those of /clock.
        causes: also records what each message rests on, for Bag.chain().

    Raises:
        Error: an option that can never work, a file that is there, the disk.
    """
    introduce()
    options = record_module().RecorderOptions()
    name = os.fspath(path)
    options.folder = name.endswith("/") or os.path.isdir(name)
    if options.folder:
        folder = os.path.normpath(name)
        own = os.path.basename(os.path.abspath(folder)) or "recording"
        name = os.path.join(folder, own + ".mcap")
    options.path = name
    options.topics, options.exclude, options.types = list(topics), list(exclude), list(types)
    options.reliable, options.paused, options.simulated_clock = reliable, paused, simulated_clock
    options.domain, options.causes = domain, causes
    options.set_compression(compression, level)
    options.split_bytes = whole(split_bytes, "split_bytes", 0, (1 << 63) - 1)
    options.min_space = whole(min_space, "min_space", 0, (1 << 63) - 1)
    options.set_split_time(nanoseconds(split_time, "split_time"))
    options.set_keep_last(nanoseconds(keep_last, "keep_last"))
    options.set_access(_access(access))
    return Recorder(record_module().RecorderHandle(options))


def play(
    path: Path | typing.Iterable[Path],
    *topics: str,
    exclude: typing.Iterable[str] = (),
    remap: typing.Mapping[str, str] | None = None,
    rate: float = 1.0,
    loop: bool = False,
    start: float = 0.0,
    until: float | None = None,
    paused: bool = False,
    reliable: bool = False,
    as_fast_as_readers: bool = False,
    wait_for_readers: int = 0,
    depth: int = 0,
    clock_hz: float = 0.0,
    access: str = "owner",
    domain: str = "",
) -> Player:
    """Starts to publish a recording, as `cardan play` does, on its own thread.

        with cardan.play("drive.mcap", rate=2.0) as player:
            player.wait()

    Args:
        path: a file, a folder of a recording, or a list of them.
        topics: names, or patterns with `*` and `?`. None: all.
        exclude: names, or patterns.
        remap: recorded name → published name.
        rate: seconds of the recording for each second.
        loop: from the start again, until stop().
        start, until: seconds after the recording's start.
        paused: starts paused.
        reliable: reliable subscribers lose no message; a slow one slows all topics down.
        as_fast_as_readers: no pauses; as soon as all reliable subscribers have room. Implies `reliable`.
        wait_for_readers: starts when the topics have this number of subscribers in total.
        depth: of the topics; 0: the player's choice.
        clock_hz: the rate of /clock; 0: none.
        access: the users that may read: "owner", "group", "everyone" or "policy".

    Raises:
        Error: an option that can never work, no such file or topic.
    """
    paths = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(one) for one in path]
    introduce()
    options = record_module().PlayerOptions()
    options.topics, options.exclude, options.remap = list(topics), list(exclude), dict(remap or {})
    options.rate, options.loop, options.paused = float(rate), loop, paused
    options.reliable, options.as_fast_as_readers = reliable, as_fast_as_readers
    options.wait_for_readers = whole(wait_for_readers, "wait_for_readers", 0, 1 << 16)
    options.depth = whole(depth, "depth", 0, 1 << 16)
    options.clock_hz, options.domain = float(clock_hz), domain
    options.set_start(nanoseconds(start, "start") * 1e-9)
    if until is not None:
        options.set_until(nanoseconds(until, "until") * 1e-9)
    options.set_access(_access(access))
    return Player(record_module().PlayerHandle(paths, options))


def _access(word: str) -> int:
    if word not in ACCESS:
        raise Error("invalid_argument", f"access is {word!r}", f"use {', '.join(ACCESS)}")
    return ACCESS[word]


class _Running:
    """Work on its own threads until it is stopped."""

    _handle: _record.RecorderHandle | _record.PlayerHandle

    def __init__(self, handle: _record.RecorderHandle | _record.PlayerHandle) -> None:
        self._handle = handle
        remember(self)

    def stop(self) -> None:
        self._handle.stop()

    def close(self) -> None:
        """stop()."""
        self.stop()

    def pause(self) -> None:
        """Until resume()."""
        self._handle.pause(True)

    def resume(self) -> None:
        self._handle.pause(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.stop()


class Recorder(_Running):
    """A recording in progress, made by record(). Any thread. As a context manager it stops at the end of the block."""

    _handle: _record.RecorderHandle

    def stop(self) -> None:
        """Writes what was taken, and finishes the file. A second call does nothing. Blocks for the disk. Raises Error if
        the disk failed."""
        super().stop()

    def pause(self) -> None:
        """Until resume(), nothing is recorded, and nothing counts as lost."""
        super().pause()

    def split(self) -> None:
        """Later samples go into the next file."""
        self._handle.split()

    def trigger(self) -> None:
        """With `keep_last`: from now on everything is kept."""
        self._handle.trigger()

    @property
    def ended(self) -> bool:
        """It ended by itself: the disk is full, or failed. `statistics["failure"]` says why."""
        return self._handle.ended()

    @property
    def statistics(self) -> dict[str, typing.Any]:
        """recorded, lost, refused, missing, bytes, duration (s), file, files, failure and more; `topics`: a dict for each
        topic, with `lost` and its `causes`."""
        return self._handle.report()

    @property
    def recorded(self) -> int:
        """Samples that are in the files, or on their way to the disk."""
        return self._handle.totals()[0]

    @property
    def lost(self) -> int:
        """Samples that are not in the files and should be. `statistics["topics"]` says why."""
        return self._handle.totals()[1]

    @property
    def files(self) -> list[str]:
        """Finished files."""
        return list(self._handle.report()["files"])


class Player(_Running):
    """A recording that is being played, made by play(). Any thread. As a context manager it stops at the end of the
    block."""

    _handle: _record.PlayerHandle

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for the end. False: `timeout` seconds are over, or a stop was requested. Ctrl-C ends it. Raises Error
        if the disk failed."""
        import time

        end = None if timeout is None else time.monotonic() + max(0.0, timeout)
        while not _cardan.stopping():
            left = 0.1 if end is None else min(0.1, end - time.monotonic())
            if self._handle.wait(max(0, int(left * 1e9))):
                return True
            if end is not None and time.monotonic() >= end:
                return False
        return False

    def stop(self) -> None:
        """Ends it. Waits until the message that is being published is out."""
        super().stop()

    def step(self, messages: int = 1) -> None:
        """Pauses, and publishes the next messages at once, this number."""
        self._handle.step(whole(messages, "messages", 0, 1 << 62))

    def seek(self, seconds: float) -> None:
        """Continues from `seconds` after the recording's start."""
        self._handle.seek(nanoseconds(seconds, "seconds") * 1e-9)

    def set_rate(self, rate: float) -> None:
        """Seconds of the recording for each second. Raises Error if it is not above 0."""
        self._handle.set_rate(float(rate))

    @property
    def statistics(self) -> dict[str, typing.Any]:
        """published, failed, position (s), end (s), lap, paused, problems, unfinished, left_out and more; `topics`: a
        dict for each topic."""
        return self._handle.report()

    @property
    def published(self) -> int:
        return self._handle.totals()[0]

    @property
    def failed(self) -> int:
        """Messages that could not be published. `statistics["topics"]` says why."""
        return self._handle.totals()[1]
