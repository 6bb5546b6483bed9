# SPDX-License-Identifier: Apache-2.0
"""Components over OpenCV under `cardan run`: a video that loops, JPEG of it, and invalid sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Programs, until

import cardan
import cardan.opencv

cv2: Any = pytest.importorskip("cv2")
np: Any = pytest.importorskip("numpy")

WIDTH, HEIGHT, FRAMES, RATE = 96, 64, 10, 50


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten pictures; the grey of each says which it is."""
    file = tmp_path_factory.mktemp("video") / "street.avi"
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter_fourcc(*"MJPG"), RATE, (WIDTH, HEIGHT))
    assert writer.isOpened()
    for number in range(FRAMES):
        writer.write(np.full((HEIGHT, WIDTH, 3), 20 * number, np.uint8))
    writer.release()
    return file


def number_of(pixels: Any) -> int:
    return round(float(pixels.mean()) / 20)


def run_file(folder: Path, camera: dict[str, object], jpeg: dict[str, object]) -> str:
    file = folder / "drive.json"
    renamed = {"/camera/image": "/front"}
    both = {**renamed, "/camera/image/compressed": "/front/jpeg"}
    parts = {
        "camera": {"python": "cardan.opencv:Camera", "parameters": camera, "topics": renamed},
        "jpeg": {"python": "cardan.opencv:JpegEncoder", "parameters": jpeg, "topics": both},
    }
    file.write_text(json.dumps({"processes": {name: {"components": {name: part}} for name, part in parts.items()}}))
    return str(file)


def test_without_opencv_the_error_names_the_package(video: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(cardan.Error, match="pip install opencv-python-headless"):
        cardan.opencv.Capture(str(video))


def test_a_video_loops_and_its_jpeg_has_the_same_stamps(video: Path, tmp_path: Path, programs: Programs, command: str) -> None:
    front, small = cardan.Topic("/front", cardan.Image), cardan.Topic("/front/jpeg", cardan.CompressedImage)
    with front.subscriber(depth=50) as images, small.subscriber(depth=50) as jpegs:
        run = programs.start([command, "run", run_file(tmp_path, {"source": str(video), "frame_id": "front"}, {"quality": 95})])
        seen, stamps = [], set()
        for _ in range(25):
            image = images.wait(60)
            assert image is not None, run.communicate(timeout=60)
            assert (image.width, image.height, image.encoding, image.header.frame_id) == (WIDTH, HEIGHT, "bgr8", "front")
            seen.append(number_of(image.mat))
            stamps.add(image.header.stamp)
            del image
        assert len(stamps) == 25
        missed = images.missed
        steps = [(after - before) % FRAMES for before, after in zip(seen, seen[1:])]
        assert sum(step != 1 for step in steps) <= missed, seen
        made: dict[int, Any] = {}

        # The encoder may have started long after the first pictures that were taken here.
        def both_are_there() -> bool:
            image, encoded = images.wait(60), jpegs.wait(60)
            assert image is not None and encoded is not None, run.poll()
            assert (encoded.format, encoded.header.frame_id) == ("jpeg", "front")
            stamps.add(image.header.stamp)
            made[encoded.header.stamp] = np.array(encoded.data)
            return not stamps.isdisjoint(made)

        until(both_are_there)
        picture = cv2.imdecode(made[min(stamps & made.keys())], cv2.IMREAD_COLOR)
        assert picture.shape == (HEIGHT, WIDTH, 3)
        run.terminate()
        _, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors


def test_a_video_that_is_not_looped_ends_without_an_error(video: Path, tmp_path: Path, programs: Programs, command: str) -> None:
    with cardan.Topic("/front", cardan.Image).subscriber(depth=50) as images:
        file = run_file(tmp_path, {"source": str(video), "loop": False, "rate": 100.0}, {})
        run = programs.start([command, "run", file])
        last = -1
        while last != FRAMES - 1:
            image = images.wait(60)
            assert image is not None, last
            last = number_of(image.mat)
            del image
        assert images.wait(0.3) is None
        run.terminate()
        out, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors
        assert "the video has ended" in out + errors


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("", "no source of pictures is given"),
        ("/nowhere/drive.mp4", "no such file"),
        ("/nowhere/%04d.png", "no such file"),
        ("file:///nowhere/drive.mp4", "no such file"),
        ("http://127.0.0.1:9/drive", "cannot open http://127.0.0.1:9/drive"),
        ("bad\udcff.avi", "is not UTF-8"),
        ("/dev/null", "cannot open the camera /dev/null"),
        ("317", "there is no /dev/video317"),
        ("{folder}", "is not a file"),
        ("{text}", "is not a video that OpenCV can decode"),
    ],
)
def test_an_invalid_source_is_refused_with_a_remedy(source: str, cause: str, tmp_path: Path) -> None:
    text = tmp_path / "text.mp4"
    text.write_text("words, not pictures")
    with pytest.raises(cardan.Error) as refused:
        cardan.opencv.Capture(source.format(folder=tmp_path, text=text))
    assert cause in refused.value.cause
    assert refused.value.remedy


def test_pictures_go_straight_into_a_loan(video: Path, topic: str) -> None:
    capture = cardan.opencv.Capture(str(video), loop=False)
    assert (capture.width, capture.height, capture.live) == (WIDTH, HEIGHT, False)
    images = cardan.Topic(topic, cardan.Image, max_bytes=WIDTH * HEIGHT * 3)
    with images.subscriber() as sub, images.publisher() as pub:
        for number in range(FRAMES):
            assert capture.grab()
            with pub.loan() as image:
                capture.read(image)
            assert number_of(sub.wait(5).mat) == number
        assert not capture.grab()


