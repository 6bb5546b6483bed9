# SPDX-License-Identifier: Apache-2.0
"""The seven findings of "Oops! It's Too Late. Your Autonomous Driving System Needs a Faster Middleware", and the headline
claims of the five papers: for their own method where it is a peer here, and for Cardan."""
import re
from itertools import product
from typing import NamedTuple

import numpy as np

from results import name_of_size, three_digits

HOLDS, DOES_NOT_HOLD, NOT_MEASURED = "holds", "does not hold", "not measured in this run"
MEBI, CAMERA = 1 << 20, 640 * 480 * 3
LITTLE = 0.2  # a change by less has little effect
MOST_ALIKE, MOST_TEXTS = 50, 200  # a file may hold anything, and the time must stay bounded


class NotMeasured(Exception):
    """Says which measurement is missing."""


class Evidence:
    """The measurements of a run, for those that judge by them."""

    def __init__(self, measurements, hosts=1):
        self.measurements = [m for m in measurements if m.kept]
        self.hosts = hosts
        self.cells = {}
        for m in self.measurements:
            alike = self.cells.setdefault((m.part, m.peer, m.setup, m.cell, m.quantity, m.bytes), [])
            if len(alike) < MOST_ALIKE:
                alike.append(m)

    def all(self, **wanted):
        return [m for m in self.measurements if all(getattr(m, name) == value for name, value in wanted.items())]

    def one(self, **wanted):
        return next(iter(self.all(**wanted)), None)

    def alike(self, m, **others):
        """The measurements that differ from `m` only in `others`, rates and readers."""
        names = "part", "peer", "setup", "cell", "quantity", "bytes"
        return self.cells.get(tuple(others.get(name, getattr(m, name)) for name in names), [])

    def exactly(self, *cell):
        """Of this part, peer, setup, cell, quantity and size; None: it was not measured."""
        return self.cells.get(cell, [None])[0]

    def frames(self, peer, setup="block", *, size):
        """A frame from one process to another."""
        return self.exactly("transport", peer, setup, "1p1s", "transport", size)

    def sizes(self, peer, setup="block", part="transport", cell="1p1s", quantity="transport"):
        found = self.all(part=part, peer=peer, setup=setup, cell=cell, quantity=quantity)
        return sorted({m.bytes for m in found if m.bytes > 0})


def judged(holds, texts, missing, separator="; "):
    if not texts:
        raise NotMeasured(missing)
    return bool(holds), separator.join(texts[:MOST_TEXTS])


# ---------------------------------------------------------------- Oops!
def copies_cost_most(e):
    size = max(e.sizes("cardan"), default=0)
    if size < MEBI / 2:
        raise NotMeasured("no message of half a MiB or more by cardan block")
    own = e.frames("cardan", size=size).p50
    shares, texts = [], []
    for peer in ("sim", "uds", "tcp", "cyclone", "fastdds-shm", "zeromq"):
        if (copied := e.frames(peer, size=size)) and copied.p50 > 0:
            shares.append(1 - own / copied.p50)
            texts.append(f"{peer} {three_digits(copied.p50)} µs ({100 * shares[-1]:.0f} % of it)")
    holds, text = judged(min(shares, default=0) >= 0.5, texts, "no peer that copies", ", ")
    return holds, f"{name_of_size(size)}: cardan block, without a copy, {three_digits(own)} µs; with copies {text}"


def qos_matters_little(e):
    little, texts = True, []
    for reliable in e.all(quantity="transport"):
        peer, ending, _ = reliable.peer.partition("-reliable")
        for effort in e.alike(reliable, peer=peer) if ending else ():
            if effort.rate_hz == reliable.rate_hz and effort.p50 > 0:
                ratio = reliable.p50 / effort.p50
                little &= abs(ratio - 1) <= LITTLE
                texts.append(f"{peer} {name_of_size(reliable.bytes)}: × {ratio:.2f} (lost {effort.lost or 0} with best "
                             f"effort, {reliable.lost or 0} reliable)")
    return judged(little, texts, "no peer with two settings of reliability", ", ")


def scenario_specific_gain(e):
    ratios, texts = [], []
    for size, setup in product(e.sizes("cardan"), ("prewake", "anticipate")):
        block, other = e.frames("cardan", size=size), e.frames("cardan", setup, size=size)
        if other and block.p50 > 0:
            ratios.append(other.p50 / block.p50)
            texts.append(f"{name_of_size(size)} {setup} × {ratios[-1]:.2f}")
    holds, text = judged(min(ratios, default=1) <= 0.8, texts, "cardan with `prewake` or `anticipate`, and with `block`", ", ")
    return holds, "a reader of a periodic stream that is woken early, p50 of `block`'s: " + text


