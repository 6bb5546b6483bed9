# SPDX-License-Identifier: Apache-2.0
"""The report: index.html, which needs no other file, makes no request and has no script; summary.md; results.json."""
import os
import re
import statistics
import time
from html import escape

from bootstrap import median_interval95
from findings import DOES_NOT_HOLD, HOLDS, judgements
from links import CRITERION, links_of
from results import BenchError, Result, WriteError, name_of_size, three_digits, to_json, write_text

MOST_LINES = 2000  # of a table
MOST_MARKDOWN_LINES = 200
MOST_NUMBERS_OF_LINKS = 16  # columns: a file may have any number of them
NOTABLE_STEAL, NOTABLE_LOAD = 2, 3  # percent
REMEDY = "give --out a folder that you may write"
STYLE = """
:root{color-scheme:light dark;--ground:#fff;--text:#1c1e21;--faint:#5b6068;--rule:#d4d7dc;--panel:#f5f6f8;--good:#00664a;--bad:#a83c00;--link:#0072b2}
@media (prefers-color-scheme:dark){:root{--ground:#14161a;--text:#e6e8eb;--faint:#a2a8b1;--rule:#383d45;--panel:#1d2026;--good:#4fd1a5;--bad:#ff9a5c;--link:#58a9e0}
svg{filter:invert(.9) hue-rotate(180deg)}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:960px;padding:1.5rem;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7rem;margin:0 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .75rem;border-bottom:1px solid var(--rule)}h3{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.4rem 0}a{color:var(--link)}nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem}
.faint{color:var(--faint)}.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
.scroll,.whole{overflow-x:auto}.scroll{max-height:30rem}
table{border-collapse:collapse;font-size:.85rem;width:100%}th,td{padding:.2rem .6rem;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
th{color:var(--faint);font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:.8rem/1.4 ui-monospace,monospace;background:var(--panel);padding:.1rem .3rem;border-radius:3px;overflow-wrap:anywhere}
details{margin:.25rem 0}summary{cursor:pointer;color:var(--faint);font-size:.9rem}
figure{margin:1rem 0 2rem}svg{display:block;width:100%;height:auto;border-radius:6px}
@media (max-width:600px){body{padding:.75rem}.plot{overflow-x:auto}.plot svg{min-width:640px}}
@media print{details{display:none}.scroll{max-height:none}}
"""
CHAPTERS = (
    ("boxes", "Latencies by size and peer",
     "Box: 25th to 75th percentile, with the median. Whiskers: 5th to 95th. Dot: 99th. Logarithmic."),
    ("cdf", "Distributions",
     "The share of messages that took at most this time. Lines of one colour differ in their dashes."),
    ("fairness", "Fairness", "From the first reader of a message to the last. Small is fair."),
    ("scaling", "Scaling", "Medians, as messages, readers, links or cameras grow."),
    ("bars", "Pipelines, CPU, memory and rates", "Medians. Whisker: the deviation of samples, or the range of the runs."),
)


class Report:
    """The content of a page about some results. Raises BenchError: two of them have the same measurement."""

    def __init__(self, results, made=""):
        self.results, self.made = results, made
        owners = {}
        for result in results:
            for m in result.measurements:
                if owners.setdefault(m.identity, result) is not result:
                    raise BenchError(f"{owners[m.identity].source} and {result.source} both have: {m.name}",
                                     "give each measurement once; `cardan bench compare` is for two results of the same")
        self.measurements = [m for result in results for m in result.measurements]
        self.links = links_of(self.measurements)
        hosts = {tuple(result.host.get(name) for name in ("cpu", "cpus", "kernel")) for result in results}
        self.judgements = judgements(self.measurements, len(hosts))


# ---------------------------------------------------------------- HTML
def cell_html(text):
    return f'<td class="n">{escape(text)}</td>' if re.match("[-0-9]", text) else f"<td>{escape(text)}</td>"


def table_html(head, rows):
    body = "".join("<tr>" + "".join(map(cell_html, row)) + "</tr>\n" for row in rows)
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{names}</tr></thead><tbody>\n{body}</tbody></table></div>\n'


def commands_html(commands):
    lines = "".join(f"<p><code>{escape(command)}</code></p>\n" for command in commands)
    return f"<details><summary>Measure it again</summary>\n{lines}</details>\n" if commands else ""


def list_html(title, sentences):
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<p>{escape(title)}:</p><ul>{items}</ul>\n" if sentences else ""


def hosts_html(results):
    """The computers side by side: what is alike is seen."""
    entries = dict.fromkeys(name for result in results for name in result.host)
    out = table_html(["result"] + [result.source for result in results],
                     [[name] + [result.host.get(name, "") for result in results] for name in entries])
    out = out.replace('<td class="n">', "<td>")  # a version is not a figure
    for result in results:
        if result.interrupted:
            out += f'<p class="bad">{escape(result.source)} was interrupted: not all was measured.</p>\n'
        out += list_html(f"{result.source}: not measured", result.left_out)
        out += list_html(f"{result.source}: failed", result.failures)
    return out


