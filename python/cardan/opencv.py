# SPDX-License-Identifier: Apache-2.0
"""Components over OpenCV: a camera or video, and JPEG. Needs `pip install "cardan[opencv]"`, or Debian's python3-opencv.

    "camera": {"python": "cardan.opencv:Camera", "parameters": {"source": "drive.mp4"}},
    "jpeg": {"python": "cardan.opencv:JpegEncoder", "parameters": {"quality": 85}}

Their topics are /camera/image and /camera/image/compressed; "topics" of the file gives them other names.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import stat
import sys
import time
import typing

from cardan._component import Component, Context
from cardan._errors import Error
from cardan._messages import CompressedImage, Image
from cardan._topic import Topic

_USUAL_RATE = 25.0
"""Hz, of a source that does not know its own."""
_MOST_RATE = 1000.0
_LIVE_PERIOD = 0.001
"""Seconds. A live source blocks until its next picture is there: a period as long as the camera's would let pictures wait in the driver."""
_LARGEST_JPEG = 8 << 20
_GIVE = "give a video file, a pattern of pictures (DIR/%04d.png), a V4L2 device number (0) or a URL"


def _cv2() -> typing.Any:
    try:
        cv2 = importlib.import_module("cv2")
    except ImportError as error:
        raise Error(
            "unavailable",
            f"the package opencv-python-headless cannot be imported: {error}",
            f'run {sys.executable} -m pip install "cardan[opencv]", or install the Debian package python3-opencv',
        ) from None
    # What goes wrong is said here, once and with its remedy. The function's place differs by version.
    quiet = getattr(cv2, "setLogLevel", None) or getattr(getattr(cv2.utils, "logging", None), "setLogLevel", None)
    if quiet is not None:
        quiet(0)
    return cv2


class Capture:
    """Pictures of a video file, a pattern of pictures, a V4L2 device (its number or /dev/videoN) or a URL, in BGR. One thread at a time.

        camera = cardan.opencv.Capture("drive.mp4")
        with images.loan() as image:
            camera.grab() and camera.read(image)

    Raises:
        Error: cv2 is not installed; the source is not there, or delivers no picture.
    """

    def __init__(self, source: str, *, rate: float = 0.0, loop: bool = True) -> None:
        """`rate`: pictures a second; 0: the source's own. `loop`: a file starts again at its end."""
        self._cv2 = _cv2()
        self._source, self._loop = source, loop
        self.name, self.live = source, True
        """For people, for example "drive.mp4, 1920 x 1200 at 30 fps, looped"; whether it keeps its own time."""
        self._capture = self._open()
        if self.live and rate > 0:
            self._capture.set(self._cv2.CAP_PROP_FPS, rate)
        # Some devices deliver another size than they announce.
        got, first = self._capture.read()
        if not got or first is None or first.ndim != 3 or first.shape[2] != 3:
            raise Error("invalid_argument", f"{source} delivers no picture", "check it with ffprobe, or give another one")
        self.height, self.width = int(first.shape[0]), int(first.shape[1])
        """Pixels."""
        own = float(self._capture.get(self._cv2.CAP_PROP_FPS))
        if not math.isfinite(own) or not 0.1 <= own <= _MOST_RATE:
            own = _USUAL_RATE
        self.rate = rate if rate > 0 else own
        """Pictures a second."""
        self._first = not self.live  # already grabbed; what a camera saw at its opening is old
        self.name += f", {self.width} x {self.height}"
        if not self.live:
            self.name += f" at {round(self.rate)} fps" + (", looped" if loop else "")

    def grab(self) -> bool:
        """Goes to the next picture; False: there are no more. Blocks until a live source has one."""
        if self._first:
            self._first = False
            return True
        if self._capture.grab():
            return True
        if self.live or not self._loop:
            return False
        # Not every container can seek; opening again always works.
        if self._capture.set(self._cv2.CAP_PROP_POS_FRAMES, 0) and self._capture.grab():
            return True
        self._capture = self._open()
        return bool(self._capture.grab())

    def read(self, image: Image) -> None:
        """Decodes the picture into a loan, without another copy. Raises Error if the picture has changed its size."""
        self.decode(image.resize(self.height, self.width, "bgr8"))

    def decode(self, pixels: typing.Any) -> None:
        """The same into a writable array (height, width, 3) of uint8."""
        got, picture = self._capture.retrieve(pixels)
        # OpenCV allocates anew when the size is another.
        if not got or picture.shape != pixels.shape or picture.ctypes.data != pixels.ctypes.data:
            raise Error(
                "unavailable",
                f"the picture of {self._source} has changed its size or cannot be decoded",
                "start again: the size is fixed when the camera starts",
            )

    def close(self) -> None:
        self._capture.release()

    def _open(self) -> typing.Any:
        source, cv2 = self._source, self._cv2
        if "://" in source:
            capture = cv2.VideoCapture(source)
            if not capture.isOpened():
                raise Error("unavailable", f"cannot open {source}", "check the URL with ffprobe, and that the camera is on the network")
            return capture
        number = source.isascii() and source.isdigit() and len(source) <= 3 and not os.path.exists(source)
        device = f"/dev/video{source}" if number else source
        if number or _is(stat.S_ISCHR, device):
            self.name = device
            if not os.path.exists(device):
                raise Error("unavailable", f"there is no {device}", "list the cameras: ls /dev/video*; or give a video file")
            capture = cv2.VideoCapture(device, cv2.CAP_V4L2)
            if not capture.isOpened():
                raise Error(
                    "unavailable",
                    f"cannot open the camera {device}",
                    "end the program that uses it, and add yourself to the group `video` (usermod -aG video $USER)",
                )
            return capture
        self.live, self.name = False, os.path.basename(source)
        if "%" not in source:
            if not os.path.exists(source):
                raise Error("unavailable", f"{source}: no such file", _GIVE)
            if not _is(stat.S_ISREG, source):  # a pipe would block, and cannot be looped
                raise Error("invalid_argument", f"{source} is not a file", _GIVE)
            if not os.access(source, os.R_OK):
                raise Error("unavailable", f"{source} is not readable", "check its permissions")
        capture = cv2.VideoCapture(source)
        if not capture.isOpened():
            raise Error(
                "invalid_argument",
                f"{source} is not a video that OpenCV can decode",
                "give a file that ffprobe understands, for example MP4 with H.264 or AVI",
            )
        return capture


