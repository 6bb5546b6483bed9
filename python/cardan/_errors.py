# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, with cause and remedy."""

from __future__ import annotations


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
