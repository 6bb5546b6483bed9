# SPDX-License-Identifier: Apache-2.0
"""Cardan's own messages as classes. Their fields are here with their units; their types are the layouts'."""

from __future__ import annotations

import typing

from cardan import _cardan
from cardan._cardan import Message
from cardan._errors import Error
from cardan._fields import doubles, integer, number, octets, part, records, text, truth
from cardan._known import NAMES_OF

if typing.TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

class Header(Message):
    """std_msgs/msg/Header."""

    __slots__ = ()
    stamp = integer("nanoseconds since 1970, of the measurement")
    sequence = integer("the sensor's own count; not in the ROS form")
    frame_id = text("coordinate frame of the data")


class Vector3(Message):
    """geometry_msgs/msg/Vector3. Its unit is that of the field that it is."""

    __slots__ = ()
    x = number()
    y = number()
    z = number()


class Point(Message):
    """geometry_msgs/msg/Point."""

    __slots__ = ()
    x = number("metres")
    y = number("metres")
    z = number("metres")


class Quaternion(Message):
    """geometry_msgs/msg/Quaternion, of length 1."""

    __slots__ = ()
    x = number()
    y = number()
    z = number()
    w = number()


class Pose(Message):
    """geometry_msgs/msg/Pose."""

    __slots__ = ()
    position = part(Point)
    orientation = part(Quaternion)


class Image(Message):
    """sensor_msgs/msg/Image: pixels, without a copy as `mat`, np.asarray(frame) and DLPack."""

    __slots__ = ()
    header = part(Header)
    height = integer("pixels")
    width = integer("pixels")
    encoding = text('as in ROS: "bgr8", "mono8", "16UC1", …')
    is_bigendian = integer()
    step = integer("bytes from one row to the next")
    data = octets()

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

    def _repr_png_(self) -> bytes | None:
        from cardan._notebook import image_png

        return image_png(self)

    def __dlpack__(self, **options: typing.Any) -> typing.Any:
        return self.mat.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


_DEPTHS = ("u1", "i1", "u2", "i2", "i4", "f4", "f8")
_NAMES = ("8U", "8S", "16U", "16S", "32S", "32F", "64F")


class CompressedImage(Message):
    """sensor_msgs/msg/CompressedImage."""

    __slots__ = ()
    header = part(Header)
    format = text('"jpeg", "png", …')
    data = octets()

    def _repr_png_(self) -> bytes | None:
        from cardan._notebook import file_of

        return file_of(self, b"\x89PNG\r\n\x1a\n")

    def _repr_jpeg_(self) -> bytes | None:
        from cardan._notebook import file_of

        return file_of(self, b"\xff\xd8\xff")


class PointField(Message):
    """sensor_msgs/msg/PointField."""

    __slots__ = ()
    name = text('"x", "intensity", …')
    offset = integer("bytes from the start of the point")
    datatype = integer("1 to 8: int8, uint8, int16, uint16, int32, uint32, float32, float64")
    count = integer("numbers of this field in a point")


_POINT_TYPES = ("", "i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")


class PointCloud(Message):
    """sensor_msgs/msg/PointCloud2: points, without a copy as `points`, a structured array."""

    __slots__ = ()
    header = part(Header)
    height = integer("rows")
    width = integer("points in a row")
    fields = records(PointField, "the meaning of each point's bytes")
    is_bigendian = truth()
    point_step = integer("bytes from one point to the next")
    row_step = integer("bytes from one row to the next")
    data = octets()
    is_dense = truth("no point is invalid (NaN)")

    @property
    def points(self) -> npt.NDArray[typing.Any]:
        """The points as a structured array over the message: (width,) for one row, else (height, width); its fields are
        the cloud's ("x", "y", "z" in metres, …). Of a received cloud read-only. Setting it copies an array into a loan:
        a structured one, or floats of shape (…, 3) or (…, 4), which become float32 x, y, z and intensity. Raises Error
        if the cloud contradicts itself."""
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

        if not isinstance(points, np.ndarray):
            raise TypeError(f"points takes a NumPy array, not a {type(points).__name__}")
        if points.dtype.names is None:
            self._set_columns(points)
            return
        if points.ndim not in (1, 2):
            raise ValueError(f"points takes (width,) or (height, width); the array is {points.shape}")
        rows = points.shape[0] if points.ndim == 2 else 1
        self.resize(points.shape[-1], points.dtype, rows)[...] = points

    def _set_columns(self, points: npt.NDArray[typing.Any]) -> None:
        if points.dtype.kind != "f" or points.ndim not in (2, 3) or points.shape[-1] not in (3, 4):
            raise TypeError(
                "points takes floats of shape (N, 3) or (N, 4), or a structured array with the fields x, y, z, …; "
                f"the array is {points.dtype} {points.shape}"
            )
        names = ("x", "y", "z", "intensity")[: points.shape[-1]]
        rows = points.shape[0] if points.ndim == 3 else 1
        made = self.resize(points.shape[-2], [(name, "f4") for name in names], rows)
        for i, name in enumerate(names):
            made[name] = points[..., i].reshape(made.shape)

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
    header = part(Header)
    orientation = part(Quaternion)
    orientation_covariance = doubles("row-major about x, y, z; the first is -1: not measured")
    angular_velocity = part(Vector3, "rad/s")
    angular_velocity_covariance = doubles("row-major about x, y, z; the first is -1: not measured")
    linear_acceleration = part(Vector3, "m/s²")
    linear_acceleration_covariance = doubles("row-major x, y, z; the first is -1: not measured")


class PoseStamped(Message):
    """geometry_msgs/msg/PoseStamped. Position in metres, orientation as a unit quaternion."""

    __slots__ = ()
    header = part(Header)
    pose = part(Pose)


class Detection2D(Message):
    """A box in an image, in pixels."""

    __slots__ = ()
    label = text('"pedestrian"')
    score = number("0 to 1")
    center_x = number("pixels from the left")
    center_y = number("pixels from the top")
    theta = number("rotation, rad")
    size_x = number("pixels, before the rotation")
    size_y = number("pixels, before the rotation")
    id = text("of the tracked object, the same in every frame; empty: not tracked")


class Detection3D(Message):
    """A box in space, in metres."""

    __slots__ = ()
    label = text('"pedestrian"')
    score = number("0 to 1")
    center = part(Pose, "of the box, with its orientation")
    size = part(Vector3, "metres along the box's own x, y, z")
    id = text("of the tracked object, the same in every frame; empty: not tracked")


class Detections2D(Message):
    """vision_msgs/msg/Detection2DArray."""

    __slots__ = ()
    header = part(Header, "the image's")
    detections = records(Detection2D)


class Detections3D(Message):
    """vision_msgs/msg/Detection3DArray."""

    __slots__ = ()
    header = part(Header)
    detections = records(Detection3D)


BY_NAME: dict[str, type[Message]] = {
    "std_msgs/msg/Header": Header,
    "geometry_msgs/msg/Vector3": Vector3,
    "geometry_msgs/msg/Point": Point,
    "geometry_msgs/msg/Quaternion": Quaternion,
    "geometry_msgs/msg/Pose": Pose,
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
NAMES_OF.update({cls: name for name, cls in BY_NAME.items()})
_cardan._set_classes(BY_NAME)


# The getter without a frame of Python.
_mat = vars(Image)["mat"]
setattr(Image, "mat", property(_cardan.image_mat, _mat.fset, doc=_mat.__doc__))
