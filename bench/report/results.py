# SPDX-License-Identifier: Apache-2.0
"""The form of all results of the bench (docs/benchmarking.md), read from files that may come from anyone."""
import json
import math
import os
import re
import stat
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

FILE_BYTES = 256 << 20
MEASUREMENTS, RUNS, SAMPLES = 20_000, 1000, 8_000_000
SAMPLES_OF_RUN = 1000  # the bench keeps no more (bench/results/measurement.hpp)
TEXTS, TEXT_LENGTH, COMMAND_LENGTH = 1000, 500, 400
GREATEST_FIGURE = 1e15
REMEDY = "give a file that --json of a part of `cardan bench` or `cardan bench all` wrote"


class BenchError(Exception):
    """A file or an option is wrong: the cause, and what to do."""

    def __init__(self, cause, remedy=REMEDY):
        super().__init__(f"{cause} — {remedy}")


class WriteError(Exception):
    """A file cannot be written."""


@dataclass(eq=False)
class Run:
    samples: np.ndarray
    count: int = 0
    steal_percent: float = 0.0
    other_load_percent: float = 0.0


@dataclass(eq=False)
class Measurement:
    part: str
    peer: str
    setup: str = ""
    cell: str = ""
    bytes: float = 0.0
    rate_hz: float = 0.0
    publishers: int = 0
    readers: int = 0
    quantity: str = ""
    unit: str = ""
    more_is_better: bool = False
    due: "int | None" = None
    lost: "int | None" = None
    noisy: bool = False
    command: str = ""
    runs: "list[Run]" = field(default_factory=list)

    @property
    def identity(self):
        return (self.part, self.peer, self.setup, self.cell, self.quantity, self.unit, self.bytes, self.rate_hz,
                self.publishers, self.readers)

    @cached_property
    def pooled(self):
        """The samples of all runs, sorted."""
        return np.sort(np.concatenate([run.samples for run in self.runs] or [np.empty(0)]))

    @property
    def kept(self):
        return sum(len(run.samples) for run in self.runs)

    def quantile(self, fraction):
        """By linear interpolation; NaN without samples."""
        return float(np.quantile(self.pooled, fraction)) if self.kept else math.nan

    @cached_property
    def p50(self):
        return self.quantile(0.5)

    @cached_property
    def std(self):
        return float(np.std(self.pooled, ddof=1)) if self.kept > 1 else 0.0

    @property
    def lost_share(self):
        return self.lost / self.due if self.due and self.lost is not None else 0.0

    @property
    def contender(self):
        return f"{self.peer} {self.setup}" if self.setup else self.peer

    @property
    def name(self):
        more = [self.cell, name_of_size(self.bytes), f"{self.rate_hz:g} Hz" if self.rate_hz > 0 else "", self.quantity]
        return " · ".join([self.part, self.contender] + [word for word in more if word])

    def to_json(self):
        out = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) is not None}
        out["runs"] = [{"count": run.count, "steal_percent": round(run.steal_percent, 3),
                        "other_load_percent": round(run.other_load_percent, 3),
                        "samples": np.round(run.samples, 4).tolist()} for run in self.runs]
        return out


@dataclass(eq=False)
class Result:
    source: str
    host: dict = field(default_factory=dict)
    measurements: "list[Measurement]" = field(default_factory=list)
    left_out: "list[str]" = field(default_factory=list)
    failures: "list[str]" = field(default_factory=list)
    interrupted: bool = False


# ---------------------------------------------------------------- words
def three_digits(value):
    size = abs(value)
    return f"{value:.0f}" if size >= 99.95 else f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def name_of_size(size):
    if not size > 0:
        return ""
    # Only what divides the size: papers give both, and 4 MB is not 4 MiB.
    for unit, name in ((1 << 20, "MiB"), (1_000_000, "MB"), (1024, "KiB"), (1000, "kB")):
        if size % unit == 0:
            return f"{size / unit:.0f} {name}"
    return f"{size:.0f} B"


# ---------------------------------------------------------------- reading
# Control characters could write to the terminal, marks turn the direction of text, halves of a pair have no UTF-8.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
COMMAND = re.compile(r"cardan bench [A-Za-z0-9 ._,/*=:+-]*")
WORDS = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object",
         np.ndarray: "a list", type(None): "null"}


def clean(text, length=TEXT_LENGTH):
    return UNSAFE.sub("?", text[:length])


def _figure(value, place):
    if abs(value) > GREATEST_FIGURE or value != value:
        raise BenchError(f"{place}: {value:g} is not the figure of a measurement" if isinstance(value, float) else
                         f"{place}: a figure is too large")
    return float(value)


def _whole(value, place):
    if _figure(value, place) < 0 or value != int(value):
        raise BenchError(f"{place}: {value:g} is not a count")
    return int(value)


def _field(value, wanted, name, place):
    """`value` of the JSON file as a `str`, `bool`, `int` or `float`."""
    fits = type(value) in (int, float) if wanted in (int, float) else type(value) is wanted
    if not fits:
        raise BenchError(f"{place}: `{name}` is {WORDS[type(value)]}, and {WORDS[wanted]} is needed")
    if wanted is str:
        if len(value) > TEXT_LENGTH:
            raise BenchError(f"{place}: `{name}` has {len(value)} letters, {TEXT_LENGTH} are allowed")
        return clean(value)
    return value if wanted is bool else (_whole if wanted is int else _figure)(value, place)


