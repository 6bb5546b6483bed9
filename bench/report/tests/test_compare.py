# SPDX-License-Identifier: Apache-2.0
import unittest
from unittest import mock

import numpy as np

from synthetic import constant, result_of, synthetic
import bootstrap
import compare as module
from bootstrap import bootstrap_quantile, median_interval95
from compare import BETTER, SAME, TOO_FEW, WORSE, compare, for_few_runs, to_json, to_table
from results import Run


def compare_one(before, after):
    return compare(result_of(before), result_of(after))


def verdict_of(comparison, name):
    return next(figure.change for figure in comparison.rows[0].figures if figure.name == name)


class Bootstrap(unittest.TestCase):
    def test_the_interval_of_the_median_holds_the_truth(self):
        intervals = [median_interval95(synthetic(seed)) for seed in range(200)]
        self.assertGreaterEqual(sum(low <= 100 <= high for low, high in intervals), 180)  # 95 % are 190, ± 3

    def test_runs_that_differ_make_it_wider(self):
        alike, different = (np.diff(median_interval95(synthetic(run_spread=spread))) for spread in (0, 0.3))
        self.assertGreater(different, 2 * alike)

    def test_few_or_no_samples_give_no_interval(self):
        self.assertIsNone(median_interval95(synthetic(runs=0)))
        self.assertIsNone(median_interval95(synthetic(runs=1, samples=4)))
        self.assertEqual(len(bootstrap_quantile([Run(np.empty(0))], 0.5, 1)), 0)
        self.assertEqual(bootstrap_quantile([Run(np.array([7.0]))], 0.5, 1, 3).tolist(), [7, 7, 7])

    def test_the_same_seed_gives_the_same(self):
        runs = synthetic().runs
        self.assertEqual(bootstrap_quantile(runs, 0.99, 4).tolist(), bootstrap_quantile(runs, 0.99, 4).tolist())
        self.assertNotEqual(bootstrap_quantile(runs, 0.99, 4).tolist(), bootstrap_quantile(runs, 0.99, 5).tolist())

    def test_runs_of_different_lengths_give_samples_of_theirs_alone(self):
        found = bootstrap_quantile([Run(np.arange(1.0, 4)), Run(np.array([9.0])), Run(np.empty(0))], 1, 1, 500)
        self.assertEqual(set(found.tolist()) - {1, 2, 3, 9}, set())
        self.assertEqual(found[-1], 9)

    def test_many_samples_are_drawn_fewer_times(self):
        with mock.patch.object(bootstrap, "MOST_DRAWS", 100_000):
            self.assertEqual([len(bootstrap_quantile([Run(np.ones(n))], 0.5, 1)) for n in (50, 400, 1000)], [1000, 250, 200])

    def test_few_runs_widen_it(self):
        self.assertEqual(for_few_runs(1, 9), 1)
        self.assertAlmostEqual(for_few_runs(3, 3), (3 / 2) ** 0.5 * 2.776 / 1.96, delta=1e-3)


class Compare(unittest.TestCase):
    def test_a_shift_of_20_us_is_found(self):
        for seed in range(20):
            worse = compare_one(synthetic(seed), synthetic(seed + 1000, shift=20))
            better = compare_one(synthetic(seed, shift=20), synthetic(seed + 1000))
            self.assertEqual((verdict_of(worse, "p50"), worse.count(BETTER)), (WORSE, 0))
            self.assertEqual((verdict_of(better, "p50"), better.count(WORSE)), (BETTER, 0))

    def test_one_distribution_gives_no_verdict(self):
        kinds = ({}, {"runs": 1, "samples": 40}, {"runs": 3, "samples": 150}, {"run_spread": 0.1},
                 {"runs": 3, "run_spread": 0.2}, {"samples": 1, "run_spread": 0.2})
        with mock.patch.object(module, "MOST_ROUNDS", 200):
            for kind in kinds:
                found = [compare_one(synthetic(seed, **kind), synthetic(seed + 5000, **kind)) for seed in range(100)]
                self.assertLessEqual(sum(one.count(WORSE) + one.count(BETTER) > 0 for one in found), 5, kind)

    def test_many_rows_do_not_make_many_wrong_verdicts(self):
        before, after = ([synthetic(seed + start, samples=40, cell=f"cell {seed}") for seed in range(200)]
                         for start in (0, 7000))
        found = compare(result_of(*before), result_of(*after))
        self.assertEqual(found.count(WORSE) + found.count(BETTER), 0, to_table(found))

    def test_more_is_better_where_it_is(self):
        found = compare_one(*(synthetic(seed, shift=shift, more_is_better=True) for seed, shift in ((1, 0), (2, 40))))
        self.assertEqual(verdict_of(found, "p50"), BETTER)

    def test_a_loss_that_began_is_worse(self):
        for lost, verdict in ((40, WORSE), (1, SAME)):  # one of 400 may be chance
            found = compare_one(synthetic(due=400, lost=0), synthetic(2, due=400, lost=lost))
            self.assertEqual(verdict_of(found, "lost"), verdict)
        self.assertIsNone(to_json(found)["rows"][0]["figures"][-1]["ratio"])

    def test_figures_of_one_result_only_and_differences_of_computers(self):
        after = result_of(synthetic(peer="uds"))
        after.host["cpu"] = "Another CPU"
        found = compare(result_of(synthetic()), after)
        self.assertEqual([row["only"] for row in to_json(found)["rows"]], ["before", "after"])
        self.assertIn("cpu: Some CPU before, Another CPU after", to_table(found))

    def test_figures_without_a_ratio_give_no_verdict(self):
        for before in (constant(*[0] * 20), synthetic(runs=1, samples=3), synthetic(runs=0)):
            self.assertEqual(verdict_of(compare_one(before, synthetic()), "p50"), TOO_FEW)

    def test_a_constant_figure_that_changed_is_found(self):
        before, after = (synthetic(runs=0) for _ in range(2))
        before.runs, after.runs = ([Run(np.array([value]))] * 5 for value in (10.0, 11.0))
        self.assertEqual(verdict_of(compare_one(before, after), "p50"), WORSE)
        self.assertEqual(verdict_of(compare_one(before, before), "p50"), SAME)
        self.assertIn("× 1.100", to_table(compare_one(before, after)))
