# SPDX-License-Identifier: Apache-2.0
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from synthetic import constant, result_of, synthetic
import plots
from findings import STATEMENTS
from links import links_of
from page import Report, links_html, merged, to_html, to_markdown, write_report
from plots import Plots
from results import BenchError, WriteError, read_result


def some_result():
    found = []
    for peer in ("raw", "cardan", "uds"):
        for size in (4096.0, 4.0 * (1 << 20)):
            fields = {"peer": peer, "bytes": size, "command": f"cardan bench transport --peers {peer}"}
            found.append(synthetic(len(found), runs=3, due=240, lost=4 if peer == "uds" else 0, **fields))
            fields.update(cell="1p5s", readers=5)
            found.append(synthetic(len(found), runs=3, quantity="first to last reader", **fields))
            found.append(synthetic(len(found), runs=3, samples=1, quantity="publisher's CPU", **fields))
    return result_of(*found)


def html_of(*measurements):
    return to_html(Report([result_of(*measurements)]))


def cell(name, achieved_hz):
    """All frames of this cell arrived, at this rate."""
    return [synthetic(runs=1, samples=12, cell=name, due=100, lost=0, command="cardan bench transport"),
            constant(achieved_hz, cell=name, quantity="achieved rate", unit="Hz")]


class Page(unittest.TestCase):
    def test_has_each_chapter_and_asks_for_nothing(self):
        page = to_html(Report([some_result()]))
        for name in ("host", "statements", "loss", "boxes", "cdf", "fairness", "scaling", "bars", "all"):
            self.assertEqual(page.count(f' id="{name}"'), 1, name)
        for never in ("<script", "src=", "@import", "url(http", "onload", "<?xml", "<!DOCTYPE svg"):
            self.assertNotIn(never, page)
        self.assertEqual(set(re.findall(r'="(?:https?:)[^"]*"', page)) -
                         {'="http://www.w3.org/2000/svg"', '="http://www.w3.org/1999/xlink"'}, set())
        self.assertIn("default-src 'none'", page)
        figures = page.count("<figure>")
        for part in ("<svg ", "</svg>", "<title id=", "<desc id=", "<summary>Figures</summary>"):
            self.assertEqual(page.count(part), figures, part)
        names = re.findall(r'(?:id|aria-labelledby)="(plot[0-9]+)', page)
        self.assertEqual(len(set(names)), figures)
        self.assertIn("<code>cardan bench transport --peers uds</code>", page)
        self.assertIn("<p>2 measurements lost messages.</p>", page)
        self.assertEqual(len(re.findall("Finding [1-7]:", page)), 7)
        for one in re.findall("<svg.*?</svg>", page, re.DOTALL):
            self.assertEqual(set(re.findall(r"#([mp][0-9a-f]+)", one)) - set(re.findall(r' id="([^"]*)"', one)), set())

    def test_texts_of_a_file_are_shown_and_not_run(self):
        evil = "<script>alert('1')</script>\"><img src=x onerror=alert(1)>$\\frac{$"
        result = some_result()
        for m in result.measurements:
            for name in ("part", "peer", "setup", "cell", "unit"):
                setattr(m, name, getattr(m, name) + evil)
            m.command = evil
        result.measurements[0].quantity += evil
        result.measurements[0].noisy = True
        result.host[evil] = result.source = result.host["cpu"] = evil
        result.left_out = result.failures = [evil]
        report = Report([result])
        for text in (to_html(report), to_markdown(report)):
            self.assertNotIn("<script", text)
            self.assertNotIn("<img", text)
            self.assertIn("&lt;script&gt;", text)

    def test_says_what_disturbed(self):
        result = some_result()
        self.assertNotIn("Other programs used", to_html(Report([result])))  # no part looked
        for m in result.measurements:
            for run in m.runs:
                run.other_load_percent = 40
        self.assertIn('<p class="bad">Other programs used 40.0 %', to_html(Report([result])))

    def test_a_result_without_measurements_is_a_page_too(self):
        page = html_of()
        self.assertIn("Nothing was lost of 0 messages", page)
        self.assertNotIn("<svg", page)
        self.assertEqual(page.count("not measured in this run"), len(STATEMENTS))

    def test_curves_over_topics_cpu_rates_and_links(self):
        cells = [("topics 1", 30), ("topics 1000", 30), ("1p1s cpu=10", 30), ("1p1s cpu=50", 30), ("1p1s cpu=20+fifo", 30),
                 ("1p1s work=20", 20), ("1p1s work=20", 40), ("2x1p1s cv cpu=50", 50), ("1p1s cv cpu=50", 50),
                 ("4x1p1s cv cpu=50", 50)]
        shown = Plots([synthetic(runs=1, samples=12, cell=name, rate_hz=float(hz)) for name, hz in cells]).plots
        # Of the ten cells one has two conditions.
        self.assertEqual(sum(len(plot.rows) for plot in shown if plot.kind == "scaling"), 9)

    def test_links_sustained(self):
        report = Report([result_of(*cell("1p1s cv cpu=100", 99), *cell("2x1p1s cv cpu=100", 80))])
        page, markdown = to_html(report), to_markdown(report)
        self.assertEqual(page.count('id="links"'), 1)
        self.assertIn('<td>cardan block</td><td class="n">1</td><td class="n">100 % at 99.0 Hz</td><td class="n">100 % at '
                      "80.0 Hz</td>", page)
        self.assertIn("| cardan block | **1** | 1: 100 % at 99.0 Hz; 2: 100 % at 80.0 Hz |", markdown)
        many = [m for links in range(2, 30) for m in cell(f"{links}x1p1s", 99)] + cell("1p1s", 99)
        head = links_html(links_of(many)).partition("</thead>")[0]
        self.assertEqual(head.count(" at once"), 16)
        self.assertNotIn("sustained", to_markdown(Report([some_result()])))

    def test_bars_of_a_cell_are_together(self):
        found = [synthetic(runs=1, samples=12, part="pipeline", peer=peer, cell=stage, quantity="processing")
                 for peer in ("raw", "cardan", "uds") for stage in ("lane", "detector")]
        bars = next(plot for plot in Plots(found).plots if plot.kind == "bars")
        self.assertEqual([row[1].split()[0] for row in bars.rows], ["raw", "cardan", "uds"] * 2)

    def test_figures_without_a_spread_or_a_logarithm_are_drawn(self):
        page = html_of(*(constant(*[value] * 12, peer=f"peer {value}") for value in (0.0, -5.0, 7.0, 1e15)))
        self.assertNotRegex(page, r'\bnan\b|\binf"')
        self.assertGreaterEqual(page.count("<svg "), 2)

    def test_stays_bounded_with_many_cells(self):
        found = [synthetic(runs=1, samples=10, **{("cell", "peer")[i % 2]: f"x{i}"}) for i in range(1000)]
        with mock.patch.object(plots, "MOST_PLOTS", 10):
            page = html_of(*found)
        for one in page.split('<h2 id="')[1:]:  # each kind has its own limit, so that none takes the place of the others
            self.assertLessEqual(one.count("<figure>"), 10)
        self.assertEqual(page.count("<figure>"), 20)
        self.assertIn("<p>982 more plots are left out", page)
        self.assertLess(len(page), 2 << 20)

    def test_many_cells_are_judged_soon(self):
        for name in ("bytes", "rate_hz"):  # minutes, if each were compared with each
            found = [constant(100, **{"peer": ("cardan", "cardan-reliable", "tcp")[i % 3], name: float(i // 3 + 1)})
                     for i in range(20_000)]
            self.assertLess(len(to_markdown(Report([result_of(*found)]))), 1 << 20)

    def test_a_measurement_of_two_files_is_refused(self):
        with self.assertRaisesRegex(BenchError, "both have"):
            Report([some_result(), some_result()])

    def test_is_written_with_its_summary_and_one_file_of_all(self):
        other = result_of(synthetic(9, part="record"))
        with tempfile.TemporaryDirectory() as folder:
            deep = Path(folder) / "a" / "deep"
            write_report([some_result(), other], str(deep))
            self.assertEqual(len(read_result(str(deep / "results.json")).measurements), 19)
            self.assertIn("| transport | 1p1s | 4 KiB, 100 Hz | uds block | transport, us |", (deep / "summary.md").read_text())
            self.assertEqual(len(list(deep.iterdir())), 3)
        self.assertEqual(len(merged([some_result(), other]).measurements), 19)
        with self.assertRaisesRegex(WriteError, "cannot make /proc/nowhere"):
            write_report([some_result()], "/proc/nowhere")
