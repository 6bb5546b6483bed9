# SPDX-License-Identifier: Apache-2.0
"""Attacks by files of another user: what lies in the folder where a command is typed, or in a configuration's folder that others can
write, must not run as the user of the command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import Programs

import cardan

# Modules that an interpreter, the package, or the probing of the command imports, or tries to import.
MODULES = [
    "_bootlocale", "_weakrefset", "abc", "argparse", "ast", "asyncio", "cardan", "codecs", "collections", "contextlib", "copyreg",
    "ctypes", "dataclasses", "decimal", "encodings", "enum", "functools", "genericpath", "importlib", "inspect", "io", "json",
    "keyword", "linecache", "multiprocessing", "numpy", "operator", "os", "pathlib", "pickle", "platform", "posixpath", "queue",
    "random", "re", "rerun", "runpy", "secrets", "select", "signal", "site", "sitecustomize", "socket", "stat", "string", "struct",
    "subprocess", "sysconfig", "tempfile", "threading", "token", "traceback", "types", "typing", "ujson", "usercustomize", "warnings",
    "weakref", "zipfile",
]  # fmt: skip

NOTES = """
import os
open(os.environ["CARDAN_TEST_MARK"], "a").write(__name__ + "\\n")
"""

PARTS = """
import json, multiprocessing, platform, queue, random, secrets, numpy
import cardan
try:
    import ujson
except ImportError:
    pass

def work(pipe):
    import platform
    pipe.send(json.__file__)

class Part(cardan.Component):
    def on_start(self, context):
        here, there = multiprocessing.get_context("spawn").Pipe()
        if context.parameter("spawns", False).value:
            child = multiprocessing.get_context("spawn").Process(target=work, args=(there,))
            child.start()
            assert here.recv() == json.__file__
            child.join()
        self.out = context.output(cardan.Topic("/imu", cardan.Imu, depth=10))
        context.timer(0.01, self.tick, name="tick")

    def tick(self):
        self.out.publish()
        print("the part runs", flush=True)
"""


def plant(folder: Path) -> None:
    """Modules and packages of an attacker, an interpreter of the usual name, and a program that a shell would start."""
    folder.mkdir(exist_ok=True)
    for name in MODULES:
        (folder / f"{name}.py").write_text(NOTES)
    program = folder / "python3"
    program.write_text('#!/bin/sh\necho python3 >>"$CARDAN_TEST_MARK"\nexit 1\n')
    program.chmod(0o755)
    for name in ("env", "cardan-bridge-foxglove", "cardan-zenoh", "cardan-bench"):
        shutil.copy(program, folder / name)


class Victim:
    """Commands that are typed in an attacker's folder, about files elsewhere."""

    def __init__(self, folder: Path, command: str, programs: Programs) -> None:
        self.command, self.programs = command, programs
        self.evil, self.home = folder / "evil", folder / "home"
        plant(self.evil)
        self.home.mkdir()
        self.mark = folder / "mark"
        self.file = self.home / "car.json"
        (self.home / "parts.py").write_text(PARTS)
        self.write({"python": "parts:Part"})
        self.environment = {
            **os.environ,
            "CARDAN_TEST_MARK": str(self.mark),
            "CARDAN_DOMAIN": folder.name[:40].replace("_", "-"),
        }

    def write(self, part: dict[str, object]) -> None:
        self.file.write_text(json.dumps({"processes": {"one": {"components": {"part": part}}}}))

    def type(self, *words: str, where: Path | None = None) -> subprocess.CompletedProcess[str]:
        words = (self.command, *words)
        for _ in range(20):
            run = subprocess.run(
                words, cwd=where or self.evil, env=self.environment, capture_output=True, text=True, check=False, timeout=300
            )
            said = run.stdout + run.stderr
            self.nothing_ran(said)
            if "does not come back from on_start within" not in said:  # a busy computer needs more than the command's 10 s
                break
        return run

    def nothing_ran(self, said: str) -> None:
        assert not self.mark.exists(), f"the attacker's code ran: {self.mark.read_text().split()}\n{said}"


@pytest.fixture
def victim(tmp_path: Path, command: str, programs: Programs) -> Victim:
    return Victim(tmp_path, command, programs)


def test_check(victim: Victim) -> None:
    checked = victim.type("check", str(victim.file))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def run_until_it_says(victim: Victim, says: str, *words: str) -> str:
    run = victim.programs.start(
        [victim.command, "run", str(victim.file), "--no-view", "--reports", str(victim.home / "out"), *words],
        cwd=victim.evil,
        env=victim.environment,
    )
    assert run.stdout is not None
    seen = []
    for line in run.stdout:
        seen.append(line)
        if says in line:
            break
    run.send_signal(signal.SIGINT)
    output, errors = run.communicate(timeout=300)
    said = "".join(seen) + output + errors
    victim.nothing_ran(said)
    return said


