# SPDX-License-Identifier: Apache-2.0
"""Streams between processes: losses, ends, waiting, events, threads, asyncio, signals, fork."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import Programs, until

import cardan

CAMERA = """
import sys, time, numpy as np, cardan
name, count, period = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
front = cardan.Topic(name, cardan.Image, max_bytes=64 * 48 * 3, depth=4)
pub = front.publisher()
while not pub.subscribers:
    time.sleep(0.005)
print("ready")
for i in range(1, count + 1):
    with pub.loan() as frame:
        frame.resize(48, 64, "bgr8")[:] = i % 251
        frame.header.sequence = i
    time.sleep(period)
sys.stdin.readline()
"""


def frames(name: str, **options) -> cardan.Subscriber[cardan.Image]:
    return cardan.Topic(name, cardan.Image, max_bytes=64 * 48 * 3, depth=4).subscriber(**options)


def small(name: str, **options) -> cardan.Topic:
    return cardan.Topic(name, cardan.Header, **options)


def test_two_processes(topic: str, programs: Programs) -> None:
    with frames(topic) as sub:
        camera = programs.python(CAMERA, topic, "50", "0.005")
        seen = lost = 0
        for frame in iter(lambda: sub.wait(30), None):
            assert (frame.mat == frame.header.sequence % 251).all()
            seen, lost = seen + 1, lost + frame.missed
            assert frame.header.sequence == seen + lost
            if frame.header.sequence == 50:
                break
        assert seen + lost == 50, camera.poll()
        assert sub.missed == lost and sub.received == seen
        camera.communicate("\n")
        assert camera.returncode == 0
        until(lambda: sub.publishers == 0)
    assert [*sub] == []


def test_losses_are_exact(topic: str) -> None:
    kind = small(topic, depth=3)
    sub, pub = kind.subscriber(), kind.publisher()
    until(lambda: pub.subscribers == 1)
    for i in range(10):
        pub.publish(stamp=i)
    got = sub.wait(5)
    assert (got.stamp, got.missed, cardan.info(got).sequence) == (7, 7, 8)
    rest = [sub.take().stamp, sub.take().stamp]
    assert rest == [8, 9] and sub.take() is None and sub.reason == "none"
    assert (sub.missed, sub.received, sub.bad) == (7, 3, 0)


def test_a_killed_publisher_and_the_next_one(topic: str, programs: Programs) -> None:
    events: list[cardan.Event] = []
    with frames(topic, on_event=events.append, holds=8) as sub:
        camera = programs.python(CAMERA, topic, "100000", "0.002")
        kept = sub.wait(30)
        assert kept is not None
        kept = kept.mat[0]
        camera.kill()
        camera.wait()
        value = kept.copy()
        until(lambda: sub.wait(0.1) is None and any(e.kind == "died" for e in events))
        assert np.array_equal(kept, value)  # its memory outlives the process
        died = next(e for e in events if e.kind == "died")
        assert died.pid == camera.pid and died.text and "died" in repr(died)
        programs.python(CAMERA, topic, "100000", "0.002")
        assert sub.wait(30) is not None
        until(lambda: sub.take() is None and [e.kind for e in events].count("joined") == 2)


def test_the_end_of_a_publisher_in_order(topic: str, programs: Programs) -> None:
    sub = frames(topic)
    camera = programs.python(CAMERA, topic, "1", "0")
    assert sub.wait(30) is not None
    camera.communicate("\n")  # ends without close(): the interpreter's end closes
    seen = []
    until(lambda: (e := sub.event()) is not None and seen.append(e.kind) is None and e.kind == "left")
    assert "died" not in seen


def test_wait_ends_at_its_time(topic: str) -> None:
    sub = frames(topic)
    start = time.monotonic()
    assert sub.wait(0.25) is None and sub.reason == "timed_out"
    assert time.monotonic() - start >= 0.25
    assert sub.wait(0) is None and sub.take() is None
    for bad in (-1, float("nan")):
        with pytest.raises(cardan.Error):
            sub.wait(bad)
    with pytest.raises(TypeError):
        sub.wait("1")


def test_wait_any(topic: str) -> None:
    a, b = small(topic + "/a"), small(topic + "/b")
    first, second = a.subscriber(), b.subscriber()
    timer = cardan.Timer(60)
    reading, writing = os.pipe()
    things = (first, second, timer, reading)
    assert cardan.wait_any(*things, timeout=0.2) is None
    pub = b.publisher()
    pub.publish(stamp=3)
    assert cardan.wait_any(*things, timeout=5) is second and second.take().stamp == 3
    os.write(writing, b"!")
    assert cardan.wait_any(*things, timeout=5) == reading
    soon = cardan.Timer(0.05)
    assert cardan.wait_any(first, soon, timeout=5) is soon and soon.expired() >= 1
    with pytest.raises(cardan.Error, match="64"):
        cardan.wait_any(*[reading] * 65, timeout=0)
    with pytest.raises(cardan.Error):
        cardan.wait_any(first, first, timeout=0)
    with pytest.raises(cardan.Error, match="period"):
        cardan.Timer(0)
    with pytest.raises(TypeError):
        cardan.wait_any("front", timeout=0)
    with pytest.raises(TypeError):
        cardan.wait_any(timeout=0)
    os.close(reading), os.close(writing)


def test_other_threads_run_while_one_waits(topic: str) -> None:
    kind = small(topic)
    sub, got = kind.subscriber(), []
    thread = threading.Thread(target=lambda: got.append(sub.wait(30)))
    thread.start()
    turns, end = 0, time.monotonic() + 0.3
    while time.monotonic() < end:
        turns += 1
    assert turns > 1000 and thread.is_alive()
    with pytest.raises(cardan.Error, match="two threads"):
        sub.take()
    with pytest.raises(cardan.Error, match="two threads"):
        cardan.wait_any(sub, timeout=0)
    kind.publisher().publish(stamp=7)
    thread.join(30)
    assert got[0].stamp == 7


def test_close_ends_the_wait_of_another_thread(topic: str) -> None:
    sub, got = small(topic).subscriber(), []
    thread = threading.Thread(target=lambda: got.extend(sub))
    thread.start()
    time.sleep(0.15)
    sub.close()
    thread.join(30)
    assert not thread.is_alive() and got == [] and sub.closed
    with pytest.raises(cardan.Error, match="closed"):
        sub.take()


def test_asyncio_at_60_hz(topic: str) -> None:
    kind = small(topic, depth=8)

    async def publish() -> None:
        pub = kind.publisher()
        until(lambda: pub.subscribers == 1)
        for i in range(60):
            pub.publish(stamp=i)
            await asyncio.sleep(1 / 60)

    async def read() -> list[int]:
        stamps: list[int] = []
        with kind.subscriber() as sub:
            publishing = asyncio.create_task(publish())
            async for message in sub:
                stamps.append(message.stamp)
                if message.stamp == 59:
                    break
            assert sub.missed == 0
            await publishing
        return stamps

    assert asyncio.run(asyncio.wait_for(read(), 60)) == list(range(60))


def test_ctrl_c_ends_a_wait(topic: str, programs: Programs) -> None:
    code = "import sys, cardan\nsub = cardan.Topic(sys.argv[1], cardan.Image).subscriber()\nprint('ready')\n%s"
    for wait in ("sub.wait()", "cardan.wait_any(sub)", "for frame in sub: pass"):
        one = programs.python(code % wait, topic)
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
        time.sleep(0.1)
        one.send_signal(signal.SIGINT)
        _, said = one.communicate(timeout=30)
        assert "KeyboardInterrupt" in said and one.returncode == -signal.SIGINT


def test_stop_on_signals_ends_an_iteration(topic: str, programs: Programs) -> None:
    code = """