def noise_html(measurements):
    """Whether the figures can be trusted."""
    noisy = [m.name for m in measurements if m.noisy]
    runs = [run for m in measurements for run in m.runs]
    steal = max((run.steal_percent for run in runs), default=0)
    loads = [run.other_load_percent for run in runs if run.other_load_percent > 0]
    out = (f'<h3>Noise</h3>\n<p class="{"bad" if noisy else "good"}">{len(noisy)} of {len(measurements)} measurements were '
           f"disturbed in all their repetitions. The most that a hypervisor took from a run that was kept: {steal:.1f} %"
           f"{' (above 2 %, it is measured again, at most twice)' if steal > NOTABLE_STEAL else ''}.</p>\n")
    if loads:
        load = statistics.median(loads)
        bad = load > NOTABLE_LOAD
        out += (f'<p class="{"bad" if bad else "good"}">Other programs used {load:.1f} % of the computer, in the median of '
                f"the runs{': end them, and measure again, for figures that can be trusted' if bad else ''}.</p>\n")
    return out + (f"<details><summary>Which</summary>{list_html('Disturbed', noisy[:50])}</details>\n" if noisy else "")


def statements_html(found):
    rows = ""
    for statement, verdict, figures in found:
        kind = {HOLDS: "good", DOES_NOT_HOLD: "bad"}.get(verdict, "faint")
        rows += (f'<tr><td>{escape(statement.paper)}</td><td>{escape(statement.text)}<br><span class="faint">Holds if: '
                 f'{escape(statement.rule)}</span></td><td><span class="{kind}">{verdict}</span><br>{escape(figures)}</td>'
                 "</tr>\n")
    return ('<h2 id="statements">What papers say, on this run</h2>\n<div class="whole" tabindex="0"><table><thead><tr>'
            '<th scope="col">paper</th><th scope="col">statement</th><th scope="col">here</th></tr></thead><tbody>\n'
            f"{rows}</tbody></table></div>\n")


def losses_html(measurements):
    lossy = [m for m in measurements if m.lost]
    out = '<h2 id="loss">Loss</h2>\n'
    if not lossy:
        return f'{out}<p class="good">Nothing was lost of {sum(m.due or 0 for m in measurements)} messages.</p>\n'
    rows = [[m.name, str(m.lost), str(m.due), f"{100 * m.lost_share:.3f} %"] for m in lossy[:MOST_LINES]]
    return (f"{out}<p>{len(lossy)} measurements lost messages.</p>\n" +
            table_html(["measurement", "lost", "due", "share"], rows))


def links_html(peers):
    if not peers:
        return ""
    numbers = sorted({point.links for peer in peers for point in peer.points})[:MOST_NUMBERS_OF_LINKS]
    rows = []
    for peer in peers[:MOST_LINES]:
        texts = {point.links: point.text for point in reversed(peer.points)}
        rows.append([peer.cell, peer.contender, peer.text] + [texts.get(number, "") for number in numbers])
    head = ["cell of one link", "peer", "sustained"] + [f"{number} at once" for number in numbers]
    return (f'<h2 id="links">Links sustained</h2>\n<p class="faint">{escape(CRITERION)}</p>\n{table_html(head, rows)}' +
            commands_html([command for peer in peers for command in peer.commands]))


def plot_html(plot):
    return (f'<figure><h3>{escape(plot.title)}</h3>\n<div class="plot" tabindex="0">{plot.svg}</div>\n<figcaption>\n'
            f"<details><summary>Figures</summary>{table_html(plot.head, plot.rows)}</details>\n"
            f"{commands_html(plot.commands)}</figcaption></figure>\n")


def all_figures_html(measurements):
    rows = [[m.name, m.unit, str(len(m.runs)), str(m.kept), three_digits(m.p50), three_digits(m.quantile(0.95)),
             three_digits(m.quantile(0.99)), three_digits(m.pooled[-1])] for m in measurements if m.kept][:MOST_LINES]
    head = ["measurement", "unit", "runs", "samples", "p50", "p95", "p99", "greatest"]
    return (f'<h2 id="all">All figures</h2>\n<details><summary>{len(rows)} measurements</summary>{table_html(head, rows)}'
            "</details>\n")


