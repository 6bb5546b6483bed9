# SPDX-License-Identifier: Apache-2.0
"""Chains of damaged and hostile recordings: what is true is read alike by Bag.chain and by `cardan bag chain`, the rest is
reported, and memory is bounded."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import cardan

T = 1_700_000_000_000_000_000
S = 1_000_000_000
HOUR = 3600 * S
NONE = 0xFFFF
ENDS = ("--from", "/camera", "--to", "/command")


@cardan.message("cardan_msgs/msg/Causes")
@dataclass
class Causes:
    """As the recorder writes them (src/record/causes.cpp)."""

    stamp_ns: cardan.int64 = 0
    left_out: cardan.uint64 = 0
    publishers: list[cardan.uint64] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    publisher: list[cardan.uint16] = field(default_factory=list)
    sequence: list[cardan.uint32] = field(default_factory=list)
    published_us: list[cardan.int32] = field(default_factory=list)
    age_us: list[cardan.uint32] = field(default_factory=list)
    cause_publisher: list[cardan.uint16] = field(default_factory=list)
    cause_sequence: list[cardan.uint32] = field(default_factory=list)


@cardan.message("my_msgs/msg/Other")
@dataclass
class Other:
    publishers: str = ""


def pair(i: int = 0) -> Causes:
    """A picture, and 10 ms later a command that rests on it."""
    return Causes(100 * S + i * S, 0, [7, 9], ["/camera", "/command"], [0, 1], [i, i], [-20_000, -10_000], [0, 0], [NONE, 0], [0, i])


def write(path: Path, *messages: tuple[int, object]) -> Path:
    with cardan.Bag(path, "w") as out:
        for log_ns, message in messages:
            out.write("/cardan/causes", message, log_ns=log_ns)
    return path


def run(command: str, path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([command, "bag", "chain", str(path), *words], capture_output=True, text=True, check=False)


def test_chains(tmp_path: Path) -> None:
    none, unknown = 0xFFFF, 0xFFFFFFFF
    # A picture each 100 ms; objects 10 ms later; a command 5 ms later, of each second picture's objects.
    first = Causes(
        5 * S, 0, [7, 9], ["/camera", "/objects"], [0, 1] * 10, [i // 2 for i in range(20)],
        [i // 2 * 100_000 - 2_000_000 + i % 2 * 10_000 for i in range(20)], [0] * 20, [none, 0] * 10, [i // 2 for i in range(20)],
    )  # fmt: skip
    second = Causes(
        6 * S, 0, [9, 3, 8, 0], ["", "/command", "", "/theirs"], [1] * 8 + [3], [*range(8), 0],
        [i * 200_000 - 3_000_000 + 15_000 for i in range(5)] + [0, 0, 0, 0], [0] * 7 + [unknown] * 2,
        [0] * 5 + [2, none, 0, none], [*range(0, 10, 2), 1, 0, 1, 0],
    )  # fmt: skip
    write(tmp_path / "causes.mcap", (T + 5 * S, first), (T + 6 * S, second))
    with cardan.Bag(tmp_path / "causes.mcap") as bag:
        chain = bag.chain("/camera", "/command")
        assert list(chain) == ["log_ns", "sequence", "/camera → /objects", "/objects → /command", "total"]
        assert chain["sequence"].tolist() == [0, 1, 2, 3, 4]
        assert chain["log_ns"].tolist() == [T + 3 * S + i * S // 5 + 15_000_000 for i in range(5)]
        assert chain["/camera → /objects"] == pytest.approx([0.010] * 5)
        assert chain["/objects → /command"] == pytest.approx([0.005] * 5)
        assert chain["total"] == pytest.approx([0.015] * 5)
        assert bag.chain("/command", "/camera")["total"].shape == (0,)
        with pytest.raises(cardan.Error, match="no causes of '/nothing'.*/camera"):
            bag.chain("/nothing", "/command")
        with pytest.raises(cardan.Error, match="use dict, pandas or polars"):
            bag.chain("/camera", "/command", "xml")
        if find_spec("pandas"):
            assert bag.chain("/camera", "/command", "pandas")["total"].sum() == pytest.approx(0.075)
    with cardan.Bag(tmp_path / "none.mcap", "w") as out:
        out.write("/imu", {}, type=cardan.Imu, log_ns=T)
    with cardan.Bag(tmp_path / "none.mcap") as bag, pytest.raises(cardan.Error, match="no causes are recorded"):
        bag.chain("/imu", "/imu")


def test_each_message_has_its_own_log_time(tmp_path: Path, command: str) -> None:
    path = write(tmp_path / "set.mcap", *((T + i * HOUR, pair(i)) for i in range(3)))
    expected = [T + i * HOUR - S // 100 for i in range(3)]
    assert cardan.Bag(path).chain("/camera", "/command")["log_ns"].tolist() == expected
    done = run(command, path, *ENDS, "--csv")
    assert done.returncode == 0, done.stderr
    assert [int(line.split(",")[0]) for line in done.stdout.splitlines()[1:]] == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda good: replace(good, publisher=[0, 2]),
        lambda good: replace(good, publisher=[0, 0xFFFF]),
        lambda good: replace(good, cause_publisher=[NONE, 2]),
        lambda good: replace(good, age_us=[0]),
        lambda good: replace(good, cause_publisher=[NONE]),
        lambda good: replace(good, cause_sequence=[0] * 3),
        lambda good: replace(good, publishers=[7]),
        lambda good: replace(good, topics=["/camera", "x" * 1025]),
        lambda _: Causes(publisher=[0], sequence=[0], published_us=[0], age_us=[0], cause_publisher=[NONE], cause_sequence=[0]),
    ],
)
def test_damaged_messages_are_left_out_and_reported(damage: Callable[[Causes], Causes], tmp_path: Path, command: str) -> None:
    path = write(tmp_path / "damaged.mcap", (T, pair(0)), (T + 1, damage(pair(1))), (T + 2, pair(2)))
    bag = cardan.Bag(path)
    with pytest.warns(cardan.RecordingWarning, match="1 parts .*no recorder wrote it"):
        chain = bag.chain("/camera", "/command")
    assert chain["sequence"].tolist() == [0, 2] and chain["total"] == pytest.approx([0.01] * 2)
    done = run(command, path, *ENDS, "--json")
    assert json.loads(done.stdout)["publications"] == 2 and "1 message on /cardan/causes cannot be read" in done.stderr


def test_messages_of_another_type_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "other.mcap", (T, Other("a")))
    with pytest.warns(cardan.RecordingWarning), pytest.raises(cardan.Error, match="no causes are recorded"):
        cardan.Bag(path).chain("/camera", "/command")


def test_of_repeated_samples_the_earliest_counts(tmp_path: Path, command: str) -> None:
    late = replace(pair(), published_us=[-20_000, -5_000])
    path = write(tmp_path / "twice.mcap", (T, late), (T, pair()))
    assert cardan.Bag(path).chain("/camera", "/command")["total"] == pytest.approx([0.01])
    assert run(command, path, *ENDS, "--csv").stdout.splitlines()[1].endswith(",10000")


def test_samples_without_a_time_have_no_row(tmp_path: Path) -> None:
    old = replace(pair(), stamp_ns=10_000 * S, published_us=[0, -(2**31)], publisher=[0, 1], sequence=[5, 0])
    path = write(tmp_path / "old.mcap", (T, pair(1)), (T + S, replace(old, cause_sequence=[0, 1])))
    assert cardan.Bag(path).chain("/camera", "/command")["sequence"].tolist() == [1]


def test_the_table_has_a_limit(tmp_path: Path, command: str) -> None:
    ways, hops, frames = 300, 31, 8_000
    causes = Causes(100 * S, 0, [1, 2], ["/camera", "/command"])

    def add(publisher: int, sequence: int, published_us: int, cause: int, cause_sequence: int) -> None:
        causes.publisher.append(publisher)
        causes.sequence.append(sequence)
        causes.published_us.append(published_us)
        causes.age_us.append(0)
        causes.cause_publisher.append(cause)
        causes.cause_sequence.append(cause_sequence)

    add(0, 0, -1000, NONE, 0)
    for i in range(frames):
        add(1, i, -900, 0, 0)
    for way in range(ways):
        for hop in range(hops - 1):
            place = len(causes.topics)
            causes.publishers.append(place + 1)
            causes.topics.append(f"/t{way}/{hop}")
            add(place, 0, -990 + hop, place - 1 if hop else 0, 0)
        add(1, frames + way, -900, len(causes.topics) - 1, 0)
    path = write(tmp_path / "wide.mcap", (T, causes))
    with pytest.raises(cardan.Error, match="the table is too large: 8300 rows.*cardan bag cut") as raised:
        cardan.Bag(path).chain("/camera", "/command")
    assert raised.value.code == "limit"
    done = run(command, path, *ENDS, "--csv")
    assert done.returncode == 1 and "the table is too large: 8300 lines and 9304 columns" in done.stderr, done.stderr
    assert "--start and --end" in done.stderr and not done.stdout
    assert run(command, path, *ENDS, "--json").returncode == 0


def test_publishers_have_a_limit(tmp_path: Path, command: str) -> None:
    def many(first: int) -> Causes:
        return Causes(100 * S, 0, list(range(first, first + 40_000)), ["/t"] * 40_000, [0], [first], [0], [0], [NONE], [0])

    path = write(tmp_path / "many.mcap", (T, pair()), (T + S, many(100)), (T + 2 * S, many(50_000)))
    with pytest.raises(cardan.Error, match="too many publishers.*cardan bag cut") as raised:
        cardan.Bag(path).chain("/camera", "/command")
    assert raised.value.code == "limit"
    done = run(command, path, *ENDS)
    assert done.returncode == 1 and "too many publishers" in done.stderr, done.stderr


def test_why_there_is_no_way(tmp_path: Path, command: str) -> None:
    pointer = Causes(100 * S, 0, [7, 9, 8], ["/camera", "/command", ""], [0, 1], [0, 0], [-20, -10], [0, 0], [NONE, 2], [0, 0])
    done = run(command, write(tmp_path / "pointer.mcap", (T, pointer)), *ENDS)
    assert done.returncode == 1 and "a topic on the way was not recorded" in done.stderr and "cardan check" not in done.stderr
    others = replace(pair(), cause_publisher=[NONE, NONE])
    done = run(command, write(tmp_path / "others.mcap", (T, others)), *ENDS)
    assert done.returncode == 1 and "cardan check FILE.json" in done.stderr


def test_one_form_at_a_time(tmp_path: Path, command: str) -> None:
    done = run(command, write(tmp_path / "drive.mcap", (T, pair())), *ENDS, "--json", "--csv")
    assert done.returncode == 2 and "--json and --csv exclude each other" in done.stderr and not done.stdout