import sys, asyncio, cardan
cardan.stop_on_signals()
sub = cardan.Topic(sys.argv[1], cardan.Image).subscriber()
print('ready')
if sys.argv[2] == 'async':
    async def main():
        async for frame in sub: pass
    asyncio.run(main())
else:
    for frame in sub: pass
print('ended', cardan.stopping(), sub.wait(), sub.reason)
"""
    for way in ("plain", "async"):
        one = programs.python(code, topic, way)
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
        time.sleep(0.1)
        one.send_signal(signal.SIGTERM)
        out, said = one.communicate(timeout=30)
        assert out == "ended True None stopped\n" and one.returncode == 0, said


FORK = """
import sys, multiprocessing, os, cardan
front = cardan.Topic(sys.argv[1], cardan.Image, max_bytes=3000)
pub, sub = front.publisher(), front.subscriber()
with pub.loan() as frame:
    frame.resize(10, 100, "bgr8")[:] = 5
kept = sub.wait(5)
loan = pub.loan()

def attempt(what):
    try:
        what()
    except cardan.Error as error:
        assert error.code == "forked" and "spawn" in error.remedy, error
    else:
        raise SystemExit(3)

def child():
    for what in (front.publisher, front.subscriber, pub.loan, sub.take, sub.wait, lambda: next(sub), lambda: kept.mat,
                 lambda: kept.header, lambda: kept.copy(), lambda: cardan.wait_any(sub), lambda: cardan.Timer(1),
                 lambda: pub.publish(height=1), loan.publish):
        attempt(what)
    sub.close(), pub.close()

process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
with loan as frame:
    frame.height = 1
