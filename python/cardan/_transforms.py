# SPDX-License-Identifier: Apache-2.0
"""Where frames are: what tf2 does in ROS."""

from __future__ import annotations

import typing

from cardan import _cardan
from cardan._contract import nanoseconds
from cardan._errors import Error

if typing.TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Place = npt.NDArray[np.float64]
    Numbers = tuple[float, float, float, float, float, float, float]

_NOT_ORTHOGONAL = 1e-3


class NoTransform(Error):
    """The place of a frame is not known.

    Attributes:
        reason: ``"unknown frame"``, ``"not connected"``, ``"too old"``, ``"too new"``, ``"loop"``, ``"forked"`` or
            ``"not set"``.
        frame: the frame that is unknown, or whose place is not known at that time.
        beyond: "too old", "too new": seconds from the stamp to the next known place. Else 0.
    """

    def __init__(self, reason: str, text: str = "", frame: str = "", beyond: float = 0.0) -> None:
        cause, _, remedy = (text or reason).partition(" — ")
        super().__init__("unavailable", cause, remedy)
        self.reason = reason
        self.frame = frame
        self.beyond = beyond


class Frame(typing.NamedTuple):
    """A frame of the tree."""

    name: str
    parent: str
    """``""``: a root."""
    is_static: bool
    place: Place
    """The newest, in its parent."""
    newest_stamp: int
    """Nanoseconds, the publisher's clock; 0: static, or a root."""
    oldest_stamp: int
    received: int
    """Places that were accepted."""
    publisher: str


class TransformProblem(typing.NamedTuple):
    """Something wrong with what is published. `kind`: ``"two parents"``, ``"loop"``, ``"not finite"``, …"""

    kind: str
    frame: str
    text: str
    times: int


class Transforms:
    """Reads /tf and /tf_static, and answers from memory.

        tf = cardan.Transforms()
        lidar_in_car = tf.lookup("base_link", "lidar", cloud.header.stamp)  # a 4 × 4 array
        points_in_car = lidar_in_car @ points

    A place takes coordinates in the source frame to the target frame. Stamps are nanoseconds; 0: the newest that is
    known. In a component: ``context.transforms()``. Any thread.

    Args:
        history: seconds for which places are kept.
    """

    def __init__(self, *, history: float = 10.0, domain: str = "") -> None:
        self._handle = _cardan.TransformsHandle(nanoseconds(history, "history"), domain)

    @classmethod
    def _of(cls, handle: _cardan.TransformsHandle) -> Transforms:
        made = cls.__new__(cls)
        made._handle = handle
        return made

    def lookup(self, target: str, source: str, stamp: int = 0) -> Place:
        """Where `source` is in `target` at `stamp`. Raises NoTransform. Never waits."""
        return _found(self._handle.lookup(target, source, stamp))

    def lookup_across(self, target: str, target_stamp: int, source: str, source_stamp: int, fixed: str) -> Place:
        """From where `source` was at `source_stamp` to where `target` is at `target_stamp`, if `fixed` has not moved
        meanwhile ("map", "odom"). Raises NoTransform."""
        return _found(self._handle.across(target, target_stamp, source, source_stamp, fixed))

    def wait(self, target: str, source: str, stamp: int = 0, *, timeout: float) -> Place:
        """As lookup(), but waits until the place is known, at most `timeout` seconds. Raises NoTransform. In a simulation,
        which never waits: as lookup()."""
        return _found(self._handle.wait(target, source, stamp, nanoseconds(timeout, "timeout")))

    def frames(self) -> list[Frame]:
        """All frames, by name."""
        return [Frame(f[0], f[1], f[2], _matrix(f[3]), *f[4:]) for f in self._handle.frames()]

    def problems(self) -> list[TransformProblem]:
        """The problems so far, at most 256 different ones."""
        return [TransformProblem(*p) for p in self._handle.problems()]

    def clear(self) -> None:
        """Forgets all places that change: after a jump of the clock, or when a recording begins again."""
        self._handle.clear()


