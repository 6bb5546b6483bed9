# SPDX-License-Identifier: Apache-2.0
"""A topic of a recording as columns."""

from __future__ import annotations

import typing

from cardan import _cardan
from cardan._errors import Error
from cardan._known import type_of
from cardan._recorded import Encoded

if typing.TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Columns = dict[str, npt.NDArray[typing.Any]]

_AT_ONCE = 4096
_TIMES = ("log_ns", "publish_ns", "source_time", "sequence")


def frame_of(
    messages: typing.Iterable[typing.Any], class_of_nothing: typing.Callable[[], type], as_: str, fields: typing.Iterable[str] | None
) -> typing.Any:
    """The columns of messages of one class; without a message, `class_of_nothing()` says which."""
    library = _imported(as_)
    return as_frame(_columns(messages, class_of_nothing, None if fields is None else list(fields)), as_, library)


def as_frame(columns: Columns, as_: str, library: typing.Any = None) -> typing.Any:
    """The columns themselves, or as a DataFrame."""
    library = library or _imported(as_)
    if as_ == "dict":
        return columns
    flat: Columns = {}
    for name, column in columns.items():
        if column.ndim == 1:
            flat[name] = column
        else:
            flat.update({f"{name}.{i}": column[:, i] for i in range(column.shape[1])})
    if as_ == "polars":
        return library.DataFrame(flat)
    return library.DataFrame(flat, index=library.DatetimeIndex(library.to_datetime(flat["log_ns"]), name="log_time"))


def _imported(as_: str) -> typing.Any:
    if as_ not in ("dict", "pandas", "polars"):
        raise Error("invalid_argument", f"a frame as '{as_}'", "use dict, pandas or polars")
    if as_ == "dict":
        return None
    import importlib

    try:
        return importlib.import_module(as_)
    except ImportError as error:
        raise Error("unavailable", f"{as_} cannot be imported: {error}", f"pip install {as_}, or take the dict") from None


def _columns(
    messages: typing.Iterable[typing.Any], class_of_nothing: typing.Callable[[], type], fields: list[str] | None
) -> Columns:
    import numpy as np

    parts: dict[str, list[npt.NDArray[typing.Any]]] = {}
    names: dict[str, str] = {}
    dtype: np.dtype[typing.Any] | None = None
    known: object = None
    roots: list[bytes] = []
    times: list[tuple[int, int, int, int]] = []

    def flush() -> None:
        if not times or dtype is None:
            return
        for name, column in zip(_TIMES, np.array(times, np.int64).T):
            parts.setdefault(name, []).append(column.copy())
        all_roots = np.frombuffer(b"".join(roots), dtype)
        for name, field in names.items():
            parts.setdefault(name, []).append(all_roots[field].copy())
        roots.clear()
        times.clear()

    for message in messages:
        kind = type(message)
        if kind is not known:
            if isinstance(message, Encoded):
                raise Error("invalid_argument", f"{message.topic} has no columns: {message.why}", "read its messages instead")
            if known is not None:
                raise Error("invalid_argument", f"{message.topic} has messages of several types", "read them one by one")
            known = kind
            names, dtype = _dtype(kind, fields)
        sequence, _, publish, source, log, _, _ = _cardan.Message._info(message)
        times.append((log, publish, source, sequence))
        roots.append(_cardan._root(message))
        if len(times) >= _AT_ONCE:
            flush()
    if dtype is None:
        names, dtype = _dtype(class_of_nothing(), fields)
        parts = {name: [np.zeros(0, np.int64)] for name in _TIMES}
        parts.update({name: [np.zeros(0, dtype)[field]] for name, field in names.items()})
    flush()
    return {name: pieces[0] if len(pieces) == 1 else np.concatenate(pieces) for name, pieces in parts.items()}


def _dtype(cls: type, fields: list[str] | None) -> tuple[dict[str, str], np.dtype[typing.Any]]:
    """The fields of a message that are numbers, by the names of their columns, and where they are in its fixed part."""
    import numpy as np

    kind = type_of(cls)
    columns, size = _cardan._columns(kind)
    if fields is not None:
        for wanted in fields:
            if not any(_below(name, wanted) for name, *_ in columns):
                there = ", ".join(name for name, *_ in columns[:20]) or "none"
                raise Error("invalid_argument", f"{kind.name} has no numbers '{wanted}'", f"there are {there}")
        columns = [one for one in columns if any(_below(one[0], wanted) for wanted in fields)]
    dtype = np.dtype(
        {
            "names": [name for name, *_ in columns],
            "formats": [(word, count) if count else word for _, word, _, count in columns],
            "offsets": [offset for _, _, offset, _ in columns],
            "itemsize": size,
        }
    )
    return {f"message.{name}" if name in _TIMES else name: name for name, *_ in columns}, dtype


def _below(name: str, wanted: str) -> bool:
    return name == wanted or name.startswith(wanted + ".")
