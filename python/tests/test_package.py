# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: its types, its style, its guide, and what users' code is checked as."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import Programs

import cardan

SOURCE = Path(os.environ.get("CARDAN_SOURCE", Path(__file__).parents[2]))
PACKAGE = SOURCE / "python"


@pytest.mark.skipif(find_spec("mypy") is None, reason="no mypy here")
def test_types_are_strict(tmp_path: Path) -> None:
    use = tmp_path / "use.py"
    use.write_text(
        """
from dataclasses import dataclass
import cardan

@cardan.message("my_msgs/msg/Car")
@dataclass
class Car:
    speed: float = 0.0

front = cardan.Topic("/front", cardan.Image, max_bytes=3)
for frame in front.subscriber(holds=2):
    reveal_type(frame)
    reveal_type(frame.height)
for car in cardan.Topic("/car", Car).subscriber():
    reveal_type(car.value)
for other in cardan.Topic("/other").subscriber():
    reveal_type(other)
with front.publisher().loan() as loan:
    reveal_type(loan)
cardan.Topic("/front", cardan.Image, max_byte=3)
cardan.Topic("/front", 5)
"""
    )
    cache = f"--cache-dir={tmp_path / 'cache'}"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file", str(PACKAGE / "pyproject.toml"), cache),
            *("cardan", "_cardan_command.py", str(use)),
        ],
        cwd=PACKAGE,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.partition("use.py:")[2] for line in run.stdout.splitlines() if "use.py:" in line]
    revealed = [line.rpartition('is "')[2].rstrip('"') for line in lines if "note: Revealed" in line]
    assert revealed == ["cardan._messages.Image", "int", "use.Car", "cardan._cardan.AnyMessage", "cardan._messages.Image"], run.stdout
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert all("use.py:20:" in line or "use.py:21:" in line for line in errors), run.stdout
    assert any("use.py:20:" in line for line in errors) and any("use.py:21:" in line for line in errors), run.stdout


def lines_with_errors(checker: str, words: list[str]) -> None:
    """Both of a file: those that a type checker complains about are those that are marked."""
    file = PACKAGE / "tests" / "wrong_types.py"
    run = subprocess.run([sys.executable, "-m", checker, *words, str(file)], cwd=PACKAGE, capture_output=True, text=True, check=False)
    found = {int(line) for line in re.findall(r"wrong_types\.py:(\d+):.*?error:", run.stdout)}
    marked = {i for i, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("# wrong")}
    assert len(marked) > 20 and found == marked, f"{sorted(found ^ marked)}\n{run.stdout}{run.stderr}"


@pytest.mark.skipif(find_spec("mypy") is None, reason="no mypy here")
def test_mypy_finds_what_is_wrong(tmp_path: Path) -> None:
    lines_with_errors("mypy", ["--strict", "--config-file", str(PACKAGE / "pyproject.toml"), f"--cache-dir={tmp_path}"])


@pytest.mark.skipif(find_spec("pyright") is None, reason="no pyright here")
def test_pyright_finds_what_is_wrong() -> None:
    lines_with_errors("pyright", ["--pythonpath", sys.executable])


def imports_of(file: Path) -> set[str]:
    """Modules of the package that a module names, at its top, in its functions, and for types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition("cardan.")[2] for name in node.names if name.name.startswith("cardan.")}
        elif isinstance(node, ast.ImportFrom) and node.module == "cardan":
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cardan."):
            found.add(str(node.module).partition(".")[2])
    return found


def test_imports_go_one_way() -> None:
    left = {file.stem: imports_of(file) for file in (PACKAGE / "cardan").glob("*.py")}
    assert len(left) > 15
    while free := [name for name, needs in left.items() if not needs & set(left)]:
        for name in free:
            del left[name]
    circles = {name: sorted(needs & set(left)) for name, needs in left.items() if any(name in left[n] for n in needs & set(left))}
    assert not left, f"these import each other: {circles or left}"


@pytest.mark.skipif(find_spec("ruff") is None, reason="no ruff here")
def test_style() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", str(PACKAGE)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout


PRELUDE = """
import threading, numpy as np, cardan
frames = 0
def detect(mat):
    global frames
    assert mat.shape == (1200, 1920, 3) and not mat.flags.writeable
    frames += 1
    if frames == 3:
        cardan.request_stop()
class capture:
    left = 3
    @classmethod
    def is_open(cls):
        cls.left -= 1
        return cls.left >= 0
    @staticmethod
    def read_into(pixels):
        pixels[:] = 7
"""
SENSORS = """
import time, numpy as np, cardan
front = cardan.Topic("/camera/front", cardan.Image, max_bytes=1920 * 1200 * 3).publisher()
top = cardan.Topic("/lidar/top", cardan.PointCloud, max_bytes=1200).publisher()
print("ready")
while True:
    with front.loan() as frame:
        frame.resize(1200, 1920, "bgr8")[:] = 7
    with top.loan() as cloud:
        cloud.points = np.zeros(100, [("x", "f4"), ("y", "f4"), ("z", "f4")])
    time.sleep(0.05)
"""


def write_drive(path: Path) -> None:
    with cardan.Bag(path, "w") as out:
        for i in range(10):
            with out.loan("/camera/front", cardan.Image, log_ns=1_700_000_000_000_000_000 + i * 200_000_000) as frame:
                frame.resize(1200, 1920, "bgr8")[:] = i
            out.write("/imu", {"header": {"stamp": i}}, type=cardan.Imu, log_ns=1_700_000_000_000_000_000 + i * 200_000_000)


def test_the_guide_works(programs: Programs, tmp_path: Path) -> None:
    page = (SOURCE / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    assert len(blocks) == 14
    sensors = programs.python(SENSORS)
    assert sensors.stdout is not None and sensors.stdout.readline() == "ready\n"
    write_drive(tmp_path / "drive.mcap")
    for block in blocks:
        # A program's file; dataclasses look for their module there.
        run = subprocess.run(
            [sys.executable, "-c", PRELUDE + block], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert run.returncode == 0, f"{block}\n{run.stdout}{run.stderr}"


def test_the_version_is_the_librarys() -> None:
    project = (PACKAGE / "pyproject.toml").read_text(encoding="utf-8")
    library = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    ours = re.search(r'^version = "(.*)"', project, flags=re.M)
    theirs = re.search(r"project\(cardan VERSION (\S+)", library)
    assert ours is not None and theirs is not None and ours[1] == theirs[1] == cardan.__version__


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cardan.Header(stamp=1), "fill a loan, or give publish() the fields; a message in a message is a dict, {'stamp': 1}"),
        (lambda: cardan.from_ros2msg("my_msgs/msg/One", "int32 x")(7), "One() cannot make a message"),
        (lambda: cardan.Subscriber("/x"), "not of a str — write cardan.Topic('/x', type).subscriber()"),
        (lambda: cardan.Publisher("/x"), "write cardan.Topic('/x', type).publisher()"),
        (lambda: cardan.to_dict({}), "to_dict() takes a message, not a dict — give what take(), wait() or a loan gave"),
        (lambda: cardan.info(3), "info() takes a message, not a int"),
        (lambda: cardan.structured([]), "takes the messages in a message, not a list — give a field of one"),
    ],
)
def test_wrong_first_steps_are_answered_with_a_remedy(call: Any, says: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert says in str(caught.value)
