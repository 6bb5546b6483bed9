# SPDX-License-Identifier: Apache-2.0
"""Services: questions that get one answer each."""

from __future__ import annotations

import time
import typing

from cardan import _cardan
from cardan._classes import class_of
from cardan._contract import ACCESS, INTROSPECTION, MOST_BYTES, Waiting, block, nanoseconds, whole
from cardan._ends import remember
from cardan._errors import Error, NoAnswer
from cardan._known import type_of
from cardan._program import introduce

if typing.TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator
    from types import TracebackType

Q = typing.TypeVar("Q", bound=_cardan.Message)
A = typing.TypeVar("A", bound=_cardan.Message)

_VIEWS = {"mat", "points"}
_LOOK = 0.02
"""Seconds between two looks for a server that is not there yet, of a coroutine."""


def fill_question(made: _cardan.Message, value: object, fields: dict[str, object]) -> None:
    if value is not None:
        made.fill(value)
    for name in _VIEWS & fields.keys() & vars(type(made)).keys():
        setattr(made, name, fields.pop(name))
    if fields:
        made.fill(fields)


class Service(typing.Generic[Q, A]):
    """A service: its name, the types of its questions and answers, and its contract. Both sides use the same one.

        region = cardan.Service("/map/region", Region, Map, max_answer_bytes=200 << 20)

    Args:
        name: as a topic's name; a topic may have the same.
        question, answer: types, as a Topic's.
        max_bytes, max_answer_bytes: bytes that a question and an answer may carry beyond their fixed parts.
        pending: questions of one client without an answer, at most 64. Asking more fails at once.
        answers: answers to one client that are filled at once.
        holds: answers that a client keeps at once, in addition to those that it has not looked at.
        access: users that may ask, and users whose server a client asks: "owner", "group", "everyone", "policy".
        waiting: how both sides wait.
        introspection: what the server publishes about questions and answers on `<name>/_service_event`, for recorders
            and readers of the same user: "off", "metadata", "contents".
    """

    def __init__(
        self,
        name: str,
        question: type[Q],
        answer: type[A],
        *,
        max_bytes: int = 0,
        max_answer_bytes: int = 0,
        pending: int = 4,
        answers: int = 1,
        holds: int = 1,
        access: str = "owner",
        waiting: Waiting | None = None,
        introspection: str = "off",
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a service's name is a str, not {name.__class__.__name__}")
        if access not in ACCESS:
            raise Error("invalid_argument", f"access is {access!r}", f"use {', '.join(ACCESS)}")
        if introspection not in INTROSPECTION:
            raise Error("invalid_argument", f"introspection is {introspection!r}", f"use {', '.join(INTROSPECTION)}")
        self.name = name
        self.question_class: type[Q] = class_of(question)
        self.answer_class: type[A] = class_of(answer)
        self._options = _cardan.ServiceOptions()
        self._options.max_bytes = whole(max_bytes, "max_bytes", 0, MOST_BYTES)
        self._options.max_answer_bytes = whole(max_answer_bytes, "max_answer_bytes", 0, MOST_BYTES)
        self._options.pending = whole(pending, "pending", 1, 64)
        self._options.answers = whole(answers, "answers", 1, 64)
        self._options.holds = whole(holds, "holds", 1, 100)
        self._options.set_access(ACCESS[access])
        self._options.set_introspection(INTROSPECTION.index(introspection))
        how = block() if waiting is None else waiting
        self._options.set_waiting(how.kind, how.limit)

    def server(self, *, holds: int = 8, domain: str = "") -> Server[Q, A]:
        """Its server. Raises Error (name_taken) if there is one already. `holds`: questions that it keeps at once, at
        most 200, in addition to the one that it has just taken. Blocks for about 1 ms."""
        return Server(self, holds=holds, domain=domain)

    def client(self, *, domain: str = "") -> Client[Q, A]:
        """A client. It finds the server, also one that starts later or again. Blocks for some milliseconds, at most 1 s
        when the server does not answer."""
        return Client(self, domain=domain)

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {self.question_class.__name__}, {self.answer_class.__name__})"


class AnswerLoan(typing.Generic[A]):
    """A slot of shared memory for an answer. As a context manager it gives the message; the answer goes to the client at
    the end of the block, or the slot is given back if the block raises."""

    def __init__(self, question: Question[typing.Any, A], message: A) -> None:
        self._question = question
        self._message = message
        self._open = True

    @property
    def message(self) -> A:
        """The answer, writable until it is sent."""
        return self._message

    def reply(self) -> bool:
        """Hands it to the client. False: nobody waits for it any more."""
        self._open = False
        return self._question._handle.reply(self._message)

    def discard(self) -> None:
        """Gives the slot back. The question still has no answer."""
        self._open = False
        self._question._discard(self._message)

    def __enter__(self) -> A:
        return self._message

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._open:
            return
        if kind is None:
            self.reply()
        else:
            self.discard()