def test_run(victim: Victim) -> None:
    assert "the part runs" in run_until_it_says(victim, "the part runs")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="multiprocessing passes -P on, which Python has since 3.11")
def test_run_of_a_component_that_starts_processes(victim: Victim) -> None:
    victim.write({"python": "parts:Part", "parameters": {"spawns": True}})
    assert "the part runs" in run_until_it_says(victim, "the part runs")


def test_run_from_a_recording(victim: Victim) -> None:
    bag = victim.home / "drive.mcap"
    with cardan.Bag(bag, "w") as writer:
        for at in range(3):
            writer.write("/gps", {}, type=cardan.Imu, log_ns=10**9 + at * 10**7)
    run = victim.type("run", str(victim.file), "--from", str(bag), "--reports", str(victim.home / "out"))
    assert run.returncode in (0, 3), run.stdout + run.stderr


@pytest.mark.parametrize("packages", ["all", "none"])
def test_export_to_rerun(packages: str, victim: Victim, bare_python: str) -> None:
    """Without packages the probing also looks for the folder of the standard library."""
    bag = victim.home / "drive.mcap"
    with cardan.Bag(bag, "w") as writer:
        writer.write("/imu", {}, type=cardan.Imu, log_ns=10**9)
    if packages == "none":
        victim.environment["CARDAN_PYTHON"] = bare_python
    run = victim.type("bag", "export", str(bag), "--to", str(victim.home / "drive.rrd"))
    if packages == "none" or find_spec("rerun") is None:
        assert run.returncode == 1 and "lacks the package" in run.stderr, run.stdout + run.stderr


def interpreters() -> Iterator[str]:
    for minor in range(9, 16):
        found = shutil.which(f"python3.{minor}")
        yield from [found] if found else []
        yield from map(str, Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/3.{minor}.*/bin/python3.{minor}"))


def test_with_each_interpreter_of_this_computer(victim: Victim) -> None:
    """Python has -P since 3.11; Cardan supports 3.9. In place of the package there is one that says how it was started."""
    package = victim.home / "packages" / "cardan"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "_cardan.py").write_text("")
    (package / "component.py").write_text(
        "import json, os, sys, sysconfig\n"
        "def main():\n"
        "    assert not any(os.path.samefile(p or '.', '.') for p in sys.path if os.path.exists(p or '.')), sys.path\n"
        "    print('started with', sys.argv[1:])\n"
    )
    victim.environment["PYTHONPATH"] = str(package.parent)
    for one in interpreters():
        if subprocess.run([one, "-c", ""], capture_output=True, check=False).returncode != 0:
            continue  # a program in place of one that is not installed
        victim.environment["CARDAN_PYTHON"] = one
        run = victim.type("host", str(victim.file), "--process", "one")
        assert run.returncode == 0 and "started with" in run.stdout, one + run.stdout + run.stderr


@pytest.mark.parametrize("empty", ["", "{}", ":{}", "{}:", "{}::{}"])
def test_empty_entries_of_paths(empty: str, victim: Victim) -> None:
    """To Python, an empty entry of PYTHONPATH is the working folder; to a shell, one of PATH is."""
    victim.environment["PYTHONPATH"] = empty.replace("{}", str(Path(cardan.__file__).parent.parent))
    if empty == "":
        victim.environment["PYTHONPATH"] = ":" + str(Path(cardan.__file__).parent.parent)
    here = str(Path(sys.executable).parent)
    victim.environment["PATH"] = ":".join((empty.replace("{}", here), here, os.environ["PATH"]))
    victim.environment["CARDAN_PYTHON"] = "python3"
    checked = victim.type("check", str(victim.file))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    victim.environment["PATH"] = ""
    checked = victim.type("check", str(victim.file))
    assert checked.returncode == 1 and "cannot be started" in checked.stdout + checked.stderr, checked.stdout + checked.stderr


