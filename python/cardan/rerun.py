# SPDX-License-Identifier: Apache-2.0
"""Messages into Rerun, the viewer: images, clouds and numbers on the timeline of their stamps. Needs `pip install rerun-sdk`.

    cardan.rerun.log(cardan.Bag("drive.mcap"), "drive.rrd")

`cardan bag export drive.mcap --to drive.rrd` and `python3 -m cardan.rerun drive.mcap drive.rrd` do the same.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
import typing
from dataclasses import dataclass, field

from cardan import _cardan
from cardan._bag import Bag
from cardan._cardan import Message
from cardan._contract import nanoseconds
from cardan._errors import Error
from cardan._frame import _dtype
from cardan._messages import CompressedImage, Image, PointCloud
from cardan._recorded import Encoded
from cardan._selection import Selection, chosen
from cardan._topic import Topic

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

    from cardan._bag import Path

_WAITING_BYTES = 64 << 20
"""Of messages that Rerun may keep before they are in the file or with the viewer."""
_MODELS = {"rgb8": "RGB", "bgr8": "BGR", "rgba8": "RGBA", "bgra8": "BGRA", "mono8": "L", "mono16": "L", "8UC1": "L", "8UC3": "BGR"}
_METRES = {"16UC1": 1000.0, "32FC1": 1.0}
_MEDIA = {"jpeg": "image/jpeg", "jpg": "image/jpeg", "png": "image/png"}


@dataclass
class Logged:
    """The work of log()."""

    messages: int = 0
    left_out: int = 0
    """Messages that Rerun has no form for, or that are malformed, and what a live topic lost."""
    why: dict[str, str] = field(default_factory=dict)
    """By topic: the reason of the first."""


def log(
    source: Bag | Selection[typing.Any] | Topic[typing.Any], to: Path | object, *, seconds: float | None = None, domain: str = ""
) -> Logged:
    """Logs the messages of a recording, of a part of one, or of a live topic.

    Each topic is an entity of its name; numbers are scalars below it (/imu/angular_velocity.x). The timeline "stamp" has
    a message's header.stamp, or where it has none, the time of its recording or publication; "recorded" has the log time.
    At most 64 MiB wait for the file or the viewer; then it blocks.

    Args:
        source: a Bag, a Selection (bag.read(…)) or a Topic.
        to: the .rrd file, which is replaced, or a rerun.RecordingStream.
        seconds: of a topic: how long; None: until a stop is requested.
        domain: of a topic.

    Raises:
        Error: rerun-sdk is not installed.
    """
    sdk = _sdk()
    if isinstance(to, (str, os.PathLike)):
        stream = sdk.RecordingStream("cardan")
        stream.save(os.fspath(to))
        stream.set_log_time_enabled(False)
        stream.set_log_tick_enabled(False)
    else:
        stream = to
    done = Logged()
    waiting = 0
    messages = _live(source, seconds, domain, done) if isinstance(source, Topic) else _recorded(source)
    for topic, message in messages:
        try:
            waiting += _log(sdk, stream, topic, message)
            done.messages += 1
        except (ValueError, TypeError, Error) as error:
            done.left_out += 1
            done.why.setdefault(topic, str(error))
        if waiting >= _WAITING_BYTES:
            stream.flush()
            waiting = 0
    stream.flush()
    if stream is not to:
        stream.disconnect()
    return done


def _sdk() -> typing.Any:
    try:
        return importlib.import_module("rerun")
    except ImportError as error:
        raise Error("unavailable", f"rerun cannot be imported: {error}", "pip install rerun-sdk") from None


def _recorded(source: Bag | Selection[typing.Any]) -> Iterator[tuple[str, typing.Any]]:
    for message in source:
        yield _cardan.Message._info(message)[5] if isinstance(message, Message) else message.topic, message


def _live(topic: Topic[typing.Any], seconds: float | None, domain: str, done: Logged) -> Iterator[tuple[str, typing.Any]]:
    end = None if seconds is None else time.monotonic_ns() + nanoseconds(seconds, "seconds")
    with topic.subscriber(domain=domain) as sub:
        while not _cardan.stopping():
            left = 0.1 if end is None else min(0.1, (end - time.monotonic_ns()) * 1e-9)
            if left <= 0:
                break
            message = sub.wait(left)
            if message is not None:
                yield topic.name, message
        lost = sub.missed + sub.bad
        if lost:
            done.left_out += lost
            done.why.setdefault(topic.name, f"{lost} messages were lost: logging was slower than the topic")


def _log(sdk: typing.Any, stream: typing.Any, topic: str, message: typing.Any) -> int:
    """The bytes that it took."""
    import numpy as np

    if isinstance(message, Encoded):
        raise ValueError(f"messages encoded as {message.encoding} have no form in Rerun")
    log_ns = _cardan.Message._info(message)[4]
    when = _stamp(message, log_ns)
    stream.reset_time()
    stream.set_time("stamp", timestamp=np.datetime64(when, "ns"))
    if log_ns:
        stream.set_time("recorded", timestamp=np.datetime64(log_ns, "ns"))
    if isinstance(message, Image):
        made, size = _image(sdk, message)
    elif isinstance(message, CompressedImage):
        kind = next((media for word, media in _MEDIA.items() if word in message.format.lower()), None)
        if kind is None:
            raise ValueError(f"an image compressed as {message.format!r} has no form in Rerun")
        made, size = sdk.EncodedImage(contents=message.data.tobytes(), media_type=kind), message.data.nbytes
    elif isinstance(message, PointCloud):
        made, size = _cloud(sdk, message)
    else:
        return _numbers(sdk, stream, topic, message)
    stream.log(_entity(topic), made, strict=True)
    return size


def _entity(topic: str, *more: str) -> list[str]:
    return [*(part for part in topic.split("/") if part), *more]


def _stamp(message: typing.Any, log_ns: int) -> int:
    header = getattr(message, "header", None)
    stamp = getattr(header, "stamp", 0)
    if not isinstance(stamp, int):
        stamp = stamp.sec * 1_000_000_000 + stamp.nanosec if hasattr(stamp, "nanosec") else 0
    return stamp or log_ns or time.time_ns()


def _image(sdk: typing.Any, message: Image) -> tuple[typing.Any, int]:
    pixels = message.mat
    if message.encoding in _METRES:
        return sdk.DepthImage(pixels, meter=_METRES[message.encoding]), pixels.nbytes
    model = _MODELS.get(message.encoding)
    if model is None:
        raise ValueError(f"pixels of {message.encoding!r} have no form in Rerun")
    return sdk.Image(pixels, color_model=model), pixels.nbytes


def _cloud(sdk: typing.Any, message: PointCloud) -> tuple[typing.Any, int]:
    import numpy as np

    points = message.points
    if not {"x", "y", "z"} <= set(points.dtype.names or ()):
        raise ValueError("a cloud without x, y and z has no form in Rerun")
    places = np.stack([points[axis].ravel().astype(np.float32) for axis in "xyz"], axis=1)
    places = places[np.isfinite(places).all(axis=1)]
    return sdk.Points3D(places), places.nbytes


def _numbers(sdk: typing.Any, stream: typing.Any, topic: str, message: Message) -> int:
    import numpy as np

    names, dtype = _dtype(type(message), None)
    if not names:
        raise ValueError("it has no numbers")
    root = np.frombuffer(_cardan._root(message), dtype)[0]
    for name, place in names.items():
        stream.log(_entity(topic, name), sdk.Scalars(np.atleast_1d(np.asarray(root[place], np.float64))), strict=True)
    return 64 * len(names) + dtype.itemsize


def main(arguments: list[str] | None = None) -> int:
    import argparse

    parser = argparse.ArgumentParser(prog="python3 -m cardan.rerun", description="Write a recording as a file of Rerun.")
    parser.add_argument("bag", help="the recording")
    parser.add_argument("to", help="the .rrd file")
    parser.add_argument("topics", nargs="*", help="names, or patterns with * and ?; none: all")
    parser.add_argument("--exclude", action="append", default=[], metavar="TOPIC", help="name, or pattern; repeatable")
    parser.add_argument("--start", type=float, help="seconds from the first message")
    parser.add_argument("--end", type=float, help="the same, exclusive")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    given = parser.parse_args(arguments)
    try:
        _sdk()
        if not given.force and os.path.lexists(given.to):
            raise Error("invalid_argument", f"{given.to} is there already", "name another file, or replace it: --force")
        with Bag(given.bag) as bag:
            topics = chosen(bag.topics, given.topics or ["*"])
            for name in chosen(bag.topics, given.exclude):
                topics.pop(name, None)
            if not topics:
                raise Error("invalid_argument", "no topic is left", "exclude fewer")
            done = log(bag.read(*topics, start=given.start, end=given.end), given.to)
            lost = done.left_out + bag.bad
    except Error as error:
        print(f"cardan: error: {error}", file=sys.stderr)
        return 1
    for topic, why in done.why.items():
        print(f"cardan: {topic}: {why}", file=sys.stderr)
    print(f"{given.to}: {done.messages} messages, {lost} left out")
    return 3 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