class Question(typing.Generic[Q, A]):
    """A question that a server has taken. It is answered once, or declined; one that is dropped is declined. It may be
    kept and answered later, in any order."""

    def __init__(self, handle: _cardan.QuestionHandle, answer_class: type[A]) -> None:
        self._handle = handle
        self._answer_class = answer_class

    @property
    def message(self) -> Q:
        """The question itself. It stays valid as long as this object or a part of it lives, also after the answer."""
        message: Q = self._handle.message()
        return message

    def loan(self) -> AnswerLoan[A]:
        """A slot for the answer. Raises Error: as many are filled as `answers` allows, or the client has ended."""
        return AnswerLoan(self, self._handle.loan(self._answer_class))

    def reply(self, answer: object = None, /, **fields: object) -> bool:
        """Answers with a copy of a dataclass, a dict or another message, or with fields that are given by name, as
        Publisher.publish(). False: nobody waits for the answer any more."""
        loan = self.loan()
        try:
            fill_question(loan.message, answer, fields)
        except BaseException:
            loan.discard()
            raise
        return loan.reply()

    def decline(self, why: str) -> None:
        """The client gets no answer, but the reason."""
        self._handle.decline(why)

    @property
    def cancelled(self) -> bool:
        """Nobody waits for the answer any more: the client has cancelled it, or has ended."""
        return self._handle.cancelled()

    def _discard(self, message: _cardan.Message) -> None:
        self._handle.discard(message)


class Server(typing.Generic[Q, A]):
    """Answers the questions of a service. One thread at a time.

        with region.server() as server:
            for question in server:
                with question.loan() as answer:
                    fill(answer, question.message)

    A question is taken at most once. One that is overdue or cancelled is not delivered. An iteration ends as that of a
    Subscriber.
    """

    def __init__(self, service: Service[Q, A], *, holds: int = 8, domain: str = "") -> None:
        introduce()
        self.service = service
        self._handle = _cardan.ServerHandle(
            service.name,
            type_of(service.question_class),
            type_of(service.answer_class),
            service.question_class,
            service._options,
            domain,
            whole(holds, "holds", 1, 200),
        )
        remember(self)

    def take(self) -> Question[Q, A] | None:
        """Returns the oldest question of all clients. If it returns None, `reason` says why. Never blocks."""
        return self._seen(self._handle.take())

    def wait(self, timeout: float | None = None) -> Question[Q, A] | None:
        """The same; waits for it at most `timeout` seconds (None: without end)."""
        return self._seen(self._handle.wait(-1 if timeout is None else nanoseconds(timeout, "timeout")))

    def _seen(self, handle: _cardan.QuestionHandle | None) -> Question[Q, A] | None:
        return None if handle is None else Question(handle, self.service.answer_class)

    @property
    def reason(self) -> str:
        """As Subscriber.reason; "limit": as many questions are kept as `holds` allows."""
        return self._handle.reason()

    @property
    def clients(self) -> int:
        """Clients that are served now."""
        return self._handle.clients()

    def fileno(self) -> int:
        """A descriptor that is readable when a question may be there, for select, wait_any() and event loops."""
        return self._handle.fileno()

    @property
    def closed(self) -> bool:
        return self._handle.closed()

    def close(self) -> None:
        """Ends it: clients that wait are told."""
        self._handle.close()

    def __enter__(self) -> Server[Q, A]:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Question[Q, A]]:
        return self

    def __next__(self) -> Question[Q, A]:
        if self._handle.closed():
            raise StopIteration
        question = self.wait()
        if question is not None:
            return question
        if self.reason == "limit":
            raise Error(
                "limit",
                f"as many questions of '{self.service.name}' are kept as the server announced",
                "answer or decline them sooner, or give server(holds=…)",
            )
        raise StopIteration


class Ticket(typing.Generic[A]):
    """A question that was asked. Dropping it cancels the question."""

    def __init__(self, client: Client[typing.Any, A], number: int) -> None:
        self._client = client
        self._number = number

    def poll(self) -> A | None:
        """The answer; None: it is not there yet. Raises NoAnswer. Never blocks. Call it until it gives the answer, once."""
        self._client._receive()
        return self._look()

    def wait(self) -> A:
        """The answer; waits for it, at most until the question's time-out. Raises NoAnswer."""
        answer = self._seen(self._client._handle.wait(self._number))
        assert answer is not None
        return answer

    def cancel(self) -> None:
        """The answer is not wanted any more."""
        number, self._number = self._number, 0
        if number:
            self._client._handle.cancel(number)

    def _look(self) -> A | None:
        return self._seen(self._client._handle.look(self._number))

    def _seen(self, outcome: tuple[A | None, str, str]) -> A | None:
        answer, reason, text = outcome
        if reason == "pending":
            return None
        self._number = 0
        if answer is None:
            raise NoAnswer(reason, self._client.service.name, text)
        return answer

    def __del__(self) -> None:
        self.cancel()