def to_html(report):
    from plots import Plots  # Matplotlib takes half a second, and a comparison needs none of it
    shown = Plots(report.measurements)
    chapters = [(kind, title, words, [plot for plot in shown.plots if plot.kind == kind]) for kind, title, words in CHAPTERS]
    chapters = [chapter for chapter in chapters if chapter[3]]
    places = ([("host", "Computer"), ("statements", "Papers"), ("loss", "Loss")] +
              ([("links", "Links")] if report.links else []) + [chapter[:2] for chapter in chapters] +
              [("all", "All figures")])
    out = ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
           # Nothing of a result can load or run anything, whatever it holds.
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
           '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
           f"<title>Cardan: benchmark report</title>\n<style>{STYLE}</style></head><body>\n<h1>Benchmark report</h1>\n"
           f'<p class="faint">{len(report.measurements)} measurements{f" · {report.made}" if report.made else ""}. Compare '
           "peers within this page only: another computer has other figures.</p>\n"
           f'<nav aria-label="Chapters">{"".join(f"""<a href="#{kind}">{name}</a>""" for kind, name in places)}</nav>\n'
           f'<main>\n<h2 id="host">What was measured on what</h2>\n{hosts_html(report.results)}'
           f"{noise_html(report.measurements)}{statements_html(report.judgements)}{losses_html(report.measurements)}"
           f"{links_html(report.links)}")
    for kind, title, words, plots in chapters:
        out += f'<h2 id="{kind}">{title}</h2>\n<p class="faint">{words}</p>\n' + "".join(map(plot_html, plots))
    if shown.left_out:
        out += f"<p>{shown.left_out} more plots are left out; their figures are below.</p>\n"
    return out + all_figures_html(report.measurements) + "</main></body></html>\n"


# ---------------------------------------------------------------- Markdown
def marked(text):
    """A cell of a Markdown table holds neither its own marks nor HTML."""
    return escape(re.sub(r"([\\`*_{}\[\]()#+!|~])", r"\\\1", text), quote=False)


def to_markdown(report):
    out = "# Benchmark summary\n\n"
    for result in report.results:
        cpu, cpus, kernel, governor, steal, version = (
            marked(result.host.get(name, "")) for name in ("cpu", "cpus", "kernel", "governor", "steal_percent", "cardan"))
        out += (f"{marked(result.source)}: {cpu}, {cpus} CPUs, {kernel}, governor {governor}, steal {steal} %, Cardan "
                f"{version}{' (interrupted)' if result.interrupted else ''}\n\n")
    out += "| part | cell | size, rate | peer | quantity | p50 (95 %) | p99 | lost |\n|---|---|---|---|---|---|---|---|\n"
    # The main quantity of each cell: the one that counts its losses, or all there is.
    shown = [m for m in report.measurements
             if m.kept and (m.due is not None or m.part not in ("transport", "runtime", "pipeline"))]
    for m in shown[:MOST_MARKDOWN_LINES]:
        interval = median_interval95(m)
        out += (f"| {marked(m.part)} | {marked(m.cell)} | {name_of_size(m.bytes)}"
                f"{f', {m.rate_hz:g} Hz' if m.rate_hz > 0 else ''} | {marked(m.contender)} | {marked(m.quantity)}, "
                f"{marked(m.unit)} | {three_digits(m.p50)}"
                f"{' ({} … {})'.format(*map(three_digits, interval)) if interval else ''} | "
                f"{three_digits(m.quantile(0.99))} | {f'{m.lost} of {m.due}' if m.lost is not None else ''} |\n")
    if len(shown) > MOST_MARKDOWN_LINES:
        out += "\nMore rows are in index.html and results.json.\n"
    if report.links:
        out += f"\n{CRITERION}\n\n| cell of one link | peer | links sustained | measured |\n|---|---|---|---|\n"
    for peer in report.links[:MOST_MARKDOWN_LINES]:
        measured = "; ".join(f"{point.links}: {point.text}" for point in peer.points)
        out += f"| {marked(peer.cell)} | {marked(peer.contender)} | **{peer.text}** | {measured} |\n"
    out += "\n| paper | statement | here |\n|---|---|---|\n"
    for statement, verdict, figures in report.judgements:
        out += f"| {statement.paper} | {marked(statement.text)} | **{verdict}**: {marked(figures)} |\n"
    return out


# ---------------------------------------------------------------- the files
def merged(results):
    host = next((result.host for result in results if result.host), {})
    return Result("", host, [m for result in results for m in result.measurements],
                  list(dict.fromkeys(text for result in results for text in result.left_out)),
                  [text for result in results for text in result.failures], any(result.interrupted for result in results))


def write_report(results, folder):
    """index.html, summary.md and results.json (all measurements in one file, for `compare`) to `folder`."""
    report = Report(results, time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise WriteError(f"cannot make {folder}: {error.strerror} — {REMEDY}") from None
    for name, text in (("index.html", to_html(report)), ("summary.md", to_markdown(report)),
                       ("results.json", to_json(merged(results)))):
        write_text(os.path.join(folder, name), text, REMEDY)
