# SPDX-License-Identifier: Apache-2.0
"""The name by which others see this program: its script's."""

from __future__ import annotations

import contextlib
import os
import sys

from cardan import _cardan

_MOST_BYTES = 64
_known = False


def has_a_name() -> None:
    """Of a process of `cardan run`: the host gives it its name."""
    global _known  # noqa: PLW0603
    _known = True


def introduce() -> None:
    """Before the first endpoint: peers receive the name once. Also the name that `ps` shows, if it is still Python's."""
    if _known:
        return
    has_a_name()
    name = script_name(next(iter(getattr(sys, "argv", [])), ""))
    if not name:
        return
    _cardan._set_program_name(name)
    with contextlib.suppress(OSError), open("/proc/self/comm", "r+b", buffering=0) as comm:
        usual = os.path.basename(os.path.realpath(sys.executable or "python3")).encode()
        if comm.read().rstrip(b"\n") in (usual[:15], os.path.basename(sys.executable or "").encode()[:15]):
            comm.write(_cut(name, 15))


def script_name(path: str) -> str:
    """"detector.py"; "": the program has no script. Anyone can give a file any name: printable, and of few bytes."""
    name = os.path.basename(path)
    if name == "__main__.py":
        name = os.path.basename(os.path.dirname(os.path.abspath(path)))
    if name in ("", "-", "-c", "-m"):
        return ""
    return _cut("".join(c if c.isprintable() else "?" for c in name), _MOST_BYTES).decode()


def _cut(name: str, most: int) -> bytes:
    return name.encode("utf-8", "replace")[:most].decode("utf-8", "ignore").encode()
