# SPDX-License-Identifier: Apache-2.0
"""Cardan's own messages as classes, and messages of any type."""

from __future__ import annotations

import types
import typing

from cardan import _cardan
from cardan._cardan import Message, Records, Type
from cardan._errors import Error
from cardan._known import NAMES_OF, type_of
from cardan._types import described_type, resolved

if typing.TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

D = typing.TypeVar("D")


class Info(typing.NamedTuple):
    """What travels with a message, whatever the names of its fields."""

    sequence: int
    missed: int
    publish_time: int
    """Nanoseconds of the steady clock; of a recorded message, of the wall clock."""
    source_time: int
    """Nanoseconds of the publisher's choice; 0: none."""
    log_time: int = 0
    """Of a recorded message: when it was recorded, nanoseconds since 1970."""
    topic: str = ""
    """Of a recorded message."""


def info(message: Message) -> Info:
    """sequence, missed and times of a message, also if a field has one of these names."""
    return Info(*Message._info(message))


if typing.TYPE_CHECKING:

    class _Generic(Message, typing.Generic[D]): ...
else:

    class _Generic(Message):
        """Of one base: nanobind before 3.0, which Python 3.9 has, allows no more."""

        __slots__ = ()
        __class_getitem__ = classmethod(types.GenericAlias)


class Sample(_Generic[D]):
    """A message of a dataclass: its fields are attributes, and `value` makes the dataclass."""

    __slots__ = ()
    _dataclass: typing.ClassVar[type]

    @property
    def value(self) -> D:
        """The dataclass, with copies of all fields: lists for lists, NumPy arrays for arrays of numbers."""
        return typing.cast("D", _build(type(self)._dataclass, self))


