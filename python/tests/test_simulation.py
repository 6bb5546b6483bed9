# SPDX-License-Identifier: Apache-2.0
"""Components on a clock of the test's own: order, fusions, losses, and what is refused."""

from __future__ import annotations

import gc
import json
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import cardan

MS = 1_000_000


@cardan.message("my_msgs/msg/Sighting")
@dataclass
class Sighting:
    number: int = 0
    text: str = ""


@cardan.message("my_msgs/msg/Stamped")
@dataclass
class Stamped:
    number: int = 0
    header: cardan.Header = None  # type: ignore[assignment]


LEFT = cardan.Topic("/left", Sighting, max_bytes=100, depth=10)
RIGHT = cardan.Topic("/right", Sighting, max_bytes=100, depth=10)
PAIRS = cardan.Topic("/pairs", Sighting, max_bytes=200, depth=10)


class Joiner(cardan.Component):
    """Publishes "left+right" of each set."""

    policy = cardan.exact()

    def on_start(self, context: cardan.Context) -> None:
        self.pairs = context.output(PAIRS)
        context.fuse(self.policy, self.on_set, LEFT, RIGHT, name="pair", names=("l", "r"), depths=(20, 20))

    def on_set(self, left: cardan.Sample[Sighting] | None, right: cardan.Sample[Sighting] | None) -> None:
        assert left is not None
        with self.pairs.loan() as pair:
            pair.number = left.number
            pair.text = f"{left.text}+{right.text if right is not None else 'none'}"


def joiner_of(policy: cardan.FusionPolicy) -> type[Joiner]:
    return type("Own", (Joiner,), {"policy": policy})


def push(simulation: cardan.Simulation, topic: cardan.Topic[Any], number: int, stamp: int) -> None:
    with simulation.output(topic).loan() as message:
        message.number, message.text = number, str(number)
        message.set_source_time(stamp)


def sets_of(policy: cardan.FusionPolicy, left: list[int], right: list[int]) -> list[str]:
    """The sets of messages with these stamps, all of the right ones after the left ones."""
    with cardan.Simulation() as simulation:
        simulation.add("joiner", joiner_of(policy))
        pairs = simulation.collect(PAIRS)
        simulation.start()
        for topic, stamps in ((LEFT, left), (RIGHT, right)):
            for stamp in stamps:
                push(simulation, topic, stamp, stamp * MS)
                simulation.run()
        assert simulation.failures == 0 and simulation.fusions == {"joiner/pair": len(pairs)}
        return [pair.text for pair in pairs]


def test_fusions_by_each_policy() -> None:
    assert sets_of(cardan.exact(), [10, 20, 30], [10, 30]) == ["10+10", "30+30"]
    near = cardan.approximate(tolerance=0.004)
    assert sets_of(near, [10, 20, 30, 40], [11, 22, 38, 50]) == ["10+11", "20+22", "40+38"]
    assert sets_of(cardan.primary(1), [10, 20], [21, 22]) == ["20+21", "20+22"]
    assert sets_of(cardan.primary(1, max_age=0.005), [10, 20], [21, 29]) == ["20+21"]
    assert sets_of(cardan.primary(0, required=[True, False]), [10, 20], [5]) == ["10+none", "20+none"]
    assert sets_of(cardan.primary(1, max_ages=[0.002, None]), [10], [11, 13]) == ["10+11"]
    assert [cardan.exact().name, near.name, cardan.primary().name] == ["exact", "approximate", "primary"]


def test_a_fusion_goes_by_the_header_where_it_says_so() -> None:
    left = cardan.Topic("/left", Stamped, max_bytes=100, depth=10)
    right = cardan.Topic("/imu", cardan.Imu, depth=10)
    seen: list[tuple[int, int]] = []

    class ByHeader(cardan.Component):
        def on_start(self, context: cardan.Context) -> None:
            context.fuse(cardan.exact(time="header"), self.on_set, left, right)

        def on_set(self, one: cardan.Sample[Stamped], other: cardan.Imu) -> None:
            seen.append((one.number, other.header.stamp))

    with cardan.Simulation() as simulation:
        simulation.add("by_header", ByHeader)
        simulation.start()
        for number in (1, 2, 3):
            simulation.push(left, {"number": number, "header": {"stamp": {"sec": 0, "nanosec": number * 100}}})
            simulation.push(right, {"header": {"stamp": number * 200}})
        simulation.run()
        assert seen == [(2, 200)]

    class Without(cardan.Component):
        def on_start(self, context: cardan.Context) -> None:
            context.fuse(cardan.exact(time="header"), print, LEFT, RIGHT)

    with cardan.Simulation() as simulation:
        simulation.add("without", Without)
        with pytest.raises(cardan.Error, match=r"messages of '/left' have none.*time="):
            simulation.start()