print(process.exitcode, kept.mat[0, 0, 0], sub.wait(5).height)
"""


def test_a_child_of_fork_is_told_to_spawn(topic: str, programs: Programs) -> None:
    out, said = programs.python(FORK, topic).communicate(timeout=60)
    assert out == "0 5 1\n", said


def test_multiprocessing_by_spawn(topic: str, tmp_path, programs: Programs) -> None:
    script = tmp_path / "spawned.py"
    script.write_text(f"""
import multiprocessing, cardan
kind = dict(name={topic!r}, type=cardan.Header)
def child(name):
    with cardan.Topic(name, cardan.Header).publisher() as pub:
        while not pub.subscribers: pass
        pub.publish(stamp=4)
if __name__ == "__main__":
    sub = cardan.Topic({topic!r}, cardan.Header).subscriber()
    process = multiprocessing.get_context("spawn").Process(target=child, args=({topic!r},))
    process.start()
    print(sub.wait(30).stamp)
    process.join()
""")
    out, said = programs.start([sys.executable, str(script)]).communicate(timeout=60)
    assert out == "4\n", said


def test_another_type_is_an_event_and_not_a_message(topic: str, programs: Programs) -> None:
    code = "import sys, cardan; p = cardan.Topic(sys.argv[1], cardan.Header).publisher(); p.publish(stamp=1); print(1); input()"
    other = programs.python(code, topic)
    assert other.stdout is not None and other.stdout.readline() == "1\n"
    with pytest.raises(cardan.Error) as out:
        frames(topic)
    assert out.value.code == "incompatible" and "Header" in out.value.cause
    other.communicate("\n")
    with pytest.raises(cardan.Error, match="in this process"):
        kept = frames(topic), small(topic).publisher()
        del kept
    events: list[cardan.Event] = []
    sub = frames(topic, on_event=events.append)
    other = programs.python(code, topic)
    assert other.stdout is not None and other.stdout.readline() == "1\n"
    until(lambda: sub.wait(0.05) is not None or events)
    assert [e.kind for e in events] == ["incompatible"] and "Header" in events[0].text


def test_options(topic: str) -> None:
    for options in ({"max_bytes": -1}, {"max_bytes": 1 << 40}, {"depth": 0}, {"access": "friends"}, {"deadline": -1}, {"loans": 0}):
        with pytest.raises(cardan.Error) as out:
            cardan.Topic(topic, cardan.Image, **options)
        assert out.value.code == "invalid_argument" and out.value.remedy
    for options in ({"max_bytes": 1.5}, {"depth": True}, {"reliable": 1}, {"waiting": "block"}, {"deadline": "1"}, {"dpth": 1}):
        with pytest.raises(TypeError):
            cardan.Topic(topic, cardan.Image, **options)
    for kind in (int, object, 5, cardan.Message):
        with pytest.raises(TypeError):
            cardan.Topic(topic, kind)
    with pytest.raises(TypeError):
        cardan.Topic(5, cardan.Image)
    with pytest.raises(cardan.Error, match="no message type"):
        cardan.Topic(topic, "my_msgs/msg/Unknown")
    with pytest.raises(cardan.Error):
        cardan.Topic("a name with spaces", cardan.Image).publisher()
    with pytest.raises(cardan.Error, match="nobody publishes"):
        cardan.Topic(topic).subscriber()
    with pytest.raises(cardan.Error, match="without a type"):
        cardan.Topic(topic).publisher()
    with pytest.raises(cardan.Error):
        cardan.Topic(topic, cardan.Image, max_bytes=1 << 30, depth=100, max_memory=1 << 20).publisher()
    with pytest.raises(cardan.Error, match="holds"):
        frames(topic, holds=0)
    one = cardan.Topic(topic, cardan.Image, exclusive=True)
    kept = one.publisher()
    with pytest.raises(cardan.Error) as taken:
        one.publisher()
    assert taken.value.code == "name_taken"
    kept.close()
    with pytest.raises(cardan.Error, match="closed"):
        kept.loan()


def test_a_reliable_publisher_waits_and_counts(topic: str) -> None:
    kind = small(topic, reliable=True, reliable_timeout=0.2)
    sub, pub = kind.subscriber(), kind.publisher()
    until(lambda: pub.subscribers == 1)
    assert pub.publish(stamp=1)
    turns: list[int] = []
    stop = threading.Event()
    thread = threading.Thread(target=lambda: [turns.append(1) or time.sleep(0.005) for _ in iter(stop.is_set, True)])
    thread.start()
    start = time.monotonic()
    results = [pub.publish(stamp=i) for i in (2, 3)]
    assert time.monotonic() - start >= 0.2 and False in results and pub.late == 1
    assert len(turns) > 3  # others ran
    stop.set()
    thread.join()
    assert sub.wait(5).stamp == 3


@pytest.mark.parametrize("waiting", [cardan.block(), cardan.spin_then_block(0.001), cardan.prewake(), cardan.anticipate(), cardan.follow()])
def test_every_way_of_waiting(topic: str, waiting: cardan.Waiting) -> None:
    kind = small(topic, depth=8)
    with kind.subscriber(waiting=waiting, background=True) as sub, kind.publisher() as pub:
        for i in range(5):
            pub.publish(stamp=i)
            assert sub.wait(5).stamp == i


def test_the_end_of_a_program_whose_threads_wait(topic: str, programs: Programs) -> None:
    code = """
