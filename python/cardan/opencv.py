# SPDX-License-Identifier: Apache-2.0
"""Components over OpenCV: a camera or video, and JPEG. Needs opencv-python-headless, which `pip install "cardan[opencv]"` brings.

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
import threading
import time
import typing

from cardan._classes import info
from cardan._component import Component, Context
from cardan._errors import Error
from cardan._messages import CompressedImage, Image
from cardan._topic import Topic

_USUAL_RATE = 25.0
"""Hz, of a source that does not know its own."""
_MOST_RATE = 1000.0
_URL_PATIENCE = 3000
"""Milliseconds, below the time that a process has to end."""
_LOOK = 0.05
_REOPEN = 1.0
"""Seconds."""
_LONGEST_FRAME_ID = 60
"""Bytes, of cardan::Header."""
_LARGEST_JPEG = 3 << 20
_LONGEST_SIDE = 65500
"""Pixels, of JPEG as OpenCV writes it."""
_GIVE = "give a video file, a pattern of pictures (DIR/%04d.png), a V4L2 device number (0) or a URL"


def _cv2() -> typing.Any:
    try:
        cv2 = importlib.import_module("cv2")
    except ImportError as error:
        raise Error(
            "unavailable",
            f"the package opencv-python-headless cannot be imported: {error}",
            f"run {sys.executable} -m pip install opencv-python-headless"
            + (", or install the Debian package python3-opencv" if sys.prefix == sys.base_prefix else ""),
        ) from None
    # Errors are reported here, once and with their remedy. The function's place differs by version.
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
        """`rate`: pictures a second; 0: the source's own. `loop`: a file starts again at its end. Blocks until the first
        picture is there; with a URL, 3 s at most."""
        if not source:
            raise Error("invalid_argument", "no source of pictures is given", _GIVE)
        try:
            source.encode("utf-8")  # OpenCV crashes
        except UnicodeEncodeError:
            raise Error("invalid_argument", f"the name {source!r} is not UTF-8", "rename the file") from None
        self._cv2 = _cv2()
        self._loop = loop
        self._source = source[len("file://") :] if source.startswith("file://") else source
        self.name, self.live = self._source, True
        """For people, for example "drive.mp4, 1920 x 1200 at 30 fps, looped"; whether it keeps its own time."""
        self._capture = self._open()
        if "://" not in self._source:
            self.live = _device_of(self._source) is not None
            self.name = _device_of(self._source) or os.path.basename(self._source)
        elif self._capture.get(self._cv2.CAP_PROP_FRAME_COUNT) > 0:  # a file on a server
            self.live = False
        if self.live and rate > 0 and not self._capture.set(self._cv2.CAP_PROP_FPS, rate):
            raise Error("invalid_argument", f"{source} has its own rate", "leave the rate out: it is for files and cameras")
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
        # OpenCV allocates again when the size is another.
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
            patience = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, _URL_PATIENCE, cv2.CAP_PROP_READ_TIMEOUT_MSEC, _URL_PATIENCE]
            capture = cv2.VideoCapture(source, cv2.CAP_FFMPEG, patience)
            if not capture.isOpened():
                raise Error("unavailable", f"cannot open {source}", "check the URL with ffprobe, and that the camera is on the network")
            return capture
        device = _device_of(source)
        if device is not None:
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
        if os.path.exists(source):
            if not _is(stat.S_ISREG, source):  # a pipe would block, and cannot be looped
                raise Error("invalid_argument", f"{source} is not a file", _GIVE)
            if not os.access(source, os.R_OK):
                raise Error("unavailable", f"{source} is not readable", "check its permissions")
        elif "%" not in source or not os.path.isdir(os.path.dirname(source) or "."):
            raise Error("unavailable", f"{source}: no such file", _GIVE)
        capture = cv2.VideoCapture(source)
        if not capture.isOpened():
            raise Error(
                "invalid_argument",
                f"{source} is not a video that OpenCV can decode",
                "give a file that ffprobe understands, for example MP4 with H.264 or AVI",
            )
        return capture


def _device_of(source: str) -> str | None:
    """"/dev/video0" of "0"; None: it is another kind of source."""
    if source.isascii() and source.isdigit() and len(source) <= 3 and not os.path.exists(source):
        return f"/dev/video{source}"
    return source if _is(stat.S_ISCHR, source) else None


def _is(kind: typing.Callable[[int], bool], path: str) -> bool:
    try:
        return kind(os.stat(path).st_mode)
    except OSError:
        return False


class Camera(Component):
    """Publishes a Capture's pictures on /camera/image. A live source has its own thread, because it blocks; if it ends,
    that is an exception of the component, and it is opened again each second."""

    def on_start(self, context: Context) -> None:
        source = context.parameter("source", "", fixed=True, description="video file, pattern of pictures, V4L2 device or URL")
        rate = context.parameter(
            "rate", 0.0, min=0.0, max=_MOST_RATE, fixed=True, description="pictures a second; 0: the source's own"
        )
        loop = context.parameter("loop", True, fixed=True, description="a file starts again at its end")
        self._frame_id = context.parameter("frame_id", "camera", fixed=True, description="frame_id of each picture").value
        if len(self._frame_id.encode()) > _LONGEST_FRAME_ID:
            raise Error("invalid_argument", f"frame_id has more than {_LONGEST_FRAME_ID} bytes", "give a shorter one")
        self._context, self._ended = context, False
        self._given = (source.value, rate.value)
        self._capture = Capture(source.value, rate=rate.value, loop=loop.value)
        largest = self._capture.width * self._capture.height * 3
        self._images = context.output(Topic("/camera/image", Image, max_bytes=largest))
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        if self._capture.live:
            context.timer(_LOOK, self._look, name="camera")
        else:
            context.timer(1 / self._capture.rate, self._next, name="picture")
        context.log(self._capture.name)

    def on_stop(self) -> None:
        if not hasattr(self, "_stopping"):  # on_start() raised
            return
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_URL_PATIENCE / 1000 + _LOOK)
        if self._thread is None or not self._thread.is_alive():
            self._capture.close()

    def _next(self) -> None:
        if not self._ended and not self._picture():
            self._ended = True
            self._context.log("the video has ended")
        self._raise()

    def _look(self) -> None:
        if self._thread is None:  # when all components have started
            self._thread = threading.Thread(target=self._drive, daemon=True)
            self._thread.start()
        self._raise()

    def _raise(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _drive(self) -> None:
        known = False  # its end was an exception already
        while not self._stopping.is_set():
            try:
                while not self._stopping.is_set() and self._picture():
                    known = False
                if not self._stopping.is_set():
                    raise _ended(self._capture)
            except Exception as error:  # of any kind, or the camera would end without an error
                if not known:
                    self._failure = error
                known = True
            if self._stopping.wait(_REOPEN):
                return
            self._open_again()

    def _open_again(self) -> None:
        source, rate = self._given
        try:
            capture = Capture(source, rate=rate)
        except Error:
            return
        if (capture.width, capture.height) != (self._capture.width, self._capture.height):
            capture.close()
            self._failure = Error(
                "unavailable",
                f"{source} is back with pictures of {capture.width} x {capture.height}",
                "start again: the size is fixed when the camera starts",
            )
            return
        self._capture.close()
        self._capture = capture

    def _picture(self) -> bool:
        if not self._capture.grab():
            return False
        stamp = time.time_ns()
        try:
            loan = self._images.loan()
        except Error as error:  # its readers hold all slots: this picture is lost
            self._failure = error
            return True
        with loan as image:
            image.header.stamp = stamp
            image.header.frame_id = self._frame_id
            self._capture.read(image)
        return True


def _ended(capture: Capture) -> Error:
    return Error("unavailable", f"{capture.name} delivers no more pictures", "check its cable or network and start again")


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
        elif image.encoding not in ("mono8", "bgr8", "bgra8", "8UC1", "8UC3", "8UC4"):
            raise Error("unavailable", f"{image.encoding} has no form in JPEG", "publish mono8, bgr8, bgra8, rgb8 or rgba8")
        if not (0 < image.width <= _LONGEST_SIDE and 0 < image.height <= _LONGEST_SIDE):
            raise Error(
                "unavailable",
                f"a picture of {image.width} x {image.height} has no form in JPEG",
                f"publish 1 to {_LONGEST_SIDE} pixels a side",
            )
        jpeg = self._cv2.imencode(".jpg", pixels, [self._cv2.IMWRITE_JPEG_QUALITY, self._quality.value])[1]
        with self._compressed.loan() as out:
            out.set_source_time(info(image).source_time)
            out.header.stamp = image.header.stamp
            out.header.frame_id = image.header.frame_id
            out.format = "jpeg"
            out.data = jpeg.reshape(-1)


def _write_pictures(source: str) -> None:
    """The pipe that `cardan demo --camera` reads: a line of JSON, then each picture as "P" and its pixels. An error is
    a line {"cause": …, "remedy": …}, after a picture as "E" and the line."""
    import numpy as np

    out = sys.stdout.buffer
    before = b""
    try:
        capture = Capture(source)
        pixels = np.empty((capture.height, capture.width, 3), np.uint8)
        # Its own time is the reader's: a pipe that is full waits.
        head = {"name": capture.name, "width": capture.width, "height": capture.height, "rate": capture.rate, "live": capture.live}
        out.write(json.dumps(head).encode() + b"\n")
        before = b"E"
        while capture.grab():
            capture.decode(pixels)
            out.write(b"P")
            out.write(pixels.data)
            out.flush()
        raise _ended(capture)
    except Error as error:
        out.write(before + json.dumps({"cause": error.cause, "remedy": error.remedy}).encode() + b"\n")
        out.flush()


def main() -> None:
    _write_pictures(sys.argv[1])


if __name__ == "__main__":
    main()
