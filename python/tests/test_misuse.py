# SPDX-License-Identifier: Apache-2.0
"""The extension under misuse: objects that nothing has made, wrong objects as self, values whose conversion changes the loan, random
calls. Mistakes are exceptions, never the end of the process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan import _cardan, _record

CLASSES = sorted(
    {c for module in (_cardan, _record, cardan) for c in vars(module).values() if isinstance(c, type)},
    key=lambda c: (c.__module__, c.__name__),
)
BOUND = [c for c in CLASSES if type(c) is not type and "nanobind" in type(c).__module__]

EMPTY = r"""
import copy, faulthandler, gc, pickle, sys, warnings, weakref
import cardan
from cardan import _cardan, _record
faulthandler.enable()
warnings.simplefilter("ignore")
module, name = sys.argv[1:]
cls = getattr(sys.modules[module], name)
other = _cardan.TopicOptions() if cls is not _cardan.TopicOptions else _cardan.SubscriberOptions()
wrong = [None, 5, "x", b"bytes", [], {}, object(), int, cls, other, cardan.Image, lambda *a: None, memoryview(b"1234")]
made = refused = 0

def tried(what, call, *arguments, **more):
    global made, refused
    print(what, flush=True)
    try:
        call(*arguments, **more)
        made += 1
    except Exception:
        refused += 1

def empty():
    return cls.__new__(cls)

def each_attribute(label, make, owner):
    for key in dir(owner):
        if key in ("__del__",):
            continue
        tried(f"{label} {key}", lambda: getattr(make(), key))
        tried(f"{label} {key} = 1", lambda: setattr(make(), key, 1))
        tried(f"{label} del {key}", lambda: delattr(make(), key))
        found = getattr(owner, key, None)
        found = getattr(found, "fget", None) or found
        for count in range(6):
            for value in wrong:
                tried(f"{label} {key}({count} × {type(value).__name__})", lambda: getattr(make(), key)(*[value] * count))
                if callable(found) and key not in ("__class__",):
                    tried(f"{label} {key} of {type(value).__name__} ({count})", found, value, *[value] * count)
                if count:
                    tried(f"{label} {key} of itself ({count} × {type(value).__name__})", found, make(), *[value] * (count - 1))

each_attribute("empty", empty, cls)
for act in (memoryview, len, iter, next, repr, str, bool, hash, copy.copy, copy.deepcopy, weakref.ref, sys.getsizeof, bytes, list, dict,
            vars, dir, gc.get_referents, lambda o: o[0], lambda o: o["x"], lambda o: o + o, lambda o: o == o, lambda o: o < o, int, float,
            lambda o: o(), lambda o: 1 in o, lambda o: o.__enter__(), *[lambda o, p=p: pickle.dumps(o, p) for p in range(6)]):
    tried(f"empty {act}", lambda: act(empty()))
    tried(f"class {act}", lambda: act(cls))
class Child(cls):
    def __init__(self, *a):
        pass
each_attribute("child", lambda: Child.__new__(Child), cls)
tried("a child that made nothing", lambda: repr(Child()))
for value in wrong:
    half = empty()
    for count in (0, 1, 2, 3, 5):
        tried(f"__init__ twice {count}", lambda: half.__init__(*[value] * count))
        tried(f"a call {count}", lambda: cls(*[value] * count))
