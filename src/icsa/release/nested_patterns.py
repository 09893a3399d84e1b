"""Patterns of missing cells within others: absent rows stay absent in all their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from icsa.matrices import Vector
from icsa.release.encoding import Encoding

__all__ = ["with_nested_patterns"]


def with_nested_patterns(encoding: Encoding, numbers: Mapping[str, Vector]) -> Encoding:
    """Return the encoding in which a pattern that has all rows of another goes on to have them.

    Parameters
    ----------
    encoding : Encoding
    numbers : mapping of str to array
        Of every encoded column.
    """
    bits = {part.group: part.column.name for part in reversed(encoding.parts)}
    groups = range(len(encoding.group_shares))
    patterns = [np.packbits(np.isnan(numbers[bits[group]])).tobytes() for group in groups]
    return replace(encoding, group_within=_within(patterns))


def _within(patterns: list[bytes]) -> tuple[int | None, ...]:
    """Return for each pattern, as packed bits, the largest other one that it has all rows of."""
    bits = [np.frombuffer(pattern, dtype=np.uint8) for pattern in patterns]
    sizes = [int(np.unpackbits(one).sum()) for one in bits]

    def largest(one: int) -> int | None:
        inside = [
            other
            for other in range(len(bits))
            if sizes[other] < sizes[one] and not np.any(bits[other] & ~bits[one])
        ]
        return max(inside, key=lambda other: sizes[other], default=None)

    return tuple(map(largest, range(len(bits))))