def test_a_video_of_one_picture_keeps_its_name(tmp_path: Path) -> None:
    file = tmp_path / "one.avi"
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter_fourcc(*"MJPG"), RATE, (WIDTH, HEIGHT))
    writer.write(np.full((HEIGHT, WIDTH, 3), 40, np.uint8))
    writer.release()
    capture = cardan.opencv.Capture(f"file://{file}")
    for _ in range(4):
        assert capture.grab()
    assert (capture.live, capture.name) == (False, f"one.avi, {WIDTH} x {HEIGHT} at {RATE} fps, looped")


class OneEnds(cardan.opencv.Capture):
    """A camera that gives five pictures at each opening."""

    opened = 0

    def __init__(self, source: str, *, rate: float = 0.0, loop: bool = True) -> None:
        super().__init__(source, rate=rate, loop=False)
        self.live, self.left = True, 5
        OneEnds.opened += 1

    def grab(self) -> bool:
        self.left -= 1
        if self.left < 0:
            if OneEnds.opened > 2:
                raise RuntimeError("the driver broke")
            return False
        return super().grab()


def test_a_camera_that_ends_is_an_exception_once_and_is_opened_again(
    video: Path, tmp_path: Path, programs: Programs, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    (tmp_path / "ends.py").write_text(
        "import cardan.opencv, test_opencv\ncardan.opencv.Capture = test_opencv.OneEnds\nclass Camera(cardan.opencv.Camera): ...\n"
    )
    file = tmp_path / "drive.json"
    part = {"python": "ends:Camera", "parameters": {"source": str(video)}, "topics": {"/camera/image": "/front"}}
    file.write_text(json.dumps({"processes": {"camera": {"components": {"camera": part}}}}))
    with cardan.Topic("/front", cardan.Image).subscriber(depth=50) as images:
        run = programs.start([command, "run", str(file)])
        for _ in range(17):  # of four openings: the third ends with an exception of another kind
            assert images.wait(60) is not None
        run.terminate()
        out, errors = run.communicate(timeout=120)
    assert run.returncode == 3, errors  # as for each component with an exception
    assert 1 <= (out + errors).count("delivers no more pictures") <= 4, errors


IMAGES = cardan.Topic("/camera/image", cardan.Image, max_bytes=1 << 20)
JPEGS = cardan.Topic("/camera/image/compressed", cardan.CompressedImage, max_bytes=1 << 20)


@pytest.mark.parametrize(("encoding", "channels"), [("mono8", 1), ("bgr8", 3), ("rgb8", 3), ("rgba8", 4), ("bgra8", 4), ("8UC4", 4)])
def test_jpeg_of_each_encoding(encoding: str, channels: int) -> None:
    with cardan.Simulation() as simulation:
        simulation.add("jpeg", cardan.opencv.JpegEncoder, {"quality": 100, "every": 2})
        made = simulation.collect(JPEGS)
        simulation.start()
        for number in range(3):
            with simulation.output(IMAGES).loan() as image:
                pixels = image.resize(HEIGHT, WIDTH, encoding)
                pixels[...] = 50
                pixels[..., 0] = 200 if channels > 1 else 50  # blue, or red
                image.header.stamp = number
                image.set_source_time(100 + number)
            simulation.run()
        assert [(jpeg.header.stamp, cardan.info(jpeg).source_time) for jpeg in made] == [(0, 100), (2, 102)]
        blue, green, red = cv2.imdecode(np.array(made[0].data), cv2.IMREAD_COLOR).reshape(-1, 3).mean(0)
    wanted = (200, 50, 50) if channels > 1 else (50, 50, 50)
    if encoding.startswith("rgb"):
        wanted = wanted[::-1]
    assert abs(blue - wanted[0]) < 5 and abs(green - wanted[1]) < 5 and abs(red - wanted[2]) < 5


@pytest.mark.parametrize(("height", "encoding", "cause"), [(0, "bgr8", "0 x 0 has no form"), (8, "16UC1", "16UC1 has no form")])
def test_images_without_a_jpeg_are_reported(height: int, encoding: str, cause: str, capfd: pytest.CaptureFixture[str]) -> None:
    with cardan.Simulation() as simulation:
        simulation.add("jpeg", cardan.opencv.JpegEncoder)
        made = simulation.collect(JPEGS)
        simulation.start()
        with simulation.output(IMAGES).loan() as image:
            image.resize(height, height, encoding)[...] = 0
        simulation.run()
        assert (made, simulation.failures) == ([], 1)
    assert cause in capfd.readouterr().err


def test_a_picture_of_another_size_is_refused(video: Path) -> None:
    capture = cardan.opencv.Capture(str(video))
    assert capture.grab()
    with pytest.raises(cardan.Error, match="changed its size"):
        capture.decode(np.empty((HEIGHT + 2, WIDTH, 3), np.uint8))


def test_the_pipe_has_a_head_and_the_pictures(video: Path) -> None:
    with subprocess.Popen([sys.executable, "-m", "cardan.opencv", str(video)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        head = json.loads(child.stdout.readline())
        assert (head["width"], head["height"], head["rate"], head["live"]) == (WIDTH, HEIGHT, RATE, False)
        for number in range(2 * FRAMES):  # it loops
            assert child.stdout.read(1) == b"P"
            pixels = np.frombuffer(child.stdout.read(WIDTH * HEIGHT * 3), np.uint8)
            assert number_of(pixels) == number % FRAMES
        child.kill()
    wrong = subprocess.run([sys.executable, "-m", "cardan.opencv", "/nowhere.mp4"], check=True, capture_output=True, text=True)
    assert json.loads(wrong.stdout)["cause"] == "/nowhere.mp4: no such file"
