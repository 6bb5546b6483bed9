# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests: a run directory of this run alone, names of topics of each test alone, programs that run meanwhile."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_run = tempfile.TemporaryDirectory(prefix="cardan-py-")
os.environ["CARDAN_RUN_DIR"] = _run.name  # before the library looks
os.environ["CARDAN_PYTHON"] = sys.executable  # the interpreter that has the packages

COMMAND = os.environ.get("CARDAN_COMMAND", "")


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic's name that no other test uses."""
    return "/" + request.node.name.replace("[", "_").replace("]", "").replace("-", "_")


class Programs:
    """Programs that a test starts. They are ended with it."""

    def __init__(self) -> None:
        self.all: list[subprocess.Popen[str]] = []

    def python(self, code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        return self.start([sys.executable, "-u", "-c", code, *arguments], **options)

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[str]:
        one = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True, **options
        )
        self.all.append(one)
        return one


@pytest.fixture
def programs() -> Iterator[Programs]:
    made = Programs()
    yield made
    for one in made.all:
        if one.poll() is None:
            one.kill()
        one.communicate(timeout=60)  # what a program started may hold its pipes


def until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Waits for a condition; fails when it does not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not come"
        time.sleep(0.005)


@pytest.fixture
def bare_python(tmp_path: Path) -> str:
    """An interpreter without any package: no PYTHONPATH, no site-packages."""
    file = tmp_path / "bare-python3"
    file.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -E -S "$@"\n')
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def command() -> str:
    if not COMMAND or not Path(COMMAND).exists():
        pytest.skip("no command `cardan` here (CARDAN_COMMAND)")
    return COMMAND
