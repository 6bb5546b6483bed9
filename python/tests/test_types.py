# SPDX-License-Identifier: Apache-2.0
"""Own types and those of others: dataclasses, ros2msg texts, topics whose type nobody was compiled with, CDR."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import subprocess
import sys
import typing
from dataclasses import dataclass, field
from typing import Annotated, Any, Optional

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Programs

import cardan
from cardan._known import type_of


@cardan.message("my_msgs/msg/Wheel")
@dataclass
class Wheel:
    speed: float = 0.0  # rad/s
    pressure: cardan.float32 = 0.0  # Pa


@cardan.message("my_msgs/msg/Car")
@dataclass
class Car:
    stamp: cardan.int64 = 0
    wheels: Annotated[list[Wheel], cardan.Length(4)] = field(default_factory=lambda: [Wheel() for _ in range(4)])
    mode: Annotated[str, cardan.MaxLength(16)] = ""
    ranges: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    names: list[str] = field(default_factory=list)
    gears: Annotated[list[cardan.uint8], cardan.MaxLength(3)] = field(default_factory=list)
    raw: bytes = b""
    spare: list[Wheel] = field(default_factory=list)
    on: bool = False
    turns: int = 0


def car() -> Car:
    return Car(
        stamp=-5,
        wheels=[Wheel(1.5, 2.5), Wheel(), Wheel(3.0), Wheel()],
        mode="sport",
        ranges=np.arange(5, dtype=np.float32),
        names=["one", "zwölf", ""],
        gears=[1, 2],
        raw=b"\x00\xff",
        spare=[Wheel(7.0, 8.0)],
        on=True,
        turns=1 << 60,
    )


def same(a: Car, b: Car) -> bool:
    return np.array_equal(a.ranges, b.ranges) and {k: v for k, v in vars(a).items() if k != "ranges"} == {
        k: v for k, v in vars(b).items() if k != "ranges"
    }


def test_a_dataclass_there_and_back(topic: str) -> None:
    cars = cardan.Topic(topic, Car, max_bytes=4096)
    sub, pub = cars.subscriber(), cars.publisher()
    pub.publish(car())
    got = sub.wait(5)
    assert got.mode == "sport" and got.wheels[2].speed == 3.0 and list(got.names) == ["one", "zwölf", ""]
    assert got.ranges.dtype == np.float32 and not got.ranges.flags.writeable and got.gears.tolist() == [1, 2]
    wheels = cardan.structured(got.wheels)
    assert wheels["speed"].tolist() == [1.5, 0.0, 3.0, 0.0] and not wheels.flags.writeable
    assert isinstance(got.value, Car) and same(got.value, car())
    pub.publish(got)  # a message of the same fields
    assert same(sub.wait(5).value, car())
    with pub.loan() as made:
        with pytest.raises(ValueError, match="at most 16"):
            made.mode = "x" * 17
        with pytest.raises(ValueError, match="at most 3"):
            made.gears = [1, 2, 3, 4]
        with pytest.raises(ValueError, match="4 elements"):
            made.wheels = [Wheel()]
        with pytest.raises(TypeError, match=r"spare\[0\]"):
            made.spare = [5]
        made.names = ["a"] * 3
        made.spare = [{"speed": 1}, Wheel(2.0)]
        made.spare[0].pressure = 4
        cardan.structured(made.wheels)["speed"] = 9
    got = sub.wait(5)
    assert [w.speed for w in got.spare] == [1, 2] and got.spare[0].pressure == 4 and got.wheels[3].speed == 9


def test_a_failed_publish_leaves_no_loan_out(topic: str) -> None:
    pub = cardan.Topic(topic, Car, max_bytes=4096).publisher()
    for _ in range(5):
        with pytest.raises(TypeError, match=r"wheels\[1\].speed"):
            pub.publish({"wheels": [Wheel(), Wheel("fast"), Wheel(), Wheel()]})  # type: ignore[arg-type]
        with pytest.raises(cardan.Error, match="max_bytes"):
            pub.publish({"ranges": np.zeros(5000, np.float32)})
    assert pub.publish(car()) and pub.published == 1


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        (Any, "not a type that a message can have"),
        (Optional[int], "not a type that a message can have"),
        (dict[str, int], "not a type that a message can have"),
        (list[list[int]], "lists of lists"),
        (complex, "not a type that a message can have"),
        (object, "not a type that a message can have"),
        (npt.NDArray[np.complex128], "not a type that a message can have"),
        (Annotated[int, cardan.Length(3)], "Length"),
        ("Nowhere", "cannot be resolved"),
        (typing.Callable[[], int], "not a type that a message can have"),
    ],
)
def test_annotations_that_no_message_has(annotation: Any, says: str) -> None:
    made = dataclass(type("Bad", (), {"__annotations__": {"x": annotation}}))
    with pytest.raises(TypeError, match=says):
        cardan.message("my_msgs/msg/Bad")(made)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("std_msgs/Header header\ngeometry_msgs/Point[] corners\n", ["std_msgs/msg/Header", "geometry_msgs/msg/Point[]"]),
        ("Header header  # of the sensor", ["std_msgs/msg/Header"]),
        ("std_msgs/msg/Header header\nsensor_msgs/msg/Imu[<=2] imus", ["std_msgs/msg/Header", "sensor_msgs/msg/Imu[<=2]"]),
        ("Two[2] twos\n" + "=" * 80 + "\nMSG: my_msgs/Two\ngeometry_msgs/Pose[2] poses\n", ["my_msgs/msg/Two[2]"]),
        ("string text geometry_msgs/Pose\nint32 ONE=1", ["string"]),
    ],
    ids=["parts", "header", "long", "inner", "default"],
)
def test_a_definition_may_name_cardans_own_types(text: str, kinds: list[str], topic: str) -> None:
    kind = cardan.from_ros2msg("my_msgs/msg/Some", text)
    assert [one for _, one in type_of(kind).fields] == kinds
    with cardan.Topic(topic, kind, max_bytes=10_000).publisher() as pub, cardan.Topic(topic).subscriber() as sub:
        pub.publish()
        assert cardan.to_dict(sub.wait(60)).keys() == {name for name, _ in type_of(kind).fields}


def test_a_definition_keeps_its_own_types() -> None:
    own = "std_msgs/Header header\nsensor_msgs/Image image\n" + "=" * 80 + "\nMSG: std_msgs/Header\nint32 mine\n"
    kind = cardan.from_ros2msg("my_msgs/msg/Some", own)
    assert type_of(kind).definition.count("MSG: std_msgs/Header") == 1 and "int32 mine" in type_of(kind).definition
    with pytest.raises(cardan.Error, match="'geometry_msgs/Vectro3 v' in my_msgs/Some names a type that is not in the schema"):
        cardan.from_ros2msg("my_msgs/msg/Some", "geometry_msgs/Vectro3 v\n")
    sensors = cardan.from_ros2msg("sensor_msgs/msg/Two", "Imu one\nImu two\n")  # of its own package
    assert [one for _, one in type_of(sensors).fields] == ["sensor_msgs/msg/Imu"] * 2


def test_names_that_no_message_has() -> None:
    with pytest.raises(TypeError, match="dataclass"):
        cardan.message("my_msgs/msg/Plain")(int)
    with pytest.raises(TypeError, match="not a message"):
        cardan.Topic("/x", dataclass(type("Bare", (), {"__annotations__": {"x": int}})))
    for text in ("int32", "nonsense x", "Unknown y", "int32[-1] z", "x" * 2_000_000):
        with pytest.raises(cardan.Error):
            cardan.from_ros2msg("my_msgs/msg/Bad", text)
    again = dataclass(type("Again", (), {"__annotations__": {"x": int}}))
    for length in (-1, 1 << 62):
        made = dataclass(type("Long", (), {"__annotations__": {"x": Annotated[list[int], cardan.Length(length)]}}))
        with pytest.raises(cardan.Error):
            cardan.message("my_msgs/msg/Long")(made)
    assert cardan.message("my_msgs/msg/Again")(again) is again


MARKERS = f"""std_msgs/Header header
Marker[] markers
wstring title
{"=" * 80}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{"=" * 80}
MSG: my_msgs/Marker
int32 id
string[] labels
float64[3] at
Leg[] legs
{"=" * 80}
MSG: my_msgs/Leg
string name
uint16[] steps
"""


def test_lists_in_lists_by_ros2msg(topic: str) -> None:
    markers = cardan.Topic(topic, cardan.from_ros2msg("my_msgs/msg/Markers", MARKERS), max_bytes=1 << 16)
    sub, pub = markers.subscriber(), markers.publisher()
    legs = [{"name": "left", "steps": [1, 2, 65535]}, {"name": "", "steps": []}]
    pub.publish(
        header={"stamp": {"sec": 3, "nanosec": 4}, "frame_id": "map"},
        markers=[{"id": 1, "labels": ["a", "bb"], "at": (1, 2, 3), "legs": legs}, {"id": 2}],
        title="Größe €",
    )
    got = sub.wait(5)
    assert got.title == "Größe €" and got.header.stamp.sec == 3 and got.header.frame_id == "map"
    assert [m.id for m in got.markers] == [1, 2] and list(got.markers[0].labels) == ["a", "bb"]
    assert got.markers[0].at.tolist() == [1, 2, 3] and got.markers[0].legs[0].steps.tolist() == [1, 2, 65535]
    assert not got.markers[0].legs[0].steps.flags.writeable
    steps = got.markers[0].legs[0].steps
    copied = got.copy()
    pub.publish_cdr(got.cdr())
    del got
    again = sub.wait(5)
    assert cardan.to_dict(again)["markers"][0]["legs"][0]["name"] == "left" and steps.tolist() == [1, 2, 65535]
    assert repr(cardan.to_dict(copied)) == repr(cardan.to_dict(again)) and copied.cdr() == again.cdr()


def poke(address: int, value: int) -> None:
    ctypes.c_int64.from_address(address).value = value


@pytest.mark.parametrize("lie", [(1 << 40, None), (None, 1 << 40), (-4096, None), (3, None), (None, -1), (1 << 62, 1 << 62)])
def test_a_list_that_lies_elsewhere_is_skipped_and_counted(topic: str, lie: tuple[int | None, int | None]) -> None:
    kind = cardan.Topic(topic, cardan.from_ros2msg("my_msgs/msg/Poked", "float64[3] at\nfloat32[] list"), max_bytes=4096, depth=4)
    sub, pub = kind.subscriber(), kind.publisher()
    for _ in range(3):
        with pub.loan() as made:
            made.list = [1, 2, 3]
            vector = made.at.ctypes.data + 24  # its distance and number follow `at`
            for offset, value in enumerate(lie):
                if value is not None:
                    poke(vector + 8 * offset, value)
    pub.publish(list=[4])
    got = sub.wait(5)
    assert got.list.tolist() == [4] and (sub.bad, sub.received, sub.missed) == (3, 1, 0)


@pytest.mark.parametrize("lie", [(1 << 40, None), (None, 1 << 40), (-(1 << 20), None), (1, None), (None, -1)])
def test_a_list_in_a_list_that_lies_elsewhere_is_an_error(topic: str, lie: tuple[int | None, int | None]) -> None:
    markers = cardan.Topic(topic, cardan.from_ros2msg("my_msgs/msg/Markers", MARKERS), max_bytes=1 << 16)
    sub, pub = markers.subscriber(), markers.publisher()
    with pub.loan() as made:
        made.markers = [{"id": 1, "labels": ["a"], "legs": [{"name": "left", "steps": [1]}]}]
        vector = made.markers[0].at.ctypes.data + 24
        for offset, value in enumerate(lie):
            if value is not None:
                poke(vector + 8 * offset, value)
    got = sub.wait(5)
    assert got.markers[0].id == 1 and list(got.markers[0].labels) == ["a"]
    for use in (lambda: len(got.markers[0].legs), got.cdr, lambda: cardan.to_dict(got)):
        with pytest.raises(cardan.Error, match="hostile|malformed"):
            use()
    copied = got.copy()
    with pytest.raises(cardan.Error):
        len(copied.markers[0].legs)


def test_topics_of_others_by_their_own_description(topic: str) -> None:
    pub = cardan.Topic(topic, Car, max_bytes=4096).publisher()
    pub.publish(car())
    sub = cardan.Topic(topic).subscriber()
    got = sub.wait(5)
    assert got.wheels[0].pressure == 2.5 and "float32 pressure" in sub.definition and type(got).__name__ == "Car"
    images = cardan.Topic(topic + "/image", cardan.Image, max_bytes=300).publisher()
    with images.loan() as frame:
        frame.mat = np.full((10, 10, 3), 4, np.uint8)
    seen = cardan.Topic(topic + "/image").subscriber().wait(5)
    assert isinstance(seen, cardan.Image) and seen.mat.shape == (10, 10, 3)


def test_cdr_and_hostile_bytes(topic: str) -> None:
    cars = cardan.Topic(topic, Car, max_bytes=4096)
    sub, pub = cars.subscriber(), cars.publisher()
    pub.publish(car())
    cdr = sub.wait(5).cdr()
    assert cdr[:4] == b"\x00\x01\x00\x00"
    pub.publish_cdr(bytearray(cdr), source_time=9)
    got = sub.wait(5)
    assert same(got.value, car()) and got.source_time == 9
    prefix, payload, suffix = got.cdr_parts()
    assert prefix + payload.tobytes() + suffix == cdr
    for i in range(0, len(cdr), 3):
        with pytest.raises(cardan.Error, match="my_msgs/msg/Car"):
            pub.publish_cdr(cdr[:i])
    with pytest.raises(cardan.Error):
        pub.publish_cdr(b"\xff" * len(cdr))
    with pytest.raises(TypeError):
        pub.publish_cdr("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="part"):
        got.wheels[0].cdr()
    assert pub.published == 2


def test_the_command_reads_what_python_publishes(topic: str, command: str) -> None:
    pub = cardan.Topic(topic, Car, max_bytes=4096).publisher()
    pub.publish(car())
    out = subprocess.run(
        [command, "topic", "echo", topic, "--once", "--json"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    said = json.loads(out.splitlines()[0])
    text = json.dumps(said, ensure_ascii=False)
    assert '"sport"' in text and "zwölf" in text and "1.5" in text
    listed = subprocess.run([command, "topic", "list"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "my_msgs/msg/Car" in listed


def test_python_reads_what_a_cpp_program_publishes(programs: Programs) -> None:
    program = os.environ.get("CARDAN_TEST_PUBLISHER", "")
    if not os.path.exists(program):
        pytest.skip("no program of the tests here (CARDAN_TEST_PUBLISHER)")
    own = programs.start([program])
    assert own.stdin is not None and own.stdout is not None
    own.stdin.write("publish 3\n")
    own.stdin.flush()
    assert [own.stdout.readline() for _ in range(2)] == ["ready\n", "done\n"]
    got = cardan.Topic("/test/own").subscriber().wait(30)  # FixedString, an enum, a vector; depth 8
    assert (got.number, got.gear, got.text, got.header.frame_id) == (1, 7, "some text", "")
    assert got.values.dtype == np.int32 and got.values.tolist() == list(range(100))
    with pytest.raises(cardan.Error, match="a type that can be read"):
        cardan.Topic("/test/wide").subscriber()  # alignas(32): no definition says so
    image = cardan.Topic("/test/image", cardan.Image).subscriber().wait(30)
    assert image.encoding == "rgb8" and (image.mat == 3).all() and image.header.frame_id == "camera"
    own.communicate("end\n", timeout=30)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="aliases by `type` came with Python 3.12")
def test_aliases_are_what_they_stand_for(topic: str) -> None:
    names: dict[str, Any] = {"np": np, "npt": npt, "cardan": cardan, "Annotated": Annotated}
    exec("type Few[T] = Annotated[list[T], cardan.Length(2)]\ntype Speed = cardan.float32\ntype Ranges = npt.NDArray[np.float32]", names)
    fields = {"speeds": names["Few"][names["Speed"]], "ranges": names["Ranges"], "speed": names["Speed"]}
    made = cardan.message("my_msgs/msg/Aliases")(dataclasses.make_dataclass("Aliases", fields.items()))
    assert cardan.Topic(topic, made).subscriber().definition == "float32[2] speeds\nfloat32[] ranges\nfloat32 speed"