class TransformOutput:
    """Publishes places that change, on /tf. In a component: ``context.transform_output()``. One thread at a time."""

    def __init__(self, *, domain: str = "") -> None:
        self._handle = _cardan.TransformOutputHandle(domain)

    @classmethod
    def _of(cls, handle: _cardan.TransformOutputHandle) -> TransformOutput:
        made = cls.__new__(cls)
        made._handle = handle
        return made

    def publish(self, parent: str, child: str, stamp: int, place: npt.ArrayLike) -> None:
        """The place of `child` in `parent`, a 4 × 4 matrix, at `stamp` nanoseconds. Raises Error if it is not valid."""
        if not self._handle.publish(parent, child, stamp, _numbers(place)):
            raise Error("invalid_argument", f"the place of frame '{child}' in '{parent}' is not valid", _REMEDY)


class StaticTransform:
    """Publishes one place that never changes, on /tf_static, as long as it exists. In a component:
    ``context.static_transform(…)``. A system of a configuration has its ``transforms`` instead."""

    def __init__(self, parent: str, child: str, place: npt.ArrayLike, *, domain: str = "") -> None:
        self._handle = _cardan.StaticTransformHandle(parent, child, _numbers(place), domain)


_REMEDY = "use two different names of 1 to 60 bytes, finite numbers, and a stamp of 0 or more"


def _found(result: tuple[Numbers | None, int, str, str, str, int]) -> Place:
    numbers, _, reason, text, frame, beyond = result
    if numbers is None:
        raise NoTransform(reason, text, frame, beyond / 1e9)
    return _matrix(numbers)


def _matrix(numbers: Numbers) -> Place:
    import numpy as np

    x, y, z, qx, qy, qz, qw = numbers
    return np.array(
        [
            [1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - qz * qw), 2 * (qx * qz + qy * qw), x],
            [2 * (qx * qy + qz * qw), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - qx * qw), y],
            [2 * (qx * qz - qy * qw), 2 * (qy * qz + qx * qw), 1 - 2 * (qx * qx + qy * qy), z],
            [0, 0, 0, 1],
        ]
    )


def _numbers(place: npt.ArrayLike) -> Numbers:
    """The translation, and the quaternion that belongs to the rotation (Bar-Itzhack, 2000)."""
    import numpy as np

    m = np.asarray(place, dtype=np.float64)
    if m.shape != (4, 4) or not np.isfinite(m).all() or not np.array_equal(m[3], [0, 0, 0, 1]):
        raise Error("invalid_argument", "a place is a 4 × 4 matrix of finite numbers whose last row is 0, 0, 0, 1", "")
    r = m[:3, :3]
    if np.abs(r @ r.T - np.eye(3)).max() > _NOT_ORTHOGONAL or np.linalg.det(r) < 0:
        raise Error("invalid_argument", "the place has no rotation: its 3 × 3 part is not orthogonal", "")
    k = np.array(
        [
            [r[0, 0] - r[1, 1] - r[2, 2], r[1, 0] + r[0, 1], r[2, 0] + r[0, 2], r[2, 1] - r[1, 2]],
            [r[1, 0] + r[0, 1], r[1, 1] - r[0, 0] - r[2, 2], r[2, 1] + r[1, 2], r[0, 2] - r[2, 0]],
            [r[2, 0] + r[0, 2], r[2, 1] + r[1, 2], r[2, 2] - r[0, 0] - r[1, 1], r[1, 0] - r[0, 1]],
            [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], np.trace(r)],
        ]
    )
    q = np.linalg.eigh(k)[1][:, -1]
    x, y, z, w = (float(v) for v in (q if q[3] >= 0 else -q))
    return float(m[0, 3]), float(m[1, 3]), float(m[2, 3]), x, y, z, w
