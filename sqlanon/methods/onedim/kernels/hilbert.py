"""Hilbert keys: where a point of a d-dimensional grid lies on the Hilbert curve (Skilling's transform, 2004).

Ghinita et al. (2009), section 6, map many attributes to a line with it. The curve is sensitive to ranges (Goldberger &
Tassa 2010, section 6.2.3), so `make_cells` first brings every attribute to the same grid.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sqlanon.kernels.compiled import njit
from sqlanon.kernels.extent import SCALE

WORD_BITS = 63
"""A key of at most this many bits is a non-negative 64-bit integer."""

MOST_BITS = 21
"""Bits of an axis that keep any two positions apart."""

_BLOCK = 256


def count_grid_bits(positions: Sequence[npt.NDArray[np.int64]]) -> int:
    """Bits an axis needs so that no two distinct positions of an attribute share a cell, 1 to `MOST_BITS`.

    Args:
        positions: distinct positions per attribute, each in 0 to `SCALE`.
    """
    for bits in range(1, MOST_BITS):
        if all(len(np.unique(make_cells(axis, bits))) == len(np.unique(axis)) for axis in positions):
            return bits
    return MOST_BITS


def make_cells(positions: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.uint32]:
    """Grid cells, 0 to ``2^bits - 1``, of positions in 0 to `SCALE`; the ends of the scale are the ends of the grid."""
    return ((positions.astype(np.int64) << bits) // (SCALE + 1)).astype(np.uint32)


def order_axes(positions: Sequence[npt.NDArray[np.int64]], rows: Sequence[npt.NDArray[np.int64]]) -> list[int]:
    """The attributes by how far their rows lie from the median, the farthest first: the best order of axes measured.

    The curve turns around the first axis most, so the order matters: range NCP at k = 10 on the SAL census is 0.0098
    so, and 0.0102 in the order of the columns.

    Args:
        positions: per attribute the position of every code, ascending.
        rows: per attribute the rows of every code.
    """
    spread = []
    for axis, count in zip(positions, rows, strict=True):
        median = axis[np.searchsorted(np.cumsum(count), (int(count.sum()) + 1) // 2)]
        spread.append(int((np.abs(axis - median) * count).sum()))
    return sorted(range(len(spread)), key=lambda j: (-spread[j], j))


@njit(nogil=True, cache=True)
def _transpose(axes: npt.NDArray[np.uint32], bits: int) -> None:
    """Turn a block of points, uint32[d, block] with one point a column, into their keys' bits, transposed.

    Bit b of the key's digit b is in bit b of axis 0, then of axis 1, and so on. Loops run over points inside, so
    that the compiler finds vector instructions.
    """
    d, block = axes.shape
    for level in range(bits - 1, 0, -1):
        bit = np.uint32(level)
        below = np.uint32((1 << level) - 1)
        for i in range(d):
            for r in range(block):
                here, first = axes[i, r], axes[0, r]
                whole = np.uint32(0) - (
                    (here >> bit) & np.uint32(1)
                )  # all ones where the bit is set: reflect, else swap
                swap = (first ^ here) & below & ~whole
                axes[0, r] = first ^ (below & whole) ^ swap
                if i > 0:
                    axes[i, r] = here ^ swap
    for i in range(1, d):
        for r in range(block):
            axes[i, r] ^= axes[i - 1, r]
    for r in range(block):
        last = axes[d - 1, r]
        flip = np.uint32(0)
        for level in range(bits - 1, 0, -1):
            if (last >> np.uint32(level)) & np.uint32(1):
                flip ^= np.uint32((1 << level) - 1)
        for i in range(d):
            axes[i, r] ^= flip


@njit(nogil=True, cache=True)
def make_word_keys(points: npt.NDArray[np.uint32], bits: int, out: npt.NDArray[np.int64]) -> None:
    """Keys of ``d * bits`` <= `WORD_BITS` bits.

    Args:
        points: uint32[n, d], cells in 0 to ``2^bits - 1``.
        bits: bits of an axis, 1 to 32.
        out: int64[n], written.

    Cost: O(n d bits).
    """
    n, d = points.shape
    axes = np.empty((d, _BLOCK), np.uint32)
    for start in range(0, n, _BLOCK):
        block = min(_BLOCK, n - start)
        for r in range(block):
            for i in range(d):
                axes[i, r] = points[start + r, i]
        _transpose(axes, bits)
        for r in range(block):
            key = np.int64(0)
            for level in range(bits - 1, -1, -1):
                for i in range(d):
                    key = (key << 1) | np.int64((axes[i, r] >> np.uint32(level)) & np.uint32(1))
            out[start + r] = key


@njit(nogil=True, cache=True)
def make_byte_keys(points: npt.NDArray[np.uint32], bits: int, out: npt.NDArray[np.uint8]) -> None:
    """Keys of any length, big-endian with leading zero bits, so that they sort as byte strings.

    Args:
        points: uint32[n, d], cells in 0 to ``2^bits - 1``.
        bits: bits of an axis, 1 to 32.
        out: uint8[n, ceil(d * bits / 8)], written.

    Cost: O(n d bits).
    """
    n, d = points.shape
    width = out.shape[1]
    pad = 8 * width - d * bits
    axes = np.empty((d, _BLOCK), np.uint32)
    for start in range(0, n, _BLOCK):
        block = min(_BLOCK, n - start)
        for r in range(block):
            for i in range(d):
                axes[i, r] = points[start + r, i]
        _transpose(axes, bits)
        for r in range(block):
            byte, filled, place = np.uint32(0), pad, 0
            for level in range(bits - 1, -1, -1):
                for i in range(d):
                    byte = (byte << np.uint32(1)) | ((axes[i, r] >> np.uint32(level)) & np.uint32(1))
                    filled += 1
                    if filled == 8:
                        out[start + r, place] = np.uint8(byte)
                        byte, filled, place = np.uint32(0), 0, place + 1


@njit(nogil=True, cache=True)
def make_code_keys(
    codes: npt.NDArray[np.int32],
    turned: npt.NDArray[np.int64],
    cell: npt.NDArray[np.uint32],
    begin: npt.NDArray[np.int64],
    bits: int,
    out: npt.NDArray[np.int64],
    start: int,
    stop: int,
) -> None:
    """Keys of rows ``start`` to ``stop`` straight from their codes, `WORD_BITS` bits a word, the leading word first.

    Args:
        codes: int32[*, n].
        turned: int64[d], the attributes in the order of the curve's axes.
        cell: uint32[*], the cells of every code, one axis after the other.
        begin: int64[d], where an axis's cells begin.
        bits: bits of an axis, 1 to 32.
        out: int64[ceil(d * bits / `WORD_BITS`), n], written; the last word holds the remaining bits. With fewer
            rows, the leading words.

    Cost: O(n d bits).
    """
    d = len(turned)
    axes = np.empty((d, _BLOCK), np.uint32)
    for first in range(start, stop, _BLOCK):
        block = min(_BLOCK, stop - first)
        for i in range(d):
            j = turned[i]
            for r in range(block):
                axes[i, r] = cell[begin[i] + codes[j, first + r]]
        _transpose(axes, bits)
        word, filled = out[0, first : first + block], 0
        word[:] = 0
        for index in range(min(d * bits, WORD_BITS * len(out))):
            if filled == WORD_BITS:
                word, filled = out[index // WORD_BITS, first : first + block], 0
                word[:] = 0
            level, i = np.uint32(bits - 1 - index // d), index % d
            for r in range(block):
                word[r] = (word[r] << 1) | np.int64((axes[i, r] >> level) & np.uint32(1))
            filled += 1


def make_hilbert_keys(points: npt.NDArray[np.uint32], bits: int) -> npt.NDArray[np.int64] | npt.NDArray[np.uint8]:
    """Keys of points: int64[n] where they fit, else uint8[n, bytes]; for one attribute the cell itself."""
    n, d = points.shape
    if d * bits <= WORD_BITS:
        words = np.empty(n, np.int64)
        make_word_keys(points, bits, words)
        return words
    whole = np.empty((n, -(-d * bits // 8)), np.uint8)
    make_byte_keys(points, bits, whole)
    return whole