def fusion_shapes_latency(e):
    ways = e.all(cell="fusion", quantity="transport")
    if min((m.p50 for m in ways), default=0) <= 0:
        raise NotMeasured("no fusion of several topics")
    texts = [f"{m.contender} {three_digits(m.p50)} µs" for m in ways]
    return max(m.p50 for m in ways) / min(m.p50 for m in ways) >= 1 + LITTLE, ", ".join(texts)


def threads_at_equal_load(e):
    """Cells "1p1s cv load=4x50": threads and their share of the CPU. Their number alone, at one share, must not matter."""
    shares = {}
    for m in e.all(part="transport", peer="cardan", setup="block", quantity="transport"):
        if found := re.fullmatch(r"(.*) load=([0-9]+)x([0-9]+)", m.cell):
            share = f"{found[1]} {name_of_size(m.bytes)} at {m.rate_hz:g} Hz at {found[3]} % load"
            shares.setdefault(share, {})[found[2]] = m.p50
    shares = {share: p50s for share, p50s in sorted(shares.items()) if len(p50s) > 1}
    little = all(min(p50s.values()) > 0 and max(p50s.values()) / min(p50s.values()) <= 1 + LITTLE
                 for p50s in shares.values())
    texts = [f"{share}: " + " ".join(f"{three_digits(p50)} µs with {threads} threads" for threads, p50 in sorted(p50s.items()))
             for share, p50s in shares.items()]
    return little, texts


def scheduling_matters_little(e):
    little, texts = True, []
    for size in e.sizes("raw", "spin"):
        spin, block, cardan = (e.frames(peer, setup, size=size)
                               for peer, setup in (("raw", "spin"), ("raw", "block"), ("cardan", "block")))
        if block and cardan and cardan.p50 > 0:
            wake = block.p50 - spin.p50
            little &= wake / cardan.p50 <= 0.35  # its share in the paper's fastest methods
            texts.append(f"{name_of_size(size)}: {three_digits(wake)} of {three_digits(cardan.p50)} µs "
                         f"({100 * wake / cardan.p50:.0f} %)")
    _, text = judged(True, texts, "raw with `spin` and `block`, and cardan `block`", ", ")
    little_by_threads, threads = threads_at_equal_load(e)
    return little and little_by_threads, "; ".join(["waking the reader, of cardan block's transport: " + text] +
                                                   ([", ".join(threads)] if threads else []))


def faster_platform_more_bottleneck(e):
    raise NotMeasured("it takes the results of two computers, and of an application's processing" if e.hosts < 2 else
                      "no application's processing time in addition to its transport")


def rate_must_match(e):
    worse, texts = False, []
    for slow in e.all(quantity="transport"):
        for fast in e.alike(slow):
            if fast.rate_hz < 2 * slow.rate_hz or slow.rate_hz <= 0:
                continue
            worse |= 0 < (1 + LITTLE) * slow.p50 <= fast.p50 or fast.lost_share > slow.lost_share + 0.01
            texts.append(f"{slow.contender} {name_of_size(slow.bytes)} at {slow.rate_hz:g} → {fast.rate_hz:g} Hz: p50 "
                         f"{three_digits(slow.p50)} → {three_digits(fast.p50)} µs, lost {100 * slow.lost_share:.1f} → "
                         f"{100 * fast.lost_share:.1f} %")
    return judged(worse, texts, "no cell at two rates")


def shared_memory_is_best(e):
    best, texts = True, []
    for size, socket in product(e.sizes("cardan"), ("uds", "tcp")):
        ours, theirs = e.frames("cardan", size=size), e.frames(socket, size=size)
        if theirs:
            best &= ours.p50 <= theirs.p50 and not ours.lost
            texts.append(f"{name_of_size(size)} cardan {three_digits(ours.p50)}, {socket} {three_digits(theirs.p50)} µs, "
                         f"lost {ours.lost or 0}")
    return judged(best, texts, "cardan `block` and sockets")


