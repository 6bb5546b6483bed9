# SPDX-License-Identifier: Apache-2.0
"""Projects of `cardan new … --python`: their tests pass, and they run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Programs, until

import cardan


@pytest.mark.parametrize(("kind", "topic", "field"), [("project", "/queue/command", "brake"), ("component", "/queue/state", "count")])
def test_a_new_project_passes_its_test_and_runs(
    kind: str, topic: str, field: str, tmp_path: Path, command: str, programs: Programs
) -> None:
    environment = {**os.environ, "CARDAN_PYTHON": sys.executable}

    def run(folder: Path, *words: str) -> str:
        ended = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert ended.returncode == 0, f"{words}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout + ended.stderr

    said = run(tmp_path, command, "new", kind, "queue", "--python")  # Python has a module of that name, too
    assert "python3 -m unittest" in said
    assert "cmake" not in said
    folder = tmp_path / "queue"
    for file in folder.iterdir():
        assert not re.search(r"@(name|Class|schema)@", file.read_text()), file
    assert "Ran 1 test" in run(folder, sys.executable, "-m", "unittest")
    run(folder, command, "check", "queue.json")
    system = programs.start([command, "run", "queue.json", "--no-view"], cwd=folder, env=environment)
    found: list[cardan.Subscriber[cardan.Message]] = []

    def there() -> bool:
        try:
            found.append(cardan.Topic(topic).subscriber())
        except cardan.Error as error:
            assert error.code == "unavailable"
        return bool(found)

    until(there, 60)
    with found[0] as sub:
        message = sub.wait(60)
        assert message is not None, sub.reason
        assert hasattr(message, field)
    system.send_signal(signal.SIGINT)
    assert system.wait(60) == 0
