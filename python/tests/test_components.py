# SPDX-License-Identifier: Apache-2.0
"""Components in Python under `cardan run`: check, topics, parameters, kills and restarts, exceptions, an end in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest
from conftest import Programs, until

import cardan

PARTS = """
import os
import time
from dataclasses import dataclass

import cardan

@cardan.message("my_msgs/msg/Number")
@dataclass
class Number:
    value: int = 0
    pid: int = 0
    text: str = ""

NUMBERS = cardan.Topic("/numbers", Number, max_bytes=1000, depth=10)
DOUBLES = cardan.Topic("/doubles", Number, max_bytes=1000, depth=10)

class Counter(cardan.Component):
    def on_start(self, context):
        self.context = context
        self.count = 0
        self.step = context.parameter("step", 1, min=1, max=100, description="added each time", accept=self.accept)
        self.word = context.parameter("word", "x", fixed=True)
        self.gains = context.parameter("gains", [1.0], min=0, max=100)
        self.names = context.parameter("names", ["a", "b"])
        self.out = context.output(NUMBERS)
        context.timer(0.01, self.tick, name="tick")
        context.log(f"starts as {context.name}")

    def accept(self, step):
        return "13 is refused" if step == 13 else None

    def tick(self):
        self.count += self.step.value
        with self.out.loan() as number:
            number.value, number.pid, number.text = self.count, os.getpid(), self.word.value

    def on_stop(self):
        print("counter stops after", self.count, flush=True)

class Doubler(cardan.Component):
    def on_start(self, context):
        self.numbers = 0
        self.seen = context.latest(NUMBERS, name="seen")
        self.out = context.output(DOUBLES)
        context.input(NUMBERS, self.on_number, depth=5)

    def on_number(self, number):
        assert self.seen.get().value >= number.value
        self.out.publish(value=2 * number.value, pid=os.getpid(), text=number.text)
        self.numbers += 1
        if self.numbers == 3:
            raise ValueError(f"the third is {number.value}")

class Breaks(cardan.Component):
    def on_start(self, context):
        raise RuntimeError("no device")

class NoComponent:
    pass
