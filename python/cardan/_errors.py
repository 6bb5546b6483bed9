# SPDX-License-Identifier: Apache-2.0
"""Errors, with cause and remedy."""

from __future__ import annotations

import functools
import os
import typing

if typing.TYPE_CHECKING:
    from types import TracebackType

_SHOWN_FIELDS = 40
_LONGEST = 80
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Error(Exception):
    """A failure of Cardan. ``str(error)`` is the cause and the remedy.

    Attributes:
        code: the kind, for programs: ``"invalid_argument"``, ``"refused"``, ``"incompatible"``, ``"name_taken"``,
            ``"no_memory"``, ``"limit"``, ``"unavailable"``, ``"forked"`` or ``"system"``.
        cause: what failed, and where.
        remedy: what to do. May be empty.
    """

    code: str
    cause: str
    remedy: str

    def __init__(self, code: str, cause: str, remedy: str = "") -> None:
        super().__init__(code, cause, remedy)
        self.code = code
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.cause} — {self.remedy}" if self.remedy else self.cause


class NoAnswer(Error):
    """A question got no answer.

    Attributes:
        reason: ``"no server"``, ``"full"`` (too many questions wait), ``"timed out"``, ``"declined"``,
            ``"server died"``, ``"malformed"``, ``"cancelled"`` or ``"stopped"``.
    """

    reason: str

    def __init__(self, reason: str, service: str = "", text: str = "") -> None:
        from cardan import _cardan  # which imports this module

        cause, _, remedy = (text or _cardan.text_of_no_answer(reason) or f"no answer: {reason}").partition(" — ")
        super().__init__("unavailable", cause if service in cause else f"'{service}': {cause}", remedy)
        self.reason = reason


def _no_field(type_name: str, name: str, fields: list[str], path: str = "") -> str:
    """The text about a field that a message does not have: the nearest names first, then all of them. A definition of
    others can have many and long ones: then some of them, cut."""
    shown = tuple(field[:_LONGEST] for field in fields[:_SHOWN_FIELDS])
    return _no_field_of(type_name[:_LONGEST], name[:_LONGEST], shown, len(fields) - len(shown), path[-_LONGEST:])


@functools.lru_cache(64)  # programs also ask with hasattr()
def _no_field_of(type_name: str, name: str, fields: tuple[str, ...], more: int, path: str) -> str:
    import difflib

    near = sorted(difflib.get_close_matches(name, fields, 3), key=fields.index)
    it = f"did you mean {' or '.join(near)}? It" if near else "it"
    there = (", ".join(fields) or "no fields") + (f" and {more} more" if more else "")
    return f"{type_name} has no field '{path}{name}' — {it} has {there}"


def _remedy(error: BaseException) -> str:
    """The remedy for an exception that keeps a component from starting."""
    if isinstance(error, SyntaxError):
        return "correct that line"
    if isinstance(error, ModuleNotFoundError) and error.name:
        import sys

        return f"install {error.name} for {sys.executable}, or name its folder in PYTHONPATH"
    return "correct it there; for what its user can mend, raise cardan.Error with a cause and a remedy"


_shown: set[tuple[object, ...]] = set()
_MOST_SHOWN, _MOST_TEXT = 200, 20_000


def _show_once(error: BaseException, trace: TracebackType | None) -> None:
    """The whole traceback, on standard error: once for each kind and place, because a callback may raise a thousand times
    in a second. The runtime counts them all."""
    import contextlib
    import sys
    import traceback

    ends = [(frame.f_code.co_filename, frame.f_code.co_name, line) for frame, line in traceback.walk_tb(trace)]
    place = (type(error), *ends[-1:])
    if place in _shown or len(_shown) >= _MOST_SHOWN:
        return
    _shown.add(place)
    with contextlib.suppress(Exception):  # no standard error, or a text that cannot be made
        text = "".join(traceback.format_exception(type(error), error, trace))
        if len(text) > _MOST_TEXT:
            text = f"{text[: _MOST_TEXT // 2]}\n  […]\n{text[-_MOST_TEXT // 2 :]}"
        # Text of others can be in it; a terminal obeys some letters.
        sys.stderr.write("".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text))
        sys.stderr.flush()


def _described(error: BaseException, trace: TracebackType | None, set_up: bool = True) -> tuple[str, str, str, str]:
    """An exception that leaves a callback of a component: its text with its place, and its code, cause and remedy.
    `set_up`: of on_start(), whose words the command says."""
    import traceback  # many programs never need it

    if not set_up:
        _show_once(error, trace)

    if isinstance(error, SyntaxError):
        text = f"{type(error).__name__}: {error.msg} ({error.filename}, line {error.lineno})"
        return text, "", text, _remedy(error)
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if not frame.filename.startswith(_HERE)]
    if own or frames:
        last = (own or list(frames))[-1]
        text += f" ({last.filename}, line {last.lineno}, in {last.name})"
    if isinstance(error, Error):
        return text, error.code, error.cause, error.remedy
    return text, "", text, _remedy(error)
