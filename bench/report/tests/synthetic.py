# SPDX-License-Identifier: Apache-2.0
"""Measurements whose truth is known, for tests."""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from results import Measurement, Result, Run  # noqa: E402


def synthetic(seed=1, shift=0.0, runs=5, samples=80, run_spread=0.0, **fields):
    """Latencies of about 100 µs with a long tail. `run_spread`: deviation of a run's own factor, in logarithms."""
    random = np.random.default_rng(seed)
    given = {"part": "transport", "peer": "cardan", "setup": "block", "cell": "1p1s", "quantity": "transport",
             "unit": "us", "bytes": 4096.0, "rate_hz": 100.0, "publishers": 1, "readers": 1, **fields}
    m = Measurement(**given)
    for _ in range(runs):
        factor = np.exp(run_spread * random.normal())
        drawn = 100 * factor * np.exp(0.25 * random.normal(size=samples)) + shift
        m.runs.append(Run(drawn, samples))
    return m


def constant(*values, **fields):
    """One run of these samples."""
    m = synthetic(runs=0, **fields)
    m.runs = [Run(np.array(values, dtype=float), len(values))]
    return m


def result_of(*measurements):
    return Result("synthetic", {"cpu": "Some CPU", "kernel": "Linux 6.1"}, list(measurements))
