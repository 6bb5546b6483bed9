# SPDX-License-Identifier: Apache-2.0
"""The fields of messages as people meet them: help(), dir(), the page about messages, and the texts of errors."""

from __future__ import annotations

import os
import pydoc
import re
import typing
from pathlib import Path
from typing import Any

import pytest

import cardan
from cardan._fields import described
from cardan._known import NAMES_OF, type_of

SOURCE = Path(os.environ.get("CARDAN_SOURCE", Path(__file__).parents[2]))
OWN = list(NAMES_OF)


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_the_fields_of_a_class_are_those_of_its_layout(cls: Any) -> None:
    kinds = type_of(cls).fields
    fields = described(cls)
    assert list(fields) == [name for name, _ in kinds]
    assert getattr(cardan, cls.__name__) is cls
    for name, kind in kinds:
        inner = fields[name].of
        message = re.sub(r"\[.*", "", kind) if "/msg/" in kind else None
        assert (NAMES_OF[inner] if inner else None) == message, f"{cls.__name__}.{name} is a {kind}"


def test_help_and_dir() -> None:
    text = pydoc.plain(pydoc.render_doc(cardan.Detections2D))
    for words in ("header", "cardan.Detection2D", "center_x: float64, pixels from the left", "theta: float64, rotation, rad"):
        assert words in text, text
    assert "height\n |      uint32, pixels" in pydoc.plain(pydoc.render_doc(cardan.Image))
    assert {"header", "detections"} <= set(dir(cardan.Detections2D))
    wheel = cardan.from_ros2msg("my_msgs/msg/Wheel", "float32[<=4] speed\nstring<=16 name\n")
    assert {"speed", "name"} <= set(dir(wheel))
    assert "speed\n |      float32[<=4]" in pydoc.plain(pydoc.render_doc(wheel))


def test_the_page_about_messages_has_all_fields() -> None:
    rows = ["| message | field | type | unit and meaning |", "|---|---|---|---|"]
    for cls in OWN:
        told: dict[tuple[str, str], list[str]] = {}
        for name, field in described(cls).items():
            kind, many, count = field.type_name().partition("[")
            told.setdefault(((field.of.__name__ if field.of else kind) + many + count, field.note), []).append(f"`{name}`")
        rows += [f"| `{cls.__name__}` | {', '.join(names)} | `{kind}` | {note} |" for (kind, note), names in told.items()]
    page = (SOURCE / "docs" / "messages.md").read_text(encoding="utf-8")
    assert "\n".join(rows) in page, "docs/messages.md needs this table:\n" + "\n".join(rows)


def text_of(kind: type[Exception], call: Any) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_a_field_that_is_not_there(topic: str) -> None:
    with cardan.Topic(topic, cardan.Detections2D, max_bytes=4000).publisher() as pub:
        boxes = "vision_msgs/msg/Detection2D has no field 'detections[0].center' — did you mean center_x or center_y? It has label, "
        assert boxes in text_of(TypeError, lambda: pub.publish(detections=[{"center": 3}]))
        made: Any = pub.loan().message
        near = "vision_msgs/msg/Detection2DArray has no field 'haeder' — did you mean header? It has header, detections"
        assert text_of(AttributeError, lambda: made.haeder) == near
        assert text_of(AttributeError, lambda: setattr(made, "haeder", 1)) == near
        assert near in text_of(KeyError, lambda: made["haeder"])
        assert near in text_of(KeyError, lambda: made.__setitem__("haeder", 1))
        other = "std_msgs/msg/Header has no field 'nothing' — it has stamp, sequence, frame_id"
        assert text_of(AttributeError, lambda: made.header.nothing) == other
        assert not hasattr(made, "nothing") and hasattr(made, "age")
        assert "no setter" in (said := text_of(AttributeError, lambda: setattr(made, "age", 1))) or "can't set" in said


def test_a_publisher_with_another_layout_of_a_known_type(topic: str) -> None:
    small = cardan.from_ros2msg("sensor_msgs/msg/Image", "uint32 height\n")
    with cardan.Topic(topic, small).publisher() as pub, cardan.Topic(topic).subscriber() as sub:
        pub.publish(height=3)
        got: Any = sub.wait(60)
        assert isinstance(got, cardan.Image) and got.height == 3
        assert text_of(AttributeError, lambda: got.step) == "sensor_msgs/msg/Image has no field 'step' — it has height"


def test_a_definition_of_others_replaces_nothing_of_a_class() -> None:
    names = ["copy", "cdr", "fill", "mro", "sequence", "value", "mat", "x"]
    kind: Any = cardan.from_ros2msg("evil_msgs/msg/All", "".join(f"int32 {name}\n" for name in names))
    for name in names[:-1]:
        assert getattr(kind, name, None) is getattr(cardan.Message, name, None) or name in ("mro", "value", "mat")
    assert kind.mro()[1] is cardan.Message and "x" in dir(kind)
    for name in ("__class__", "__init__", "_fields", "__slots__", "__cardan_type__"):
        try:
            kind = cardan.from_ros2msg("evil_msgs/msg/One", f"int32 {name}\nint32 x\n")
        except cardan.Error:
            continue
        assert kind.__dict__.get(name) in (None, (), type_of(kind)) and issubclass(kind, cardan.Message)


def test_the_text_about_many_and_long_names_is_short(topic: str) -> None:
    many = cardan.from_ros2msg("evil_msgs/msg/Many", "".join(f"int32 field_{i}\n" for i in range(5000)))
    with cardan.Topic(topic, many, max_bytes=100).publisher() as pub:
        made: Any = pub.loan().message
        said = text_of(AttributeError, lambda: made.field)
        assert "field_0" in said and "and 4960 more" in said and len(said) < 2000
        assert len(text_of(AttributeError, lambda: getattr(made, "x" * 1_000_000))) < 2000
    long = cardan.from_ros2msg("evil_msgs/msg/Long", "".join(f"int32 {'a' * 5000}{i}\n" for i in range(40)))
    with cardan.Topic(topic + "_2", long, max_bytes=100).publisher() as pub:
        named: Any = pub.loan().message
        assert len(text_of(AttributeError, lambda: named.b)) < 5000


def test_lists_of_messages_in_annotations() -> None:
    assert typing.get_args(cardan.Records[cardan.Detection2D]) == (cardan.Detection2D,)
