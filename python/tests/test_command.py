# SPDX-License-Identifier: Apache-2.0
"""The console script of the wheel: how it becomes the command. wheel_test.sh looks at the command itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = Path(__file__).parents[1] / "_cardan_command.py"
PROGRAM = """#!/bin/sh
echo "$CARDAN_PYTHON"
grep SigIgn /proc/$$/status
for word; do echo "word: $word"; done
exit 3
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder as site-packages, with a program in place of the command. An import of the package fails."""
    shutil.copy(MODULE, tmp_path)
    program = tmp_path / "cardan" / "_command" / "bin" / "cardan"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    (tmp_path / "cardan" / "__init__.py").write_text("raise ImportError")
    return tmp_path


def run(site: Path, *words: str, python: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "CARDAN_PYTHON"}
    environment["PYTHONPATH"] = str(site)
    if python is not None:
        environment["CARDAN_PYTHON"] = python
    # As the scripts that pip makes of [project.scripts].
    script = "import sys; from _cardan_command import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", script, *words], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("given", "expected"), [(None, sys.executable), ("", sys.executable), ("/opt/python3", "/opt/python3")])
def test_becomes_the_program(installed: Path, given: str | None, expected: str) -> None:
    done = run(installed, "top", "a b", "", python=given)
    assert done.returncode == 3, done.stderr
    python, ignored, *words = done.stdout.splitlines()
    assert python == expected
    assert words == ["word: top", "word: a b", "word: "]
    assert int(ignored.split()[1], 16) & (1 << 12) == 0, "SIGPIPE is ignored"


def test_says_that_the_program_is_missing(installed: Path) -> None:
    (installed / "cardan" / "_command" / "bin" / "cardan").unlink()
    done = run(installed, "top")
    assert done.returncode == 1
    assert "cardan/_command/bin/cardan cannot be started: No such file or directory — " in done.stderr
    assert "Traceback" not in done.stderr
