# SPDX-License-Identifier: Apache-2.0
"""Frames and recordings in notebooks, also those that others made."""

from __future__ import annotations

import html.parser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan import _notebook

cv2 = pytest.importorskip("cv2")


def received(topic: str, **fields: Any) -> cardan.Image:
    front = cardan.Topic(topic, cardan.Image, max_bytes=1 << 20)
    with front.subscriber() as sub, front.publisher() as pub:
        pub.publish(**fields)
        got = sub.wait(60)
        assert got is not None
        return got


def picture_of(image: Any) -> Any:
    """As a browser decodes it: (height, width, 4 or 3 or none) in BGR."""
    data = image._repr_png_()
    assert data is not None
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)


PIXELS = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)


@pytest.mark.parametrize(
    ("encoding", "pixels", "shown"),
    [
        ("bgr8", PIXELS, PIXELS),
        ("rgb8", PIXELS, PIXELS[..., ::-1]),
        ("mono8", PIXELS[..., 0], PIXELS[..., 0]),
        ("bayer_rggb8", PIXELS[..., 0], PIXELS[..., 0]),
        ("bgra8", PIXELS[..., [0, 1, 2, 2]], PIXELS[..., [0, 1, 2, 2]]),
        ("rgba8", PIXELS[..., [0, 1, 2, 2]], PIXELS[..., [2, 1, 0, 2]]),
        ("yuv422_yuy2", PIXELS[..., :2], PIXELS[..., 0]),
        ("uyvy", PIXELS[..., :2], PIXELS[..., 1]),
        ("16UC1", np.array([[100, 355]], np.uint16), np.array([[0, 255]], np.uint8)),
        ("32FC1", np.array([[np.nan, 1, 2, np.inf]], np.float32), np.array([[0, 0, 255, 0]], np.uint8)),
        ("64FC1", np.array([[-1e308, 1e308]]), None),
    ],
)
def test_a_frame_is_a_picture(topic: str, encoding: str, pixels: Any, shown: Any) -> None:
    picture = picture_of(received(topic, mat=np.ascontiguousarray(pixels), encoding=encoding))
    assert picture.dtype == np.uint8 and (shown is None or np.array_equal(picture, shown)), picture


def test_planes_of_colour_are_left_out(topic: str) -> None:
    front = cardan.Topic(topic, cardan.Image, max_bytes=1000)
    with front.publisher() as pub, pub.loan() as frame:
        frame.resize(4, 6, "nv21")[:] = 9
        assert picture_of(frame).shape == (4, 6)


def test_large_frames_are_small_pictures(topic: str) -> None:
    front = cardan.Topic(topic, cardan.Image, max_bytes=1 << 24)
    with front.publisher() as pub:
        for height, width, shape in ((3000, 4000, (750, 1000)), (1, 1 << 24, (1, 1024)), (1 << 24, 1, (1024, 1)), (1025, 3, (513, 2))):
            loan = pub.loan()
            loan.message.resize(height, width, "mono8")
            assert picture_of(loan.message).shape == shape
            loan.discard()


@pytest.mark.parametrize(
    "lie", [{"step": 0}, {"height": 1 << 31}, {"width": 6, "encoding": "nothing"}, {"encoding": "64FC1"}, {"height": 0}, {"data": b""}]
)
def test_a_frame_that_contradicts_itself_gives_no_picture(topic: str, lie: dict[str, Any]) -> None:
    got = received(topic, mat=PIXELS, **lie)
    assert got._repr_png_() is None and "Image(" in repr(got)


def test_a_message_without_the_fields_gives_no_picture(topic: str) -> None:
    for name in ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"):
        kind = cardan.from_ros2msg(name, "uint32 height\n")
        with cardan.Topic(topic, kind).publisher() as pub, cardan.Topic(topic).subscriber() as sub:
            pub.publish(height=3)
            got = sub.wait(60)
            assert isinstance(got, (cardan.Image, cardan.CompressedImage)) and got._repr_png_() is None


def test_only_pictures_are_given_as_pictures(topic: str) -> None:
    ok, jpeg = cv2.imencode(".jpg", PIXELS)
    assert ok
    small = _notebook.png(PIXELS)
    front = cardan.Topic(topic, cardan.CompressedImage, max_bytes=16 << 20)
    with front.subscriber() as sub, front.publisher() as pub:
        for data, as_png, as_jpeg in (
            (small, small, None),
            (jpeg.tobytes(), None, jpeg.tobytes()),
            (b"<svg onload='alert(1)'>", None, None),
            (b"<script>alert(1)</script>", None, None),
            (b"", None, None),
            (small[:8], None, None),
            (b"\xff\xd8\xff" + bytes(_notebook.MOST_BYTES), None, None),
        ):
            pub.publish(format="jpeg", data=data)
            got = sub.wait(60)
            assert got is not None and (got._repr_png_(), got._repr_jpeg_()) == (as_png, as_jpeg)
            assert not hasattr(got, "_repr_html_") and not hasattr(got, "_repr_svg_")
            del got


class Page(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_recording_is_a_table(tmp_path: Path) -> None:
    with cardan.Bag(tmp_path / "drive.mcap", "w") as out:
        for i in range(3):
            out.write("/imu", {"header": {"stamp": i}}, type=cardan.Imu, log_ns=1_700_000_000_000_000_000 + i * 500_000_000)
        assert out._repr_html_() is None
    with cardan.Bag(tmp_path / "drive.mcap") as bag:
        shown = bag._repr_html_()
    assert shown is not None
    page = Page(shown)
    assert page.texts[0].endswith("drive.mcap: 1.000 s, 1 topic") and page.texts[-4:] == ["/imu", "sensor_msgs/msg/Imu", "cdr", "3"]
    assert bag._repr_html_() in (None, shown)


def test_names_of_others_are_text() -> None:
    class Topic:
        type, encoding, count = "<script>alert(1)</script>", "\x1b[31m&lt;", None

    evil = "<img src=x onerror='alert(1)'>\u202e\n"
    page = Page(_notebook.recording(evil, 1.0, 2, {f"{i}{evil}": Topic for i in range(150)}))
    assert page.tags == {"table", "caption", "tr", "th", "td"} and page.attributes == {"colspan"}
    assert "<script>alert(1)</script>" in page.texts and "?[31m&lt;" in page.texts and "and 50 more" in page.texts
    assert all(text.isprintable() for text in page.texts)
    long = _notebook.recording("x" * 100_000, 1.0, 0, {"y" * 100_000: Topic})
    assert len(long) < 2000
