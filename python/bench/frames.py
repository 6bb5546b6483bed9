# SPDX-License-Identifier: Apache-2.0
"""Frames of 1920×1200×3 to a Python reader's NumPy view, and to a C++ reader in the same run; then eight Python readers.

    PYTHONPATH=build/release/python python3 python/bench/frames.py build/release/bin/cardan_python_reader

The age of a frame is taken when its pixels can be read: from just before publish() to the array, or to the pointer in C++. Rounds of
the two readers alternate, each alone with the publisher. Prints a table in Markdown.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

SHAPE = (1200, 1920, 3)
READER = """
import sys, time, cardan
front = cardan.Topic(sys.argv[1], cardan.Image, max_bytes=1920 * 1200 * 3)
ages, clock = [], time.monotonic_ns
import numpy
sub = front.subscriber()
for frame in sub:
    mat = frame.mat
    ages.append(clock() - frame.publish_time)
    assert mat[0, 0, 0]
    if len(ages) == int(sys.argv[2]):
        break
print(*ages, sep="\\n")
print("missed", sub.missed)
"""


def percentile(values: list[int], percent: float) -> float:
    return sorted(values)[min(int(len(values) * percent / 100), len(values) - 1)] / 1000


def run(commands: list[list[str]], count: int, hertz: float, topic: str) -> list[tuple[list[int], int]]:
    """The ages and losses that each reader saw of `count` frames."""
    import cardan

    with cardan.Topic(topic, cardan.Image, max_bytes=1920 * 1200 * 3).publisher() as pub:
        readers = [subprocess.Popen([*command, topic, str(count)], stdout=subprocess.PIPE, text=True) for command in commands]
        while pub.subscribers < len(readers):
            time.sleep(0.01)
        time.sleep(0.2)
        due, value = time.monotonic(), 0
        while any(reader.poll() is None for reader in readers):
            value = value % 250 + 1
            with pub.loan() as frame:
                frame.resize(1200, 1920, "bgr8")[:] = value
            due += 1 / hertz
            time.sleep(max(due - time.monotonic(), 0))
    seen = []
    for reader in readers:
        lines = reader.communicate()[0].split()
        assert reader.returncode == 0, reader.returncode
        seen.append(([int(line) for line in lines[:-2]], int(lines[-1])))
    return seen


def import_ms() -> tuple[float, float]:
    """The least time of ten processes: an empty one, and one that imports cardan."""
    least = []
    for code in ("pass", "import cardan"):
        times = []
        for _ in range(10):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        least.append(min(times) * 1000)
    return least[0], least[1]


def main() -> None:
    os.environ["CARDAN_RUN_DIR"] = tempfile.mkdtemp(prefix="cardan-bench-")
    python, cpp = [sys.executable, "-c", READER], [sys.argv[1]]
    ages: dict[str, list[int]] = {"C++": [], "Python": []}
    lost = {"C++": 0, "Python": 0}
    for i in range(4):
        for name, command in (("C++", cpp), ("Python", python)):
            got, missed = run([command], 300, 60, f"/bench/{name.replace('+', 'p')}/{i}")[0]
            ages[name] += got
            lost[name] += missed
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors, load {load:.1f}, Linux {os.uname().release}, Python {sys.version.split()[0]}\n")
    print("| reader | frames | p50 | p90 | p99 | lost |\n|---|---|---|---|---|---|")
    for name, all_ages in ages.items():
        row = " | ".join(f"{percentile(all_ages, p):.1f} µs" for p in (50, 90, 99))
        print(f"| {name} | {len(all_ages)} | {row} | {lost[name]} |")
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    eight = run([python] * 8, 300, 60, "/bench/eight")
    took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / took * 100
    medians = [percentile(got, 50) for got, _ in eight]
    row = " | ".join(f"{percentile([a for got, _ in eight for a in got], p):.1f} µs" for p in (50, 90, 99))
    print(f"| 8 × Python | {sum(len(got) for got, _ in eight)} | {row} | {sum(missed for _, missed in eight)} |")
    print(f"\nEight readers at 60 Hz: their medians are {min(medians):.0f} to {max(medians):.0f} µs,")
    print(f"together {cpu:.0f} % of a processor with their start.")
    empty, full = import_ms()
    print(f"`import cardan`: {full - empty:.1f} ms over an empty Python ({empty:.1f} ms).")


if __name__ == "__main__":
    main()
