# SPDX-License-Identifier: Apache-2.0
"""Modules of components next to the configuration that names them.

The configuration is trusted as a program is, but its folder may hold files of others. So the interpreter's own modules come first, and
a folder that others can write is not searched.
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
import typing
from importlib.machinery import ModuleSpec, PathFinder

from cardan._errors import Error

if typing.TYPE_CHECKING:
    from types import ModuleType

_folders: list[str] = []
_not_searched: dict[str, tuple[str, str]] = {}
"""By folder: why, and the remedy."""


def search_beside(files: list[str]) -> None:
    """The folders of the files that name components are searched after all others. So a json.py there shadows nothing."""
    for file in files:
        folder = os.path.dirname(os.path.abspath(file))
        if folder in _folders or folder in _not_searched:
            continue
        refusal = _refusal(folder, file)
        if refusal is not None:
            _not_searched[folder] = refusal
            continue
        _folders.append(folder)
        if folder not in sys.path:
            sys.path.append(folder)


def _refusal(folder: str, file: str) -> tuple[str, str] | None:
    at, owner = os.stat(folder), os.stat(file).st_uid
    if at.st_uid not in (0, os.geteuid(), owner):
        return f"it belongs to another user than {os.path.abspath(file)}", "move the file and its modules into a folder of your own"
    if at.st_mode & stat.S_IWOTH:
        return "every user can write there", f"chmod o-w {folder}, or move the file and its modules into a folder of your own"
    return None


class _Named:
    """Finds a module that the configuration names next to it before all others; not its imports."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, _folders) if name == self._name else None
        return spec if spec is not None and spec.origin is not None else None


def import_named(name: str) -> ModuleType:
    """The module of a component."""
    top = name.partition(".")[0]
    first: typing.Any = _Named("" if top in getattr(sys, "stdlib_module_names", ()) else top)
    sys.meta_path.insert(0, first)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise  # of what the module imports itself
        folders = "; ".join(f"{folder} is not searched, because {why}" for folder, (why, _) in _not_searched.items())
        remedies = "; ".join(dict.fromkeys(remedy for _, remedy in _not_searched.values()))
        raise Error(
            "invalid_argument",
            f"there is no Python module '{name}'" + (f": {folders}" if folders else ""),
            remedies or "put it next to the configuration file, install it, or name its folder in PYTHONPATH",
        ) from None
    finally:
        sys.meta_path.remove(first)
