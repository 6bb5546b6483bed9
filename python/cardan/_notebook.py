# SPDX-License-Identifier: Apache-2.0
"""The forms in notebooks: a frame as a picture, a recording as a table. Both can come from anyone: anything else is None, and
the notebook shows the text."""

from __future__ import annotations

import typing

from cardan._errors import Error

if typing.TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    Pixels = npt.NDArray[np.uint8]

MOST_PIXELS = 1024
"""Of a side: a picture in a page, not the frame."""
MOST_BYTES = 8 << 20
MOST_ROWS = 100
_ORDERS = {"bgr": (2, 1, 0), "rgb": (0, 1, 2), "bgra": (2, 1, 0, 3), "rgba": (0, 1, 2, 3)}
_LUMA = {"yuv422": 1, "uyvy": 1, "yuv422_yuy2": 0, "yuyv": 0}


def png(pixels: Pixels) -> bytes:
    """A PNG file of (height, width), (height, width, 3) or (height, width, 4)."""
    import struct
    import zlib

    import numpy as np

    height, width = pixels.shape[:2]
    colour = {2: 0, 3: 2, 4: 6}[pixels.shape[2] if pixels.ndim == 3 else 2]
    rows = np.zeros((height, 1 + pixels[0].size), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows.tobytes(), 3)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def shown_pixels(image: typing.Any) -> Pixels | None:
    """The frame as 8-bit grey, RGB or RGBA, made smaller by leaving out pixels; None: of an encoding without a picture."""
    import numpy as np

    mat: npt.NDArray[typing.Any] = image.mat
    encoding: str = image["encoding"]
    if mat.ndim == 2 and mat.shape[0] > image["height"]:
        mat = mat[: image["height"]]  # planar: the colour is in further rows
    if 0 in mat.shape:
        return None
    step = -(-max(mat.shape[:2]) // MOST_PIXELS)
    mat = mat[::step, ::step]
    if mat.ndim == 3 and mat.shape[2] == 2:
        return mat[..., _LUMA[encoding]] if encoding in _LUMA else None
    if mat.dtype != np.uint8:
        mat = _eight_bits(mat)
    if mat.ndim == 2:
        return mat
    usual = "bgr" if mat.shape[2] == 3 else "bgra"
    return mat[..., _ORDERS.get(encoding.rstrip("0123456789"), _ORDERS[usual])]


def _eight_bits(mat: npt.NDArray[typing.Any]) -> Pixels:
    """From the least finite value, black, to the largest, white: depths are seen."""
    import numpy as np

    values = mat.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.any():
        return np.zeros(mat.shape, np.uint8)
    least, most = values[finite].min(), values[finite].max()
    values[~finite] = least
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (values - least) / max(most - least, np.finfo(np.float64).tiny) * 255
    made: Pixels = np.nan_to_num(scaled).clip(0, 255).astype(np.uint8)
    return made


def image_png(image: typing.Any) -> bytes | None:
    try:
        pixels = shown_pixels(image)
    except (Error, AttributeError, KeyError, TypeError, ValueError):
        return None
    return None if pixels is None else png(pixels)


def file_of(image: typing.Any, begin: bytes) -> bytes | None:
    """The data of a compressed image, if it begins so. The viewer decodes it, as any picture of a page."""
    try:
        data = image["data"]
    except (Error, KeyError):  # malformed, or of another layout
        return None
    return data.tobytes() if len(begin) < data.size <= MOST_BYTES and data[: len(begin)].tobytes() == begin else None


def table(caption: str, names: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """HTML in which every text is text. Of many rows the first."""
    import html

    def cell(value: object) -> str:
        text = "".join(c if c.isprintable() else "?" for c in str(value)[:200])
        return html.escape(text)

    def line(kind: str, cells: tuple[object, ...]) -> str:
        return "<tr>" + "".join(f"<{kind}>{cell(one)}</{kind}>" for one in cells) + "</tr>"

    body = [line("td", row) for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        body.append(f'<tr><td colspan="{len(names)}">and {len(rows) - MOST_ROWS} more</td></tr>')
    return f"<table><caption>{cell(caption)}</caption>{line('th', names)}{''.join(body)}</table>"


def recording(path: str, seconds: float, problems: int, topics: Mapping[str, typing.Any]) -> str:
    rows: list[tuple[object, ...]] = []
    for name, one in topics.items():
        rows.append((name, one.type, one.encoding, "" if one.count is None else one.count))
    damaged = f", {problems} problem{'s' * (problems != 1)}" if problems else ""
    caption = f"{path}: {seconds:.3f} s, {len(topics)} topic{'s' * (len(topics) != 1)}{damaged}"
    return table(caption, ("topic", "type", "encoding", "messages"), rows)