def _is(kind: typing.Callable[[int], bool], path: str) -> bool:
    try:
        return kind(os.stat(path).st_mode)
    except OSError:
        return False


class Camera(Component):
    """Publishes a Capture's pictures on /camera/image. A file keeps its own time; a live source has its callback wait for it."""

    def on_start(self, context: Context) -> None:
        source = context.parameter("source", "0", fixed=True, description="video file, pattern of pictures, V4L2 device or URL")
        rate = context.parameter(
            "rate", 0.0, min=0.0, max=_MOST_RATE, fixed=True, description="pictures a second; 0: the source's own"
        )
        loop = context.parameter("loop", True, fixed=True, description="a file starts again at its end")
        self._frame_id = context.parameter("frame_id", "camera", fixed=True, description="frame_id of each picture").value
        self._context, self._ended = context, False
        self._capture = Capture(source.value, rate=rate.value, loop=loop.value)
        largest = self._capture.width * self._capture.height * 3
        self._images = context.output(Topic("/camera/image", Image, max_bytes=largest))
        context.timer(_LIVE_PERIOD if self._capture.live else 1 / self._capture.rate, self._picture, name="picture")
        context.log(self._capture.name)

    def on_stop(self) -> None:
        if hasattr(self, "_capture"):  # else on_start() raised
            self._capture.close()

    def _picture(self) -> None:
        if self._ended:
            return
        if not self._capture.grab():
            if self._capture.live:
                raise Error(
                    "unavailable", f"{self._capture.name} delivers no more pictures", "check its cable or network and start again"
                )
            self._ended = True
            self._context.log("the video has ended")
            return
        stamp = time.time_ns()
        with self._images.loan() as image:
            image.header.stamp = stamp
            image.header.frame_id = self._frame_id
            self._capture.read(image)


class JpegEncoder(Component):
    """Publishes the pictures of /camera/image as JPEG on /camera/image/compressed, for slow links and small recordings."""

    def on_start(self, context: Context) -> None:
        self._cv2 = _cv2()
        self._quality = context.parameter("quality", 85, min=1, max=100, description="of JPEG, percent")
        self._every = context.parameter("every", 1, min=1, max=10_000, description="encodes one picture of this number")
        largest = context.parameter(
            "max_bytes", _LARGEST_JPEG, min=1024, max=1 << 30, fixed=True, description="of the largest picture, encoded"
        )
        self._seen = 0
        self._compressed = context.output(Topic("/camera/image/compressed", CompressedImage, max_bytes=largest.value))
        context.input(Topic("/camera/image", Image), self._encode, name="image")

    def _encode(self, image: Image) -> None:
        self._seen += 1
        if (self._seen - 1) % self._every.value != 0:
            return
        pixels = image.mat
        if image.encoding in ("rgb8", "rgba8"):
            alpha = image.encoding == "rgba8"
            pixels = self._cv2.cvtColor(pixels, self._cv2.COLOR_RGBA2BGR if alpha else self._cv2.COLOR_RGB2BGR)
        elif image.encoding not in ("mono8", "bgr8", "bgra8", "8UC1", "8UC3"):
            raise Error("unavailable", f"{image.encoding} has no form in JPEG", "publish mono8, bgr8, bgra8, rgb8 or rgba8")
        good, jpeg = self._cv2.imencode(".jpg", pixels, [self._cv2.IMWRITE_JPEG_QUALITY, self._quality.value])
        if not good:
            raise Error("unavailable", f"a picture of {image.width} x {image.height} cannot be encoded", "JPEG ends at 65500 pixels a side")
        with self._compressed.loan() as out:
            out.header.stamp = image.header.stamp
            out.header.frame_id = image.header.frame_id
            out.format = "jpeg"
            out.data = jpeg.reshape(-1)


def _write_pictures(source: str) -> None:
    """What `cardan demo --camera` reads from a pipe: a line of JSON, then the pixels of each picture."""
    out = sys.stdout.buffer
    try:
        capture = Capture(source)
        import numpy as np

        pixels = np.empty((capture.height, capture.width, 3), np.uint8)
        # Its own time is the reader's: a pipe that is full waits.
        head = {"name": capture.name, "width": capture.width, "height": capture.height, "rate": capture.rate, "live": capture.live}
        out.write(json.dumps(head).encode() + b"\n")
        while capture.grab():
            capture.decode(pixels)
            out.write(pixels.data)
            out.flush()
    except Error as error:
        sys.exit(f"{error.cause}\n{error.remedy}")


if __name__ == "__main__":
    _write_pictures(sys.argv[1])