"""

CONFIGURATION = {
    "processes": {
        "sensor": {"components": {"counter": {"python": "my_parts:Counter", "parameters": {"step": 2, "word": "zwölf"}}}},
        "controller": {
            "components": {"doubler": {"python": "my_parts:Doubler", "topics": {"/doubles": "/results"}}},
            "restart": {"backoff_ms": 10},
        },
    }
}


class System:
    """A configuration with components in Python, and the commands over it."""

    def __init__(self, folder: Path, command: str, programs: Programs) -> None:
        self.folder, self.command, self.programs = folder, command, programs
        (folder / "my_parts.py").write_text(textwrap.dedent(PARTS))
        self.file = folder / "system.json"
        self.elsewhere = folder / "elsewhere"  # interpreters search the working directory for modules, too
        self.elsewhere.mkdir()
        self.write(CONFIGURATION)
        self.environment = {**os.environ, "CARDAN_DOMAIN": folder.name[:40].replace("_", "-")}

    def write(self, configuration: dict[str, Any]) -> None:
        self.file.write_text(json.dumps(configuration))

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.command, *words],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=self.environment,
            cwd=self.elsewhere,
        )

    def run(self, *words: str) -> subprocess.Popen[str]:
        return self.programs.start(
            [self.command, "run", str(self.file), "--no-view", "--reports", str(self.folder / "reports"), *words],
            env=self.environment,
            cwd=self.elsewhere,
        )

    def subscriber(self, topic: str) -> cardan.Subscriber[cardan.Message]:
        def there() -> bool:
            try:
                self._found = cardan.Topic(topic, depth=10).subscriber(domain=self.environment["CARDAN_DOMAIN"])
            except cardan.Error as error:
                assert error.code == "unavailable"
                return False
            return True

        until(there)
        return self._found


@pytest.fixture
def system(tmp_path: Path, command: str, programs: Programs) -> System:
    return System(tmp_path, command, programs)


def test_they_run_and_are_restarted(system: System) -> None:
    checked = system.ask("check", str(system.file))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    run = system.run("--json", str(system.folder / "summary.json"))
    results = system.subscriber("/results")
    first = results.wait(60)
    assert first is not None and first["value"] % 4 == 0 and first["text"] == "zwölf"

    listed = json.loads(system.ask("component", "list", "--json").stdout)
    classes = {c["component"]: (c["class"], c["library"]) for c in listed["components"]}
    assert classes["doubler"] == ("my_parts:Doubler", "python:my_parts")
    assert system.ask("param", "get", "counter/step").stdout.split()[-1] == "2"
    assert system.ask("param", "set", "counter/step", "5").returncode == 0
    until(lambda: (got := results.wait(60)) is not None and (got["value"] // 2) % 2 == 1)
    refused = system.ask("param", "set", "counter/step", "13")
    assert refused.returncode != 0 and "13 is refused" in refused.stdout + refused.stderr
    assert "at most 100" in (out := system.ask("param", "set", "counter/step", "101")).stdout + out.stderr or out.returncode != 0
    stats = json.loads(system.ask("component", "stats", "--json", "--once", "--seconds", "0.3").stdout.splitlines()[-1])
    assert "tick" in json.dumps(stats)

    pid = results.wait(60)["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: (got := results.wait(60)) is not None and got["pid"] not in (pid, 0))
    restarted = system.ask("component", "restart", "doubler")
    assert restarted.returncode == 0, restarted.stdout + restarted.stderr
    assert results.wait(60) is not None

    run.send_signal(signal.SIGINT)
    output, errors = run.communicate(timeout=120)
    assert "starts as counter" in output + errors and "counter stops after" in output + errors
    # An exception with its place; it is counted, and the exit code says so.
    assert "ValueError: the third is " in output + errors and "my_parts.py, line" in output + errors, output + errors
    assert run.returncode == 3, output + errors
    summary = json.loads((system.folder / "summary.json").read_text())
    assert "doubler" in json.dumps(summary)


def test_a_callback_that_hangs_ends_by_its_watchdog(system: System) -> None:
    (system.folder / "my_parts.py").write_text(PARTS.replace("self.count += self.step.value", "time.sleep(1000)"))
    configuration = json.loads(json.dumps(CONFIGURATION))
    configuration["processes"]["sensor"]["components"]["counter"]["watchdog_ms"] = 200
    configuration["processes"]["sensor"]["restart"] = {"limit": 0}
    system.write(configuration)
    run = system.run()
    seen: list[str] = []
    assert run.stdout is not None
    for line in run.stdout:
        seen.append(line)
        if "watchdog" in line:
            break
    assert any("'tick'" in line and "counter" in line for line in seen), seen
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=120)


@pytest.mark.parametrize(
    ("component", "says"),
    [
        ({"python": "my_parts:Breaks"}, "RuntimeError: no device"),
        ({"python": "my_parts:Breaks"}, "in on_start) — correct it there"),
        ({"python": "half_written:Counter"}, "half_written.py, line 2) — correct that line"),
        ({"python": "asks_for_more:Counter"}, "No module named 'not_installed'"),
        ({"python": "asks_for_more:Counter"}, "— install not_installed for "),
        ({"python": "my_parts:Nothing"}, "has no 'Nothing'"),
        ({"python": "my_parts:NoComponent"}, "not as a cardan.Component"),
        ({"python": "nowhere:Counter"}, "there is no Python module 'nowhere'"),
        ({"python": "my_parts"}, "module and class of Python"),
        ({"python": "my_parts:Counter", "parameters": {"stepp": 2}}, "has no parameter 'stepp'"),
        ({"python": "my_parts:Counter", "parameters": {"step": 200}}, "200"),
        ({"python": "my_parts:Counter", "parameters": {"gains": ["a"]}}, "a list of numbers"),
        ({"python": "my_parts:Counter", "parameters": {"gains": [1, 101]}}, "out of its range"),
        ({"python": "my_parts:Counter", "topics": {"/nmbers": "/x"}}, "/nmbers"),
        ({"python": "my_parts:Counter", "library": "libx.so", "class": "X"}, "has 'python' and 'library'"),
        ({"class": "X"}, "has no 'library'"),
    ],
)
def test_the_findings_of_check(component: dict[str, Any], says: str, system: System) -> None:
    (system.folder / "half_written.py").write_text("import cardan\nclass Counter(cardan.Component)\n")
    (system.folder / "asks_for_more.py").write_text("import not_installed\n")
    system.write({"processes": {"one": {"components": {"part": component}}}})
    checked = system.ask("check", str(system.file))
    assert checked.returncode != 0 and says in checked.stdout + checked.stderr, checked.stdout + checked.stderr
    assert "Traceback" not in checked.stdout + checked.stderr


def test_a_wrong_class_hides_nothing_and_harms_no_other(system: System) -> None:
    wrong = json.loads(json.dumps(CONFIGURATION))
    wrong["processes"]["sensor"]["components"]["counter"]["python"] = "my_parts"
    system.write(wrong)
    for _ in range(8):  # what is asked about the healthy one read memory that nothing had made, and crashed now and then
        problems = json.loads(system.ask("check", str(system.file), "--json").stdout)["problems"]
        assert [p["pointer"] for p in problems] == ["/processes/sensor/components/counter/python"], problems


def test_impossible_configurations(system: System) -> None:
    mixed = json.loads(json.dumps(CONFIGURATION))
    mixed["processes"]["sensor"]["components"]["radar"] = {"library": "libexample_components.so", "class": "Radar"}
    system.write(mixed)
    checked = system.ask("check", str(system.file))
    assert "component 'radar' is in C++, and others of process 'sensor' are in Python" in checked.stdout + checked.stderr

    system.write(CONFIGURATION)
    system.environment["CARDAN_PYTHON"] = "/nowhere/python3"
    checked = system.ask("check", str(system.file))
    assert checked.returncode != 0 and "/nowhere/python3 cannot be started" in checked.stdout + checked.stderr


def test_an_interpreter_without_the_package(system: System, bare_python: str) -> None:
    """One line with cause and remedy for the process, not one for each of its components, and nothing about on_start."""
    configuration = {"processes": {"sensor": {"components": {name: {"python": "my_parts:Counter"} for name in ("a", "b", "c")}}}}
    system.write(configuration)
    system.environment["CARDAN_PYTHON"] = bare_python
    for ask in (lambda: system.ask("check", str(system.file)), lambda: system.ask("run", str(system.file), "--no-view")):
        asked = ask()
        said = asked.stdout + asked.stderr
        assert asked.returncode == 1, said
        assert said.count("lacks the package cardan") == 1 and "process 'sensor' cannot start" in said, said
        assert "pip install ./python" in said and "PYTHONPATH" in said and 'CARDAN_PYTHON=/path/to/python3, also in "environment"' in said
        assert "on_start" not in said and "No module" not in said, said
    run = system.run("--no-check")
    output, errors = run.communicate(timeout=120)
    assert run.returncode == 1 and "lacks the package cardan" in output + errors, output + errors
    assert "No module" not in output + errors


def test_a_package_for_another_interpreter(system: System, tmp_path: Path) -> None:
    package = tmp_path / "other" / "cardan"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from cardan import _cardan\n")
    system.environment["PYTHONPATH"] = str(tmp_path / "other")
    asked = system.ask("check", str(system.file))
    said = asked.stdout + asked.stderr
    assert asked.returncode == 1 and f"the package cardan in {package} is not for the interpreter" in said, said


def test_in_one_process_messages_pass_where_they_are(system: System) -> None:
    run = system.run("--one-process")
    results = system.subscriber("/results")
    seen = [cardan.to_dict(results.wait(60)) for _ in range(5)]
    assert len({m["pid"] for m in seen}) == 1 and all(m["text"] == "zwölf" for m in seen)
    stats = json.loads(system.ask("component", "stats", "--json", "--once", "--seconds", "0.3").stdout.splitlines()[-1])
    assert "/numbers" in json.dumps(stats)
    run.send_signal(signal.SIGINT)
    output, errors = run.communicate(timeout=120)
    assert run.returncode == 3 and "the third is" in output + errors, output + errors  # and nothing else
    assert output.count(" exception left its callbacks") == 1, output


def test_sets_of_a_fusion_while_it_runs(system: System) -> None:
    (system.folder / "my_parts.py").write_text(
        PARTS
        + '''
class Joiner(cardan.Component):
    def on_start(self, context):
        self.out = context.output(cardan.Topic("/sums", Number, max_bytes=1000, depth=10))
        context.fuse(cardan.primary(), self.on_set, DOUBLES, NUMBERS, name="sum", names=("double", "single"))

    def on_set(self, double, single):
        self.out.publish(value=double.value + single.value, pid=os.getpid(), text=double.text)
'''
    )
    configuration = json.loads(json.dumps(CONFIGURATION))
    configuration["processes"]["controller"]["components"]["doubler"].pop("topics")
    configuration["processes"]["fusion"] = {"components": {"joiner": {"python": "my_parts:Joiner"}}}
    system.write(configuration)
    checked = system.ask("check", str(system.file))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    run = system.run()
    sums = system.subscriber("/sums")
    for _ in range(5):
        one = sums.wait(60)
        assert one is not None and one["value"] > 0 and one["text"] == "zwölf"
    stats = json.loads(system.ask("component", "stats", "--json", "--once", "--seconds", "0.3").stdout.splitlines()[-1])
    (joiner,) = [c for c in stats["components"] if c["component"] == "joiner"]
    (fusion,) = joiner["fusions"]
    assert fusion["fusion"] == "sum" and fusion["policy"] == "primary" and fusion["fired"] > 0, fusion
    assert [i["input"] for i in fusion["inputs"]] == ["double", "single"], fusion
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=120)


WAYS_OUT = """
import ctypes
import faulthandler
import pathlib
import signal
import time

