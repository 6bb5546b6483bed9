# SPDX-License-Identifier: Apache-2.0
"""Views without a copy: what they show, that they are read-only, how long they live."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import cardan
from cardan import _cardan

SHAPE = (48, 64, 3)
BYTES = 48 * 64 * 3


def picture(seed: int = 1) -> np.ndarray:
    return ((np.arange(BYTES) * 7 + seed) % 251).astype(np.uint8).reshape(SHAPE)


def pair(topic: str, **options):
    front = cardan.Topic(topic, cardan.Image, max_bytes=BYTES, **options)
    return front.publisher(), front.subscriber()


def test_an_image_arrives_as_a_read_only_view(topic: str) -> None:
    pub, sub = pair(topic)
    with pub.loan() as frame:
        frame.header.stamp, frame.header.frame_id = 5, "front"
        frame.mat = picture()
        frame.set_source_time(17)
    got = sub.wait(5)
    assert got is not None and got.mat.shape == SHAPE and got.mat.dtype == np.uint8
    assert (got.encoding, got.height, got.width, got.step) == ("bgr8", 48, 64, 192)
    assert (got.header.stamp, got.header.frame_id) == (5, "front")
    assert (got.sequence, got.missed, got.source_time) == (1, 0, 17) and 0 < got.age < 60
    assert np.array_equal(got.mat, picture()) and np.array_equal(np.asarray(got), picture())
    assert not got.mat.flags.writeable and not got.data.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        got.mat[0, 0, 0] = 1
    with pytest.raises(ValueError):
        got.mat.flags.writeable = True
    with pytest.raises(cardan.Error, match="read-only"):
        got.height = 3
    with pytest.raises(cardan.Error, match="read-only"):
        got.header.stamp = 3
    with pytest.raises(AttributeError):
        got.colour
    assert "encoding='bgr8'" in repr(got)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy before 2.1 gives DLPack nothing read-only")
def test_dlpack_shows_the_same_memory(topic: str) -> None:
    pub, sub = pair(topic)
    pub.publish(cardan_fields(picture(3)))
    got = sub.wait(5)
    assert got.__dlpack_device__() == (1, 0)
    seen = np.from_dlpack(got.mat)
    assert seen.ctypes.data == got.data.ctypes.data and np.array_equal(seen, picture(3))
    assert not seen.flags.writeable
    assert np.from_dlpack(got).ctypes.data == seen.ctypes.data


def cardan_fields(pixels: np.ndarray) -> dict:
    return {
        "height": pixels.shape[0],
        "width": pixels.shape[1],
        "step": pixels.strides[0],
        "encoding": "bgr8",
        "data": pixels.ravel(),
    }


def test_a_slice_keeps_the_slot_and_its_end_releases_it_at_once(topic: str) -> None:
    pub, sub = pair(topic)
    kept = []
    for seed in range(2):  # holds = 1, and one that is being taken
        pub.publish(cardan_fields(picture(seed)))
        kept.append(sub.wait(5).mat[1:3, ::2])
    pub.publish(cardan_fields(picture(9)))
    assert sub.take() is None and sub.reason == "limit"
    with pytest.raises(cardan.Error, match="holds"):
        next(sub)
    for _ in range(20):  # the slots that are held are not written again
        pub.publish(cardan_fields(picture(77)))
    assert np.array_equal(kept[0], picture(0)[1:3, ::2]) and np.array_equal(kept[1], picture(1)[1:3, ::2])
    del kept[0]
    got = sub.take()
    assert got is not None and got.mat[0, 0, 0] == picture(77)[0, 0, 0]


def test_views_outlive_subscriber_and_publisher(topic: str) -> None:
    pub, sub = pair(topic)
    pub.publish(cardan_fields(picture(4)))
    view = sub.wait(5).mat[5]
    sub.close()
    pub.close()
    del sub, pub
    assert np.array_equal(view, picture(4)[5])


def test_a_copy_holds_no_slot(topic: str) -> None:
    pub, sub = pair(topic)
    kept = []
    for seed in range(6):
        pub.publish(cardan_fields(picture(seed)))
        kept.append(sub.wait(5).copy())
    assert [np.array_equal(k.mat, picture(seed)) for seed, k in enumerate(kept)] == [True] * 6
    assert kept[5].sequence == 6 and kept[5].encoding == "bgr8" and not kept[0].mat.flags.writeable


def test_a_loan_is_writable_until_it_is_published(topic: str) -> None:
    pub, sub = pair(topic)
    with pub.loan() as frame:
        view = frame.resize(48, 64, "bgr8")
        data = frame.data
        view[:] = picture(8)
        assert data.flags.writeable and data.ctypes.data == view.ctypes.data  # in place
        assert np.shares_memory(view, frame.mat)
    assert not view.flags.writeable and not data.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 0
    for use in (lambda: frame.height, lambda: frame.mat, frame.cdr, lambda: frame.header):
        with pytest.raises(cardan.Error, match="published"):
            use()
    with pytest.raises(cardan.Error, match="published"):
        frame.height = 1
    for array in (view, data):
        with pytest.raises(ValueError):
            array.flags.writeable = True
    with pytest.raises(TypeError):
        memoryview(data)[0] = 1
    assert np.array_equal(sub.wait(5).mat, picture(8))
    pub.close()
    assert view[0, 0, 0] == picture(8)[0, 0, 0]  # its memory stays there


def test_a_loan_of_a_block_that_raises_is_given_back(topic: str) -> None:
    pub, sub = pair(topic)
    for _ in range(10):
        with pytest.raises(RuntimeError, match="camera"), pub.loan() as frame:
            frame.mat = picture()
            raise RuntimeError("camera")
        with pytest.raises(cardan.Error, match="given back"):
            frame.height = 1
    assert pub.published == 0 and sub.take() is None
    loan = pub.loan()
    with pytest.raises(cardan.Error) as out:
        pub.loan()
    assert out.value.code == "limit" and "loan" in out.value.cause and out.value.remedy
    loan.discard()
    with pub.loan() as frame:
        frame.mat = picture()
    assert pub.published == 1


def test_loans_refuse_what_does_not_fit(topic: str) -> None:
    pub, _ = pair(topic)
    with pub.loan() as frame:
        for bad in (-1, 1 << 32):
            with pytest.raises(OverflowError, match="height"):
                frame.height = bad
        with pytest.raises(TypeError, match="height"):
            frame.height = 1.5
        with pytest.raises(TypeError, match="encoding"):
            frame.encoding = 5
        with pytest.raises(ValueError, match="at most 28"):
            frame.encoding = "x" * 29
        with pytest.raises(TypeError, match="float64"):
            frame.data = np.zeros(3)
        with pytest.raises(ValueError, match="shape"):
            frame.data = np.zeros((2, 2), np.uint8)
        with pytest.raises(OverflowError, match="data"):
            frame.data = [1, 300]
        with pytest.raises(TypeError, match="data"):
            frame.data = ["a"]
        with pytest.raises(TypeError, match="data"):
            frame.data = None
        with pytest.raises(TypeError, match="no field 'header.frame'"):
            frame.header = {"frame": "x"}
        with pytest.raises(TypeError, match="stamp"):
            frame.header = object()
        with pytest.raises(cardan.Error, match="max_bytes") as big:
            frame.data = np.zeros(BYTES + 1, np.uint8)
        assert big.value.code == "limit"
        with pytest.raises(cardan.Error):
            frame.resize(1 << 25, 1, "bgr8")
        with pytest.raises(cardan.Error):
            frame.resize(1 << 24, 1 << 24, "bgr8")
        with pytest.raises(cardan.Error, match="encoding"):
            frame.resize(1, 1, "no such")
        with pytest.raises(TypeError, match="complex128"):
            frame.mat = np.zeros((2, 2), complex)
        with pytest.raises(ValueError, match="1 to 4"):
            frame.mat = np.zeros((2, 2, 5), np.uint8)
        with pytest.raises(TypeError, match="list"):
            frame.mat = [[1]]
        with pytest.raises(AttributeError):
            frame.colour = 3
        with pytest.raises(KeyError):
            frame["colour"] = 3
        with pytest.raises((TypeError, OverflowError)):
            frame.allocate("data", -1)
        with pytest.raises(TypeError, match="list"):
            frame.allocate("height", 1)
        frame.data = picture().ravel()[::2]  # strides are followed
        assert np.array_equal(frame.data, picture().ravel()[::2])
        frame.mat = picture()[::2, ::-1]
        assert np.array_equal(frame.mat, picture()[::2, ::-1])


@pytest.mark.parametrize(
    ("dtype", "channels", "encoding"),
    [("u1", 1, "mono8"), ("u1", 4, "bgra8"), ("u2", 1, "16UC1"), ("i2", 2, "16SC2"), ("f4", 1, "32FC1"), ("f8", 3, "64FC3")],
)
def test_every_number_of_images(topic: str, dtype: str, channels: int, encoding: str) -> None:
    front = cardan.Topic(topic, cardan.Image, max_bytes=4096)
    sub, pub = front.subscriber(), front.publisher()
    pixels = np.arange(12 * channels).astype(dtype).reshape((3, 4) if channels == 1 else (3, 4, channels))
    with pub.loan() as frame:
        frame.mat = pixels
    got = sub.wait(5)
    assert got.encoding == encoding and got.mat.dtype == dtype and np.array_equal(got.mat, pixels)


@pytest.mark.parametrize(
    "lie",
    [
        {"height": 49},
        {"step": 1},
        {"step": 4_000_000_000},
        {"width": 65},
        {"encoding": "martian"},
        {"height": 0xFFFFFFFF, "width": 0xFFFFFFFF},
    ],
)
def test_an_image_that_contradicts_itself_is_an_error(topic: str, lie: dict) -> None:
    pub, sub = pair(topic)
    pub.publish({**cardan_fields(picture()), **lie})
    got = sub.wait(5)
    with pytest.raises(cardan.Error):
        got.mat
    assert got.data.size == BYTES


POINT = np.dtype({"names": ["x", "y", "z", "ring"], "formats": ["f4", "f4", "f4", "u2"], "offsets": [0, 4, 8, 16], "itemsize": 32})


def test_clouds_are_structured_arrays(topic: str) -> None:
    lidar = cardan.Topic(topic, cardan.PointCloud, max_bytes=32 * 100)
    sub, pub = lidar.subscriber(), lidar.publisher()
    points = np.zeros((4, 25), POINT)
    points["x"], points["ring"] = np.arange(100).reshape(4, 25) / 2, 7
    with pub.loan() as cloud:
        cloud.points = points
        view = cloud.resize(100, POINT)
        view[:] = points.ravel()
    assert not view.flags.writeable
    got = sub.wait(5)
    assert got.points.shape == (100,) and got.points.dtype["ring"] == "u2" and got.is_dense
    assert np.array_equal(got.points["x"], points["x"].ravel()) and not got.points.flags.writeable
    assert [f.name for f in got.fields] == ["x", "y", "z", "ring"] and got.fields[3].offset == 16
    with pytest.raises(TypeError, match="texts"):
        cardan.structured(got.fields)
    with pytest.raises(IndexError):
        got.fields[4]
    with pub.loan() as cloud:
        cloud.points = points
        with pytest.raises(TypeError, match="structured"):
            cloud.points = np.zeros(3)
        with pytest.raises(ValueError, match="16"):
            cloud["fields"] = [{"name": "x"}] * 17
    assert sub.wait(5).points.shape == (4, 25)


@pytest.mark.parametrize("shape", [(5, 3), (5, 4), (2, 5, 3), (1, 5, 4), (0, 3)])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_clouds_of_plain_arrays(topic: str, shape: tuple[int, ...], kind: str) -> None:
    lidar = cardan.Topic(topic, cardan.PointCloud, max_bytes=32 * 100)
    sub, pub = lidar.subscriber(), lidar.publisher()
    whole = np.arange(2 * np.prod(shape), dtype=kind).reshape(*shape[:-1], 2 * shape[-1])
    points = whole[..., ::2]  # not contiguous
    pub.publish(points=points, header={"frame_id": "lidar"})
    got = sub.wait(60)
    names = ("x", "y", "z", "intensity")[: shape[-1]]
    assert got.points.dtype.names == names and got.header.frame_id == "lidar" and got.point_step == 4 * shape[-1]
    assert got.height * got.width == np.prod(shape[:-1]) and got.height == (2 if shape[0] == 2 else 1)
    for i, name in enumerate(names):
        assert got.points.dtype[name] == "f4" and np.array_equal(got.points[name].ravel(), points[..., i].ravel())


@pytest.mark.parametrize(
    "wrong",
    [np.zeros(3), np.zeros((3, 2)), np.zeros((3, 3), int), np.zeros((2, 2, 2, 3)), np.zeros((3, 3), "c8"), [[1.0] * 3]],
)
def test_arrays_that_cannot_be_a_cloud(topic: str, wrong: Any) -> None:
    with cardan.Topic(topic, cardan.PointCloud, max_bytes=3200).publisher() as pub:
        with pytest.raises(TypeError, match="points takes"):
            pub.publish(points=wrong)
        with pytest.raises(TypeError, match="has no field 'mat'"):
            pub.publish(mat=np.zeros((2, 2), np.uint8))
        assert pub.published == 0


def test_a_frame_is_published_in_one_line(topic: str) -> None:
    front = cardan.Topic(topic, cardan.Image, max_bytes=BYTES)
    with front.subscriber() as sub, front.publisher() as pub:
        pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
        pub.publish(mat=pixels, header={"stamp": 7})
        got = sub.wait(60)
        assert np.array_equal(got.mat, pixels) and got.encoding == "bgr8" and got.header.stamp == 7
        pub.publish({"header": {"frame_id": "front"}}, mat=pixels, encoding="rgb8")
        got = sub.wait(60)
        assert np.array_equal(got.mat, pixels) and got.encoding == "rgb8" and got.header.frame_id == "front"
        with pytest.raises(TypeError, match="mat takes"):
            pub.publish(mat=[[1]])
        assert pub.published == 2


@pytest.mark.parametrize("lie", [{"point_step": 3}, {"width": 101}, {"row_step": 0, "height": 7}, {"height": 1 << 31, "width": 1 << 31}])
def test_a_cloud_that_contradicts_itself_is_an_error(topic: str, lie: dict) -> None:
    lidar = cardan.Topic(topic, cardan.PointCloud, max_bytes=32 * 100)
    sub, pub = lidar.subscriber(), lidar.publisher()
    with pub.loan() as cloud:
        cloud.points = np.zeros(100, POINT)
        cloud.fill(lie)
    got = sub.wait(5)
    with pytest.raises(cardan.Error, match="contradicts"):
        got.points


def test_detections_are_records(topic: str) -> None:
    found = cardan.Topic(topic, cardan.Detections2D, max_bytes=4096)
    sub, pub = found.subscriber(), found.publisher()
    with pub.loan() as boxes:
        boxes.detections = [{"label": "car", "score": 0.5, "size_x": 3}, {"label": "person"}]
        boxes.detections[1].score = 0.25
    got = sub.wait(5)
    assert [(d.label, d.score, d.size_x) for d in got.detections] == [("car", 0.5, 3.0), ("person", 0.25, 0.0)]
    assert isinstance(got.detections[0], cardan.Detection2D) and len(got.detections) == 2
    assert cardan.to_dict(got)["detections"][0]["label"] == "car"
    with pytest.raises(cardan.Error, match="read-only"):
        got.detections[0].label = "bus"


def test_pickle_and_copy(topic: str) -> None:
    pub, sub = pair(topic)
    pub.publish(cardan_fields(picture()))
    got = sub.wait(5)
    with pytest.raises(TypeError, match="cdr"):
        pickle.dumps(got)
    assert np.array_equal(copy.deepcopy(got).mat, picture())


def test_messages_are_not_made_by_hand() -> None:
    with pytest.raises(TypeError):
        cardan.Image()
    raw = cardan.Image.__new__(cardan.Image)
    with pytest.raises(TypeError):
        raw.height
    with pytest.raises(TypeError):
        raw.mat
    with pytest.raises(TypeError):
        _cardan.image_mat(raw)


@pytest.mark.parametrize("avoided", [False, True])
def test_arrays_with_and_without_numpys_c_functions(avoided: bool, topic: str) -> None:
    front = cardan.Topic(topic, cardan.Image, max_bytes=10000)
    _cardan._avoid_numpy_functions(avoided)
    try:
        with front.subscriber(holds=4) as sub, front.publisher() as pub:
            for encoding, shape, strides in (("bgr8", (4, 6, 3), (18, 3, 1)), ("mono16", (4, 6), (12, 2))):
                with pub.loan() as frame:
                    pixels = frame.resize(4, 6, encoding)
                    pixels[:] = np.arange(pixels.size).reshape(shape)
                    assert pixels.flags.writeable
                assert not pixels.flags.writeable
                with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                    pixels.flags.writeable = True
                got = sub.take()
                assert got is not None
                mat, data = got.mat, got.data
                assert mat.shape == shape and mat.strides == strides and mat.flags.c_contiguous and mat.flags.aligned
                assert not mat.flags.writeable and not mat.flags.owndata and data.strides == (1,)
                for array in (mat, data, mat[1:], mat.view(np.uint8)):
                    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                        array.flags.writeable = True
                want = np.arange(mat.size).reshape(shape).astype(mat.dtype)
                del got, data  # the array alone keeps the slot
                assert (mat == want).all() and (mat.reshape(-1).view(np.uint8) == want.reshape(-1).view(np.uint8)).all()
    finally:
        _cardan._avoid_numpy_functions(False)


def test_a_subclass_and_another_layout_have_their_own_mat(topic: str) -> None:
    class Mine(cardan.Image):
        mat = 5  # type: ignore[assignment]

    assert Mine.mat == 5
    fields = "uint8 mat\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] data"
    odd = cardan.from_ros2msg("my_msgs/msg/Odd", fields)
    sub, pub = cardan.Topic(topic, odd, max_bytes=100).subscriber(), cardan.Topic(topic, odd, max_bytes=100).publisher()
    pub.publish(mat=7)
    got = sub.take()
    assert got is not None and got.mat == 7
    with pytest.raises(cardan.Error, match="no image encoding"):
        _cardan.image_mat(got)
