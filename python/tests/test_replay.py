# SPDX-License-Identifier: Apache-2.0
"""Recordings to components in Python, `cardan run --from`: the same each time, the same as in C++, losses, hangs, crashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cardan

START = 1_700_000_000_000_000_000
MS = 1_000_000
PARTS = """
import os
import signal
import cardan

LEFT = cardan.Topic("/left", "can_msgs/msg/Frame", depth=64)
RIGHT = cardan.Topic("/right", "can_msgs/msg/Frame", depth=64)
PAIRS = cardan.Topic("/pairs", "can_msgs/msg/Frame", depth=64)
WORDS = cardan.Topic("/words", cardan.from_ros2msg("my_msgs/msg/Words", "string text"), max_bytes=10000, depth=64)

class Joiner(cardan.Component):
    def on_start(self, context):
        self.out = context.output(PAIRS)
        context.fuse(cardan.exact(queue=64), self.on_set, LEFT, RIGHT, name="pairs", depths=(0, 100))

    def on_set(self, left, right):
        with self.out.loan() as pair:
            pair.id = left.id
            pair.set_source_time(left.source_time)

class Diary(cardan.Component):
    def on_start(self, context):
        self.context, self.names = context, {"a", "b", "c", "d", "e"}
        self.out = context.output(WORDS)
        context.timer(0.025, lambda: self.say("timer"))
        context.input(LEFT, lambda m: self.say(f"left {m.id} {m.age} {m.missed} {list(self.names)}"))
        context.input(cardan.Topic("/notes", WORDS.message_class), lambda m: self.say(f"note {m.text}"))

    def say(self, text):
        self.out.publish(text=f"{self.context.now()} {text}")

class Fails(cardan.Component):
    def on_start(self, context):
        context.input(LEFT, self.on_left)

    def on_left(self, message):
        if message.id % 2:
            raise ValueError(f"{message.id} is odd")

class Hangs(Fails):
    def on_left(self, message):
        while True:
            pass

class Crashes(Fails):
    def on_left(self, message):
        os.kill(os.getpid(), signal.SIGSEGV)
