# SPDX-License-Identifier: Apache-2.0
"""Finds figures that got better or worse between two results, beyond noise: by the bootstrap of the logarithm of the ratio."""
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri, stdtrit

from bootstrap import bootstrap_quantile
from results import three_digits

SAME, BETTER, WORSE, TOO_FEW = "same within noise", "better", "worse", "too few samples, or figures of 0"
# Below them an interval says nothing: the median of four, or a p99 that is the greatest of a hundred.
FEWEST_FOR_MEDIAN, FEWEST_FOR_TAIL = 5, 300
MOST_DRAWS_OF_ALL = 2_000_000_000  # a minute or two at the limits of read_result()
MOST_ROUNDS, FEWEST_ROUNDS = 1000, 200
HOST_ENTRIES = ("cpu", "cpus", "kernel", "governor", "hypervisor", "memory_gib", "compiler")


@dataclass
class Figure:
    """A figure of a measurement in two results; of `lost`, the shares."""
    name: str
    before: float = 0.0
    after: float = 0.0
    ratio: float = 1.0
    interval95: tuple = (1.0, 1.0)
    interval: tuple = (1.0, 1.0)  # the same at the confidence of the whole comparison
    change: str = SAME


@dataclass
class Row:
    before: object  # Measurement, or None
    after: object
    figures: list = field(default_factory=list)  # empty: it is in one of both only

    @property
    def either(self):
        return self.before or self.after

    @property
    def noisy(self):
        return self.before.noisy or self.after.noisy


@dataclass
class Comparison:
    rows: list
    confidence: float  # of each single verdict, so that all together may be trusted
    differences: list  # sentences: how the two computers differ

    def count(self, change):
        return sum(figure.change == change for row in self.rows for figure in row.figures)


def for_few_runs(before, after):
    """The bootstrap of a few runs takes their deviation for that of all: it is too small by √(k ÷ (k − 1)), and its own
    noise is that of Student's t. Of a single run nobody knows how runs differ."""
    k = min(before, after)
    return math.sqrt(k / (k - 1)) * stdtrit(before + after - 2, 0.975) / ndtri(0.975) if k > 1 else 1


def quantile_change(name, fraction, row, threshold, z, rounds):
    a, b = row.before, row.after
    out = Figure(name, a.quantile(fraction), b.quantile(fraction))
    draws = [bootstrap_quantile(m.runs, fraction, seed, rounds) for m, seed in ((a, 1), (b, 2))]
    if out.before <= 0 or out.after <= 0 or any(one.min() <= 0 for one in draws):
        out.change = TOO_FEW  # a ratio of 0 says nothing
        return out
    logs = [np.log(one) for one in draws]
    deviation = math.hypot(*(np.std(one, ddof=1) for one in logs)) * for_few_runs(len(a.runs), len(b.runs))
    out.ratio = out.after / out.before
    # Two independent samples, one of them in another order, are a sample of their difference.
    some = [np.random.default_rng(seed).choice(one, MOST_ROUNDS) for seed, one in enumerate(logs)]
    out.interval95 = tuple(np.exp(np.quantile(some[1] - some[0], [0.025, 0.975])).tolist())
    out.interval = out.ratio * math.exp(-z * deviation), out.ratio * math.exp(z * deviation)
    if out.interval[0] > threshold or out.interval[1] < 1 / threshold:
        out.change = BETTER if (out.interval[0] > threshold) == a.more_is_better else WORSE
    return out


def loss_change(row, z):
    """Whether the share of lost messages has grown by more than chance (two proportions)."""
    a, b = row.before, row.after
    out = Figure("lost", a.lost_share, b.lost_share)
    out.ratio = out.after / out.before if out.before > 0 else math.inf if out.after > 0 else 1.0
    # One more of each (Agresti and Caffo), so that 0 of a few messages is not taken for never.
    p1, p2 = ((m.lost + 1) / (m.due + 2) for m in (a, b))
    deviation = math.sqrt(p1 * (1 - p1) / (a.due + 2) + p2 * (1 - p2) / (b.due + 2))
    out.interval95 = p2 - p1 - 1.96 * deviation, p2 - p1 + 1.96 * deviation
    out.interval = p2 - p1 - z * deviation, p2 - p1 + z * deviation
    out.change = WORSE if out.interval[0] > 0 else BETTER if out.interval[1] < 0 else SAME
    return out


