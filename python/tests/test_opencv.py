# SPDX-License-Identifier: Apache-2.0
"""Components over OpenCV under `cardan run`: a video that loops, JPEG of it, and sources that are none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Programs

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
        encoded = jpegs.wait(60)
        assert encoded is not None
        assert (encoded.format, encoded.header.frame_id) == ("jpeg", "front")
        picture = cv2.imdecode(np.array(encoded.data), cv2.IMREAD_COLOR)
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
        ("/nowhere/drive.mp4", "no such file"),
        ("/dev/null", "cannot open the camera /dev/null"),
        ("317", "there is no /dev/video317"),
        ("{folder}", "is not a file"),
        ("{text}", "is not a video that OpenCV can decode"),
    ],
)
def test_what_is_no_source_is_refused_with_a_remedy(source: str, cause: str, tmp_path: Path) -> None:
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
            pixels = np.frombuffer(child.stdout.read(WIDTH * HEIGHT * 3), np.uint8)
            assert number_of(pixels) == number % FRAMES
        child.kill()
    wrong = subprocess.run([sys.executable, "-m", "cardan.opencv", "/nowhere.mp4"], check=False, capture_output=True, text=True)
    assert wrong.returncode == 1
    assert wrong.stderr.splitlines()[0] == "/nowhere.mp4: no such file"
    assert wrong.stdout == ""
