# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile recordings: an Error with its remedy, or what can be read and a warning; never a crash, and memory
is bounded."""

from __future__ import annotations

import random
import signal
import struct
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from conftest import Programs

import cardan

MAGIC = b"\x89MCAP0\r\n"
S = 1_000_000_000


def write(path: Path, compression: str = "none") -> bytes:
    with cardan.Bag(path, "w", compression=compression, chunk_bytes=4096) as out:
        for i in range(50):
            out.write("/imu", {"header": {"stamp": i, "frame_id": "imu"}}, type=cardan.Imu, log_ns=S + i)
            with out.loan("/cam", cardan.Image, log_ns=S + i) as frame:
                frame.resize(20, 30, "mono8")[:] = i
    return path.read_bytes()


def record(opcode: int, content: bytes, claimed: int | None = None) -> bytes:
    return struct.pack("<BQ", opcode, len(content) if claimed is None else claimed) + content


def text(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


def channel(definition: bytes, name: bytes = b"my_msgs/msg/X", encoding: bytes = b"ros2msg") -> bytes:
    schema = record(3, struct.pack("<H", 1) + text(name) + text(encoding) + text(definition))
    return schema + record(4, struct.pack("<HH", 1, 1) + text(b"/x") + text(b"cdr") + text(b""))


def message(data: bytes, time: int = 1) -> bytes:
    return record(5, struct.pack("<HIQQ", 1, 7, time, time) + data)


def header() -> bytes:
    return MAGIC + record(1, text(b"") + text(b"hostile"))


def everything(path: Path) -> int:
    """Reads all there is of a file, in all ways. How many messages; -1: it is refused."""
    try:
        bag = cardan.Bag(path)
        count = sum(1 for m in bag if cardan.to_dict(m) is not None)
        for topic in bag.topics.values():
            assert topic.start <= topic.end
            _ = topic.definition, topic.metadata
            try:
                bag.frame(topic.name)
            except cardan.Error as error:
                assert error.cause
        assert sum(1 for _ in bag.read(raw=True)) >= count
        return count
    except cardan.Error as error:
        assert error.cause and error.code
        return -1


def test_a_file_that_was_cut_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.mcap")
    path = tmp_path / "cut.mcap"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.warns(cardan.RecordingWarning, match=r"cut.mcap was not finished: .* \(byte \d+\)") as caught:
        bag = cardan.Bag(path)
    assert caught[0].filename == __file__
    got = list(bag)
    assert not bag.complete and 30 < len(got) < 70 and [m.log_ns for m in got] == sorted(m.log_ns for m in got)
    assert len(bag.problems) == 1 and bag.topics["/imu"].count == len(bag.frame("/imu")["log_ns"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", cardan.RecordingWarning)
        with pytest.raises(cardan.RecordingWarning):
            cardan.Bag(path)


def test_a_writer_that_is_killed_leaves_what_is_readable(tmp_path: Path, programs: Programs) -> None:
    code = textwrap.dedent("""
        import cardan, sys, time
        out = cardan.Bag(sys.argv[1], "w", chunk_bytes=1000)
        for i in range(1000):
            out.write("/imu", {"header": {"stamp": i}}, type=cardan.Imu, log_ns=i + 1)
        print("written")
        time.sleep(600)
    """)
    writer = programs.python(code, str(tmp_path / "x.mcap"))
    assert writer.stdout is not None and writer.stdout.readline() == "written\n"
    with pytest.raises(cardan.Error, match="being written"):
        cardan.Bag(tmp_path / "x.mcap", "w")
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert not (tmp_path / "x.mcap").exists()
    with pytest.warns(cardan.RecordingWarning, match="not finished"):
        bag = cardan.Bag(tmp_path / "x.mcap.partial")
    stamps = bag.frame("/imu")["header.stamp"]
    assert len(stamps) > 900 and stamps.tolist() == list(range(len(stamps)))


@pytest.mark.filterwarnings("ignore::cardan.RecordingWarning")
@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_cut_and_changed_anywhere(compression: str, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.mcap", compression)
    path = tmp_path / "bad.mcap"
    draw = random.Random(5)
    for _ in range(40):
        path.write_bytes(whole[: draw.randrange(len(whole))])
        everything(path)
    refused = read = 0
    for _ in range(150):
        changed = bytearray(whole)
        for _ in range(draw.choice((1, 1, 8))):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        path.write_bytes(changed)
        count = everything(path)
        refused += count < 0
        read += count > 0
    assert read > 75 and refused < 30


@pytest.mark.filterwarnings("ignore::cardan.RecordingWarning")
@pytest.mark.parametrize("content", [b"", b"x", MAGIC, MAGIC * 2, b"garbage" * 5000, MAGIC + b"\xff" * 100_000])
def test_garbage(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.mcap").write_bytes(content)
    assert everything(tmp_path / "x.mcap") <= 0


def test_garbage_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "x.mcap").write_bytes(b"garbage" * 5000)
    with pytest.raises(cardan.Error) as caught:
        cardan.Bag(tmp_path / "x.mcap")
    assert caught.value.code == "invalid_argument" and "not an MCAP file" in caught.value.cause and caught.value.remedy
    for no_file in (tmp_path, tmp_path / "nowhere.mcap", "/dev/zero", "x\0y", ""):
        with pytest.raises(cardan.Error):
            cardan.Bag(no_file)


LIMIT = 1 << 30  # of the address space beyond what the interpreter has

BOUNDED = """
import resource, sys, warnings
import numpy, cardan
from cardan import _record
warnings.simplefilter("ignore", cardan.RecordingWarning)
with open("/proc/self/statm") as statm:
    now = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + int(sys.argv[2]), now + int(sys.argv[2])))