"""


class Replays:
    """A recording of two topics, a configuration, and `cardan run --from`."""

    def __init__(self, folder: Path, command: str) -> None:
        self.folder, self.command = folder, command
        (folder / "replay_parts.py").write_text(PARTS)
        self.bag = folder / "drive.mcap"
        words = cardan.from_ros2msg("my_msgs/msg/Words", "string text")
        with cardan.Bag(self.bag, "w") as out:
            for i in range(1, 101):
                at = START + i * 10 * MS
                frame = {"id": i}
                if i % 7:
                    out.write("/left", frame, type="can_msgs/msg/Frame", log_ns=at, source_time=5 * MS * i)
                if i % 5 and i > 1:  # late: of the last measurement
                    late = {"id": i - 1}
                    out.write("/right", late, type="can_msgs/msg/Frame", log_ns=at + MS, source_time=5 * MS * (i - 1))
                if i % 10 == 0:
                    out.write("/notes", {"text": "ä" * i}, type=words, log_ns=at + 2 * MS)

    def run(self, processes: dict[str, Any], *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        file = self.folder / "system.json"
        file.write_text(json.dumps({"processes": processes}))
        return subprocess.run(
            [self.command, "run", str(file), "--from", str(self.bag), "--reports", str(self.folder / "reports"), *words],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=self.folder,
            env={**os.environ, "CARDAN_PYTHON": sys.executable, **environment},
        )


@pytest.fixture
def replays(tmp_path: Path, command: str) -> Replays:
    return Replays(tmp_path, command)


def of(name: str, **more: Any) -> dict[str, Any]:
    return {"components": {name.lower(): {"python": f"replay_parts:{name}", **more}}}


def test_it_is_the_same_each_time(replays: Replays) -> None:
    outputs = []
    for i in range(3):
        to = replays.folder / f"out{i}.mcap"
        run = replays.run({"a": of("Diary"), "b": of("Joiner")}, "--output", str(to), "--json", str(replays.folder / "out.json"))
        assert run.returncode == 0, run.stdout + run.stderr
        outputs.append(to.read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]
    summary = json.loads((replays.folder / "out.json").read_text())
    assert summary["failures"] == 0 and summary["dropped"] == 0 and summary["exit_code"] == 0
    assert {t["topic"]: t["messages"] for t in summary["fed"]} == {"/left": 86, "/right": 79, "/notes": 10}
    with cardan.Bag(replays.folder / "out0.mcap") as bag:
        said = [m["text"].split(" ", 1) for m in bag.read("/words")]
        times = [int(time) for time, _ in said]
        assert times == sorted(times) and sum(text == "timer" for _, text in said) == 39
        notes = [text for _, text in said if text.startswith("note")]
        assert notes == [f"note {'ä' * i}" for i in range(10, 101, 10)]
        # By the recording's clock: no time passes within a callback.
        assert all(text.split()[2:4] == ["0.0", "0"] for _, text in said if text.startswith("left"))


def test_its_sets_are_those_of_cpp(replays: Replays) -> None:
    library = Path(replays.command).resolve().parent.parent / "lib" / "libfusion_components.so"
    if not library.exists():
        pytest.skip("no component in C++ with a fusion here")
    to = replays.folder / "out.mcap"
    # Found next to the command, although the interpreter runs it.
    cpp = {"components": {"cpp": {"library": library.name, "class": "FusionJoiner", "topics": {"/pairs": "/pairs_cpp"}}}}
    run = replays.run({"a": of("Joiner"), "b": cpp}, "--output", str(to), "--json", str(replays.folder / "out.json"))
    assert run.returncode == 0, run.stdout + run.stderr
    with cardan.Bag(to) as bag:
        ours = [(m["id"], m.source_time, m.log_ns) for m in bag.read("/pairs")]
        theirs = [(m["id"], m.source_time, m.log_ns) for m in bag.read("/pairs_cpp")]
    assert ours == theirs and [i for i, *_ in ours] == [i for i in range(1, 100) if i % 7 and (i + 1) % 5]
    fired = {f["component"]: f["fired"] for f in json.loads((replays.folder / "out.json").read_text())["fusions"]}
    assert fired == {"joiner": len(ours), "cpp": len(ours)}


def test_exceptions_and_other_types_are_counted(replays: Replays) -> None:
    summary = replays.folder / "out.json"
    run = replays.run({"a": of("Fails"), "b": of("Diary")}, "--json", str(summary))
    odd = sum(1 for i in range(1, 101) if i % 7 and i % 2)
    assert run.returncode == 3 and "ValueError: 1 is odd" in run.stderr, run.stdout + run.stderr
    told = json.loads(summary.read_text())
    assert told["exceptions"] == [{"component": "fails", "exceptions": odd}] and told["exit_code"] == 3
    # The recording's topic carries another type than the component reads.
    run = replays.run({"a": of("Diary", topics={"/left": "/notes", "/notes": "/other"})}, "--json", str(summary))
    assert run.returncode == 3 and "/notes is not given to the components" in run.stderr, run.stdout + run.stderr
    run = replays.run({"a": of("Fails")}, "--set", "fails/nothing=5")
    assert run.returncode == 1 and "no parameter 'nothing'" in run.stderr, run.stdout + run.stderr


def test_one_that_hangs_or_crashes_is_reported(replays: Replays) -> None:
    summary = replays.folder / "out.json"
    run = replays.run({"a": of("Hangs")}, "--seconds", "0.5", "--grace", "0.3", "--json", str(summary))
    assert run.returncode == 1 and "'hangs'" in run.stderr and "given up" in run.stderr, run.stdout + run.stderr
    assert json.loads(summary.read_text())["hung"]["component"] == "hangs"
    run = replays.run({"a": of("Crashes")})
    assert run.returncode == -11 and "callback '/left' of component 'crashes'" in run.stderr, run.stdout + run.stderr
    (report,) = (replays.folder / "reports").iterdir()
    python, _, native = report.read_text().partition("\nstack:\n")
    assert 'replay_parts.py", line' in python and "in on_left" in python and "=== end" in native, report.read_text()


def test_the_needs_of_a_replay(replays: Replays) -> None:
    run = replays.run({"a": of("Fails"), "b": of("Diary")}, "--without", "a", "--without", "diary")
    assert "no component got a message" in run.stderr and run.returncode == 3, run.stdout + run.stderr
    other = {**of("Diary"), "environment": {"CARDAN_PYTHON": "/nowhere/python3"}}
    run = replays.run({"a": of("Joiner"), "b": other})
    assert run.returncode == 1 and "/nowhere/python3 cannot be started" in run.stderr, run.stdout + run.stderr
    run = replays.run({"a": {**of("Joiner"), "environment": {"CARDAN_PYTHON": sys.executable}}, "b": other})
    assert run.returncode == 2 and "a replay has one interpreter" in run.stderr and "--without" in run.stderr
    run = replays.run({"a": {**of("Joiner"), "environment": {"CARDAN_PYTHON": sys.executable}}}, CARDAN_PYTHON="/nowhere")
    assert run.returncode == 0, run.stdout + run.stderr


def test_an_interpreter_without_the_package(replays: Replays, bare_python: str) -> None:
    run = replays.run({"a": of("Joiner")}, CARDAN_PYTHON=bare_python)
    assert run.returncode == 1 and run.stderr.count("\n") == 1 and run.stderr.startswith("cardan: "), run.stderr
    assert "lacks the package cardan" in run.stderr and "pip install ./python" in run.stderr, run.stderr
    assert 'CARDAN_PYTHON=/path/to/python3, also in "environment" of the process' in run.stderr, run.stderr