def test_impossible_fusions() -> None:
    def start(declare: Any) -> None:
        component = type("Bad", (cardan.Component,), {"on_start": lambda self, context: declare(context)})
        with cardan.Simulation() as simulation:
            simulation.add("bad", component)
            simulation.start()

    for declare, says in (
        (lambda c: c.fuse(cardan.exact(), print, LEFT), "1 inputs"),
        (lambda c: c.fuse(cardan.exact(), print, *[LEFT] * 9), "2 to 8"),
        (lambda c: c.fuse(cardan.exact(), print, LEFT, LEFT), "two callbacks named '/left'"),
        (lambda c: c.fuse(cardan.primary(2), print, LEFT, RIGHT), "input 2"),
        (lambda c: c.fuse(cardan.primary(required=[True] * 3), print, LEFT, RIGHT), "input 2"),
        (lambda c: c.fuse(cardan.exact(), print, LEFT, RIGHT, names=("a", "b", "c")), "more names or depths"),
        (lambda c: c.fuse(cardan.exact(), print, LEFT, cardan.Topic("/x")), "without a type"),
        (lambda c: c.fuse("exact", print, LEFT, RIGHT), "a policy is made by"),
        (lambda c: c.fuse(cardan.exact(), 5, LEFT, RIGHT), "a callback is a function"),
    ):
        with pytest.raises((cardan.Error, RuntimeError), match=says):
            start(declare)
    for bad in (
        lambda: cardan.exact(queue=0),
        lambda: cardan.approximate(tolerance=-1),
        lambda: cardan.exact(time="stamp"),
        lambda: cardan.primary(required=[True] * 9),
    ):
        with pytest.raises(cardan.Error):
            bad()


class Clock(cardan.Component):
    """Says when it is called, and how old what it got is."""

    def on_start(self, context: cardan.Context) -> None:
        self.context = context
        self.seen: list[tuple[str, int, float]] = []
        self.period = context.parameter("period", 0.01)
        context.timer(self.period.value, lambda: self.seen.append(("timer", context.now(), 0.0)))
        context.input(LEFT, self.on_left)

    def on_left(self, message: cardan.Sample[Sighting]) -> None:
        self.seen.append((message.text, self.context.now(), message.age))


def run_clock() -> list[tuple[str, int, float]]:
    with cardan.Simulation(begin=1000 * MS) as simulation:
        clock = simulation.add("clock", Clock, {"period": 0.02})
        simulation.start()
        simulation.at(1020 * MS, lambda: push(simulation, LEFT, 1, 0))
        simulation.at(1030 * MS, lambda: push(simulation, LEFT, 2, 0))
        simulation.run_for(0.05)
        assert simulation.now == 1050 * MS
        return clock.seen


def test_the_clock_and_the_order_are_the_simulations() -> None:
    expected = [("1", 1020 * MS, 0.0), ("timer", 1020 * MS, 0.0), ("2", 1030 * MS, 0.0), ("timer", 1040 * MS, 0.0)]
    first = run_clock()
    assert sorted(first) == sorted(expected) and [time for _, time, _ in first] == [time for _, time, _ in expected]
    assert all(run_clock() == first for _ in range(5))


def test_losses_are_counted(capfd: pytest.CaptureFixture[str]) -> None:
    class Fails(cardan.Component):
        def on_start(self, context: cardan.Context) -> None:
            context.input(LEFT, self.on_left, depth=2)

        def on_left(self, message: cardan.Sample[Sighting]) -> None:
            raise ValueError(f"not {message.number}")

    with cardan.Simulation() as simulation:
        simulation.add("fails", Fails)
        simulation.start()
        for number in range(5):
            push(simulation, LEFT, number, 0)
        assert simulation.run() == 2
        assert (simulation.failures, simulation.dropped) == (2, 3)
    assert "ValueError: not 3" in capfd.readouterr().err


def test_kept_messages_outlive_the_simulation() -> None:
    kept: list[Any] = []

    class Keeper(cardan.Component):
        def on_start(self, context: cardan.Context) -> None:
            self.out = context.output(PAIRS)
            self.context = context
            context.input(LEFT, kept.append, keeps=5)

    simulation = cardan.Simulation()
    keeper = simulation.add("keeper", Keeper)
    pairs = simulation.collect(PAIRS)
    simulation.start()
    for number in range(3):
        push(simulation, LEFT, number, 0)
    keeper.out.publish(number=7)
    simulation.run()
    simulation.close()
    del simulation
    gc.collect()
    assert [message.text for message in kept] == ["0", "1", "2"] and pairs[0].number == 7
    with pytest.raises(cardan.Error, match="has ended"):
        keeper.out.publish(number=8)
    with pytest.raises(cardan.Error, match="has ended"):
        keeper.context.now()