bag = cardan.Bag(sys.argv[1], max_memory=64 << 20)
count = sum(1 for _ in bag)
print(count, bag.bad, *bag.problems, sep="\\n")
"""


def bounded(path: Path) -> tuple[int, int, str]:
    """(messages, bad, problems) of a file that is read with little memory."""
    run = subprocess.run([sys.executable, "-c", BOUNDED, str(path), str(LIMIT)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    count, bad, *problems = run.stdout.splitlines()
    return int(count), int(bad), "\n".join(problems)


def test_lengths_that_are_claimed(tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    good = message(struct.pack("<I", 0x0100) + b"\x05")

    def read(definition: bytes, *parts: bytes) -> tuple[int, int, str]:
        path.write_bytes(header() + channel(definition) + b"".join(parts))
        return bounded(path)

    assert read(b"uint8 x", good)[:2] == (1, 0)
    for claimed in (1 << 20, 1 << 40, (1 << 64) - 1):
        count, _, problems = read(b"uint8 x", good, record(5, b"abc", claimed))
        assert count == 1 and "not finished" in problems
    # A message whose list says that it has 2^32 - 1 elements.
    count, bad, problems = read(b"float64[] x", message(struct.pack("<II", 0x0100, 0xFFFFFFFF) + b"\0" * 64))
    assert (count, bad) == (0, 1) and "/x, message 7 of 1 ns" in problems
    # A type that is larger than any message of it.
    count, bad, problems = read(b"float64[100000000] x", message(struct.pack("<I", 0x0100) + b"\0" * 64))
    assert (count, bad) == (0, 1) and "too few for its type" in problems
    # Elements that are much larger in memory than on the wire.
    nested = b"Y[] y\n" + b"=" * 80 + b"\nMSG: my_msgs/Y\n" + b"".join(b"string s%d\n" % i for i in range(100))
    letters = struct.pack("<II", 0x0100, 100_000) + struct.pack("<II", 1, 0) * 100 * 100_000
    count, bad, problems = read(nested, message(letters))
    assert (count, bad) == (0, 1) and "max_memory" in problems


@pytest.mark.filterwarnings("ignore::cardan.RecordingWarning")
@pytest.mark.parametrize(
    ("definition", "encoding"),
    [(b"", b"ros2msg"), (b"\xff\xfe", b"ros2msg"), (b"Nowhere x", b"ros2msg"), (b"X x", b"ros2msg"), (b"uint8 x", b"idl")],
)
def test_invalid_types(definition: bytes, encoding: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.mcap"
    path.write_bytes(header() + channel(definition, encoding=encoding) + message(b"\0\1\0\0\5"))
    (got,) = list(cardan.Bag(path))
    assert isinstance(got, cardan.Encoded) and bytes(got.data) == b"\0\1\0\0\5" and got.why and got.cdr() == bytes(got.data)


def test_a_bomb(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "bomb.mcap"
    size = 2 << 30
    packer = zstandard.ZstdCompressor().compressobj(size=size)
    packed = b"".join(packer.compress(b"\0" * (1 << 20)) for _ in range(size >> 20)) + packer.flush()
    assert len(packed) < 1 << 20
    chunk = struct.pack("<QQQI", 1, 1, size, 0) + text(b"zstd") + struct.pack("<Q", len(packed)) + packed
    path.write_bytes(header() + channel(b"uint8 x") + record(6, chunk))
    count, _, problems = bounded(path)
    assert count == 0 and problems
