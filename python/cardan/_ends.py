# SPDX-License-Identifier: Apache-2.0
"""Endpoints that are open end in order when the interpreter does, so that their peers see "left" and not "died". Waits of
daemon threads end first."""

from __future__ import annotations

import atexit
import sys
import typing
import weakref

from cardan import _cardan


class _End(typing.Protocol):
    def close(self) -> None: ...


_open: weakref.WeakSet[typing.Any] = weakref.WeakSet()


def remember(end: _End) -> None:
    _open.add(end)


def _close_all() -> None:
    _cardan.end_waits()
    for end in list(_open):
        try:
            end.close()
        except Exception:  # a full disk keeps no other from its end
            sys.excepthook(*sys.exc_info())


atexit.register(_close_all)
