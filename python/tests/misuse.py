# SPDX-License-Identifier: Apache-2.0
"""Random misuse of the extension: wrong arguments, objects that nothing has made, values whose conversion publishes the loan that they
are for, views that outlive their owners, threads, fork. Nothing of it may end the interpreter by a signal.

    python3 misuse.py --seconds 120 --seed 7

The seed decides its calls, except for threads (--threads 0 leaves them out) and for calls that wait too long. scripts/deep/asan.sh
runs it under AddressSanitizer, test_misuse.py for some seconds without.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import ctypes
import faulthandler
import gc
import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import time
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

import cardan
from cardan import _cardan, _fields, _record
from cardan._known import type_of

POOL = 60
SCENE = cardan.from_ros2msg(
    "misuse_msgs/msg/Scene",
    "string name\nfloat64[3] place\nuint8[] pixels\nstring[] words\nwstring wide\nuint32[<=4] few\nmisuse_msgs/Thing[] things\n"
    + "misuse_msgs/Thing one\n"
    + "=" * 80
    + "\nMSG: misuse_msgs/Thing\nstring name\nint16 number\nbool[] flags\nfloat32[] curve\nstring[<=3] tags\n",
)
KINDS = [SCENE, cardan.Image, cardan.Imu, cardan.PointCloud, cardan.Detections2D]
# They end the process, or start another one, by design; _root would print a message's memory into a failure.
NEVER = {"_run_host", "_declare", "_replay", "end_waits", "request_stop", "stop_on_signals", "_set_classes", "__class__", "__del__"}
DESCRIPTORS = (property, *(c for c in vars(_fields).values() if isinstance(c, type) and hasattr(c, "__get__")))
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
SMALL = [0, 1, 2, 3, 7, 8, 63, 100, 4096]
HUGE = [-1, -(2**63), 2**63, 2**64, 2**200, -(2**31) - 1]


class Expired(BaseException):
    """A call has waited long enough."""


class Misuse:
    def __init__(self, seed: int, threads: int, folder: str) -> None:
        self.random = random.Random(seed)
        self.threads = threads
        self.folder = folder
        self.pool: list[Any] = []
        self.calls = self.refused = self.depth = self.forks = 0
        self.last = ""
        self.bag = os.path.join(folder, "some.mcap")
        with cardan.Bag(self.bag, "w", replace=True) as out:
            for i in range(8):
                out.write("/imu", {"angular_velocity": {"x": i}}, type=cardan.Imu, log_ns=10**9 + i)
                out.write("/scene", {"name": "x", "words": ["a", "b"], "things": [{"name": "t"}]}, type=SCENE, log_ns=10**9 + i)
        self.makers: list[Callable[[], Any]] = [
            self.topic, self.publisher, self.subscriber, self.loan, self.loan, self.draft, self.recorded, self.empty, self.cursor,
            self.writer, self.simulation, self.options, self.policy, self.child_class, self.record_options, self.player,
        ]  # fmt: skip

    # Objects and arguments.

    def kind(self) -> Any:
        return self.random.choice(KINDS)

    def name(self) -> str:
        return self.random.choice(["/a", "/b", "/c", "", "no slash", "/\0", "/" + "x" * 300])

    def topic(self) -> Any:
        return cardan.Topic(self.random.choice(["/a", "/b"]), self.kind(), max_bytes=5000, depth=self.random.choice([1, 4]), loans=3)

    def publisher(self) -> Any:
        return self.topic().publisher()

    def subscriber(self) -> Any:
        return self.topic().subscriber(holds=8)

    def of(self, *classes: Any) -> Any:
        return self.random.choice([one for one in self.pool if isinstance(one, classes)] or [None])

    def loan(self) -> Any:
        publisher = self.of(cardan.Publisher) or self.publisher()
        self.keep(publisher)
        return publisher.loan().message

    def draft(self) -> Any:
        kind = self.kind()
        return _cardan._draft(kind, type_of(kind), 5000)

    def recorded(self) -> Any:
        with cardan.Bag(self.bag) as bag:
            return self.random.choice(list(bag.read(self.random.choice(["/imu", "/scene"]))))

    def classes(self) -> list[type]:
        found = [c for module in (_cardan, _record) for c in vars(module).values() if isinstance(c, type)]
        return sorted(set(found), key=lambda c: (c.__module__, c.__name__)) + KINDS

    def empty(self) -> Any:
        made = self.random.choice(self.classes())
        return made.__new__(made)

    def child_class(self) -> Any:
        return type("Child", (self.random.choice(self.classes()),), {})

    def cursor(self) -> Any:
        files = _record.BagFiles([self.bag], 1 << 20)
        self.keep(files)
        return _record.BagCursor(files, [0, 1], 0, 2**63, 1 << 20)

    def writer(self) -> Any:
        return _record.BagWriter(os.path.join(self.folder, f"{self.random.randrange(20)}.mcap"), True, "none", 0, 4096)

    def record_options(self) -> Any:
        return self.random.choice([_record.RecorderOptions, _record.PlayerOptions])()

    def player(self) -> Any:
        options = _record.PlayerOptions()
        options.loop = True
        return _record.PlayerHandle([self.bag], options)

    def options(self) -> Any:
        return self.random.choice([_cardan.TopicOptions, _cardan.SubscriberOptions])()

    def policy(self) -> Any:
        return self.random.choice([cardan.primary, cardan.exact])()

    def simulation(self) -> Any:
        me = self

        class Part(cardan.Component):
            def on_start(self, context: Any) -> None:
                me.keep(context._handle)
                me.keep(context.output(cardan.Topic("/a", cardan.Imu, depth=4))._handle)
                me.keep(context.latest(cardan.Topic("/a", cardan.Imu, depth=4))._handle)
                me.keep(context.parameter("p", 1)._handle)
                context.input(cardan.Topic("/b", cardan.Imu, depth=4), me.keep)
                context.timer(0.01, me.evil_step)

            def on_stop(self) -> None:
                me.evil_step()

        made = cardan.Simulation()
        made.add("part", Part)
        self.keep(made._handle)
        self.keep(made._outside._handle)
        self.keep(made._outside.latest(cardan.Topic("/a", cardan.Imu, depth=4))._handle)
        if self.random.random() < 0.7:
            made.start()
            made.push(cardan.Topic("/b", cardan.Imu, depth=4))
            made.run_until(10**7)
        return made

    # Calls.

    def keep(self, thing: Any) -> Any:
        if len(self.pool) < POOL:
            self.pool.append(thing)
        elif self.pool:
            self.pool[self.random.randrange(len(self.pool))] = thing
        return thing

    def value(self) -> Any:
        r = self.random
        kind = r.randrange(14)
        if kind < 4 and self.pool:
            return r.choice(self.pool)
        simple: list[Any] = [
            None, True, 1.5, float("nan"), "", "x", "name", "é" * 40, b"", b"\0\1\0\0abc", bytearray(40), [], [1, 2], ["a"], [[]],
            {}, {"name": 1}, {"things": [{"name": "t", "flags": [True]}]}, (), object(), int, Exception, len, np.zeros(5),
            np.zeros((2, 3), np.uint8)[:, ::2], np.array(["x"]), lambda *a: None, self.kind(), range(4), iter([1]), slice(None),
            Ellipsis, print,
        ]  # fmt: skip
        if kind < 8:
            return r.choice(simple)
        if kind < 10:
            return r.choice(SMALL)
        if kind == 10:
            return r.choice(HUGE)
        if kind == 11:
            return [self.value() for _ in range(r.randrange(4))]
        return Evil(self)

    def arguments(self, name: str) -> list[Any]:
        """No wait is long, and nothing is large that is believed."""
        if "wait" in name or name in ("seek", "step"):
            longest = 1000 if threading.current_thread() is threading.main_thread() else 1  # the alarm ends waits of the main thread only
            return [self.random.choice([0, 1, longest]) for _ in range(self.random.choice([1, 1, 1, 2]))]
        given = [self.value() for _ in range(self.random.choice([0, 0, 1, 1, 1, 2, 2, 3, 4, 5]))]
        # A timer of some nanoseconds, or a run to the time of a stamp, would call back for hours; what a callback raises does not end them.
        if given and name in ("timer", "run_until", "at"):
            given[0] = self.random.choice([0, -1, 10**6, 10**7])
        return given

    def named(self, thing: Any) -> str:
        names = [n for n in dir(thing) if n not in NEVER]
        fields = getattr(type(thing), "__annotations__", None) or ["name", "words", "things", "pixels", "one", "place", "wide"]
        return self.random.choice([self.random.choice(names), self.random.choice(sorted(fields)), *self.random.sample(names, 2)])

    def use(self, thing: Any) -> Any:
        if isinstance(thing, DESCRIPTORS):
            return None  # it belongs to a class: Python lets everybody break it for all that follow
        r = self.random
        what = r.randrange(24)
        if what < 9:
            name = self.named(thing)
            self.say(f"{type(thing).__name__}.{name}")
            found = getattr(thing, name)
            return found(*self.arguments(name)) if callable(found) and not isinstance(found, type) else found
        if what < 12:
            name = self.named(thing)
            self.say(f"{type(thing).__name__}.{name} = ")
            if isinstance(thing, (_cardan.TopicOptions, _cardan.SubscriberOptions)) or type(thing).__module__ == "cardan._record":
                return setattr(thing, name, r.choice([*SMALL[:6], "", "x", None, True, [], {}, 1.5]))
            return None if isinstance(thing, (type, types.ModuleType)) else setattr(thing, name, self.value())
        if what == 12:  # a method of its class with another object
            name = self.named(thing)
            found = getattr(type(thing), name, None)
            self.say(f"type({type(thing).__name__}).{name}")
            found = getattr(found, "fget", found)
            return found(self.value(), *self.arguments(name)) if callable(found) and not isinstance(found, type) else None
        if what == 13:
            self.say(f"view of {type(thing).__name__}")
            return memoryview(thing)
        if what == 14 and isinstance(thing, np.ndarray) and thing.flags.writeable:
            thing[...] = r.choice([0, 1, 255])
            return thing[..., ::2] if thing.ndim else thing
        if what == 15 and isinstance(thing, memoryview):
            return thing.tobytes() if r.random() < 0.5 else thing.release()
        if what == 16:
            self.say(f"a form of {type(thing).__name__}")
            act = r.choice([copy.copy, copy.deepcopy, pickle.dumps, repr, len, hash, bool, weakref.ref, sys.getsizeof, dir])
            return None if isinstance(thing, (types.ModuleType, Misuse)) else act(thing)
        if what == 17:
            self.say(f"{type(thing).__name__}.__init__")
            return None if isinstance(thing, (Misuse, types.ModuleType)) else type(thing).__init__(thing, *self.arguments("__init__"))
        if what == 18:
            self.say(f"{type(thing).__name__}[]")
            return thing[self.value()]
        if what == 19:
            self.say(f"fill {type(thing).__name__}")
            return thing.fill({"words": ["a", Evil(self)], "place": [Evil(self), 1.0, 2.0], "things": [{"number": Evil(self)}]})
        if what == 20:
            self.say(f"publish {type(thing).__name__}")
            publisher = self.of(cardan.Publisher, _cardan.OutputHandle, _cardan.PublisherHandle)
            return getattr(publisher, "_handle", publisher).publish(thing)
        if what == 21:
            function = r.choice(sorted(n for n in vars(_cardan) if n not in NEVER and callable(getattr(_cardan, n))))
            self.say(f"_cardan.{function}")
            return getattr(_cardan, function)(*self.arguments(function))
        if what == 22:
            return thing.take() if hasattr(thing, "take") else self.subscriber()
        return thing.__next__() if r.random() < 0.3 and threading.current_thread() is threading.main_thread() else None

    def say(self, what: str) -> None:
        self.last = what

    def step(self) -> None:
        r = self.random
        self.calls += 1
        choice = r.randrange(40)
        try:
            if choice < 8 or not self.pool:
                self.say(f"make {choice}")
                self.keep(r.choice(self.makers)())
            elif choice == 8:
                del self.pool[r.randrange(len(self.pool))]
            elif choice == 9:
                gc.collect(r.choice([0, 1, 2]))
            elif choice == 10 and r.random() < 0.1:
                self.pool.clear()
            else:
                made = self.use(r.choice(self.pool))
                if made is not None and not isinstance(made, (int, str, float, bool, types.ModuleType, types.FunctionType)):
                    self.keep(made)
        except (Exception, Expired):
            self.refused += 1

    def evil_step(self) -> None:
        """From within a conversion."""
        if self.depth > 3:
            return
        self.depth += 1
        try:
            self.step()
        finally:
            self.depth -= 1

    def in_threads(self) -> None:
        def work() -> None:
            for _ in range(50):
                with contextlib.suppress(Expired):
                    self.step()

        others = [threading.Thread(target=work) for _ in range(self.threads)]
        for one in others:
            one.daemon = True
            one.start()
        until = time.monotonic() + 10
        for one in others:
            one.join(max(0.0, until - time.monotonic()))
        if any(one.is_alive() for one in others):
            _cardan.end_waits()  # an iteration waits for a message that does not come
        until = time.monotonic() + 120
        while time.monotonic() < until and (left := [one for one in others if one.is_alive()]):
            for one in left:  # the alarm ends loops of the main thread only
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(one.ident or 0), ctypes.py_object(Expired))
                one.join(0.5)
        if any(one.is_alive() for one in others):
            faulthandler.dump_traceback()
            sys.exit("misuse: a thread does not come back")

    def in_a_child(self) -> None:
        """Of what its parent has, a child of fork() gets errors; arrays over shared memory must not be touched there."""
        mine = [one for one in self.pool if not isinstance(one, (np.ndarray, memoryview))]
        sys.stdout.flush()
        faulthandler.cancel_dump_traceback_later()  # a child cannot: its thread is the parent's
        if SANITIZED and not others_sleep():
            return watch()
        self.forks += 1
        child = os.fork()
        watch()
        if child == 0:
            self.pool = mine
            try:
                alarm()  # a child has none of its parent's timers
                for _ in range(60):
                    made = None
                    with contextlib.suppress(Exception, Expired):
                        made = self.use(self.random.choice(self.pool or [None]))
                    if made is not None and not isinstance(made, (np.ndarray, memoryview)):
                        self.keep(made)
            finally:
                disarm()
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        assert status == 0, f"a child of fork() ended with status {status}"


class Evil:
    """A value whose conversion does something else first."""

    def __init__(self, misuse: Misuse) -> None:
        self.misuse = misuse

    def _do(self) -> None:
        self.misuse.evil_step()
        if self.misuse.random.random() < 0.2:
            raise ValueError("evil")

    def __index__(self) -> int:
        self._do()
        return self.misuse.random.choice([0, 1, 5])

    __int__ = __len__ = __hash__ = __index__

    def __float__(self) -> float:
        self._do()
        return 1.0

    def __iter__(self) -> Any:
        self._do()
        return iter([self, 1])

    def __getitem__(self, key: object) -> Any:
        self._do()
        return [] if isinstance(key, str) else 1

    def __str__(self) -> str:
        self._do()
        return "evil"

    def __buffer__(self, flags: int) -> memoryview:
        self._do()
        return memoryview(b"\0\1\0\0" + b"\0" * 200)

    def __call__(self, *arguments: object) -> None:
        self._do()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._do()
        return 1


def watch() -> None:
    """A call that does not come back ends the process, with the stacks of all threads."""
    faulthandler.dump_traceback_later(240, exit=True)


def others_sleep() -> bool:
    """Whether, within some seconds, all other threads sleep. AddressSanitizer's allocator (g++ 12) keeps its locks over a fork(): where
    another thread allocates at that moment, the child waits for ever in its first allocation."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        states = []
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/stat", encoding="utf-8") as stat:
                states += [stat.read().rpartition(")")[2].split()[0]] if int(thread) != os.getpid() else []
        if all(state == "S" for state in states):
            return True
        time.sleep(0.01)
    return False