gc.collect()
print("ended in order", made, refused)
"""


@pytest.mark.parametrize("cls", BOUND, ids=lambda c: f"{c.__module__}.{c.__name__}")
def test_objects_that_nothing_has_made(cls: type, tmp_path: Path) -> None:
    words = [sys.executable, "-c", EMPTY, cls.__module__, cls.__name__]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False, timeout=600)
    last = run.stdout.splitlines()[-1:]
    assert run.returncode == 0 and "ended in order" in last[0], f"{last} ends with {run.returncode}: {run.stderr[-2000:]}"


def test_all_classes_of_the_extension_are_looked_at() -> None:
    names = {c.__name__ for c in BOUND}
    assert {"Message", "Records", "View", "RecordedBytes", "SubscriberHandle", "BagCursor", "Image"} <= names, names
    assert len(BOUND) > 25


SCENE = cardan.from_ros2msg("misuse_msgs/msg/Scene", "string[] words\nfloat64[3] place\nuint8[] pixels\nint32 number\n")


def scene(name: str) -> Any:
    return cardan.Topic(name, SCENE, max_bytes=5000, depth=2, loans=2)


class Does:
    """Does something when it is converted."""

    def __init__(self, what: Any) -> None:
        self.what = what

    def __index__(self) -> int:
        self.what()
        return 1

    def __float__(self) -> float:
        self.what()
        return 1.0

    def __iter__(self) -> Any:
        self.what()
        return iter(["a"])

    def __len__(self) -> int:
        return 1

    def __getitem__(self, at: int) -> str:
        self.what()
        return ["a"][at]


@pytest.mark.parametrize("act", ["publish", "discard", "write", "allocate", "fill"])
def test_a_conversion_cannot_change_the_loan_that_it_is_for(act: str, topic: str) -> None:
    seen = []
    with scene(topic).publisher() as publisher:
        loan = publisher.loan()
        message = loan.message

        def do() -> None:
            acts = {
                "publish": loan.publish,
                "discard": loan.discard,
                "write": lambda: setattr(message, "number", 7),
                "allocate": lambda: message.allocate("words", 50),
                "fill": lambda: message.fill({"number": 8}),
            }
            with pytest.raises(cardan.Error, match="is being filled"):
                acts[act]()
            seen.append(act)

        message.number = Does(do)
        message.words = Does(do)
        message.fill({"number": Does(do), "words": ["x", "y"]})
        assert len(seen) >= 3 and message.number == 1 and list(message.words) == ["x", "y"]
        assert publisher.publish(message) is not None
        loan.discard()


def test_a_second_thread_cannot_publish_what_is_being_filled(topic: str) -> None:
    inside, go_on = threading.Event(), threading.Event()
    with scene(topic).publisher() as publisher:
        loan = publisher.loan()

        def slow() -> None:
            inside.set()
            go_on.wait(60)

        filler = threading.Thread(target=lambda: setattr(loan.message, "number", Does(slow)))
        filler.start()
        assert inside.wait(60)
        with pytest.raises(cardan.Error, match="is being filled"):
            publisher._handle.publish(loan.message)
        go_on.set()
        filler.join()
        assert loan.publish() and loan._open is False


def test_bytes_fill_a_new_loan_only(topic: str) -> None:
    """They begin where its lists begin, so what shows a list would show something else."""
    text = "misuse_msgs/msg/Pair", "string[] words\nmisuse_msgs/Word[] list\n" + "=" * 80 + "\nMSG: misuse_msgs/Word\nstring word\n"
    pair = cardan.Topic(topic, cardan.from_ros2msg(*text), max_bytes=5000, loans=2)
    with pair.publisher() as publisher, publisher.loan() as message:
        message.list = [{"word": "x"}]
        data = message.cdr()
        words = message.list
        with pytest.raises(cardan.Error, match="parts of this loan are in use"):
            publisher._handle.fill_cdr(message, data)
        assert words[0].word == "x"
        del words
        publisher._handle.fill_cdr(message, data)
        assert message.list[0].word == "x"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes of Python have buffers since 3.12")
def test_bytes_that_publish_the_loan_that_they_are_for(topic: str) -> None:
    with scene(topic).publisher() as publisher:
        loan = publisher.loan()

        class Buffer:
            def __buffer__(self, flags: int) -> memoryview:
                loan.publish()
                return memoryview(b"\0\1\0\0" + bytes(100))

        with pytest.raises((cardan.Error, BufferError)):
            publisher._handle.fill_cdr(loan.message, Buffer())


def test_a_loan_is_published_by_its_own_publisher(topic: str) -> None:
    """Two publishers of one type: the loan of one is not the other's."""
    with scene(topic).publisher() as one, scene(topic + "_b").publisher() as other:
        loan = one.loan()
        for call in (other._handle.publish, lambda m: other._handle.fill_cdr(m, b"")):
            with pytest.raises(cardan.Error, match="is not a loan of the publisher"):
                call(loan.message)
        loan.publish()


def test_the_class_of_a_message_is_one(topic: str) -> None:
    with scene(topic).publisher() as publisher, scene(topic).subscriber() as subscriber:
        kinds: list[Any] = [int, 5, None, object, _cardan.View, _cardan.TopicOptions, "x", type]
        for kind in kinds:
            with pytest.raises(TypeError):
                publisher._handle.loan(kind)
            with pytest.raises(TypeError):
                _cardan._draft(kind, cardan._known.type_of(SCENE), 100)
            handle = _cardan.SubscriberHandle(
                topic, cardan._known.type_of(SCENE), kind, scene(topic)._options, _cardan.SubscriberOptions()
            ) if kind is not None else None
            with pytest.raises((TypeError, AttributeError)):
                handle.take()  # type: ignore[union-attr]
        assert subscriber.take() is None


