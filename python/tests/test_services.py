# SPDX-License-Identifier: Apache-2.0
"""Services between processes and languages: answers, reasons, time-outs, ends, asyncio, fork."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest
from conftest import Programs, until

import cardan


@cardan.message("test_msgs/msg/Sum")
@dataclass
class Sum:
    a: cardan.int64 = 0
    b: cardan.int64 = 0


@cardan.message("test_msgs/msg/Total")
@dataclass
class Total:
    sum: cardan.int64 = 0


LONG = 60.0

SERVER = """
import sys, cardan
from dataclasses import dataclass

@cardan.message("test_msgs/msg/Sum")
@dataclass
class Sum:
    a: cardan.int64 = 0
    b: cardan.int64 = 0

@cardan.message("test_msgs/msg/Total")
@dataclass
class Total:
    sum: cardan.int64 = 0

cardan.stop_on_signals()
with cardan.Service(sys.argv[1], Sum, Total).server() as server:
    print("ready", flush=True)
    for question in server:
        asked = question.message
        if asked.a == -1:
            question.decline("no negative numbers")
        elif asked.a == -2:
            import os
            os._exit(7)
        else:
            question.reply(sum=asked.a + asked.b)
"""


def service(name: str, **options) -> cardan.Service:
    return cardan.Service(name, Sum, Total, **options)


def start(programs: Programs, name: str):
    one = programs.python(SERVER, name)
    assert one.stdout is not None
    assert one.stdout.readline() == "ready\n", one.communicate()
    return one


def test_a_question_gets_its_answer(topic: str, programs: Programs) -> None:
    start(programs, topic)
    with service(topic).client() as client:
        for i in range(100):
            assert client.call(a=i, b=1, timeout=LONG).sum == i + 1
        assert client.call({"a": 2, "b": 3}, timeout=LONG).sum == 5
        assert client.call(Sum(a=4, b=5), timeout=LONG).sum == 9
        loan = client.loan()
        loan.a, loan.b = 6, 7
        assert client.call(loan, timeout=LONG).sum == 13
        tickets = [client.ask(a=i, b=0, timeout=LONG) for i in range(4)]
        with pytest.raises(cardan.NoAnswer) as full:
            client.ask(a=9, timeout=LONG)
        assert full.value.reason == "full"
        assert [ticket.wait().sum for ticket in reversed(tickets)] == [3, 2, 1, 0]


def test_the_reason_of_a_missing_answer_is_an_error(topic: str, programs: Programs) -> None:
    with service(topic).client() as client:
        assert not client.has_server
        with pytest.raises(cardan.NoAnswer, match="no server") as none:
            client.call(a=1, timeout=0.02)
        assert none.value.reason == "no server" and none.value.remedy
        running = start(programs, topic)
        with pytest.raises(cardan.NoAnswer, match="no negative numbers") as declined:
            client.call(a=-1, timeout=LONG)
        assert declined.value.reason == "declined"
        with pytest.raises(cardan.NoAnswer) as died:
            client.call(a=-2, timeout=LONG)
        assert died.value.reason == "server died" and "has ended" in str(died.value)
        running.communicate()
        start(programs, topic)
        assert client.wait_for_server(LONG)
        assert client.call(a=1, b=1, timeout=LONG).sum == 2


def test_a_server_keeps_questions_and_answers_later(topic: str) -> None:
    with service(topic).server(holds=1) as server, service(topic).client() as client:
        assert server.take() is None and server.reason == "none"
        tickets = [client.ask(a=i, timeout=LONG) for i in range(3)]
        kept = [server.wait(LONG), server.wait(LONG)]
        assert server.take() is None and server.reason == "limit"
        assert server.clients == 1
        assert kept[1].reply(sum=10 * kept[1].message.a)
        with pytest.raises(cardan.Error, match="answered or declined"):
            kept[1].reply(sum=0)
        assert tickets[1].wait().sum == 10
        tickets[0].cancel()
        until(lambda: kept[0].cancelled)
        assert not kept[0].reply(sum=1), "nobody waits for it"
        kept.clear()
        third = server.wait(LONG)
        del third  # dropped: declined
        with pytest.raises(cardan.NoAnswer, match="dropped"):
            tickets[2].wait()


def test_an_overdue_question_is_not_delivered(topic: str) -> None:
    with service(topic).server() as server, service(topic).client() as client:
        ticket = client.ask(a=1, timeout=0.01)
        with pytest.raises(cardan.NoAnswer) as late:
            ticket.wait()
        assert late.value.reason == "timed out"
        assert server.wait(0.05) is None


def test_pictures_go_both_ways_without_a_copy(topic: str) -> None:
    crop = cardan.Service(topic, cardan.Image, cardan.Image, max_bytes=300, max_answer_bytes=300)
    with crop.server() as server, crop.client() as client:
        question = client.loan()
        question.resize(10, 10, "mono8")[:] = 7
        ticket = client.ask(question, timeout=LONG)
        asked = server.wait(LONG)
        with asked.loan() as answer:
            answer.resize(5, 5, "mono8")[:] = asked.message.mat[:5, :5] + 1
        picture = ticket.wait()
        assert picture.mat.shape == (5, 5) and (picture.mat == 8).all()
        assert isinstance(picture.mat, np.ndarray) and not picture.mat.flags.owndata


def test_a_block_that_raises_gives_the_slot_back(topic: str) -> None:
    with service(topic).server() as server, service(topic).client() as client:
        ticket = client.ask(a=1, timeout=LONG)
        question = server.wait(LONG)
        with pytest.raises(ZeroDivisionError), question.loan():
            _ = 1 // 0
        with pytest.raises(OverflowError):
            question.reply(sum=1 << 70)
        assert question.reply(sum=5)
        assert ticket.wait().sum == 5


def test_others_types_are_refused(topic: str) -> None:
    with service(topic).server():
        with pytest.raises(cardan.Error) as other:
            cardan.Service(topic, Total, Sum).client()
        assert other.value.code == "incompatible"
        with pytest.raises(cardan.Error) as second:
            service(topic).server()
        assert second.value.code == "name_taken"
    with pytest.raises(cardan.Error):
        service("no slash").server()
    with pytest.raises(TypeError):
        service(topic, pending="4")


def test_asyncio(topic: str, programs: Programs) -> None:
    async def ask() -> list[int]:
        with service(topic).client() as client:
            waiting = asyncio.create_task(client(a=1, b=1, timeout=LONG))
            await asyncio.sleep(0.02)  # before the server is there
            await asyncio.to_thread(start, programs, topic)
            first = (await waiting).sum
            several = await asyncio.gather(*(client(a=i, b=0, timeout=LONG) for i in range(4)))
            with pytest.raises(cardan.NoAnswer) as declined:
                await client(a=-1, timeout=LONG)
            assert declined.value.reason == "declined"
            return [first, *(answer.sum for answer in several)]

    assert asyncio.run(ask()) == [2, 0, 1, 2, 3]


def test_coroutines_wake_each_other(topic: str, programs: Programs) -> None:
    async def ask_often() -> float:
        with service(topic, pending=16).client() as client:

            async def one(i: int) -> None:
                for k in range(100):
                    assert (await client(a=i, b=k, timeout=LONG)).sum == i + k

            begun = time.monotonic()
            await asyncio.gather(*(one(i) for i in range(8)))
            return time.monotonic() - begun

    programs_server = programs.python(SERVER.replace("Sum, Total)", "Sum, Total, pending=16)"), topic)
    assert programs_server.stdout is not None and programs_server.stdout.readline() == "ready\n"
    # One that is forgotten waits for a second: with 800 questions that is noticed also on a busy computer.
    assert asyncio.run(ask_often()) < 60


def test_a_client_that_is_closed_ends_its_coroutines(topic: str) -> None:
    async def ask(server: cardan.Server) -> None:
        client = service(topic).client()
        waiting = [asyncio.create_task(client(a=i, timeout=LONG)) for i in range(2)]
        kept = [await asyncio.to_thread(server.wait, LONG) for _ in waiting]
        client.close()
        for task in waiting:
            with pytest.raises(cardan.Error, match="closed"):
                await task
        assert client._reading is None, "its descriptor is not watched any more"
        until(lambda: all(question.cancelled for question in kept))

    with service(topic).server() as server:
        asyncio.run(ask(server))


def test_a_server_ends_although_its_questions_are_kept(topic: str) -> None:
    with service(topic).client() as client:
        server = service(topic).server()
        client.wait_for_server(LONG)
        tickets = [client.ask(a=i, timeout=LONG) for i in range(2)]
        answered, kept = server.wait(LONG), server.wait(LONG)
        answered.reply(sum=1)
        assert tickets[0].wait().sum == 1
        server.close()
        with pytest.raises(cardan.NoAnswer) as died:
            tickets[1].wait()
        assert died.value.reason == "server died"
        assert kept.cancelled and kept.message.a == 1
        with service(topic).server() as second:
            assert client.wait_for_server(LONG)
            ticket = client.ask(a=3, timeout=LONG)
            second.wait(LONG).reply(sum=3)
            assert ticket.wait().sum == 3


def test_a_cancelled_coroutine_cancels_its_question(topic: str) -> None:
    async def ask(server: cardan.Server) -> None:
        with service(topic).client() as client:
            task = asyncio.create_task(client(a=1, timeout=LONG))
            question = await asyncio.to_thread(server.wait, LONG)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while not question.cancelled:
                await asyncio.sleep(0.005)

    with service(topic).server() as server:
        asyncio.run(ask(server))


def test_an_end_that_is_closed_says_so(topic: str) -> None:
    server, client = service(topic).server(), service(topic).client()
    ticket = client.ask(a=1, timeout=LONG)
    question = server.wait(LONG)
    client.close()
    assert client.closed
    with pytest.raises(cardan.Error, match="closed"):
        client.call(a=1, timeout=1)
    with pytest.raises(cardan.Error, match="closed"):
        ticket.poll()
    until(lambda: question.cancelled)
    waiting = threading.Thread(target=server.wait, daemon=True)
    waiting.start()
    time.sleep(0.05)
    server.close()
    waiting.join(LONG)
    assert not waiting.is_alive()
    assert list(server) == []


def test_a_child_of_fork_uses_neither_end(topic: str) -> None:
    with service(topic).server() as server, service(topic).client() as client:
        ticket = client.ask(a=1, b=2, timeout=LONG)
        question = server.wait(LONG)
        child = os.fork()
        if child == 0:
            ended = 0
            for use in (lambda: client.call(a=1, timeout=1), server.take, lambda: question.reply(sum=0)):
                try:
                    use()
                except cardan.Error as error:
                    ended += error.code == "forked"
            del ticket, question
            os._exit(0 if ended == 3 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert question.reply(sum=3)
        assert ticket.wait().sum == 3


class Adder(cardan.Component):
    def on_start(self, context: cardan.Context) -> None:
        self.kept: list[cardan.Question] = []
        context.service(ADD, self.on_question)

    def on_question(self, question: cardan.Question) -> None:
        asked = question.message
        if asked.a == -1:
            question.decline("no negative numbers")
        elif asked.a == -2:
            raise ValueError("a defect")
        elif asked.a == -3:
            self.kept.append(question)
        else:
            question.reply(sum=asked.a + asked.b)


class Asker(cardan.Component):
    def on_start(self, context: cardan.Context) -> None:
        self.outcomes: list[tuple[int | None, str | None]] = []
        self.add = context.client(ADD)

    def ask(self, **options: float) -> int:
        return self.add.ask(self.on_answer, **options)

    def on_answer(self, answer, error) -> None:
        self.outcomes.append((None if answer is None else answer.sum, None if error is None else error.reason))


ADD = cardan.Service("/add", Sum, Total)


@cardan.message("test_msgs/msg/Numbers")
@dataclass
class Numbers:
    values: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))


COUNT = cardan.Service("/count", Total, Numbers, max_answer_bytes=1 << 20)


class Counter(cardan.Component):
    def on_start(self, context: cardan.Context) -> None:
        context.service(COUNT, self.on_question)

    def on_question(self, question: cardan.Question) -> None:
        with question.loan() as answer:
            answer.values = np.arange(question.message.sum, dtype=np.uint32)


class CountAsker(cardan.Component):
    def on_start(self, context: cardan.Context) -> None:
        self.client = context.client(COUNT)
        self.sums: list[int] = []

    def on_answer(self, answer, error) -> None:
        self.sums.append(int(answer.values.sum()) if error is None else -1)


def test_answers_in_a_simulation_hold_lists() -> None:
    simulation = cardan.Simulation()
    asker = simulation.add("asker", CountAsker)
    simulation.add("counter", Counter)
    simulation.start()
    for _ in range(20):
        asker.client.ask(asker.on_answer, sum=1000, timeout=1.0)
        simulation.run()
    assert asker.sums == [499_500] * 20


def test_introspection_publishes_questions_and_answers(topic: str, programs: Programs) -> None:
    with pytest.raises(cardan.Error):
        service(topic, introspection="all")
    add = service(topic, introspection="contents")
    with add.server() as server, cardan.Topic(f"{topic}/_service_event").subscriber() as events, add.client() as client:
        ticket = client.ask(a=1, b=2, timeout=LONG)
        question = server.wait(LONG)
        question.reply(sum=3)
        assert ticket.wait().sum == 3
        asked, answered = events.wait(LONG), events.wait(LONG)
        assert (asked.info.event_type, answered.info.event_type) == (1, 2)
        assert (asked.request[0].a, asked.request[0].b, len(asked.response)) == (1, 2, 0)
        assert (answered.response[0].sum, len(answered.request)) == (3, 0)
        assert list(asked.info.client_gid) == list(answered.info.client_gid)


def test_components_in_a_simulation() -> None:
    simulation = cardan.Simulation()
    asker = simulation.add("asker", Asker)
    adder = simulation.add("adder", Adder)
    simulation.start()
    assert asker.add.has_server
    assert asker.ask(a=1, b=2, timeout=1.0) != 0
    asker.ask(a=-1, timeout=1.0)
    simulation.run()
    assert asker.outcomes == [(3, None), (None, "declined")]
    asker.ask(a=-3, timeout=0.05)
    cancelled = asker.ask(a=5, timeout=0.05)
    asker.add.cancel(cancelled)
    simulation.run_for(0.06)
    assert asker.outcomes[2:] == [(None, "timed out")]
    assert adder.kept[0].cancelled and not adder.kept[0].reply(sum=1)


def test_without_a_server_the_function_is_called_with_the_reason() -> None:
    simulation = cardan.Simulation()
    asker = simulation.add("asker", Asker)
    simulation.start()
    assert asker.ask(a=1, timeout=1.0) == 0
    assert asker.outcomes == [], "as a callback, not within ask()"
    simulation.run()
    assert asker.outcomes == [(None, "no server")]


def test_a_question_whose_callback_raises_is_declined() -> None:
    simulation = cardan.Simulation()
    asker = simulation.add("asker", Asker)
    simulation.add("adder", Adder)
    simulation.start()
    asker.ask(a=-2, timeout=1.0)
    simulation.run()
    assert simulation.failures == 1
    assert asker.outcomes == [(None, "declined")]
