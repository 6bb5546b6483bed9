# SPDX-License-Identifier: Apache-2.0
"""The plots of the report, by Matplotlib as SVG, each with its figures as a table."""
import html
import io
import os
import re
from dataclasses import dataclass, field

import numpy as np

from bootstrap import median_interval95
from links import split_links
from results import name_of_size, three_digits


def import_matplotlib():
    """Matplotlib reads a file matplotlibrc of the working folder first, which may be another user's."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    os.chdir("/")
    try:
        import matplotlib
        from matplotlib import backends, figure, lines, ticker  # noqa: F401
        from matplotlib.backends import backend_svg  # noqa: F401
    finally:
        os.fchdir(here)
        os.close(here)
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "cardan", "font.size": 9, "axes.spines.top": False,
        "axes.spines.right": False, "axes.grid": True, "grid.color": "#d4d7dc", "axes.axisbelow": True})
    return matplotlib


mpl = import_matplotlib()

MOST_PLOTS = 80  # of each kind, and in each plot: a result may have any number of cells
MOST_ROWS = 150
MOST_LINES = 24  # more cannot be told apart
FEWEST_FOR_A_DISTRIBUTION = 10
# Colours that colour-blind people tell apart (Okabe and Ito, without the yellow); the first is Cardan's.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b3568e", "#3a3f46", "#b07700", "#2a93c9", "#7a5230")
DASHES = ("-", "--", ":", "-.")
WIDTH, LABELS, ROW = 9.0, 2.3, 0.21  # inches


@dataclass
class Plot:
    kind: str  # the page's chapters
    title: str
    head: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    commands: dict = field(default_factory=dict)  # as an ordered set
    svg: str = ""


class Palette:
    """The same contender has the same colour in all plots; what shares a colour differs in its dashes."""

    def __init__(self, measurements):
        peers = dict.fromkeys(m.peer for m in measurements if m.peer != "cardan")
        self.peers = {peer: 1 + i % (len(COLOURS) - 1) for i, peer in enumerate(peers)}
        self.contenders, used = {}, {}
        for m in measurements:
            if (m.peer, m.setup) not in self.contenders:
                colour = self.peers.get(m.peer, 0)
                self.contenders[m.peer, m.setup] = used.get(colour, 0) % len(DASHES)
                used[colour] = used.get(colour, 0) + 1

    def colour(self, m):
        return COLOURS[self.peers.get(m.peer, 0)]

    def dash(self, m):
        return DASHES[self.contenders[m.peer, m.setup]]


def grouped(measurements, key):
    """Groups in the order in which their first member comes."""
    groups = {}
    for m in measurements:
        groups.setdefault(key(m), []).append(m)
    return list(groups.values())


def unit_text(m):
    return "µs" if m.unit == "us" else m.unit


def is_distribution(m):
    return any(len(run.samples) >= FEWEST_FOR_A_DISTRIBUTION for run in m.runs)


def interval_text(m):
    interval = median_interval95(m)
    return f"{three_digits(interval[0])} … {three_digits(interval[1])}" if interval else "–"


def size_and_rate(m):
    return ", ".join(filter(None, (name_of_size(m.bytes), f"{m.rate_hz:g} Hz" if m.rate_hz > 0 else "")))


def cell_and_size(m):
    return f"{m.cell} {size_and_rate(m)}" if m.bytes > 0 else m.cell


def number_after(cell, word):
    """Of a cell such as "1p1s cpu=20": what follows `word`, and nothing else; 0: the cell is another."""
    found = re.fullmatch(f".*?{re.escape(word)}([0-9.]{{1,9}})", cell)
    try:
        return float(found[1]) if found else 0.0
    except ValueError:
        return 0.0


def has_conditions(m):
    """Of a cell of the transport: something surrounded its frames."""
    return "=" in m.cell or m.cell.endswith(" fifo")


# ---------------------------------------------------------------- drawing
def plain(text, most=40):
    """For Matplotlib, to which dollars mean formulas."""
    return (text[:most] + "…" if len(text) > most + 1 else text).replace("$", r"\$")


def axes_of(height, left, bottom, right=0.2, top=0.1):
    """A figure of WIDTH × `height` with axes that leave these margins, in inches."""
    shown = mpl.figure.Figure(figsize=(WIDTH, height))
    return shown, shown.add_axes([left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH,
                                  (height - bottom - top) / height])


def name_of_tick(value, _=None):
    size = abs(value)
    return f"{value / 1e6:.4g} M" if size >= 1e6 else f"{value / 1e3:.4g} k" if size >= 1e4 else f"{value + 0.0:.4g}"


def svg_of(shown, plot, number, description):
    out = io.StringIO()
    mpl.backends.backend_svg.FigureCanvasSVG(shown).print_svg(
        out, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = out.getvalue()
    svg = re.sub(r' id="[A-Za-z0-9]+_[0-9]+"', "", svg[svg.index("<svg"):])  # each plot would have the same
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    start, end = svg.split(">", 1)
    view_box = re.search(r'viewBox="[^"]*"', start)[0]
    name = f"plot{number}"
    return (f'<svg role="img" {view_box} aria-labelledby="{name}-t {name}-d"><title id="{name}-t">'
            f'{html.escape(plot.title)}</title><desc id="{name}-d">{html.escape(description)}</desc>{end}')


def draw_rows(rows, axis_name, log, draw, values):
    """Rows with headings: (section, label, what is drawn)."""
    places, names, headings, place, last = [], [], [], 0, None
    for section, label, _ in rows:
        if section and section != last:
            headings.append((place, section))
            place += 1
        last = section
        places.append(place)
        names.append(plain(label))
        place += 1
    shown, axes = axes_of(place * ROW + 0.85, LABELS, 0.5, top=0.35)
    low = scale(axes.xaxis, log, values)
    axes.set_ylim(place - 0.4, -0.6)
    axes.set_yticks([])  # Matplotlib's ticks would take half of the time
    beside = {"va": "center", "transform": axes.get_yaxis_transform()}
    for at, name in zip(places, names):
        axes.text(-0.01, at, name, ha="right", **beside)
    for at, section in headings:
        axes.text(-LABELS / (WIDTH - LABELS - 0.2), at, plain(section), weight="bold", **beside)
    axes.set_xlabel(plain(axis_name, 90))
    axes.tick_params(axis="x", labeltop=place > 12, top=place > 12)
    draw(axes, places, low)
    return shown


def scale(axis, log, values):
    """Returns the least value that a logarithmic axis can show; it is linear where no value has a logarithm."""
    positive = [value for value in values if value > 0]
    if log and positive:
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        if max(positive) < 1000 * min(positive):  # a decade or two have few powers of ten
            axis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
        if max(positive) < 3 * min(positive):
            axis.set_major_locator(mpl.ticker.MaxNLocator(6))
        axis.set_minor_locator(mpl.ticker.NullLocator())
    axis.set_major_formatter(mpl.ticker.FuncFormatter(name_of_tick))
    return min(positive) if log and positive else -np.inf


def box_plot(group, palette, axis_name):
    quantiles = np.array([np.quantile(m.pooled, [0.05, 0.25, 0.5, 0.75, 0.95, 0.99]) for m in group])
    colours = [palette.colour(m) for m in group]

    def draw(axes, places, low):
        p5, p25, p50, p75, p95, p99 = np.maximum(quantiles, low).T
        axes.hlines(places, p5, p95, colours, linewidth=1.2)
        axes.hlines(places, p25, p75, colours, linewidth=7, alpha=0.55)
        axes.scatter(p50, places, marker="|", s=80, color="black", zorder=3)
        axes.scatter(p99, places, s=9, c=colours, zorder=3)

    return draw_rows([(size_and_rate(m), m.contender, m) for m in group], axis_name, True, draw, quantiles.ravel())


def bar_plot(bars, axis_name):
    """(section, label, (colour, value, low, high))."""
    def draw(axes, places, _):
        colours, values, lows, highs = zip(*(bar for _, _, bar in bars))
        axes.barh(places, values, 0.6, color=colours, alpha=0.55)
        axes.hlines(places, lows, highs, "black", linewidth=1.2)

    return draw_rows(bars, axis_name, False, draw, [])


def line_plot(lines, x_name, y_name, log_x, log_y):
    """(label, colour, dash, xs, ys)."""
    legend = (len(lines) + 3) // 4 * 0.2
    shown, axes = axes_of(3.9 + legend, 0.75, 0.6 + legend, top=0.1)
    low_x = scale(axes.xaxis, log_x, np.concatenate([xs for *_, xs, _ in lines]))
    low_y = scale(axes.yaxis, log_y, np.concatenate([ys for *_, ys in lines]))
    for label, colour, dash, xs, ys in lines:
        axes.plot(np.maximum(xs, low_x), np.maximum(ys, low_y), dash, color=colour, linewidth=1.6,
                  marker="o" if len(xs) <= 16 else None, markersize=4, label=label)
    if not log_x and all(float(x).is_integer() for *_, xs, _ in lines for x in xs):  # counts have no fractions
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
    if not log_y:
        axes.set_ylim(bottom=min(0, *(min(ys) for *_, ys in lines)))
    axes.set_xlabel(plain(x_name, 90))
    axes.set_ylabel(plain(y_name))
    handles = [mpl.lines.Line2D([], [], color=colour, linestyle=dash) for _, colour, dash, *_ in lines]
    shown.legend(handles, [plain(label) for label, *_ in lines], loc="lower left", ncol=4, frameon=False, fontsize=8,
                 borderaxespad=0.2)
    return shown


# ---------------------------------------------------------------- what is drawn
CURVES = "transport", "end to end", "last reader"
DISTRIBUTIONS = "transport", "end to end", "sensor to actuator", "round trip"


def cameras_of(cell):
    found = re.match("cameras ([0-9]{1,9})", cell)
    return float(found[1]) if found else 0.0


# (name of the axis, logarithmic, which measurements, the place on the axis, what else tells plots apart)
SCALING = (
    ("size, bytes", True, lambda m: m.quantity in CURVES, lambda m: m.bytes, lambda m: m.cell),
    ("readers", False, lambda m: m.quantity in CURVES and m.publishers == 1 and not has_conditions(m),
     lambda m: m.readers, size_and_rate),
    ("cameras", False, lambda m: m.quantity == "recorded share", lambda m: cameras_of(m.cell),
     lambda m: m.cell.rpartition(" ")[2]),
    ("topics", True, lambda m: m.part == "transport", lambda m: number_after(m.cell, "topics "),
     lambda m: "of another process"),
    ("CPU of all processes together, % of a core", False, lambda m: m.quantity in CURVES,
     lambda m: number_after(m.cell, " cpu="), lambda m: f"{m.cell.partition(' cpu=')[0]}, {size_and_rate(m)}"),
    ("links at once", False, lambda m: m.quantity in CURVES and m.part == "transport",
     lambda m: split_links(m.cell)[0], lambda m: f"{split_links(m.cell)[1]}, {size_and_rate(m)}"),
    ("rate, Hz", False, lambda m: m.quantity in CURVES and " work=" in m.cell, lambda m: m.rate_hz,
     lambda m: f"{m.cell}, {name_of_size(m.bytes)}"),
)


class Plots:
    """All plots that these measurements have data for."""

    def __init__(self, measurements):
        self.all = [m for m in measurements if m.kept]
        self.palette = Palette(self.all)
        self.plots = []
        self.left_out = 0
        self.boxes("boxes", lambda m: m.quantity != "first to last reader")
        self.distributions()
        self.boxes("fairness", lambda m: m.quantity == "first to last reader")
        for one in SCALING:
            self.curves(*one)
        self.bars()

    def add(self, kind, title, head, group, row_of, draw, description):
        """`draw` makes the figure; it is not called if there are too many plots."""
        if sum(plot.kind == kind for plot in self.plots) >= MOST_PLOTS:
            self.left_out += 1
            return
        plot = Plot(kind, title, head, [row_of(m) for m in group[:MOST_ROWS]])
        plot.commands = dict.fromkeys(m.command for m in group if m.command)
        self.plots.append(plot)
        plot.svg = svg_of(draw(), plot, len(self.plots), description)

    def boxes(self, kind, chosen):
        def row(m):
            return [size_and_rate(m), m.contender, three_digits(m.p50), interval_text(m), three_digits(m.quantile(0.95)),
                    three_digits(m.quantile(0.99)), three_digits(m.pooled[-1]),
                    f"{m.lost} of {m.due}" if m.lost is not None else "", "noisy" if m.noisy else ""]

        for group in grouped(filter(lambda m: is_distribution(m) and chosen(m), self.all),
                             lambda m: (m.part, m.cell, m.quantity, m.unit)):
            first = group[0]
            group = sorted(group, key=lambda m: (m.bytes, m.rate_hz))[:MOST_ROWS]
            self.add(kind, f"{first.part}: {first.quantity}, {first.cell}",
                     ["size, rate", "peer", "p50", "95 % of p50", "p95", "p99", "greatest", "lost", "noise"], group, row,
                     lambda: box_plot(group, self.palette, f"{first.quantity}, {unit_text(first)}"),
                     "Boxes from the 25th to the 75th percentile with the median, whiskers from the 5th to the 95th, a dot "
                     "at the 99th; the axis is logarithmic.")

    def line(self, m, xs, ys):
        return m.contender, self.palette.colour(m), self.palette.dash(m), xs, ys

    def distributions(self):
        shares = np.linspace(0, 1, 81)

        def row(m):
            return [m.contender, str(m.kept), *(three_digits(m.quantile(q)) for q in (0.1, 0.5, 0.9, 0.99, 1))]

        for group in grouped(filter(lambda m: is_distribution(m) and not has_conditions(m) and m.quantity in DISTRIBUTIONS,
                                    self.all), lambda m: (m.part, m.cell, m.quantity, m.unit, m.bytes, m.rate_hz)):
            first, group = group[0], group[:MOST_LINES]
            self.add("cdf", f"{first.part}: {first.quantity}, {first.cell} {size_and_rate(first)}",
                     ["peer", "samples", "p10", "p50", "p90", "p99", "greatest"], group, row,
                     lambda: line_plot([self.line(m, np.quantile(m.pooled, shares), shares) for m in group],
                                       f"{first.quantity}, {unit_text(first)}", "share of messages", True, False),
                     "For each peer the share of messages that took at most this time; the axis of times is logarithmic.")

    def curves(self, x_name, log_x, chosen, x_of, others_of):
        def draw(group, first):
            lines = []
            for contender in grouped(group, lambda m: m.contender)[:MOST_LINES]:
                contender = sorted(contender, key=lambda m: (x_of(m), m.p50))
                lines.append(self.line(contender[0], [x_of(m) for m in contender], [m.p50 for m in contender]))
            return line_plot(lines, x_name, f"{first.quantity}, {unit_text(first)}", log_x, first.unit != "%")

        for group in grouped(filter(lambda m: chosen(m) and x_of(m) > 0, self.all),
                             lambda m: (m.part, others_of(m), m.quantity, m.unit)):
            if len({x_of(m) for m in group}) < 2:
                continue
            first = group[0]
            group = [m for contender in grouped(group, lambda m: m.contender) for m in contender]
            self.add("scaling", f"{first.part}: {first.quantity} by {x_name.partition(',')[0]}, {others_of(first)}",
                     ["peer", x_name, "p50", "95 % of p50"], group,
                     lambda m: [m.contender, f"{x_of(m):g}", three_digits(m.p50), interval_text(m)],
                     lambda: draw(group, first), "For each peer the median, as the value of the horizontal axis grows.")

    def bars(self):
        """Measurements with one figure a run, the recorder's pipelines, and each stage of the perception pipeline."""
        def row(m):
            return [cell_and_size(m), m.contender, three_digits(m.p50), three_digits(m.pooled[0]),
                    three_digits(m.pooled[-1]), three_digits(m.std), "noisy" if m.noisy else ""]

        def bar(m):  # of samples the deviation, of runs their range
            ends = (max(0, m.p50 - m.std), m.p50 + m.std) if is_distribution(m) else (m.pooled[0], m.pooled[-1])
            return cell_and_size(m), m.contender, (self.palette.colour(m), m.p50, *ends)

        chosen = (m for m in self.all if not cameras_of(m.cell) and
                  (m.quantity == "sensor to actuator" or m.part == "pipeline" or not is_distribution(m)))
        for group in grouped(chosen, lambda m: (m.part, m.quantity, m.unit)):
            # The contenders of a cell one below the other, whatever was measured between them.
            first, group = group[0], [m for cell in grouped(group, cell_and_size) for m in cell][:MOST_ROWS]
            self.add("bars", f"{first.part}: {first.quantity}",
                     ["cell", "peer", "median, " + unit_text(first), "least", "greatest", "deviation", "noise"], group, row,
                     lambda: bar_plot([bar(m) for m in group], f"{first.quantity}, {unit_text(first)}"),
                     "A bar for the median; its whisker is the standard deviation of samples, or the range of the runs.")
