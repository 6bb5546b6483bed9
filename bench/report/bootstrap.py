# SPDX-License-Identifier: Apache-2.0
"""How a quantile would vary if it were measured again. By NumPy: scipy.stats.bootstrap does not draw runs and, within
them, samples."""
import numpy as np

MOST_DRAWS = 40_000_000
FEWEST_ROUNDS = 200
FEWEST_FOR_AN_INTERVAL = 5
DRAWS_AT_ONCE = 2_000_000


def bootstrap_quantile(runs, fraction, seed, rounds=1000):
    """The bootstrap distribution of a quantile, sorted. Runs are drawn with replacement, and samples within each of
    them: a computer's state lasts for a run, so that the samples of one run are not independent of each other. Of many
    samples fewer than `rounds` are drawn, so that the time stays bounded. Empty: there are no samples."""
    filled = [run.samples for run in runs if len(run.samples)]
    if not filled:
        return np.empty(0)
    lengths = np.array([len(samples) for samples in filled])
    rounds = int(np.clip(MOST_DRAWS // lengths.sum(), min(FEWEST_ROUNDS, rounds), rounds))
    table = np.full((len(filled), lengths.max()), np.inf)
    for row, samples in zip(table, filled):
        row[:len(samples)] = samples
    random = np.random.default_rng(seed)
    at_once = max(1, DRAWS_AT_ONCE // table.size)
    found = []
    for done in range(0, rounds, at_once):
        some = min(at_once, rounds - done)
        picked = random.integers(len(filled), size=(some, len(filled)))
        sizes = lengths[picked][..., None]
        drawn = table[picked[..., None], (random.random((*picked.shape, table.shape[1])) * sizes).astype(np.intp)]
        if lengths.min() < lengths.max():
            drawn[np.arange(table.shape[1]) >= sizes] = np.inf  # beyond the end of a shorter run: above all samples
        found.append(_quantiles_of_rows(drawn.reshape(some, -1), fraction * (sizes.sum(axis=(1, 2)) - 1)))
    return np.sort(np.concatenate(found))


def _quantiles_of_rows(rows, positions):
    """By linear interpolation, of rows whose samples end at different places."""
    below = positions.astype(np.intp)
    above = np.minimum(below + 1, rows.shape[1] - 1)
    rows.partition(np.unique([below, above]), axis=1)
    at = np.arange(len(rows))
    low, high, part = rows[at, below], rows[at, above], positions - below
    return low + np.where(part > 0, part * (np.where(part > 0, high, low) - low), 0)


def median_interval95(m):
    """95 % interval of the median; None: fewer than five samples say nothing."""
    if m.kept < FEWEST_FOR_AN_INTERVAL:
        return None
    if "interval95" not in m.__dict__:  # the page and the summary give it several times
        low, high = np.quantile(bootstrap_quantile(m.runs, 0.5, m.kept, 400), [0.025, 0.975])
        m.interval95 = float(low), float(high)
    return m.interval95