import cardan

class Bad(cardan.Component):
    def on_start(self, context):
        self.ticks = 0
        self.folder = pathlib.Path(__file__).parent
        context.timer(0.01, self.tick, name="tick")

    def tick(self):
        self.ticks += 1
        if self.ticks == 20:
            (self.folder / "twenty").touch()
        self.way_out()

class Throws(Bad):
    def way_out(self):
        self.reads("\\x1b[31mred\\n")

    def reads(self, text):
        raise ValueError("cannot read " + text)

class Crashes(Bad):
    def way_out(self):
        ctypes.string_at(0)

class HasTakenTheSignal(Bad):
    def way_out(self):
        for number in range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
            faulthandler.unregister(number)
        ctypes.string_at(0)

class Hangs(Bad):
    def way_out(self):
        time.sleep(1000)
"""


def run_bad(system: System, name: str, **options: Any) -> subprocess.Popen[str]:
    (system.folder / "my_parts.py").write_text(WAYS_OUT)
    component = {"python": f"my_parts:{name}", **options}
    system.write({"processes": {"one": {"components": {"bad": component}, "restart": {"limit": 0}}}})
    return system.run()


def test_an_exception_shows_its_traceback_once(system: System) -> None:
    run = run_bad(system, "Throws")
    until((system.folder / "twenty").exists)
    run.send_signal(signal.SIGINT)
    said = "".join(run.communicate(timeout=120))
    assert run.returncode == 3, said
    assert said.count("Traceback (most recent call last)") == 1, said
    assert "in tick" in said and "in way_out" in said and said.count("in reads") >= 1, said
    assert "cannot read \\x1b[31mred" in said and "\x1b[31m" not in said, said  # a terminal obeys no text of others
    assert "exceptions left its callbacks" in said, said


@pytest.mark.parametrize(("name", "options"), [("Crashes", {}), ("Hangs", {"watchdog_ms": 200})])
def test_a_crash_report_has_pythons_stack_above_the_other(name: str, options: dict[str, Any], system: System) -> None:
    run = run_bad(system, name, **options)
    run.communicate(timeout=300)
    (report,) = (system.folder / "reports").glob("crash-*.txt")
    text = report.read_text()
    python, _, native = text.partition("\nstack:\n")
    assert "Stack (most recent call first):" in python, text
    assert 'my_parts.py", line' in python and "in way_out" in python and "in tick" in python, text
    assert native.count("\n") > 3 and "=== end of crash report ===" in native, text


def test_a_crash_report_is_whole_without_pythons_stack(system: System) -> None:
    run = run_bad(system, "HasTakenTheSignal")
    run.communicate(timeout=300)
    (report,) = (system.folder / "reports").glob("crash-*.txt")
    text = report.read_text()
    assert "signal: SIGSEGV" in text and "\nstack:\n" in text and "=== end of crash report ===" in text, text
