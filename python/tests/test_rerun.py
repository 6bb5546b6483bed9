# SPDX-License-Identifier: Apache-2.0
"""Recordings and topics as files of Rerun, read back with its own reader."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
import cardan.rerun

S = 1_700_000_000_000_000_000
MS = 1_000_000
needs_rerun = pytest.mark.skipif(find_spec("rerun") is None, reason="no rerun-sdk here (pip install rerun-sdk)")


def write(path: Path) -> None:
    text = cardan.from_ros2msg("my_msgs/msg/Text", "string text")
    with cardan.Bag(path, "w") as out:
        for i in range(5):
            at = S + i * 10 * MS
            with out.loan("/camera/front", cardan.Image, log_ns=at + MS) as image:
                image.resize(4, 6, "bgr8")[:] = i
                image.header.stamp = at
            with out.loan("/lidar", cardan.PointCloud, log_ns=at + MS) as cloud:
                points = np.zeros(10, [("x", "f4"), ("y", "f4"), ("z", "f4")])
                points["x"][0] = np.nan
                cloud.points = points
            out.write("/imu", {"header": {"stamp": at}, "angular_velocity": {"x": i / 2}}, type=cardan.Imu, log_ns=at + MS)
            out.write("/text", {"text": "no number"}, type=text, log_ns=at + MS)


def read(path: Path) -> dict[str, Any]:
    """Rows of each entity, as Rerun reads them."""
    from rerun.chunk import RrdReader

    rows: dict[str, Any] = {}
    for chunk in RrdReader(path).stream():
        rows.setdefault(str(chunk.entity_path), []).append(chunk.to_record_batch())
    return rows


def column(batches: Any, word: str) -> list[Any]:
    return [v for b in batches for name in b.schema.names if word in name for v in b.column(name).to_pylist()]


@needs_rerun
def test_a_recording(tmp_path: Path) -> None:
    write(tmp_path / "drive.mcap")
    with cardan.Bag(tmp_path / "drive.mcap") as bag:
        done = cardan.rerun.log(bag, tmp_path / "drive.rrd")
    assert (done.messages, done.left_out) == (15, 5) and "no numbers" in done.why["/text"]
    rows = read(tmp_path / "drive.rrd")
    assert [v[0] for v in column(rows["/imu/angular_velocity.x"], "calars")] == [0.0, 0.5, 1.0, 1.5, 2.0]
    stamps = [int(np.datetime64(t, "ns").astype(np.int64)) for t in column(rows["/imu/angular_velocity.x"], "stamp")]
    assert stamps == [S + i * 10 * MS for i in range(5)]
    # A message without a stamp is at the time of its recording.
    stamps = [int(np.datetime64(t, "ns").astype(np.int64)) for t in column(rows["/lidar"], "stamp")]
    assert stamps == [S + i * 10 * MS + MS for i in range(5)]
    assert [len(v) for v in column(rows["/lidar"], "positions")] == [9] * 5
    pictures = column(rows["/camera/front"], "buffer")
    assert [bytes(v[0]) for v in pictures] == [bytes([i]) * 72 for i in range(5)]
    assert cardan.rerun.main([str(tmp_path / "drive.mcap"), str(tmp_path / "b.rrd"), "/imu"]) == 0
    assert set(read(tmp_path / "b.rrd")) & {"/lidar", "/camera/front"} == set()
    assert cardan.rerun.main([str(tmp_path / "drive.mcap"), str(tmp_path / "b.rrd")]) == 1  # it is there
    assert cardan.rerun.main([str(tmp_path / "drive.mcap"), str(tmp_path / "b.rrd"), "--force"]) == 3


@needs_rerun
def test_the_command_writes_one(tmp_path: Path, command: str) -> None:
    write(tmp_path / "drive.mcap")
    to = tmp_path / "drive.rrd"
    words = [command, "bag", "export", str(tmp_path / "drive.mcap"), "--to", str(to), "--exclude", "/text", "--end", "0.025"]
    environment = {**os.environ, "CARDAN_PYTHON": sys.executable}
    run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(column(read(to)["/imu/angular_velocity.x"], "calars")) == 3
    run = subprocess.run([*words, "--json"], capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert run.returncode == 2 and "no meaning for a file of Rerun" in run.stderr


class Exports:
    """`cardan bag export drive.mcap` in its own folder."""

    def __init__(self, folder: Path, command: str) -> None:
        self.folder, self.command = folder, command
        write(folder / "drive.mcap")

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.command, "bag", "export", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=self.folder,
            env={**os.environ, "CARDAN_PYTHON": sys.executable, **environment},
        )

    def fails(self, says: str, *words: str, code: int = 1, **environment: str) -> str:
        """One line on standard error, which has these words."""
        run = self.run(*words, **environment)
        assert run.returncode == code and run.stderr.startswith("cardan: ") and run.stderr.count("\n") == 1, run.stderr
        assert says in run.stderr, run.stderr
        return run.stderr


@pytest.fixture
def exports(tmp_path: Path, command: str) -> Exports:
    return Exports(tmp_path, command)


def test_the_recording_is_looked_at_first(exports: Exports, bare_python: str) -> None:
    for python in (bare_python, "/nowhere/python3"):
        exports.fails("none.mcap", "none.mcap", "--to", "x.rrd", code=2, CARDAN_PYTHON=python)
        exports.fails("/nothing", "drive.mcap", "--to", "x.rrd", "--topic", "/nothing", code=2, CARDAN_PYTHON=python)
        (exports.folder / "there.rrd").write_text("")
        exports.fails("there.rrd", "drive.mcap", "--to", "there.rrd", code=2, CARDAN_PYTHON=python)
    exports.fails("/nowhere/python3 cannot be started", "drive.mcap", "--to", "x.rrd", CARDAN_PYTHON="/nowhere/python3")


def test_an_interpreter_that_lacks_packages(exports: Exports, bare_python: str) -> None:
    said = exports.fails("lacks the package cardan and rerun-sdk", "drive.mcap", "--to", "x.rrd", CARDAN_PYTHON=bare_python)
    assert "pip install ./python" in said and "-m pip install rerun-sdk" in said and "CARDAN_PYTHON=" in said
    assert "environment" not in said  # no process of a configuration
    # With the package, but without rerun-sdk.
    package = Path(cardan.__file__).parent.parent
    half = exports.folder / "half-python3"
    half.write_text(f'#!/bin/sh\nPYTHONPATH="{package}" exec "{sys.executable}" -S "$@"\n')
    half.chmod(0o755)
    said = exports.fails("lacks the package rerun-sdk", "drive.mcap", "--to", "x.rrd", CARDAN_PYTHON=str(half))
    assert "./python" not in said and "-m pip install rerun-sdk" in said


def test_the_meaning_of_the_word_rerun(exports: Exports, bare_python: str) -> None:
    (exports.folder / "rerun").mkdir()
    said = exports.fails("rerun is a folder here", "drive.mcap", "--to", "rerun", code=2)
    assert "--to ./rerun" in said and "--to drive.rrd" in said
    run = exports.run("drive.mcap", "--to", "./rerun", CARDAN_PYTHON=bare_python)  # a folder, as always
    assert (exports.folder / "rerun" / "imu.csv").exists(), run.stderr


@needs_rerun
def test_the_word_rerun_writes_next_to_the_recording(exports: Exports) -> None:
    (exports.folder / "bags").mkdir()
    (exports.folder / "drive.mcap").rename(exports.folder / "bags" / "drive.mcap")
    run = exports.run("bags/drive.mcap", "--to", "rerun", "--topic", "/imu")
    assert run.returncode == 0 and "bags/drive.rrd" in run.stdout, run.stdout + run.stderr
    assert set(read(exports.folder / "bags" / "drive.rrd")) >= {"/imu/angular_velocity.x"}
    exports.fails("bags/drive.rrd", "bags/drive.mcap", "--to", "rerun", code=2)
    assert exports.run("bags/drive.mcap", "--to", "rerun", "--topic", "/imu", "--force").returncode == 0
    run = exports.run("bags", "--to", "rerun", "--topic", "/imu")  # a recording in parts
    assert run.returncode == 0 and (exports.folder / "bags.rrd").exists(), run.stdout + run.stderr


@needs_rerun
def test_a_live_topic(tmp_path: Path, topic: str) -> None:
    imu = cardan.Topic(topic, cardan.Imu, depth=100)
    with imu.publisher() as pub:
        for i in range(20):
            pub.publish(header={"stamp": S + i}, angular_velocity={"x": i})
        done = cardan.rerun.log(imu, tmp_path / "live.rrd", seconds=0.5)
    assert (done.messages, done.left_out) == (20, 0)
    (entity,) = [e for e in read(tmp_path / "live.rrd") if e.endswith("angular_velocity.x")]
    assert [v[0] for v in column(read(tmp_path / "live.rrd")[entity], "calars")] == [float(i) for i in range(20)]


@needs_rerun
def test_little_waits_for_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import rerun

    flushed: list[int] = []
    before = rerun.RecordingStream.flush
    monkeypatch.setattr(rerun.RecordingStream, "flush", lambda self, *a, **k: (flushed.append(1), before(self, *a, **k))[1])
    monkeypatch.setattr(cardan.rerun, "_WAITING_BYTES", 100)
    write(tmp_path / "drive.mcap")
    with cardan.Bag(tmp_path / "drive.mcap") as bag:
        cardan.rerun.log(bag["/camera/front"], tmp_path / "drive.rrd")
    assert len(flushed) == 3  # each second picture of 72 bytes, and at the end
    assert threading.active_count() < 50


@pytest.mark.skipif(find_spec("rerun") is not None, reason="rerun-sdk is here")
def test_without_it_the_remedy_is_shown(tmp_path: Path) -> None:
    write(tmp_path / "drive.mcap")
    with cardan.Bag(tmp_path / "drive.mcap") as bag, pytest.raises(cardan.Error, match="pip install rerun-sdk"):
        cardan.rerun.log(bag, tmp_path / "drive.rrd")