# ---------------------------------------------------------------- SIM and LOT
def far_below_fastdds(e, peer, setups):
    """How much less the mean and the p99 of a camera's frame are than those of the paper's baseline."""
    theirs = next(filter(None, (e.frames(name, size=CAMERA) for name in ("fastdds-loans", "fastdds-shm", "fastdds"))), None)
    if not theirs:
        raise NotMeasured("Fast DDS with 640 × 480 × 3 (make bench-peers)")
    mean, p99 = theirs.pooled.mean(), theirs.quantile(0.99)
    reached, texts = False, []
    for setup in setups:
        ours = e.frames(peer, setup, size=CAMERA)
        if ours and mean > 0 and p99 > 0:
            own_mean, own_p99 = ours.pooled.mean(), ours.quantile(0.99)
            reached |= own_mean <= 0.05 * mean and own_p99 <= 0.04 * p99
            texts.append(f"{peer} {setup}: mean {three_digits(own_mean)} of {three_digits(mean)} µs "
                         f"({100 * (own_mean / mean - 1):+.0f} %), p99 {three_digits(own_p99)} of {three_digits(p99)} µs "
                         f"({100 * (own_p99 / p99 - 1):+.0f} %)")
    holds, text = judged(reached, texts, f"{peer} with 640 × 480 × 3")
    return holds, f"against {theirs.peer}: {text}"


def sim_loses_nothing(e):
    due, lost = (sum(getattr(m, name) or 0 for m in e.all(part="transport", peer="sim")) for name in ("due", "lost"))
    return judged(lost == 0, [f"{lost} of {due} frames lost"] if due else [], "no peer sim")


def orders_below_loopback(e):
    ratios, texts = [], []
    for size, setup in product(e.sizes("tcp"), ("block", "prewake", "anticipate", "spin")):
        ours = e.frames("cardan", setup, size=size)
        if size >= MEBI / 2 and ours and ours.p50 > 0:
            ratios.append(e.frames("tcp", size=size).p50 / ours.p50)
            texts.append(f"{name_of_size(size)} {setup}: TCP ÷ cardan {ratios[-1]:.1f}")
    return judged(max(ratios, default=0) >= 100, texts, "cardan and TCP with half a MiB or more")


def size_does_not_matter(e):
    p50s = {size: e.frames("cardan", size=size).p50 for size in e.sizes("cardan")}
    if len(p50s) < 2:
        raise NotMeasured("cardan `block` with several sizes")
    texts = [f"{name_of_size(size)} {three_digits(p50)} µs" for size, p50 in p50s.items()]
    return 0 < max(p50s.values()) <= 2 * min(p50s.values()), "cardan block: " + ", ".join(texts)


def readers_are_treated_alike(e):
    fair, texts = True, []
    for ours in e.all(part="transport", peer="cardan", setup="block", quantity="first to last reader"):
        tcp = next(iter(e.alike(ours, peer="tcp")), None)
        if tcp and tcp.p50 > 0:
            fair &= ours.p50 < tcp.p50
            texts.append(f"{ours.cell} {name_of_size(ours.bytes)}: cardan {three_digits(ours.p50)}, TCP "
                         f"{three_digits(tcp.p50)} µs")
    holds, text = judged(fair, texts, "several readers of cardan and TCP")
    return holds, "first to last reader, p50: " + text


# ---------------------------------------------------------------- FastCycle
def components(e, quantity, size):
    """The means of cardan's and of ROS 1's components of one process; NaN: not measured."""
    found = (e.exactly("runtime", peer, "pointer", "fastcycle", quantity, size) for peer in ("cardan", "nodelet"))
    return [m.pooled.mean() if m else np.nan for m in found]


def beats_components_of_ros(e):
    better, texts = True, []
    for quantity in ("transport", "round trip"):
        for size in e.sizes("cardan", "pointer", "runtime", "fastcycle", quantity):
            ours, ros = components(e, quantity, size)
            if ros == ros:
                better &= ours < ros
                texts.append(f"{quantity} {name_of_size(size)}: cardan {three_digits(ours)}, nodelet {three_digits(ros)} µs")
    holds, text = judged(better, texts, "ROS 1 nodelets and cardan's components")
    return holds, "means; " + text


def twice_as_fast_at_4_mib(e):
    ours, ros = components(e, "transport", 4 * MEBI)
    texts = [f"means: cardan {three_digits(ours)}, nodelet {three_digits(ros)} µs"] if ours + ros == ours + ros else []
    return judged(0 < 2 * ours <= ros, texts, "4 MiB of nodelets and cardan's components")


