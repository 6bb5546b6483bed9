# SPDX-License-Identifier: Apache-2.0
"""Publishing: loans that are filled in place, and whole messages."""

from __future__ import annotations

import typing

from cardan import _cardan
from cardan._contract import check_contract
from cardan._ends import remember
from cardan._errors import Error
from cardan._known import type_of
from cardan._program import introduce

if typing.TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Buffer

    from cardan._contract import Contract

_VIEWS = {"mat", "points"}
M = typing.TypeVar("M", bound=_cardan.Message)


class Loan(typing.Generic[M]):
    """A slot of shared memory that is being filled. As a context manager it gives the message; it is published at the
    end of the block, or given back if the block raises."""

    def __init__(self, publisher: Publisher[M], message: M) -> None:
        self._publisher = publisher
        self._message = message
        self._open = True

    @property
    def message(self) -> M:
        """The message, writable until it is published."""
        return self._message

    def publish(self) -> bool:
        """Hands the message to every subscriber. False: the topic is reliable and a subscriber was too slow; the message
        is published nevertheless. Never blocks, unless the topic is reliable."""
        self._open = False
        return self._publisher._publish(self._message)

    def discard(self) -> None:
        """Gives the slot back unpublished."""
        self._open = False
        self._publisher._handle.discard(self._message)

    def __enter__(self) -> M:
        return self._message

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._open:
            return
        if kind is None:
            self.publish()
        else:
            self.discard()


class Publisher(typing.Generic[M]):
    """Publishes messages on a topic. One thread at a time; each thread needs its own publisher.

        with front.publisher() as pub:
            with pub.loan() as frame:
                frame.resize(1200, 1920, "bgr8")[:] = pixels
    """

    def __init__(self, topic: Contract[M], *, domain: str = "", via: str = "") -> None:
        check_contract(topic, "publisher")
        if topic.message_class is None:
            raise Error("invalid_argument", f"a publisher of '{topic.name}' without a type", "give the topic a type")
        introduce()
        self._class: type[M] = topic.message_class
        self._handle = _cardan.PublisherHandle(topic.name, type_of(self._class), topic._options, domain, via)
        self._late = 0
        self.topic = topic.name
        remember(self)

    def loan(self) -> Loan[M]:
        """A free slot to fill. Its numbers are 0, its texts and lists empty. Raises Error when all loans are out or all
        slots are held. Never blocks."""
        return Loan(self, self._handle.loan(self._class))

    def publish(self, message: object = None, /, **fields: object) -> bool:
        """Publishes a copy of a dataclass, a dict or another message, or the fields that are given by name, also
        `mat=` of an Image and `points=` of a PointCloud. Returns as Loan.publish().

        Raises:
            Error: the message is larger than max_bytes, or as loan().
            TypeError, ValueError, OverflowError: a value that its field cannot have.
        """
        with self._closing(self.loan()) as made:
            if message is not None:
                made.fill(message)
            for name in _VIEWS & fields.keys() & vars(type(made)).keys():
                setattr(made, name, fields.pop(name))  # before the others: `encoding` can say what its colours are
            if fields or message is None:
                made.fill(fields)
            return self._publish(made)

    def publish_cdr(self, data: Buffer, *, source_time: int = 0) -> bool:
        """Publishes a message given as CDR (XCDR1), copied once. `source_time`: its own stamp, nanoseconds. Raises Error
        if the bytes are not of the type or do not fit."""
        with self._closing(self.loan()) as made:
            self._handle.fill_cdr(made, data)
            made.set_source_time(source_time)
            return self._publish(made)

    @property
    def published(self) -> int:
        """Messages published so far."""
        return self._handle.published()

    @property
    def subscribers(self) -> int:
        """Subscribers attached now."""
        return self._handle.subscribers()

    @property
    def late(self) -> int:
        """Publications of a reliable topic for which a subscriber was too slow."""
        return self._late

    def set_checksum(self, on: bool) -> None:
        """Switches the CRC-32C of the following messages."""
        self._handle.set_checksum(on)

    @property
    def closed(self) -> bool:
        return self._handle.closed()

    def close(self) -> None:
        """Ends the stream. Subscribers get what is left, then the event "left"."""
        self._handle.close()

    def _publish(self, message: _cardan.Message) -> bool:
        in_time = self._handle.publish(message)
        self._late += not in_time
        return in_time

    def _closing(self, loan: Loan[M]) -> _Discarding[M]:
        return _Discarding(self, loan.message)

    def __enter__(self) -> Publisher[M]:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


class _Discarding(typing.Generic[M]):
    """Gives a slot back whatever happens; one that is published stays so."""

    def __init__(self, publisher: Publisher[M], message: M) -> None:
        self._publisher, self._message = publisher, message

    def __enter__(self) -> M:
        return self._message

    def __exit__(self, *unused: object) -> None:
        self._publisher._handle.discard(self._message)