class Client(typing.Generic[Q, A]):
    """Asks the questions of a service. One thread at a time for it and its tickets.

        with region.client() as client:
            answer = client.call(x=1, timeout=0.1)     # or: await client(x=1, timeout=0.1)

    A question is a dict, a dataclass or a message, or its fields by name, or what loan() gave.
    """

    def __init__(self, service: Service[Q, A], *, domain: str = "") -> None:
        introduce()
        self.service = service
        self._readers: set[asyncio.Future[None]] = set()
        self._reading: tuple[asyncio.AbstractEventLoop, int] | None = None
        self._handle = _cardan.ClientHandle(
            service.name,
            type_of(service.question_class),
            type_of(service.answer_class),
            service.answer_class,
            service._options,
            domain,
        )
        remember(self)

    def loan(self) -> Q:
        """A slot for a question, to be filled and given to ask() or call(). Raises NoAnswer: no server is attached;
        Error: another one is out."""
        message: Q | None = self._handle.loan(self.service.question_class)
        if message is not None:
            return message
        if not self.has_server:
            raise NoAnswer("no server", self.service.name)
        raise Error("limit", f"another question of '{self.service.name}' is being filled", "ask or discard it")

    def discard(self, question: Q) -> None:
        """Gives a loan back."""
        self._handle.discard(question)

    def ask(self, question: object = None, /, *, timeout: float, **fields: object) -> Ticket[A]:
        """Asks. `timeout`: seconds; it travels with the question, an overdue one is not delivered. Raises NoAnswer: it
        could not be asked. Never blocks."""
        left = nanoseconds(timeout, "timeout")
        if isinstance(question, _cardan.Message) and question._writable() and not fields:
            made = question
        else:
            made = self.loan()
            try:
                fill_question(made, question, fields)
            except BaseException:
                self._handle.discard(made)
                raise
        number, reason = self._handle.ask(made, left)
        if number == 0:
            raise NoAnswer(reason, self.service.name)
        return Ticket(self, number)

    def call(self, question: object = None, /, *, timeout: float, **fields: object) -> A:
        """Asks and waits for the answer, first for a server if none is there yet. Raises NoAnswer."""
        until = time.monotonic() + timeout
        if not self.has_server and not self.wait_for_server(timeout):
            raise NoAnswer("no server", self.service.name)
        return self.ask(question, timeout=max(0.0, until - time.monotonic()), **fields).wait()

    async def __call__(self, question: object = None, /, *, timeout: float, **fields: object) -> A:
        """The same for asyncio. Several may wait at a time. A coroutine that is cancelled cancels its question."""
        import asyncio

        until = time.monotonic() + timeout
        while not self.has_server:
            if time.monotonic() >= until or _cardan.stopping():
                raise NoAnswer("no server", self.service.name)
            await asyncio.sleep(_LOOK)
        ticket = self.ask(question, timeout=max(0.0, until - time.monotonic()), **fields)
        try:
            while True:
                self._receive()
                if (answer := ticket._look()) is not None:
                    return answer
                if self._handle.is_full():
                    raise NoAnswer("full", self.service.name, "the program keeps too many answers — drop them sooner, or raise `holds`")
                await self._news(max(0.0, until - time.monotonic()))
                if _cardan.stopping():
                    raise NoAnswer("stopped", self.service.name)
        finally:
            ticket.cancel()

    def _receive(self) -> None:
        """Answers to all questions: their coroutines learn it here, because the descriptor is not readable any more."""
        if self._handle.receive():
            self._tell()

    async def _news(self, limit: float) -> None:
        """Until an outcome may be known, at most `limit` seconds, or one."""
        import asyncio

        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        if self._reading is None:
            descriptor = self._handle.fileno()
            loop.add_reader(descriptor, self._tell)
            self._reading = (loop, descriptor)
        self._readers.add(ready)
        try:
            await asyncio.wait((ready,), timeout=min(limit, 1.0))  # a stop is seen then at the latest
        finally:
            self._readers.discard(ready)
            if not self._readers:
                self._stop_reading()

    def _stop_reading(self) -> None:
        if self._reading is not None:
            loop, descriptor = self._reading
            self._reading = None
            loop.remove_reader(descriptor)

    def _tell(self) -> None:
        for ready in self._readers:
            if not ready.done():
                ready.set_result(None)

    @property
    def has_server(self) -> bool:
        """A server is attached."""
        return self._handle.has_server()

    def wait_for_server(self, timeout: float) -> bool:
        """False: none is there in time, or a stop was requested."""
        return self._handle.wait_for_server(nanoseconds(timeout, "timeout"))

    def fileno(self) -> int:
        """A descriptor that is readable when the outcome of a question may be known: poll() the tickets then."""
        return self._handle.fileno()

    @property
    def closed(self) -> bool:
        return self._handle.closed()

    def close(self) -> None:
        """Ends it, and cancels its questions. Coroutines that wait get an Error."""
        self._stop_reading()
        self._tell()
        self._handle.close()

    def __enter__(self) -> Client[Q, A]:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()
