# SPDX-License-Identifier: Apache-2.0
"""Recordings: what is written is read again, by us and by others; slices, columns, and what others wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Programs, until

import cardan

T = 1_700_000_000_000_000_000
S = 1_000_000_000


@cardan.message("my_msgs/msg/Wheel")
@dataclass
class Wheel:
    speed: float = 0.0


@cardan.message("my_msgs/msg/Car")
@dataclass
class Car:
    stamp: cardan.int64 = 0
    mode: str = ""
    wheels: list[Wheel] = field(default_factory=list)
    ranges: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))


def car(i: int) -> Car:
    return Car(i, f"mode {i}", [Wheel(i), Wheel(-i)], np.full(1000, i, np.float32))


def write(path: Path, count: int = 100, **options: object) -> Path:
    """/car, /cam and /imu at 10 Hz."""
    with cardan.Bag(path, "w", **options) as out:  # type: ignore[arg-type]
        for i in range(count):
            out.write("/car", car(i), log_ns=T + i * S // 10)
            with out.loan("/cam", cardan.Image, log_ns=T + i * S // 10 + 1) as frame:
                frame.resize(48, 64, "bgr8")[:] = i
                frame.set_source_time(i + 1)
            imu = {"header": {"stamp": i, "frame_id": "imu"}, "angular_velocity": {"x": i / 10}}
            out.write("/imu", imu, type=cardan.Imu, log_ns=T + i * S // 10 + 2, publish_ns=T + i)
    return path


@pytest.fixture(params=["none", "lz4", "zstd"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return write(tmp_path / "drive.mcap", compression=request.param)


def test_the_content_of_a_bag(path: Path) -> None:
    with cardan.Bag(path) as bag:
        assert bag.complete and bag.problems == [] and bag.bad == 0 and not bag.closed
        assert (bag.start, bag.end) == (T, T + 99 * S // 10 + 2) and bag.duration == pytest.approx(9.900000002)
        assert list(bag.topics) == ["/cam", "/car", "/imu"]
        topic = bag.topics["/imu"]
        assert (topic.type, topic.encoding, topic.count) == ("sensor_msgs/msg/Imu", "cdr", 100)
        assert (topic.start, topic.end) == (T + 2, T + 99 * S // 10 + 2)
        assert bag.topics["/car"].definition.startswith("int64 stamp") and "topic_type_hash" in topic.metadata
    assert bag.closed
    with pytest.raises(cardan.Error, match="not open for reading"):
        bag.read()


def test_messages_come_back(path: Path) -> None:
    with cardan.Bag(path) as bag:
        all_times = [message.log_ns for message in bag]
        assert len(all_times) == 300 and all_times == sorted(all_times)
        frames = list(bag.read("/cam"))
        cars = list(bag.read("/car", type=Car))
        imus = list(bag.read("/imu", type=cardan.Imu))
    # Beyond the end of the file they live as long as somebody keeps them.
    assert [int(frame.mat[5, 5, 1]) for frame in frames] == list(range(100))
    frame = frames[7]
    assert isinstance(frame, cardan.Image) and frame.mat.shape == (48, 64, 3) and not frame.mat.flags.writeable
    assert (frame.topic, frame.log_ns, frame.publish_ns) == ("/cam", T + 7 * S // 10 + 1, T + 7 * S // 10 + 1)
    assert (frame.sequence, frame.source_time, frame.age) == (8, 8, 0.0)
    info = cardan.info(frame)
    assert (info.topic, info.log_time, info.source_time) == ("/cam", frame.log_ns, 8)
    with pytest.raises(cardan.Error, match="read-only"):
        frame.height = 3
    value = cars[3].value
    assert value.mode == "mode 3" and value.wheels == [Wheel(3), Wheel(-3)] and (value.ranges == 3).all()
    assert imus[5].angular_velocity.x == 0.5 and imus[5].header.frame_id == "imu" and imus[5].publish_ns == T + 5
    again = cars[3].copy()
    del cars
    assert again.wheels[1].speed == -3 and cardan.to_dict(again)["mode"] == "mode 3"
    assert cardan.structured(again.wheels)["speed"].tolist() == [3, -3]


def test_parts(path: Path) -> None:
    bag = cardan.Bag(path)
    assert [m.log_ns - T for m in bag["/car"][2.0:2.2]] == [2 * S, 21 * S // 10]
    assert [m.topic for m in bag[2.0:2.1]] == ["/car", "/cam", "/imu"]
    assert [m.sequence for m in bag["/imu"][-0.25:]] == [98, 99, 100]
    assert len(list(bag["/imu"][5:][1:2])) == 10 and len(list(bag[:])) == 300 and list(bag[20:]) == [] and list(bag[3:2]) == []
    some = bag.read("/c*", "/imu", start=1, end=1.1)
    assert some.topics == ["/cam", "/car", "/imu"] and len(list(some)) == 3 == len(list(some))
    assert [m.sequence for m in bag.read("/ca?", start_ns=T + S, end_ns=T + S + 1)] == [11]
    assert some.duration == pytest.approx(0.1) and (some.start, some.end) == (T + S, T + 11 * S // 10)
    with pytest.raises(cardan.Error, match="no topic '/camm'.*/cam"):
        bag.read("/camm")
    with pytest.raises(TypeError, match="seconds"):
        bag["now":]  # type: ignore[misc]
    with pytest.raises(TypeError, match="sliced by seconds"):
        bag[1:2:3]
    with pytest.raises(cardan.Error, match="give one"):
        bag.read(start=1, start_ns=1)
    with pytest.raises(cardan.Error, match="not a number"):
        bag[float("nan") :]
    done: list[float] = []
    assert sum(1 for _ in bag.read("/car", progress=done.append)) == 100 and done[-1] == 1.0 and done == sorted(done)


def test_columns(path: Path) -> None:
    bag = cardan.Bag(path)
    imu = bag.frame("/imu")
    assert imu["angular_velocity.x"].tolist() == [i / 10 for i in range(100)] and imu["angular_velocity.x"].flags.owndata
    assert imu["orientation_covariance"].shape == (100, 9) and imu["header.stamp"].tolist() == list(range(100))
    assert imu["publish_ns"].tolist() == [T + i for i in range(100)] and imu["sequence"][0] == 1 and "header.frame_id" not in imu
    some = bag["/imu"][5.0:].frame(fields=["angular_velocity"])
    assert [n for n in some if "." in n] == ["angular_velocity.x", "angular_velocity.y", "angular_velocity.z"]
    assert some["angular_velocity.x"][0] == 5.0 and len(some["log_ns"]) == 50
    nothing = bag["/imu"][50:].frame()
    assert nothing["angular_velocity.x"].shape == (0,) and nothing["orientation_covariance"].shape == (0, 9)
    assert list(bag.frame("/car")) == ["log_ns", "publish_ns", "source_time", "sequence", "stamp"]
    with pytest.raises(cardan.Error, match="no numbers 'angular'"):
        bag.frame("/imu", fields=["angular"])
    with pytest.raises(cardan.Error, match="3 topics"):
        bag[:].frame()
    with pytest.raises(cardan.Error, match="dict, pandas or polars"):
        bag.frame("/imu", "excel")


def test_many_columns(tmp_path: Path) -> None:
    with cardan.Bag(tmp_path / "long.mcap", "w") as out:
        for i in range(10_000):
            out.write("/wheel", Wheel(i), log_ns=i)
    wheel = cardan.Bag(tmp_path / "long.mcap").frame("/wheel")
    assert (wheel["speed"] == np.arange(10_000)).all() and (wheel["log_ns"] == np.arange(10_000)).all()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library: str, path: Path) -> None:
    bag = cardan.Bag(path)
    if find_spec(library) is None:
        with pytest.raises(cardan.Error, match=f"pip install {library}"):
            bag.frame("/imu", library)
        return
    imu = bag.frame("/imu", library)
    assert imu.shape[0] == 100 and imu["angular_velocity.x"].to_list()[5] == 0.5 and "orientation_covariance.8" in imu.columns
    if library == "pandas":
        assert str(imu.index[0]).startswith("2023-11-14 22:13:20")


def test_neither_pandas_nor_the_recorder_is_loaded_for_topics() -> None:
    code = "import sys, cardan; print([m for m in ('pandas', 'polars', 'cardan._record', 'numpy') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_others_read_it(path: Path, command: str) -> None:
    run = subprocess.run([command, "bag", "verify", str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    info = json.loads(subprocess.run([command, "bag", "info", "--json", str(path)], capture_output=True, check=True).stdout)
    assert info["profile"] == "ros2" and info["messages"] == 300 and info["finished"]
    mcap_ros2 = pytest.importorskip("mcap_ros2.reader")
    seen = list(mcap_ros2.read_ros2_messages(str(path), topics=["/car"]))
    assert [m.ros_msg.mode for m in seen] == [f"mode {i}" for i in range(100)] and seen[4].ros_msg.wheels[1].speed == -4


def test_messages_of_any_encoding_are_read_and_copied(tmp_path: Path) -> None:
    writer = pytest.importorskip("mcap.writer")
    from mcap.reader import make_reader

    with (tmp_path / "foreign.mcap").open("wb") as file:
        out = writer.Writer(file)
        out.start()
        schema = out.register_schema("Point", "jsonschema", b'{"type": "object"}')
        points = out.register_channel("/point", "json", schema, {"unit": "m"})
        none = out.register_channel("/none", "", 0)
        for i in range(3):
            out.add_message(points, log_time=10 + i, publish_time=5, data=json.dumps({"x": i}).encode(), sequence=i)
            out.add_message(none, log_time=20 + i, publish_time=5, data=b"")
        out.finish()
    bag = cardan.Bag(tmp_path / "foreign.mcap")
    got = list(bag.read("/point"))
    assert isinstance(got[0], cardan.Encoded) and (got[0].encoding, got[0].type_name) == ("json", "Point")
    assert [json.loads(bytes(m.data))["x"] for m in got] == [0, 1, 2] and "json" in got[0].why
    with pytest.raises(cardan.Error, match="not as CDR"):
        got[0].cdr()
    with pytest.raises(cardan.Error, match="no columns"):
        bag.frame("/point")
    with pytest.raises(cardan.Error, match="/point"):
        bag.read("/point", type=Car)
    with cardan.Bag(tmp_path / "copy.mcap", "w") as copy:
        for message in bag:
            copy.write(message.topic, message)
    with (tmp_path / "copy.mcap").open("rb") as file:
        all_copied = list(make_reader(file).iter_messages())
    first = next(one for one in all_copied if one[1].topic == "/point")
    assert first[0].data == b'{"type": "object"}' and first[1].metadata == {"unit": "m"} and first[2].data == b'{"x": 0}'
    assert first[2].log_time == 10 and first[2].publish_time == 5 and len(all_copied) == 6


def test_a_copy_keeps_everything(path: Path, tmp_path: Path) -> None:
    bag = cardan.Bag(path)
    with cardan.Bag(tmp_path / "decoded.mcap", "w") as decoded, cardan.Bag(tmp_path / "raw.mcap", "w") as raw:
        decoded.add_metadata("route", {"from": "Ulm"})
        for message in bag:
            decoded.write(message.topic, message)
        for message in bag.read(raw=True):
            raw.write(message.topic, message)
    for name in ("decoded", "raw"):
        copy = cardan.Bag(tmp_path / f"{name}.mcap")
        for a, b in zip(bag.read(raw=True), copy.read(raw=True)):
            assert cardan.info(a) == cardan.info(b) and bytes(a.data) == bytes(b.data)
        assert {n: (t.type, t.count) for n, t in copy.topics.items()} == {n: (t.type, t.count) for n, t in bag.topics.items()}
    assert cardan.Bag(tmp_path / "decoded.mcap").metadata == {"route": {"from": "Ulm"}}


def test_the_content_of_a_written_bag(tmp_path: Path) -> None:
    out = cardan.Bag(tmp_path / "out.mcap", "w")
    with cardan.Topic("/bag_written", Car, max_bytes=20_000).subscriber() as sub:
        with cardan.Topic("/bag_written", Car, max_bytes=20_000).publisher() as pub:
            pub.publish(car(1))
            live = sub.wait(5)
        out.write("/live", live)
        out.write("/part", live.wheels[0], type=Wheel)
        out.write("/cdr", live.cdr(), type=Car)
        out.write("/large", Car(ranges=np.zeros(1 << 20, np.float32)))
    with pytest.raises(cardan.Error, match="not a my_msgs/msg/Car"):
        out.write("/cdr", live.cdr()[:20], type=Car)
    with pytest.raises(TypeError, match="need a type"):
        out.write("/cdr", {"speed": 1.0})
    with pytest.raises(TypeError, match="is not a message"):
        out.write("/cdr", 5)
    with pytest.raises(TypeError, match="speed"):
        out.write("/cdr", Wheel("fast"))  # type: ignore[arg-type]
    with pytest.raises(cardan.Error, match="log_ns"):
        out.write("/cdr", Wheel(), log_ns=-1)
    with pytest.raises(RuntimeError, match="no image"), out.loan("/cam", cardan.Image) as frame:
        frame.resize(10, 10, "mono8")
        raise RuntimeError("no image")
    with pytest.raises(cardan.Error, match="max_bytes is 100"), out.loan("/cam", cardan.Image, max_bytes=100) as frame:
        frame.resize(100, 100, "mono8")
    with pytest.raises(cardan.Error, match="not a loan of the publisher"):
        cardan.Topic("/bag_draft", Car, max_bytes=100).publisher()._handle.publish(out.loan("/car", Car)._message)
    assert not (tmp_path / "out.mcap").exists() and (tmp_path / "out.mcap.partial").exists()
    out.close()
    out.close()
    with pytest.raises(cardan.Error, match="is closed"):
        out.write("/car", car(1))
    bag = cardan.Bag(tmp_path / "out.mcap")
    assert {n: t.count for n, t in bag.topics.items()} == {"/live": 1, "/part": 1, "/cdr": 1, "/large": 1}
    one = next(iter(bag.read("/live", type=Car)))
    assert one.value.mode == "mode 1" and abs(one.log_ns - one.publish_ns) < 60 * S and one.sequence == 1


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "drive.mcap", 3)
    with pytest.raises(cardan.Error, match=r"already exists .* \(replace=True\)"):
        cardan.Bag(path, "w")
    with cardan.Bag(path, "w", replace=True) as out:
        assert len(list(cardan.Bag(path))) == 9  # until it is done
        out.write("/car", car(0))
    assert len(list(cardan.Bag(path))) == 1
    given_up = cardan.Bag(tmp_path / "other.mcap", "w")
    given_up.discard()
    given_up.close()
    with pytest.raises(ZeroDivisionError), cardan.Bag(tmp_path / "broken.mcap", "w") as out:
        out.write("/car", car(0))
        raise ZeroDivisionError
    assert len(list(cardan.Bag(tmp_path / "broken.mcap"))) == 1  # what was written is kept
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broken.mcap", "drive.mcap"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "a"}, "use"),
        ({"mode": "w", "compression": "rar"}, "none, lz4, zstd"),
        ({"mode": "w", "compression": "zstd", "level": 99}, "level is 99"),
        ({}, "does not exist|cannot be opened|No such file"),
    ],
)
def test_impossible_options(options: dict[str, object], says: str, tmp_path: Path) -> None:
    with pytest.raises(cardan.Error, match=says):
        cardan.Bag(tmp_path / "x.mcap", **options)  # type: ignore[arg-type]
    with pytest.raises(cardan.Error, match="not open for writing"):
        cardan.Bag(write(tmp_path / "y.mcap", 1)).write("/x", Wheel())


def test_a_program_that_ends_finishes_its_file(tmp_path: Path) -> None:
    code = "import cardan, sys; out = cardan.Bag(sys.argv[1], 'w'); out.write('/i', {'header': {'stamp': 1}}, type=cardan.Imu)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.mcap")], check=True)
    assert len(list(cardan.Bag(tmp_path / "x.mcap"))) == 1


def test_workers_of_fork_read(path: Path) -> None:
    sub = cardan.Topic("/bag_fork", Wheel).subscriber()  # the process uses topics
    bag = cardan.Bag(path)
    kept = next(iter(bag.read("/cam", start=3)))
    child = os.fork()
    if child == 0:
        try:
            right = int(kept.mat[0, 0, 0]) == 30 and [int(m.mat[0, 0, 0]) for m in bag.read("/cam", end=0.5)] == [0, 1, 2, 3, 4]
            os._exit(0 if right else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    sub.close()


@pytest.fixture
def stream(programs: Programs) -> Iterator[str]:
    code = (
        "import cardan, time, itertools\n"
        "pub = cardan.Topic('/bag/imu', cardan.Imu, max_bytes=100, depth=500).publisher()\n"
        "for i in itertools.count():\n    pub.publish(header={'stamp': i, 'frame_id': 'x'}); time.sleep(0.01)\n"
    )
    programs.python(code)
    yield "/bag/imu"


def test_record_and_play(stream: str, tmp_path: Path) -> None:
    path = tmp_path / "live.mcap"
    with cardan.record(path, "/bag/*", min_space=1 << 20) as recorder:
        until(lambda: recorder.recorded > 50)
        recorder.pause()
        recorder.resume()
        statistics = recorder.statistics
        assert statistics["topics"][0]["topic"] == stream and recorder.lost == 0 and not recorder.ended
    assert recorder.files == [str(path)] and not path.with_suffix(".mcap.active").exists()
    with pytest.raises(cardan.Error, match="exist"):
        cardan.record(path, stream)
    bag = cardan.Bag(path)
    stamps = bag.frame(stream)["header.stamp"]
    assert len(stamps) > 50 and (np.diff(stamps) >= 1).all() and bag.complete
    sub = cardan.Topic("/again", cardan.Imu, depth=10).subscriber()
    with cardan.play(path, remap={stream: "/again"}, as_fast_as_readers=True, wait_for_readers=1) as player:
        seen = [sub.wait(60).header.stamp for _ in range(20)]
        assert seen == stamps[:20].tolist()
        player.pause()
        player.set_rate(2)
        player.resume()
        assert player.statistics["topics"][0]["topic"] == "/again" and player.published >= 20 and player.failed == 0
    sub.close()
    with cardan.play(path, remap={stream: "/again"}, rate=0.01) as player:
        assert not player.wait(0.01)
    with cardan.play(path, remap={stream: "/again"}, rate=1000) as player:
        assert player.wait(60) and player.published == len(stamps)
    with pytest.raises(cardan.Error, match="nothing|no topic|matches"):
        cardan.play(path, "/nothing")