import sys, threading, time, cardan
for wait in (lambda s: s.wait(), lambda s: cardan.wait_any(s), lambda s: [*s], lambda s: cardan.wait_any(0)):
    sub = cardan.Topic(sys.argv[1], cardan.Header).subscriber()
    threading.Thread(target=wait, args=(sub,), daemon=True).start()
time.sleep(0.2)
print("end")
"""
    one = programs.python(code, topic)
    assert one.wait(30) == 0
    out, said = one.communicate()
    assert (out, said) == ("end\n", "")


def test_import_is_quick() -> None:
    # NumPy and asyncio are loaded when they are needed.
    code = "import sys, cardan; assert not {'numpy', 'asyncio', 'dataclasses', 'multiprocessing'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


NAMED = """
import os, sys, cardan
if len(sys.argv) > 2:
    open("/proc/self/comm", "w").write(sys.argv[2])
pub = cardan.Topic(sys.argv[1], cardan.Header).publisher()
print(open("/proc/self/comm").read().strip(), flush=True)
sys.stdin.readline()
"""


def test_a_program_has_its_scripts_name(topic: str, programs: Programs, command: str, tmp_path: Path) -> None:
    def seen(name: bytes, *words: str) -> tuple[str, str]:
        (file := tmp_path / os.fsdecode(name)).parent.mkdir(exist_ok=True)
        file.write_text(NAMED)
        one = programs.start([sys.executable, str(file), topic, *words])
        assert one.stdout is not None
        comm = one.stdout.readline().strip()
        told = subprocess.run([command, "topic", "info", topic], capture_output=True, text=True, check=False, timeout=120)
        assert told.returncode == 0, told.stderr
        one.communicate("\n", timeout=120)
        assert one.returncode == 0
        (line,) = [line for line in told.stdout.split("\n") if line.strip().startswith("publisher")]
        return line.strip().removeprefix("publisher ").rpartition(" (pid ")[0], comm

    assert seen(b"front_detector.py") == ("front_detector.py", "front_detector.")
    assert seen(b"tracker/__main__.py") == ("tracker", "tracker")
    assert seen(b"front.py", "my own") == ("front.py", "my own")  # what the program has chosen stays
    # Anyone gives a file any name: what a terminal obeys, more than a line has, other bytes than text.
    name, comm = seen(b"\x1b[31mred\n\xe2\x80\xae\xff" + b"x" * 200 + b".py")
    assert name.startswith("?[31mred???xxx") and len(name.encode()) <= 64 and name.isprintable(), name
    assert comm.isprintable() and len(comm.encode()) <= 15
    name, _ = seen("ü".encode() * 60 + b".py")
    assert name == "ü" * 32


def test_a_program_without_a_script_keeps_pythons_name(topic: str, programs: Programs) -> None:
    one = programs.python(NAMED, topic)
    assert one.stdout is not None and one.stdout.readline().startswith("python")
    one.communicate("\n", timeout=120)


def test_a_program_that_says_a_long_name(topic: str, programs: Programs, command: str) -> None:
    code = "from cardan import _cardan\n_cardan._set_program_name('\\x1b[31m' + 'y' * 20_000)\n"
    one = programs.python(code + NAMED, topic)
    assert one.stdout is not None and one.stdout.readline()
    told = subprocess.run([command, "topic", "info", topic], capture_output=True, text=True, check=False, timeout=120)
    assert "yyyy" in told.stdout and "y" * 65 not in told.stdout and "\x1b" not in told.stdout, told.stdout[:500]
    one.communicate("\n", timeout=120)


def test_a_type_of_ros_2_by_its_name(topic: str) -> None:
    """Its definition is that of the library; a type of its package needs no more words."""
    words = cardan.Topic(topic, "std_msgs/msg/String", max_bytes=64)
    into, out = words.subscriber(), words.publisher()
    with out.loan() as loan:
        loan.data = "hello"
    got = into.wait(30)
    assert got is not None and got.data == "hello"
    assert cardan.Topic(topic + "/status", "diagnostic_msgs/msg/DiagnosticArray", max_bytes=4096).publisher()
