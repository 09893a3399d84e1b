"""Exactly uniform shuffles of columns, at a speed near that of copying them.

A short column gets the Fisher-Yates shuffle. In a long one its random accesses would miss the
cache, so two passes are made: every cell goes to one of up to 256 buckets, drawn uniformly and
independently (one random byte a cell); then every bucket, now small enough for the cache, is
shuffled by Fisher-Yates. The result is exactly uniform as well (Rao 1961; Sandelius 1962): given
the sizes of the buckets, each assignment of cells to them is equally likely, and so is every
order within.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from icsa.compilation import kernel
from icsa.errors import InputError
from icsa.matrices import Vector
from icsa.randomness import Stream

__all__ = ["permutation", "shuffle"]

_Cells = npt.NDArray[np.uint64]

# Buckets of at most this many cells (256 KiB) stay in a core's second-level cache.
_BUCKET_CELLS = 1 << 15
# A label is the low bits of one byte.
_MOST_LABEL_BITS = 8
# Draws are made in pieces that stay in the cache beside their bucket.
_DRAWS_AT_ONCE = 1 << 16


def shuffle(
    column: Vector,
    stream: Stream,
    *,
    out: Vector | None = None,
    scratch: Vector | None = None,
    _label_bits: int | None = None,
) -> Vector:
    """Return the values of `column` in a uniformly random order.

    Parameters
    ----------
    column : ndarray of shape (n,)
        Cells of eight bytes, usually float64.
    stream : Stream
        Where the randomness comes from; it moves on.
    out : ndarray of shape (n,), optional
        Where to write; contiguous, of the same type. It may be `column` itself.
    scratch : ndarray of shape (n,), optional
        Room of the same type for shuffling a long column in place; made where it is not given.

    Returns
    -------
    ndarray of shape (n,)
        `out`, or a new array. It depends on the column and the stream only.

    References
    ----------
    .. [1] C. R. Rao (1961). Generation of random permutations of given number of elements using
       random sampling numbers. Sankhya A 23, 305-307.
    .. [2] M. Sandelius (1962). A simple randomization procedure. JRSS B 24, 472-481.

    Examples
    --------
    >>> from icsa.randomness import as_key
    >>> shuffle(np.array([1.0, 2.0, 3.0, 4.0]), as_key(7).stream("permute"))
    array([1., 3., 2., 4.])
    """
    target = np.empty(column.shape, column.dtype) if out is None else out
    _require_fitting(column, target, target if scratch is None else scratch)
    bits = _label_bits_for(column.size) if _label_bits is None else _label_bits
    # Only arrays in one piece reach the kernels, so that each is compiled once.
    if bits == 0 or not column.flags.carray:
        if column is not target:
            np.copyto(target, column)
        column = target
    cells = target.view(np.uint64)
    if bits == 0:
        _shuffle_bucket(cells, cells, stream)
        return target
    between = cells
    if np.may_share_memory(column, target):
        between = (np.empty_like(target) if scratch is None else scratch).view(np.uint64)
    ends = _scatter_to_buckets(column.view(np.uint64), between, stream, bits)
    for start, end in pairwise([0, *ends]):
        _shuffle_bucket(between[start:end], cells[start:end], stream)
    return target


def permutation(size: int, stream: Stream) -> npt.NDArray[np.int64]:
    """Return 0, 1, ..., size - 1 in a uniformly random order.

    Examples
    --------
    >>> from icsa.randomness import as_key
    >>> permutation(4, as_key(7).stream("permute"))
    array([0, 2, 1, 3])
    """
    order = np.arange(size, dtype=np.int64)
    cells = order.view(np.float64)  # eight bytes are eight bytes
    shuffle(cells, stream, out=cells)
    return order


def _require_fitting(column: Vector, target: Vector, scratch: Vector) -> None:
    for vector in (column, target, scratch):
        alike = vector.shape == (column.size,) and vector.dtype == column.dtype
        if not alike or vector.itemsize != 8:
            raise InputError("shuffle needs vectors of one length, with cells of eight bytes.")
    if not (target.flags.carray and scratch.flags.carray):
        raise InputError("shuffle: out and scratch must be writeable and in one piece.")


def _label_bits_for(size: int) -> int:
    """Return the least number of bits that makes buckets fit the cache, 0 where the column does."""
    return min(_MOST_LABEL_BITS, ((size - 1) // _BUCKET_CELLS).bit_length()) if size else 0


def _scatter_to_buckets(source: _Cells, out: _Cells, stream: Stream, bits: int) -> list[int]:
    """Write the cells bucket by bucket to `out`, and return where each bucket ends."""
    mask = np.uint64((1 << bits) - 1)
    labels = stream.random_bytes(-(-source.size // 8) * 8)
    counts = np.zeros(1 << bits, dtype=np.uint64)
    _count_labels(labels[: source.size], np.uint8(mask), counts)
    ends = np.cumsum(counts, dtype=np.uint64)
    words = labels.view("<u8").astype(np.uint64, copy=False)
    _place_cells(source, words, mask, ends - counts, out)
    return [int(end) for end in ends]


def _shuffle_bucket(source: _Cells, out: _Cells, stream: Stream) -> None:
    """Write the cells of one bucket to `out`, which may be `source`, in random order."""
    done = 0
    while done < source.size:
        draws = stream.half_words(min(source.size - done, _DRAWS_AT_ONCE))
        done = int(_fisher_yates(source, out, done, draws))


# Kernels: indices are unsigned, which spares numba's check for negative ones and halves the time.


@kernel
def _count_labels(labels: npt.NDArray[np.uint8], mask: np.uint8, counts: _Cells) -> None:
    """Add to `counts` how often each label occurs."""
    for i in range(labels.size):
        counts[labels[i] & mask] += np.uint64(1)


@kernel
def _place_cells(source: _Cells, words: _Cells, mask: np.uint64, free: _Cells, out: _Cells) -> None:
    """Write each cell to the next free place of its bucket; `free` moves on.

    A word holds the labels of eight cells, lowest first: a loop of fixed length, which is unrolled.
    """
    whole = source.size // 8
    for block in range(whole):
        word = words[block]
        for i in range(8):
            place = free[word & mask]
            free[word & mask] = place + np.uint64(1)
            out[place] = source[8 * block + i]
            word >>= np.uint64(8)
    for i in range(8 * whole, source.size):
        label = (words[whole] >> np.uint64(8 * (i - 8 * whole))) & mask
        out[free[label]] = source[i]
        free[label] += np.uint64(1)


@kernel
def _fisher_yates(source: _Cells, out: _Cells, done: int, draws: npt.NDArray[np.uint32]) -> int:
    """Put cell i at a uniform place j <= i of `out`, and what was there at i; start at `done`.

    Return how many cells are in when the draws are used up. A draw d gives
    j = floor(d (i + 1) / 2^32); it is thrown away where the remainder is below 2^32 mod (i + 1),
    which makes every j exactly equally likely (Lemire 2019, ACM TOMACS 29).
    """
    size, i = np.uint64(source.size), np.uint64(done)
    for k in range(draws.size):
        if i >= size:
            break
        bound = i + np.uint64(1)
        product = np.uint64(draws[k]) * bound
        remainder = product & np.uint64(0xFFFFFFFF)
        # The division is needed only where the first, cheaper comparison holds.
        if remainder < bound and remainder < np.uint64(0x100000000) % bound:
            continue
        j = product >> np.uint64(32)
        cell = source[i]
        out[i] = out[j]
        out[j] = cell
        i = bound
    return i  # type: ignore[return-value]