def test_a_simulation_is_for_one_thread_and_not_for_itself() -> None:
    simulation = cardan.Simulation()
    simulation.start()
    wrong: list[BaseException] = []

    def use() -> None:
        try:
            simulation.run()
        except cardan.Error as error:
            wrong.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    simulation.at(5, use)
    simulation.at(6, simulation.close)  # nothing happens
    simulation.run_until(10)
    assert [("another thread" in str(e), "its own callback" in str(e)) for e in wrong] == [(True, False), (False, True)]
    simulation.close()
    simulation.close()
    with pytest.raises(cardan.Error, match="is closed"):
        simulation.run()


def test_the_components_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "simulated_parts.py").write_text(
        """
import cardan
class Doubler(cardan.Component):
    def on_start(self, context):
        out = context.output(cardan.Topic("/out", cardan.Imu))
        context.input(cardan.Topic("/in", cardan.Imu), lambda m: out.publish(header={"stamp": 2 * m.header.stamp}))
"""
    )
    file = tmp_path / "parts.json"
    doubler = {"python": "simulated_parts:Doubler", "topics": {"/out": "/doubled"}}
    driver = {"library": "libnowhere.so", "class": "Driver"}
    file.write_text(json.dumps({"processes": {"a": {"components": {"doubler": doubler}}, "b": {"components": {"driver": driver}}}}))
    with cardan.Simulation(file, without=["driver"]) as simulation:
        doubled = simulation.collect(cardan.Topic("/doubled", cardan.Imu))
        simulation.start()
        simulation.push(cardan.Topic("/in", cardan.Imu), {"header": {"stamp": 21}})
        simulation.run()
        assert [m.header.stamp for m in doubled] == [42]
    with pytest.raises(cardan.Error, match="libnowhere"):
        cardan.Simulation(file)
    with pytest.raises(cardan.Error, match="no component 'x'"):
        cardan.Simulation(file, without=["x", "driver"])
    file.write_text("{")
    with pytest.raises(cardan.Error, match=r"parts\.json"):
        cardan.Simulation(file)


class Ticker(cardan.Component):
    """Raises what the test says at its third call."""

    what: BaseException

    def on_start(self, context: cardan.Context) -> None:
        self.calls = 0
        context.timer(0.001, self.on_timer)

    def on_timer(self) -> None:
        self.calls += 1
        if self.calls == 3:
            raise self.what


@pytest.mark.parametrize("what", [KeyboardInterrupt(), SystemExit(7)])
def test_an_exception_that_ends_a_program_ends_a_run(what: BaseException) -> None:
    with cardan.Simulation() as simulation:
        ticker = simulation.add("ticker", type("Own", (Ticker,), {"what": what}))
        simulation.start()
        with pytest.raises(type(what)) as raised:
            simulation.run_for(3600)
        assert raised.value is what and raised.traceback[-1].name == "on_timer"
        assert ticker.calls == 3 and simulation.now < 10 * MS
        simulation.run_for(1)  # it was raised once
        assert ticker.calls > 900


def test_a_signal_ends_a_run_of_hours() -> None:
    def ring(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        with cardan.Simulation() as simulation:
            simulation.add("joiner", joiner_of(cardan.exact()))
            simulation.start()
            again = [0]

            def later() -> None:
                again[0] += 1
                simulation.at(simulation.now + 1, later)

            simulation.at(1, later)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                simulation.run_until(2**62)
            assert again[0] > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("rests_on", [True, False])
def test_a_publication_is_as_old_as_what_it_rests_on(rests_on: bool, kept: bool) -> None:
    ages: list[float | None] = []

    class Slow(cardan.Component):
        def on_start(self, context: cardan.Context) -> None:
            self.out = context.output(PAIRS)
            self.left = context.latest(LEFT, rests_on=rests_on)
            self.last: Any = None
            context.input(RIGHT, self.keep, rests_on=False)
            context.timer(0.030, self.tick)

        def keep(self, right: cardan.Sample[Sighting]) -> None:
            self.last = right

        def tick(self) -> None:
            assert self.left.get() is not None
            with self.out.loan() as pair:
                if kept:
                    pair.rests_on(self.last)

    class Reader(cardan.Component):
        def on_start(self, context: cardan.Context) -> None:
            context.input(PAIRS, lambda pair: ages.append(pair.origin_age))

    with cardan.Simulation() as simulation:
        simulation.add("slow", Slow)
        simulation.add("reader", Reader)
        simulation.start()
        simulation.run_for(0.005)
        push(simulation, RIGHT, 1, 0)
        simulation.run_for(0.005)
        push(simulation, LEFT, 1, 0)
        simulation.run_for(0.020)
        assert simulation.failures == 0
    assert ages == [pytest.approx(0.025 if kept else 0.020 if rests_on else 0.0)]