# ---------------------------------------------------------------- SPEED against rosbag2: its copies, and Cardan's recorder
def recorded(e, peer, cell, quantity):
    """Of `speed` whatever way there is."""
    ways = {"rosbag2": {"setup": "no transport"}, "cardan": {"setup": "cycle"}}
    more = ways.get(peer, {}) if cell != "phases" or peer == "rosbag2" else {}
    return e.one(part="record", peer=peer, cell=cell, quantity=quantity, **more)


def less_time_in_system_calls(e):
    quantity, reached, texts = "time in system calls per message", False, []
    rosbag2 = recorded(e, "rosbag2", "phases", quantity)
    for peer in ("speed", "cardan"):
        own = recorded(e, peer, "phases", quantity)
        if own and rosbag2 and rosbag2.p50 > 0:
            reached |= peer == "speed" and own.p50 <= 0.16 * rosbag2.p50
            texts.append(f"{peer} {own.p50:.3f} of rosbag2's {rosbag2.p50:.3f} ms ({100 * (own.p50 / rosbag2.p50 - 1):+.0f} %)")
    return judged(reached, texts, "phases of rosbag2 and speed")


def most_cameras(e, peer):
    shares, most = {}, 0
    for m in e.all(part="record", peer=peer, quantity="recorded share"):
        if found := re.match("cameras ([0-9]+)", m.cell):
            shares[int(found[1])] = max(shares.get(int(found[1]), 0), m.p50)
    for count in sorted(shares):
        if shares[count] < 97:
            break
        most = count
    return most


def more_cameras(e):
    rosbag2, speed, cardan = (most_cameras(e, peer) for peer in ("rosbag2", "speed", "cardan"))
    if not rosbag2 or not speed:
        raise NotMeasured("the sweep over cameras of rosbag2 and speed")
    return speed >= 1.5 * rosbag2, (f"recorded to 97 %: rosbag2 {rosbag2}, speed {speed}, cardan {cardan} cameras "
                                    "(of those that were tried)")


def mix_is_recorded(e):
    speed, rosbag2, cardan = (recorded(e, peer, "mix", "recorded share") for peer in ("speed", "rosbag2", "cardan"))
    if not speed or not rosbag2:
        raise NotMeasured("the mix of all sensors of rosbag2 and speed")
    return speed.p50 >= 97.9, (f"rosbag2 {rosbag2.p50:.1f}, speed {speed.p50:.1f}, cardan "
                               f"{f'{cardan.p50:.1f}' if cardan else '–'} %")


def deviation(m):
    """Of a run, in the median of the runs; 0: not measured."""
    return float(np.median([np.std(run.samples, ddof=1) if len(run.samples) > 1 else 0 for run in m.runs])) if m else 0.0


def task_is_steadier(e):
    rosbag2, cardan = (recorded(e, peer, "task", "tasks in 33 ms") for peer in ("rosbag2", "cardan"))
    beside_rosbag2, beside_cardan = deviation(rosbag2), deviation(cardan)
    if not rosbag2 or beside_cardan <= 0:
        raise NotMeasured("the task with rosbag2 and with cardan")
    return beside_rosbag2 >= 3.08 * beside_cardan, (
        f"deviation with rosbag2 {beside_rosbag2:.3f}, with cardan and cycle hints {beside_cardan:.3f}: "
        f"× {beside_rosbag2 / beside_cardan:.2f}")


def cycle_hints_steady_the_pipeline(e):
    steadier, texts = True, []
    for scene in ("pipeline A", "pipeline B", "pipeline C"):
        cycle, asap = (e.one(part="record", peer="cardan", setup=setup, cell=scene, quantity="sensor to actuator")
                       for setup in ("cycle", "asap"))
        if cycle and asap:
            steadier &= deviation(cycle) < deviation(asap)
            texts.append(f"{scene}: {deviation(cycle):.2f} with hints, {deviation(asap):.2f} ms at once")
    holds, text = judged(steadier, texts, "the pipeline with and without cycle hints")
    return holds, "deviation; " + text


class Statement(NamedTuple):
    paper: str
    text: str  # what it says
    rule: str  # when it holds here
    judge: object  # of an Evidence: whether it holds, and the figures; raises NotMeasured