def test_numbers_of_words_that_there_are_not() -> None:
    options = _cardan.TopicOptions()
    for wrong in (-1, 99, 256):
        with pytest.raises(cardan.Error):
            options.set_access(wrong)
        with pytest.raises(cardan.Error):
            options.set_waiting(wrong, 0)
        with pytest.raises(cardan.Error):
            _cardan.FusionPolicy.exact(1, 0, wrong)
        with pytest.raises(cardan.Error):
            _record.RecorderOptions().set_compression(str(wrong), 0)


def test_a_simulation_that_its_components_close() -> None:
    """on_stop() runs code of others, in the middle of the end."""
    held = []

    class Part(cardan.Component):
        def on_start(self, context: cardan.Context) -> None:
            held.append(context.latest(cardan.Topic("/x", cardan.Imu)))

        def on_stop(self) -> None:
            simulation._handle.close()
            threads = [threading.Thread(target=simulation._handle.close) for _ in range(4)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()

    simulation = cardan.Simulation()
    held.append(simulation._outside.latest(cardan.Topic("/x", cardan.Imu)))
    simulation.add("part", Part)
    simulation.start()
    simulation.push(cardan.Topic("/x", cardan.Imu))
    simulation.run()
    assert held[0].get() is not None
    simulation._handle.close()
    for latest in held:
        with pytest.raises(cardan.Error):
            latest.get()


def test_a_child_of_fork_with_the_things_of_its_parent(topic: str, tmp_path: Path) -> None:
    """It gets errors, or what its own memory has; never a signal."""
    imu = cardan.Topic(topic, cardan.Imu, depth=4, loans=4)
    bag = tmp_path / "some.mcap"
    with cardan.Bag(bag, "w") as out:
        out.write("/imu", {}, type=cardan.Imu, log_ns=1)
    with imu.publisher() as publisher, imu.subscriber() as subscriber, cardan.Simulation() as simulation:
        publisher.publish()
        message, loan = subscriber.wait(60), publisher.loan()
        context = simulation._outside
        output, latest = context.output(imu), context.latest(cardan.Topic(topic + "_b", cardan.Imu))
        files = _record.BagFiles([str(bag)], 1 << 20)
        cursor = _record.BagCursor(files, [0], 0, 1 << 62, 1 << 20)
        values = [cardan.Imu, loan.message, output.loan().message, "header", 0, True]
        things = [publisher._handle, subscriber._handle, message, loan.message, output._handle, output.loan().message, latest._handle]
        things += [context._handle, simulation._handle, files, cursor, _cardan.TimerHandle(10**9)]
        for thing in things:
            child = os.fork()
            if child == 0:
                try:
                    signal.alarm(300)
                    for name in sorted(dir(thing), key=lambda n: (n in ("close", "stop", "discard"), n)):
                        (tmp_path / "last").write_text(f"{type(thing).__name__}.{name}")
                        for count in range(3):
                            for value in values:
                                with contextlib.suppress(BaseException):
                                    found = getattr(thing, name)
                                    if callable(found) and name not in ("__class__", "wait"):
                                        found(*[value] * count)
                finally:
                    os._exit(0)
            status = os.waitpid(child, 0)[1]
            assert not os.WIFSIGNALED(status), f"{(tmp_path / 'last').read_text()}: signal {os.WTERMSIG(status)}"
        assert publisher._handle.published() == 1
        loan.discard()


def test_random_misuse(tmp_path: Path) -> None:
    """For some seconds; make test-deep does it for minutes, and under AddressSanitizer."""
    words = [sys.executable, str(Path(__file__).with_name("misuse.py")), "--seconds", os.environ.get("CARDAN_MISUSE_SECONDS", "10")]
    words += ["--seed", str(int.from_bytes(os.urandom(3), "little"))]
    environment = {**os.environ, "CARDAN_RUN_DIR": str(tmp_path)}
    run = subprocess.run(words, env=environment, capture_output=True, text=True, errors="replace", check=False, timeout=900)
    said = run.stdout[-500:] + run.stderr[-8000:]
    assert run.returncode == 0 and "calls" in run.stdout, f"ended with {run.returncode}: {said}"


def test_arrays_stay_what_they_are_when_others_change_the_list(topic: str) -> None:
    """A list that grows moves; what showed it before stays memory of the loan."""
    with scene(topic).publisher() as publisher:
        loan = publisher.loan()
        message = loan.message
        message.pixels = np.arange(10, dtype=np.uint8)
        before = message.pixels
        message.words = ["a", "b"]
        message.allocate("pixels", 1000)
        before[:] = 255
        assert list(message.words) == ["a", "b"]
        loan.discard()
