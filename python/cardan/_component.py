# SPDX-License-Identifier: Apache-2.0
"""Components of `cardan run` in Python."""

from __future__ import annotations

import typing

from cardan import _cardan
from cardan._beside import import_named, search_beside
from cardan._cardan import FusionPolicy, Message
from cardan._contract import nanoseconds, whole
from cardan._errors import Error, NoAnswer
from cardan._known import type_of
from cardan._publisher import Publisher
from cardan._service import Question, fill_question
from cardan._topic import Topic
from cardan._transforms import TransformOutput, Transforms, _numbers

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from cardan._service import Service

M = typing.TypeVar("M", bound=Message)
M2 = typing.TypeVar("M2", bound=Message)
M3 = typing.TypeVar("M3", bound=Message)
Q = typing.TypeVar("Q", bound=Message)
A = typing.TypeVar("A", bound=Message)
V = typing.TypeVar("V", bool, int, float, str, "list[bool]", "list[int]", "list[float]", "list[str]")

_LOG_LEVELS = ("debug", "info", "warning", "error")


class Component:
    """A part of a vehicle's software, as cardan::Component is in C++: inputs with callbacks, outputs, timers and
    parameters, declared in on_start(). A configuration file runs it, `"python": "my_module:Detector"`.

        class Detector(cardan.Component):
            def on_start(self, context: cardan.Context) -> None:
                self.limit = context.parameter("limit", 0.5, min=0.0, max=1.0)
                self.people = context.output(PEOPLE)
                context.input(FRONT, self.on_image)

            def on_image(self, image: cardan.Image) -> None:
                self.people.publish(detections=detect(image.mat, self.limit.value))

    Its callbacks never overlap. An exception that leaves one is logged and counted; `on_exception` of the file says
    what follows. Its __init__ takes nothing."""

    _context: Context

    def on_start(self, context: Context) -> None:
        """Declares everything. If it raises, the component does not start. No callback runs before all components of
        the process have started."""
        raise NotImplementedError(f"{type(self).__name__} has no on_start()")

    def on_stop(self) -> None:
        """Called after the last callback."""

    def _bind(self, handle: _cardan.ContextHandle) -> None:
        self._context = Context(handle)

    def _start(self) -> None:
        self.on_start(self._context)


class Parameter(typing.Generic[V]):
    """A value that the configuration file and `cardan param` can set."""

    def __init__(self, handle: _cardan.ParameterHandle) -> None:
        self._handle = handle

    @property
    def value(self) -> V:
        return typing.cast("V", self._handle.value())


class ServiceClient(typing.Generic[Q, A]):
    """A component's client of a service. For each question it calls a function once, as a callback of the component."""

    def __init__(self, handle: _cardan.ComponentClientHandle, service: Service[Q, A]) -> None:
        self._handle = handle
        self.service = service

    def ask(
        self,
        callback: Callable[[A | None, NoAnswer | None], object],
        question: object = None,
        /,
        *,
        timeout: float,
        **fields: object,
    ) -> int:
        """Asks; never waits. `callback(answer, None)`, or `callback(None, error)`, also if the question could not be asked
        and when `timeout` (seconds of the component's clock) is over. The question is a dict, a dataclass or a message, or
        its fields by name. Returns a number
        for cancel(); 0: it could not be asked."""
        _callable(callback)
        left, name = nanoseconds(timeout, "timeout"), self.service.name

        def call(answer: A | None, reason: str, text: str) -> None:
            callback(answer, None if answer is not None else NoAnswer(reason, name, text))

        made: Q | None = self._handle.loan(self.service.question_class)
        if made is None:
            self._handle.fail(call)
            return 0
        try:
            fill_question(made, question, fields)
        except BaseException:
            self._handle.discard(made)
            raise
        return self._handle.ask(made, left, call)

    def cancel(self, number: int) -> None:
        """The question's function is not called any more, unless it runs already or has."""
        self._handle.cancel(number)

    @property
    def has_server(self) -> bool:
        """A server is attached."""
        return self._handle.has_server()


class Latest(typing.Generic[M]):
    """The newest message of a topic, for loops that look when they want to."""

    def __init__(self, handle: _cardan.LatestHandle) -> None:
        self._handle = handle

    def get(self) -> M | None:
        """None: nothing has come yet."""
        return typing.cast("M | None", self._handle.get())


class Output(Publisher[M]):
    """An output of a component: a Publisher whose stream belongs to it. It ends with the component."""

    def __init__(self, handle: _cardan.OutputHandle, cls: type[M], topic: str) -> None:
        self._handle: typing.Any = handle
        self._class = cls
        self._late = 0
        self.topic = topic

    @property
    def subscribers(self) -> int:
        raise Error("unavailable", "an output does not count its subscribers", f"cardan topic info {self.topic}")

    def set_checksum(self, on: bool) -> None:
        raise Error("unavailable", "the checksum of an output is its topic's", "Topic(…, checksum=True)")

    def close(self) -> None:
        """It ends with its component."""


