# SPDX-License-Identifier: Apache-2.0
"""Components on a clock of the program's own: unit tests, the same each time."""

from __future__ import annotations

import os
import typing

from cardan import _cardan
from cardan._cardan import Message
from cardan._component import Component, Context, Output, offer
from cardan._contract import nanoseconds, whole
from cardan._ends import remember
from cardan._errors import Error

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from typing_extensions import Self

    from cardan._bag import Path
    from cardan._topic import Topic

M = typing.TypeVar("M", bound=Message)
C = typing.TypeVar("C", bound=Component)


class Simulation:
    """Runs components on messages that the program gives, on one thread, with its own clock and in a fixed order: what
    is due first, then what is more urgent, then what was ready first. It uses no transport, and it never waits. For the
    thread that made it.

        with cardan.Simulation() as simulation:
            simulation.add("brake", Brake, {"limit_m": 5.0})
            commands = simulation.collect(COMMAND)
            simulation.start()
            simulation.push(DISTANCE, metres=4.9)
            simulation.run()
            assert commands[0].brake

    Args:
        file: a configuration, all of whose components it has, in Python and in C++. None: only those of add().
        without: components of the file to leave out, such as drivers that wait for hardware.
        variables: "name=value", of the file.
        set: "component/parameter=value".
        begin: the clock's first time, nanoseconds.

    Raises:
        Error: a file with errors, no such component or library.
    """

    def __init__(
        self,
        file: Path | None = None,
        *,
        without: Iterable[str] = (),
        variables: Iterable[str] = (),
        set: Iterable[str] = (),
        begin: int = 0,
    ) -> None:
        name = "" if file is None else os.fspath(file)
        self._handle = _cardan.SimulationHandle(
            name, list(variables), list(set), list(without), whole(begin, "begin", 0, (1 << 62)), offer
        )
        self._outside = Context(self._handle.outside())
        self._outputs: dict[str, tuple[type, Output[typing.Any]]] = {}
        self._collected = 0
        remember(self)

    def add(
        self,
        name: str,
        component: type[C],
        parameters: Mapping[str, bool | int | float | str] | None = None,
        *,
        topics: Mapping[str, str] | None = None,
        priority: int = 0,
    ) -> C:
        """Adds a component, and returns it. Before start().

        Args:
            component: its class.
            parameters: their values, as in a configuration.
            topics: name in the code → another name, as in a configuration.
            priority: in the order of what is ready: 0 (last) to 31 (first).
        """
        if not (isinstance(component, type) and issubclass(component, Component)):
            raise TypeError("a component is a subclass of cardan.Component")
        made = component()
        self._handle.add(name, made, dict(parameters or {}), dict(topics or {}), whole(priority, "priority", 0, 31))
        return made

    def collect(self, topic: Topic[M]) -> list[M]:
        """A list that grows by a copy of every message that is published on the topic from now on, in order. Before
        start()."""
        collected: list[M] = []
        self._collected += 1
        self._outside.input(
            topic, lambda message: collected.append(message.copy()), depth=64, name=f"collect{self._collected}"
        )
        return collected

    def output(self, topic: Topic[M]) -> Output[M]:
        """Where the program publishes to the components: loan(), publish() and publish_cdr() as of a Publisher."""
        known = self._outputs.get(topic.name)
        if known is None:
            made = self._outside.output(topic)
            self._outputs[topic.name] = (made._class, made)
            return made
        kind, there = known
        if kind is not topic.message_class:
            raise Error("incompatible", f"'{topic.name}' was pushed as {kind.__name__}", "use one type for one topic")
        return there

    def push(self, topic: Topic[M], message: object = None, /, **fields: object) -> None:
        """Publishes a message now, as Publisher.publish(). run() gives it to the components."""
        self.output(topic).publish(message, **fields)

    def at(self, time: int, callback: Callable[[], object]) -> None:
        """Calls `callback()` when the clock reaches `time` (ns), before the timers of that time."""
        if not callable(callback):
            raise TypeError(f"a callback is a function, not {type(callback).__name__}")
        self._handle.at(time, callback)

    def start(self) -> None:
        """Starts the components. Raises what their on_start() raises, as Error or RuntimeError."""
        self._handle.start()

    def run(self) -> int:
        """Runs what is ready now, until nothing is; the clock does not move. Returns the number of callbacks."""
        return self._handle.run()

    def run_until(self, time: int) -> int:
        """Advances the clock to `time` (ns), from one event to the next, and runs what is due on the way."""
        return self._handle.run_until(time)

    def run_for(self, seconds: float) -> int:
        """The same for a time from now."""
        return self._handle.run_until(self.now + nanoseconds(seconds, "seconds"))

    def stop(self) -> None:
        """Stops the components in the reverse order of their start."""
        self._handle.stop()

    @property
    def now(self) -> int:
        """The clock, nanoseconds."""
        return self._handle.now()

    @property
    def failures(self) -> int:
        """Exceptions that left callbacks so far. Each is logged on standard error."""
        return self._handle.losses()[0]

    @property
    def dropped(self) -> int:
        """Messages that newer ones pushed out of full queues so far."""
        return self._handle.losses()[1]

    @property
    def fusions(self) -> dict[str, int]:
        """Sets that each fusion made so far, by "component/fusion"."""
        return self._handle.fusions()

    @property
    def closed(self) -> bool:
        return self._handle.closed()

    def close(self) -> None:
        """Stops the components, and ends them. Nothing happens while they run."""
        self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()