def expire(*_: object) -> None:
    raise Expired


def alarm() -> None:
    """Ends what waits, and again: what is called may swallow the exception."""
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)


def disarm() -> None:
    """The timer may expire once more while it is being stopped."""
    for _ in range(3):
        with contextlib.suppress(Expired):
            signal.setitimer(signal.ITIMER_REAL, 0)
            return


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=0, help="end after this many seeds")
    parser.add_argument("--threads", type=int, default=3)
    parser.add_argument("--forks", type=int, default=1)
    given = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda *_: None
    threading.excepthook = lambda *_: None
    signal.signal(signal.SIGALRM, expire)
    end, seed, calls, refused, forks = time.monotonic() + given.seconds, given.seed, 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="cardan-misuse-") as folder:
        os.environ.setdefault("CARDAN_RUN_DIR", folder)
        os.chdir(folder)
        while time.monotonic() < end and not (given.rounds and seed >= given.seed + given.rounds):
            print(f"seed {seed}", flush=True)
            watch()
            one = Misuse(seed, given.threads, folder)
            alarm()
            with contextlib.suppress(Expired):
                for _ in range(400):
                    with contextlib.suppress(Expired):
                        one.step()
            disarm()
            if given.threads and seed % 4 == 0:
                one.in_threads()
            if given.forks and seed % 4 == 2:
                one.in_a_child()
            calls, refused, forks = calls + one.calls, refused + one.refused, forks + one.forks
            one.pool.clear()
            seed += 1
    print(f"misuse: {calls} calls, {refused} of them refused, {forks} children, seeds {given.seed} to {seed - 1}", flush=True)


if __name__ == "__main__":
    main()