def test_relative_folders_of_path_are_passed_over(victim: Victim) -> None:
    victim.environment["PATH"] = f".:bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    victim.environment["CARDAN_PYTHON"] = "python3"
    checked = victim.type("check", str(victim.file))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_configuration_among_modules_of_others_uses_the_interpreters_own(victim: Victim) -> None:
    """Typed there, as `cardan check car.json`: what the configuration does not name comes after what the interpreter has."""
    for name in MODULES:
        if name not in ("cardan", "ujson"):
            shutil.copy(victim.evil / f"{name}.py", victim.home)
    checked = victim.type("check", "car.json", where=victim.home)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_module_that_the_configuration_names_comes_before_an_installed_one(victim: Victim, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "parts.py").write_text("Part = None\n")
    victim.environment["PYTHONPATH"] = f"{installed}:{Path(cardan.__file__).parent.parent}"
    checked = victim.type("check", str(victim.file))
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_a_folder_that_others_can_write_is_not_searched(mode: int, victim: Victim) -> None:
    (victim.home / "ujson.py").write_text(NOTES)
    victim.home.chmod(mode)
    checked = victim.type("check", "car.json", where=victim.home)
    said = checked.stdout + checked.stderr
    assert checked.returncode == 1 and "there is no Python module 'parts'" in said, said
    assert f"{victim.home} is not searched, because every user can write there" in said and f"chmod o-w {victim.home}" in said, said
    # Modules elsewhere work as before.
    modules = victim.home / "modules"
    modules.mkdir(mode=0o755)
    (victim.home / "parts.py").rename(modules / "parts.py")
    victim.environment["PYTHONPATH"] = f"{modules}:{Path(cardan.__file__).parent.parent}"
    checked = victim.type("check", "car.json", where=victim.home)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="files of another user need root")
def test_a_folder_of_another_user_is_not_searched(victim: Victim) -> None:
    (victim.home / "ujson.py").write_text(NOTES)
    os.chown(victim.home, 65534, 65534)
    checked = victim.type("check", "car.json", where=victim.home)
    said = checked.stdout + checked.stderr
    assert checked.returncode == 1 and f"{victim.home} is not searched, because it belongs to another user than {victim.file}" in said, said
    # Another user's program, which this user names: all of it is trusted.
    (victim.home / "ujson.py").unlink()
    os.chown(victim.file, 65534, 65534)
    checked = victim.type("check", "car.json", where=victim.home)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_library_by_its_path_is_searched_next_to_the_file_alone(victim: Victim) -> None:
    for folder in (victim.evil / "lib", victim.evil / "build" / "lib"):
        folder.mkdir(parents=True)
        (folder / "libparts.so").write_text("not a library, but it is opened")
    for library in ("lib/libparts.so", "./lib/libparts.so", "build/lib/libparts.so"):
        victim.write({"library": library, "class": "Part"})
        checked = victim.type("check", str(victim.file))
        said = checked.stdout + checked.stderr
        assert checked.returncode == 1 and str(victim.home) in said, said
        assert "file too short" not in said and "invalid ELF header" not in said, said


@pytest.mark.parametrize("attack", ["mode", "owner", "link"])
def test_a_library_of_another_user_next_to_the_file_is_refused(attack: str, victim: Victim, tmp_path: Path) -> None:
    library = victim.home / "libparts.so"
    library.write_text("not a library, but it is opened")
    if attack == "mode":
        library.chmod(0o666)
    elif os.geteuid() != 0:
        pytest.skip("files of another user need root")
    elif attack == "owner":
        os.chown(library, 65534, 65534)
    else:
        library.rename(tmp_path / "elsewhere.so")
        library.symlink_to(tmp_path / "elsewhere.so")
        os.chown(library, 65534, 65534, follow_symlinks=False)
    victim.write({"library": "libparts.so", "class": "Part"})
    checked = victim.type("check", str(victim.file))
    said = checked.stdout + checked.stderr
    assert checked.returncode == 1 and f"{library} is not loaded" in said, said
    assert "invalid ELF header" not in said and "file too short" not in said, said


@pytest.mark.parametrize("variable", ["PATH", "LD_LIBRARY_PATH", "PYTHONPATH"])
@pytest.mark.parametrize("entries", ["{}:", ":{}", "{}::{}", "{}:.", "{}"])
def test_doctor_names_entries_that_mean_the_working_folder(variable: str, entries: str, command: str, tmp_path: Path) -> None:
    usual = ":".join(e for e in os.environ.get(variable, "").split(":") if e not in ("", ".")) or "/usr/lib"  # cv2 adds to it
    environment = {**os.environ, variable: entries.replace("{}", usual)}
    words = [command, "doctor", "--json"]
    run = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300)
    found = [one for one in json.loads(run.stdout)["checks"] if one["check"] == variable]
    assert len(found) == (0 if entries == "{}" else 1), run.stdout