STATEMENTS = [Statement(*one) for one in (
    ("Oops!", "Finding 1: copying and (de)serializing data are the major sources of communication overhead.",
     "Of the transport p50 of each peer that copies, at the greatest size, at least half is what cardan, which does not "
     "copy, does not need.", copies_cost_most),
    ("Oops!", "Finding 2: QoS settings may cost, but have little effect on local latency.",
     "Reliable and best effort differ by at most 20 % in p50, for each peer that has both.", qos_matters_little),
    ("Oops!", "Finding 3: optimizing for the characteristics of a scenario brings significant benefits.",
     "A way of waiting for periodic streams takes at most 0.8 of the transport p50 of the general one.",
     scenario_specific_gain),
    ("Oops!", "Finding 4: the strategy of fusion, and rate and order of its channels, shape its latency.",
     "The p50 of ways to fuse differ by at least 20 %.", fusion_shapes_latency),
    ("Oops!", "Finding 5: the overhead of scheduling has no significant impact on latency.",
     "Waking a sleeping reader takes at most 35 % of cardan block's transport p50, at each size; and the number of "
     "threads of another program that use an equal share of the CPU changes that p50 by at most 20 %.",
     scheduling_matters_little),
    ("Oops!", "Finding 6: the faster the platform, the more likely communication is the bottleneck.",
     "On the faster of two computers transport is a greater share of the time of processing.",
     faster_platform_more_bottleneck),
    ("Oops!", "Finding 7: a publishing rate that does not match the processing time costs.",
     "At twice the rate or more, p50 grows by 20 %, or a further 1 % is lost.", rate_must_match),
    ("Oops!", "Shared memory is the optimal choice considering both performance and reliability.",
     "At each size cardan block's p50 is at most that of Unix sockets and TCP, without loss.", shared_memory_is_best),
    ("SIM", "SIM's mean is 95 % lower, and its tails are 96 % lower, than those of zero-copy Fast DDS.",
     "Of a 640 × 480 × 3 frame, one way of `sim` has a mean ≤ 0.05 and a p99 ≤ 0.04 of Fast DDS's.",
     lambda e: far_below_fastdds(e, "sim", ("poll", "block"))),
    ("SIM, for Cardan", "The same of Cardan.", "One way of waiting of cardan reaches both.",
     lambda e: far_below_fastdds(e, "cardan", ("block", "prewake", "anticipate"))),
    ("SIM", "All published messages are received.", "`sim` lost no frame.", sim_loses_nothing),
    ("LOT, for Cardan", "Up to two orders of magnitude better than local loopback.",
     "At one size of half a MiB or more, TCP's p50 is at least 100 × that of a way of cardan.", orders_below_loopback),
    ("LOT, for Cardan", "Latency is not sensitive to the size of an image.",
     "cardan block's greatest p50 over the sizes is at most twice the least.", size_does_not_matter),
    ("LOT, for Cardan", "Subscribers are treated fairly, unlike those of TCP, whatever the order of connection.",
     "From the first to the last reader cardan takes less than TCP, in each cell.", readers_are_treated_alike),
    ("FastCycle, for Cardan", "Lower mean latency and round trip than components of one process in ROS.",
     "cardan's means are below those of ROS 1 nodelets at each size.", beats_components_of_ros),
    ("FastCycle, for Cardan", "Two to three times as fast as components of one process in ROS at 4 MiB.",
     "nodelet's mean is at least twice cardan's.", twice_as_fast_at_4_mib),
    ("SPEED", "Latency of a single write is 84 % lower than rosbag2's.",
     "Time in system calls for each message of `speed` is at most 0.16 of rosbag2's.", less_time_in_system_calls),
    ("SPEED", "1.5 times as many cameras.", "`speed` records 1.5 × the cameras of rosbag2 to 97 %.", more_cameras),
    ("SPEED", "97.9 % of all sensors' messages are recorded.", "`speed` records 97.9 % of the mix.", mix_is_recorded),
    ("SPEED, for Cardan", "The deviation of a task during a recording is 3.08 times smaller.",
     "With rosbag2 it is at least 3.08 × that with cardan.", task_is_steadier),
    ("SPEED, for Cardan", "A schedule by the application's cycle makes the pipeline steadier in each scene.",
     "The deviation with cycle hints is below that of writing at once, in each scene.", cycle_hints_steady_the_pipeline),
)]


def judgements(measurements, hosts=1):
    """(statement, verdict, figures) of each statement; `hosts`: from how many computers the measurements are."""
    evidence, out = Evidence(measurements, hosts), []
    for statement in STATEMENTS:
        try:
            holds, figures = statement.judge(evidence)
            out.append((statement, HOLDS if holds else DOES_NOT_HOLD, figures))
        except NotMeasured as missing:
            out.append((statement, NOT_MEASURED, str(missing)))
    return out