class Header(Message):
    """std_msgs/msg/Header."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        stamp: int
        """Nanoseconds since 1970."""
        frame_id: str


class Image(Message):
    """sensor_msgs/msg/Image: pixels, without a copy as `mat`, np.asarray(frame) and DLPack."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        header: Header
        height: int
        """Pixels."""
        width: int
        """Pixels."""
        encoding: str
        """As in ROS: "bgr8", "mono8", "16UC1", …"""
        is_bigendian: int
        step: int
        """Bytes from one row to the next."""
        data: npt.NDArray[np.uint8]

    @property
    def mat(self) -> npt.NDArray[typing.Any]:
        """The pixels as an array over the message: (height, width) for one channel, else (height, width, channels), of
        the encoding's numbers. Planar YUV has its colour in further rows, as in OpenCV. Of a received frame read-only;
        of a loan writable until the publication. Setting it copies an array of uint8, int8, uint16, int16, int32,
        float32 or float64 into a loan, with OpenCV's encoding of its shape ("mono8", "bgr8", "bgra8", "16UC1", …).
        Raises Error if encoding, sizes and data contradict each other."""
        return _cardan.image_mat(self)

    @mat.setter
    def mat(self, pixels: npt.NDArray[typing.Any]) -> None:
        import numpy as np

        if not isinstance(pixels, np.ndarray):
            raise TypeError(f"mat takes a NumPy array, not {type(pixels).__name__}")
        if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and not 1 <= pixels.shape[2] <= 4):
            raise ValueError(f"mat takes (height, width) or (height, width, 1 to 4); the array is {pixels.shape}")
        channels = pixels.shape[2] if pixels.ndim == 3 else 1
        word = pixels.dtype.kind + str(pixels.dtype.itemsize)
        if word not in _DEPTHS:
            raise TypeError(f"images have no {pixels.dtype}; convert it with .astype()")
        encoding = f"{_NAMES[_DEPTHS.index(word)]}C{channels}"
        if word == "u1" and channels != 2:
            encoding = {1: "mono8", 3: "bgr8", 4: "bgra8"}[channels]
        target = self.resize(pixels.shape[0], pixels.shape[1], encoding)
        target[...] = pixels.reshape(target.shape)

    def resize(self, height: int, width: int, encoding: str) -> npt.NDArray[typing.Any]:
        """Of a loan: makes room for `height` × `width` pixels of a ROS encoding and returns them as `mat`,
        uninitialized, to be filled in place. Raises Error for sizes and encodings that no image has, and if max_bytes
        is too small."""
        depth, channels, halves = _cardan.image_format(encoding)
        for word, size in (("height", height), ("width", width)):
            if isinstance(size, bool) or not isinstance(size, int):
                raise TypeError(f"{word} is an int, not {type(size).__name__}")
            if not 0 <= size <= 1 << 24:
                raise Error("invalid_argument", f"{word} is {size}", f"use 0 to {1 << 24}")
        step = width * channels * int(_DEPTHS[depth][1])
        self.allocate("data", (height * halves + 1) // 2 * step)
        self.height, self.width, self.step = height, width, step
        self.encoding, self.is_bigendian = encoding, 0
        return self.mat

    def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> npt.NDArray[typing.Any]:
        mat = self.mat
        if dtype is not None and mat.dtype != dtype:
            if copy is False:
                raise ValueError(f"a view of {mat.dtype} as {dtype} needs a copy")
            return mat.astype(dtype)
        return mat.copy() if copy else mat

    def __dlpack__(self, **options: typing.Any) -> typing.Any:
        return self.mat.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


_DEPTHS = ("u1", "i1", "u2", "i2", "i4", "f4", "f8")
_NAMES = ("8U", "8S", "16U", "16S", "32S", "32F", "64F")


class CompressedImage(Message):
    """sensor_msgs/msg/CompressedImage."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        header: Header
        format: str
        data: npt.NDArray[np.uint8]


class PointField(Message):
    """sensor_msgs/msg/PointField."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        name: str
        offset: int
        """Bytes from the start of the point."""
        datatype: int
        count: int


_POINT_TYPES = ("", "i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")


class PointCloud(Message):
    """sensor_msgs/msg/PointCloud2: points, without a copy as `points`, a structured array."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        header: Header
        height: int
        """Rows."""
        width: int
        """Points in a row."""
        fields: Records
        is_bigendian: bool
        point_step: int
        """Bytes from one point to the next."""
        row_step: int
        """Bytes from one row to the next."""
        data: npt.NDArray[np.uint8]
        is_dense: bool

    @property
    def points(self) -> npt.NDArray[typing.Any]:
        """The points as a structured array over the message: (width,) for one row, else (height, width); its fields are
        the cloud's ("x", "y", "z" in metres, …). Of a received cloud read-only. Setting it copies a structured array
        into a loan. Raises Error if the cloud contradicts itself."""
        import numpy as np

        rows, columns = self["height"], self["width"]
        shape = (columns,) if rows == 1 else (rows, columns)
        strides = (self["row_step"], self["point_step"])
        try:
            dtype = self._dtype()
            if rows > 1 and strides[0] < columns * strides[1]:
                raise ValueError(f"a row of {strides[0]} bytes for {columns} points of {strides[1]}")
            made: npt.NDArray[typing.Any] = np.ndarray(shape, dtype, self._view("data"), 0, strides[2 - len(shape) :])
        except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise Error("invalid_argument", f"the cloud contradicts itself: {error}") from None
        self._track(made)
        return made

    @points.setter
    def points(self, points: npt.NDArray[typing.Any]) -> None:
        import numpy as np

        if not isinstance(points, np.ndarray) or points.dtype.names is None:
            raise TypeError("points takes a structured NumPy array, with the fields x, y, z, …")
        if points.ndim not in (1, 2):
            raise ValueError(f"points takes (width,) or (height, width); the array is {points.shape}")
        rows = points.shape[0] if points.ndim == 2 else 1
        self.resize(points.shape[-1], points.dtype, rows)[...] = points

    def resize(self, width: int, dtype: typing.Any, rows: int = 1) -> npt.NDArray[typing.Any]:
        """Of a loan: makes room for `rows` × `width` points of a structured dtype and returns them as `points`,
        uninitialized, to be filled in place."""
        import numpy as np

        dtype = np.dtype(dtype)
        if dtype.names is None:
            raise TypeError("a cloud's dtype is structured: [('x', 'f4'), ('y', 'f4'), ('z', 'f4')]")
        if min(width, rows) < 0:
            raise Error("invalid_argument", f"{rows} rows of {width} points", "use 0 or more")
        fields = []
        for name in dtype.names:
            base, (count,) = (s.base, s.shape or (1,)) if len((s := dtype[name]).shape) < 2 else (s, (0,))
            word = base.kind + str(base.itemsize)
            if word not in _POINT_TYPES or count == 0 or base.byteorder == ">":
                raise TypeError(f"clouds have no {s} (field '{name}')")
            offset = dtype.fields[name][1]
            fields.append({"name": name, "offset": offset, "datatype": _POINT_TYPES.index(word), "count": count})
        self.allocate("data", rows * width * dtype.itemsize)
        self["fields"] = fields
        self.height, self.width = rows, width
        self.point_step, self.row_step = dtype.itemsize, width * dtype.itemsize
        self.is_bigendian, self.is_dense = False, True
        return self.points

    def _dtype(self) -> np.dtype[typing.Any]:
        import numpy as np

        fields = self["fields"]
        step, order = self["point_step"], ">" if self["is_bigendian"] else "<"
        key = (fields._bytes().tobytes(), step, order)
        if (known := _clouds.get(key)) is not None:
            return known
        names, formats, offsets = [], [], []
        for field in fields:
            word = order + _POINT_TYPES[field["datatype"] or 9]
            names.append(field["name"])
            formats.append(word if field["count"] == 1 else (word, field["count"]))
            offsets.append(field["offset"])
        made = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": step})
        if len(_clouds) >= 64:
            _clouds.clear()
        _clouds[key] = made
        return made


_clouds: dict[tuple[bytes, int, str], np.dtype[typing.Any]] = {}


class Imu(Message):
    """sensor_msgs/msg/Imu. Angular velocity in rad/s, acceleration in m/s²."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        header: Header
        orientation: Message
        orientation_covariance: npt.NDArray[np.float64]
        angular_velocity: Message
        angular_velocity_covariance: npt.NDArray[np.float64]
        linear_acceleration: Message
        linear_acceleration_covariance: npt.NDArray[np.float64]


class PoseStamped(Message):
    """geometry_msgs/msg/PoseStamped. Position in metres, orientation as a unit quaternion."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        header: Header
        pose: Message


class Detection2D(Message):
    """A box in an image, in pixels."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        label: str
        score: float
        center_x: float
        center_y: float
        theta: float
        """Rad."""
        size_x: float
        size_y: float
        id: str


class Detection3D(Message):
    """A box in space, in metres."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        label: str
        score: float
        center: Message
        size: Message
        id: str


class Detections2D(Message):
    """vision_msgs/msg/Detection2DArray."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        header: Header
        detections: typing.Any


class Detections3D(Message):
    """vision_msgs/msg/Detection3DArray."""

    __slots__ = ()
    if typing.TYPE_CHECKING:
        header: Header
        detections: typing.Any


_BY_NAME: dict[str, type[Message]] = {
    "std_msgs/msg/Header": Header,
    "sensor_msgs/msg/Image": Image,
    "sensor_msgs/msg/CompressedImage": CompressedImage,
    "sensor_msgs/msg/PointField": PointField,
    "sensor_msgs/msg/PointCloud2": PointCloud,
    "sensor_msgs/msg/Imu": Imu,
    "geometry_msgs/msg/PoseStamped": PoseStamped,
    "vision_msgs/msg/Detection2D": Detection2D,
    "vision_msgs/msg/Detection3D": Detection3D,
    "vision_msgs/msg/Detection2DArray": Detections2D,
    "vision_msgs/msg/Detection3DArray": Detections3D,
}
NAMES_OF.update({cls: name for name, cls in _BY_NAME.items()})
_cardan._set_classes(_BY_NAME)


# The getter without a frame of Python.
_mat = vars(Image)["mat"]
setattr(Image, "mat", property(_cardan.image_mat, _mat.fset, doc=_mat.__doc__))


def from_ros2msg(name: str, definition: str) -> type[Message]:
    """The class of a message by its ros2msg text: its own fields, then, behind a line of 80 '=' and a line
    "MSG: package/Type", those of each message that it uses. Raises Error with the line that makes no sense."""
    return _class(Type.of_definition(name, definition))


def class_of(kind: typing.Any) -> type[typing.Any]:
    """The class of messages that a topic's type means."""
    if isinstance(kind, str):
        return _BY_NAME.get(kind) or _class(Type.known(kind))
    if not isinstance(kind, type):
        raise TypeError(f"a topic's type is a class or a name, not {type(kind).__name__}")
    if issubclass(kind, Message):
        type_of(kind)
        return kind
    made = kind.__dict__.get("__cardan_class__")
    if made is None:
        own = {"__slots__": (), "_dataclass": kind, "__cardan_type__": described_type(kind)}
        made = type(kind.__name__, (Sample,), own)
        setattr(kind, "__cardan_class__", made)
    return typing.cast("type[typing.Any]", made)


def class_for(kind: Type) -> type[Message]:
    """A class for a topic's type, whose layout may be another than ours of that name."""
    return _class(kind, _BY_NAME.get(kind.name, Message))


def _class(kind: Type, base: type[Message] = Message) -> type[Message]:
    return type(kind.name.rpartition("/")[2] or "Message", (base,), {"__slots__": (), "__cardan_type__": kind})


def structured(records: Records) -> npt.NDArray[typing.Any]:
    """A list of messages as a structured NumPy array over the message, for messages of numbers and arrays of numbers.
    Raises TypeError for others."""
    import numpy as np

    described = records._described()
    if described is None:
        raise TypeError(f"{records._type_name()} has texts or lists, which a structured array cannot have")
    made: npt.NDArray[typing.Any] = np.ndarray((len(records),), _structured(described), records._bytes())
    records._track(made)
    return made


def _structured(described: typing.Any) -> np.dtype[typing.Any]:
    import numpy as np

    fields, size = described
    formats = []
    for _, kind, _, count in fields:
        inner: typing.Any = _structured(kind) if isinstance(kind, tuple) else kind
        formats.append((inner, count) if count else inner)
    return np.dtype(
        {"names": [f[0] for f in fields], "formats": formats, "offsets": [f[2] for f in fields], "itemsize": size}
    )


def to_dict(message: Message) -> dict[str, typing.Any]:
    """A private copy: numbers, texts, NumPy arrays, lists, and dicts for messages."""
    return {name: _copied(message[name]) for name in Message._fields(message)}


def _copied(value: typing.Any) -> typing.Any:
    if isinstance(value, Message):
        return to_dict(value)
    if isinstance(value, Records):
        return [to_dict(one) for one in value]
    return value.copy() if hasattr(value, "flags") else value


def _build(cls: type, message: Message) -> typing.Any:
    import dataclasses

    hints = typing.get_type_hints(cls)
    values: dict[str, typing.Any] = {}
    for field in dataclasses.fields(cls):
        values[field.name] = _built(hints[field.name], message[field.name])
    return cls(**values)


def _built(hint: typing.Any, value: typing.Any) -> typing.Any:
    hint = resolved(hint)
    if isinstance(value, Message):
        return to_dict(value) if issubclass(hint, Message) else _build(hint, value)
    if isinstance(value, Records):
        inner = typing.get_args(hint)[0]
        return [_built(inner, one) for one in value]
    if not hasattr(value, "flags"):
        return value
    if hint is bytes:
        return value.tobytes()
    array = getattr(typing.get_origin(hint), "__name__", "") == "ndarray"
    return value.copy() if array else value.tolist()


def _repr(self: Message) -> str:
    shown = []
    try:
        for name in Message._fields(self):
            value = self[name]
            if hasattr(value, "flags") and value.size > 8:
                shown.append(f"{name}=<{value.size} {value.dtype}>")
            elif isinstance(value, Records):
                shown.append(f"{name}=<{len(value)} {value._type_name()}>")
            else:
                shown.append(f"{name}={value!r}")
    except Error as error:
        return f"<{type(self).__name__}: {error.cause}>"
    return f"{type(self).__name__}({', '.join(shown)})"


def _dir(self: Message) -> list[str]:
    return sorted({*object.__dir__(self), *Message._fields(self)})


def _no_pickle(self: Message, version: int) -> typing.NoReturn:
    raise TypeError("a message is a view and cannot be pickled: send message.cdr() or cardan.to_dict(message)")


def _deepcopy(self: Message, memory: object) -> Message:
    return self.copy()


setattr(Message, "__reduce_ex__", _no_pickle)
setattr(Message, "__deepcopy__", _deepcopy)
setattr(Message, "__repr__", _repr)
setattr(Message, "__dir__", _dir)