FIELDS = {"part": str, "peer": str, "setup": str, "cell": str, "quantity": str, "unit": str, "command": str,
          "bytes": float, "rate_hz": float, "publishers": int, "readers": int, "due": int, "lost": int,
          "more_is_better": bool, "noisy": bool}


def _run(given, place):
    if type(given) is not dict:
        raise BenchError(f"{place}: a run is {WORDS[type(given)]}, and an object is needed")
    samples = given.get("samples", np.empty(0))
    if not isinstance(samples, np.ndarray):  # _early() makes arrays of lists of numbers alone
        raise BenchError(f"{place}: `samples` are not a list of numbers")
    if len(samples) > SAMPLES_OF_RUN:
        raise BenchError(f"{place}: a run has {len(samples)} samples, {SAMPLES_OF_RUN} are allowed")
    if not np.all(np.abs(samples) <= GREATEST_FIGURE):
        raise BenchError(f"{place}: a sample is not the figure of a measurement")
    return Run(samples, max(_field(given.get("count", 0), int, "count", place), len(samples)),
               _field(given.get("steal_percent", 0), float, "steal_percent", place),
               _field(given.get("other_load_percent", 0), float, "other_load_percent", place))


def _measurement(given, place):
    if type(given) is not dict:
        raise BenchError(f"{place} is {WORDS[type(given)]}, and an object is needed")
    known = {name: _field(given[name], wanted, name, place) for name, wanted in FIELDS.items() if name in given}
    for name in ("part", "peer", "quantity", "unit"):
        if not known.get(name):
            raise BenchError(f"{place} has no `{name}`")
    command = given.get("command", "")
    if command and (len(command) > COMMAND_LENGTH or not COMMAND.fullmatch(command)):
        raise BenchError(f"{place}: `command` is not a command of the bench")
    m = Measurement(**known)
    if m.lost is not None and (m.due is None or m.lost > m.due):
        raise BenchError(f"{place}: more was lost than was due")
    runs = given.get("runs", [])
    if type(runs) is not list or len(runs) > RUNS:
        raise BenchError(f"{place}: `runs` is not a list of at most {RUNS} runs")
    m.runs = [_run(run, place) for run in runs]
    return m


def _early(given):
    """Makes arrays as soon as a run has been read: a tenth of the memory of Python's lists."""
    samples = given.get("samples")
    if type(samples) is list and all(type(one) in (int, float) for one in samples):
        given["samples"] = np.array(samples, dtype=float)
    return given


def _no_number(name):
    raise ValueError(name)


def content_of(path, most):
    """The bytes of a regular file: a pipe or a device may never end."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BenchError(f"{path}: it is not a regular file")
            content = file.read(most + 1)
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from None
    if len(content) > most:
        raise BenchError(f"{path}: it has more than {most} bytes, which are read at most")
    return content


def parsed(content, name):
    try:
        return json.loads(content.decode(), object_hook=_early, parse_constant=_no_number)
    except (ValueError, OverflowError) as error:
        at = f", at byte {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise BenchError(f"{name}: it is not JSON, or has a number that is out of range{at}") from None
    except RecursionError:
        raise BenchError(f"{name}: it is nested too deeply") from None
    except MemoryError:
        raise BenchError(f"{name}: it takes too much memory to read") from None


def result_of(given, source):
    """The parsed text as a Result. Additions of the parts for themselves are skipped."""
    if type(given) is not dict or type(given.get("measurements")) is not list:
        raise BenchError(f"{source}: it has no list `measurements`")
    if len(given["measurements"]) > MEASUREMENTS:
        raise BenchError(f"{source}: more than {MEASUREMENTS} measurements")
    result = Result(source, interrupted=given.get("interrupted") is True)
    host = given.get("host")
    for name, value in list(host.items() if type(host) is dict else [])[:TEXTS]:
        if type(value) in (str, int, float):
            result.host[clean(name)] = clean(value) if type(value) is str else f"{value:g}"
    for name in ("left_out", "failures"):
        texts = given.get(name, [])
        if type(texts) is not list or any(type(text) is not str for text in texts[:TEXTS]):
            raise BenchError(f"{source}: `{name}` is not a list of texts")
        getattr(result, name).extend(clean(text, 4 * TEXT_LENGTH) for text in texts[:TEXTS])
    seen, samples = set(), 0
    for number, one in enumerate(given["measurements"], 1):
        m = _measurement(one, f"{source}: measurement {number}")
        samples += m.kept
        if samples > SAMPLES:
            raise BenchError(f"{source}: more than {SAMPLES} samples")
        if m.identity in seen:
            raise BenchError(f"{source}: measurement {number} is there twice: {m.name}")
        seen.add(m.identity)
        result.measurements.append(m)
    return result


def read_result(path):
    return result_of(parsed(content_of(path, FILE_BYTES), path), path)


# ---------------------------------------------------------------- writing
def write_text(path, text, remedy):
    """Writes through a file next to it, so that an old one is never half overwritten."""
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise WriteError(f"cannot write {path}: {error.strerror} — {remedy}") from None


def to_json(result):
    """One file of a result: a measurement a line, because lists of samples line by line would be a million lines."""
    about = json.dumps({"host": result.host, "interrupted": result.interrupted, "left_out": result.left_out,
                        "failures": result.failures}, indent=2, ensure_ascii=False)
    lines = [json.dumps(m.to_json(), ensure_ascii=False, separators=(",", ":")) for m in result.measurements]
    return about[:-2] + ',\n  "measurements": [\n    ' + ",\n    ".join(lines) + "\n  ]\n}\n"