class Context:
    """With which a component declares its parts, in on_start() only. Topics have the names that the component's code
    gives them; the configuration file may rename them, and change their options."""

    def __init__(self, handle: _cardan.ContextHandle) -> None:
        self._handle = handle

    def input(
        self,
        topic: Topic[M],
        callback: Callable[[M], object],
        *,
        depth: int = 0,
        keeps: int = 1,
        rests_on: bool = True,
        name: str = "",
    ) -> None:
        """Calls `callback(message)` for each message, one after the other.

        Args:
            depth: messages that may wait; of more, the oldest is dropped and counted. 0: the topic's.
            keeps: messages (and arrays over them) that the component keeps after its callback. Each costs the publisher
                a slot.
            rests_on: what the callback publishes rests on these messages, and is as old as the oldest of them. False:
                for calibration, maps and feedback, which would make everything as old as they are.
            name: in statistics and in the file's `callbacks`; "": the topic's.
        """
        cls = _class_of(topic)
        _callable(callback)
        depth, keeps = whole(depth, "depth", 0, 1 << 16), whole(keeps, "keeps", 0, 1 << 16)
        self._handle.input(topic.name, type_of(cls), cls, topic._options, callback, depth, keeps, bool(rests_on), name)

    def latest(self, topic: Topic[M], *, rests_on: bool = True, name: str = "") -> Latest[M]:
        """Keeps the newest message, without a callback. `rests_on`: as of input(), of what get() returns."""
        cls = _class_of(topic)
        return Latest(self._handle.latest(topic.name, type_of(cls), cls, topic._options, bool(rests_on), name))

    @typing.overload
    def fuse(
        self,
        policy: FusionPolicy,
        callback: Callable[[M, M2], object],
        first: Topic[M],
        second: Topic[M2],
        /,
        *,
        name: str = "",
        names: Sequence[str] = (),
        depths: Sequence[int] = (),
        keeps: int = 1,
    ) -> None: ...
    @typing.overload
    def fuse(
        self,
        policy: FusionPolicy,
        callback: Callable[[M, M2, M3], object],
        first: Topic[M],
        second: Topic[M2],
        third: Topic[M3],
        /,
        *,
        name: str = "",
        names: Sequence[str] = (),
        depths: Sequence[int] = (),
        keeps: int = 1,
    ) -> None: ...
    @typing.overload
    def fuse(
        self,
        policy: FusionPolicy,
        callback: Callable[..., object],
        /,
        *topics: Topic[typing.Any],
        name: str = "",
        names: Sequence[str] = (),
        depths: Sequence[int] = (),
        keeps: int = 1,
    ) -> None: ...
    def fuse(
        self,
        policy: FusionPolicy,
        callback: Callable[..., object],
        /,
        *topics: Topic[typing.Any],
        name: str = "",
        names: Sequence[str] = (),
        depths: Sequence[int] = (),
        keeps: int = 1,
    ) -> None:
        """Joins 2 to 8 topics into sets by a policy: primary(), approximate() or exact(). Calls `callback` for each set,
        with one message of each topic in their order.

            context.fuse(cardan.approximate(tolerance=0.02), self.on_set, FRONT, TOP)

        Args:
            name: of the fusion in statistics; "": "fusion", "fusion2", …
            names: of the inputs in statistics and in the file's `callbacks`; "": the topic's.
            depths: of each input, messages that wait for the fusion; 0: the topic's.
            keeps: sets that the component keeps after its callback.
        """
        if not isinstance(policy, FusionPolicy):
            raise TypeError(f"a policy is made by primary(), approximate() or exact(); not {type(policy).__name__}")
        _callable(callback)
        if max(len(names), len(depths)) > len(topics):
            raise Error("invalid_argument", "more names or depths than topics", "give one for each topic, in their order")
        classes = [_class_of(topic) for topic in topics]
        self._handle.fuse(
            policy,
            callback,
            [topic.name for topic in topics],
            [type_of(cls) for cls in classes],
            classes,
            [topic._options for topic in topics],
            list(names),
            [whole(depth, "depths", 0, 1 << 16) for depth in depths],
            whole(keeps, "keeps", 0, 1 << 16),
            name,
        )

    def output(self, topic: Topic[M]) -> Output[M]:
        """Where the component publishes: loan(), publish() and publish_cdr() as of a Publisher."""
        cls = _class_of(topic)
        return Output(self._handle.output(topic.name, type_of(cls), topic._options), cls, topic.name)

    def service(
        self, service: Service[Q, A], callback: Callable[[Question[Q, A]], object], *, holds: int = 8, name: str = ""
    ) -> None:
        """Serves: calls `callback(question)` for each question, one after the other. The callback may answer it, or keep
        it and answer later.

        Args:
            holds: questions that wait or are kept, at most 200. More of them wait at their clients.
            name: in statistics and in the file's `callbacks`; "": the service's.
        """
        _callable(callback)
        answer = service.answer_class
        self._handle.service(
            service.name,
            type_of(service.question_class),
            type_of(answer),
            service.question_class,
            service._options,
            lambda handle: callback(Question(handle, answer)),
            whole(holds, "holds", 1, 200),
            name,
        )

    def client(self, service: Service[Q, A], *, name: str = "") -> ServiceClient[Q, A]:
        """Declares that the component asks the service. `name`: of the callbacks with its answers, as of service()."""
        return ServiceClient(
            self._handle.client(
                service.name,
                type_of(service.question_class),
                type_of(service.answer_class),
                service.answer_class,
                service._options,
                name,
            ),
            service,
        )

    def transforms(self, *, history: float = 10.0) -> Transforms:
        """Where frames are: reads /tf and /tf_static on its own thread, so that it is up to date also during a
        callback. Each call returns the same tree, with the `history` (seconds) of the first."""
        return Transforms._of(self._handle.transforms(nanoseconds(history, "history")))

    def transform_output(self) -> TransformOutput:
        """Where the component publishes places of frames."""
        return TransformOutput._of(self._handle.transform_output())

    def static_transform(self, parent: str, child: str, place: npt.ArrayLike) -> None:
        """Publishes a place that never changes, a 4 × 4 matrix, as long as the component runs."""
        self._handle.static_transform(parent, child, _numbers(place))

    def timer(
        self,
        period: float,
        callback: Callable[[], object],
        *,
        catch_up: bool = False,
        delay: float = 0.0,
        name: str = "",
    ) -> None:
        """Calls `callback()` at each multiple of `period` seconds, without drift.

        Args:
            catch_up: calls it once for each period that was over before it could run; else these are left out.
            delay: of the first call, seconds after the start; 0: one period.
            name: in statistics and in the file's `callbacks`; "": "timer", "timer2", …
        """
        _callable(callback)
        self._handle.timer(nanoseconds(period, "period"), callback, catch_up, nanoseconds(delay, "delay"), name)

    def parameter(
        self,
        name: str,
        initial: V,
        *,
        min: V | float | None = None,
        max: V | float | None = None,
        description: str = "",
        fixed: bool = False,
        accept: Callable[[V], str | None] | None = None,
    ) -> Parameter[V]:
        """A value that the file and `cardan param set` can change: a bool, an int, a float, a str or a list of one of
        these, as `initial`. An empty list is one of floats.

        Args:
            min, max: of numbers; of a list for each element.
            description: its effect and its unit.
            fixed: only the file can set it.
            accept: called before a change at run time, as a callback of the component: None or "" accepts it, another
                text is the reason for the refusal.
        """
        return Parameter(self._handle.parameter(name, initial, min, max, description, fixed, accept))

    @property
    def name(self) -> str:
        """The component's name in the file."""
        return self._handle.name()

    def now(self) -> int:
        """The runtime's time in nanoseconds: of the steady clock, or of the simulation or replay."""
        return self._handle.now()

    def log(self, text: str, level: str = "info") -> None:
        """A line of the log, with the component's name: "debug", "info", "warning" or "error".

        "debug" is left out unless `cardan run --log-level` or `cardan component log` asks for it.
        """
        if level not in _LOG_LEVELS:
            raise Error("invalid_argument", f"level is {level!r}", f"use {', '.join(_LOG_LEVELS)}")
        self._handle.log(_LOG_LEVELS.index(level), text)