def compare(before, after, threshold=1.03, false_alarm=0.05):
    """`false_alarm`: the chance of any wrong verdict in the whole comparison (Bonferroni)."""
    later = {m.identity: m for m in after.measurements}
    rows = [Row(m, later.pop(m.identity, None)) for m in before.measurements]
    both = [row for row in rows if row.after]
    rows += [Row(None, m) for m in after.measurements if m.identity in later]

    def has_tail(row):
        return min(row.before.kept, row.after.kept) >= FEWEST_FOR_TAIL

    def counts(row):
        return bool(row.before.due and row.after.due and row.before.lost is not None and row.after.lost is not None)

    verdicts = sum(1 + has_tail(row) + counts(row) for row in both)
    confidence = 1 - false_alarm / max(verdicts, 1)
    z = float(ndtri(1 - (1 - confidence) / 2))
    samples = 1 + sum(2 * (row.before.kept + row.after.kept) for row in both)
    rounds = min(max(MOST_DRAWS_OF_ALL // samples, FEWEST_ROUNDS), MOST_ROUNDS)
    for row in both:
        a, b = row.before, row.after
        if min(a.kept, b.kept) < FEWEST_FOR_MEDIAN:
            few = Figure("p50", change=TOO_FEW)
            if a.kept and b.kept:
                few.before, few.after = a.p50, b.p50
                few.ratio = b.p50 / a.p50 if a.p50 > 0 else 1.0
            row.figures.append(few)
        else:
            row.figures.append(quantile_change("p50", 0.5, row, threshold, z, rounds))
            if has_tail(row):
                row.figures.append(quantile_change("p99", 0.99, row, threshold, z, rounds))
        if counts(row) and (a.lost or b.lost):
            row.figures.append(loss_change(row, z))
    hosts = [(name, before.host.get(name, ""), after.host.get(name, "")) for name in HOST_ENTRIES]
    differences = [f"{name}: {a or 'not known'} before, {b or 'not known'} after" for name, a, b in hosts if a != b]
    return Comparison(rows, confidence, differences)


def _line(figure, unit):
    if figure.change == TOO_FEW:
        return (f"    {figure.name:<5}{three_digits(figure.before):>10} → {three_digits(figure.after):>9} {unit:<9}"
                f"{figure.change}\n")
    if figure.name == "lost":
        return (f"    {figure.name:<5}{100 * figure.before:>9.3f} → {100 * figure.after:>8.3f} {'%':<9}"
                f"{figure.change}\n")
    return (f"    {figure.name:<5}{three_digits(figure.before):>10} → {three_digits(figure.after):>9} {unit:<9}"
            f"× {figure.ratio:.3f}  95 %: {figure.interval95[0]:.3f} … {figure.interval95[1]:.3f}  {figure.change}\n")


def to_table(comparison):
    both = [row for row in comparison.rows if row.before and row.after]
    changed = [row for row in both if any(figure.change in (BETTER, WORSE) for figure in row.figures)]
    out = "Changed beyond noise\n" if changed else ""
    for row in changed:
        out += f"  {row.either.name}{'  (noisy: measure it again)' if row.noisy else ''}\n"
        out += "".join(_line(figure, row.either.unit) for figure in row.figures)
        if row.after.command:
            out += f"    again: {row.after.command}\n"
    out += "\n" if changed else ""
    out += "".join(f"The computers differ: {difference}\n" for difference in comparison.differences)
    out += (f"{len(both)} measurements are in both: {comparison.count(WORSE)} figures worse, "
            f"{comparison.count(BETTER)} better, {comparison.count(SAME)} the same within noise, "
            f"{comparison.count(TOO_FEW)} with too few samples ({len(both) - len(changed)} measurements without a "
            f"change). Only before: {sum(not row.after for row in comparison.rows)}, only after: "
            f"{sum(not row.before for row in comparison.rows)}.\n")
    return out + f"Each verdict has a confidence of {100 * comparison.confidence:.4f} %, so that all together have 95 %.\n"


def to_json(comparison):
    rows = []
    for row in comparison.rows:
        m = row.either
        one = {name: getattr(m, name) for name in ("part", "peer", "setup", "cell", "bytes", "rate_hz", "publishers",
                                                   "readers", "quantity", "unit")}
        if not row.before or not row.after:
            one["only"] = "before" if row.before else "after"
        else:
            one["noisy"] = row.noisy
            one["figures"] = [{"figure": f.name, "before": round(f.before, 6), "after": round(f.after, 6),
                               "ratio": round(f.ratio, 4) if math.isfinite(f.ratio) else None,
                               "interval95": [round(end, 4) for end in f.interval95],
                               "interval": [round(end, 4) for end in f.interval], "verdict": f.change}
                              for f in row.figures]
        rows.append(one)
    return {"confidence": comparison.confidence, "worse": comparison.count(WORSE), "better": comparison.count(BETTER),
            "differences": comparison.differences, "rows": rows}