def _class_of(topic: Topic[M]) -> type[M]:
    if not isinstance(topic, Topic):
        raise TypeError(f"a component's topic is a cardan.Topic, not {type(topic).__name__}")
    if topic.message_class is None:
        raise Error("invalid_argument", f"'{topic.name}' without a type", "give it: cardan.Topic(name, type)")
    return topic.message_class


def _callable(callback: object) -> None:
    if not callable(callback):
        raise TypeError(f"a callback is a function, not {type(callback).__name__}")


def make(class_name: str, handle: _cardan.ContextHandle) -> Component:
    """The instance of "module:Class", for the runtime."""
    module_name, _, name = class_name.partition(":")
    module = import_named(module_name)
    cls = getattr(module, name, None)
    if not (isinstance(cls, type) and issubclass(cls, Component)):
        there = ", ".join(
            n for n, c in vars(module).items() if isinstance(c, type) and issubclass(c, Component) and c is not Component
        )
        what = "has no" if cls is None else "has, but not as a cardan.Component,"
        raise Error("invalid_argument", f"the module '{module_name}' {what} '{name}'", f"it has {there or 'no component'}")
    made = cls()
    made._bind(handle)
    return made


def offer(classes: list[str], files: list[str]) -> None:
    """Makes the classes of a configuration known to the runtime: "module:Class", and the files that name them."""
    search_beside(files)
    _cardan._offer(classes, make)
