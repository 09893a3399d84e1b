"""Bars are about nobody or at least three people, whatever the column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.assessment.bars import _counted, _few, _joined, column_bars
from icsa.comparison.column_pairs import ColumnPair, numeric_column


def _counts(bars_edges: list[str], numbers: np.ndarray) -> np.ndarray:
    """Return how many numbers lie between edges as they are told."""
    edges = np.array([float(edge) for edge in bars_edges])
    return np.array(
        [np.sum(np.searchsorted(edges, numbers, side="right") == k) for k in range(edges.size + 1)]
    )


@given(
    seed=st.integers(0, 10_000), n=st.integers(6, 300), shape=st.sampled_from(["t", "int", "exp"])
)
def test_no_bar_is_about_one_or_two_people(seed: int, n: int, shape: str) -> None:
    rng = np.random.default_rng(seed)
    numbers = {
        "t": lambda: rng.standard_t(1.5, n) * 10 ** rng.uniform(-3, 6),
        "int": lambda: rng.poisson(2.0, n).astype(float),
        "exp": lambda: np.where(rng.random(n) < 0.4, 0.0, rng.exponential(50.0, n)).round(1),
    }[shape]()
    bars = column_bars(numeric_column("x", numbers, rng.permutation(numbers)))
    if bars is None:
        return
    assert bars.edges is not None
    assert bars.widths is not None
    assert len(bars.original) == len(bars.released) == len(bars.edges) + 1 == len(bars.widths) + 2
    if shape != "t":  # edges of other columns are not told with all of their digits
        counts = _counts(bars.edges, numbers)
        assert not {1, 2} & set(counts.tolist())
        assert bars.original == [round(float(c), 2) for c in counts / n]
    assert bars.original == bars.released  # the same numbers in another order
    assert all(share == round(share, 2) for share in bars.original)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20))
def test_joining_bins_ends_and_loses_nobody(counts: list[int]) -> None:
    before = np.array(counts)
    left = before
    for place in _few(before):
        left = _joined(left, place)
    assert left.sum() == before.sum()
    assert left.size == 1 or not {1, 2} & set(left.tolist())


def test_the_ends_are_open_and_nobodys_values() -> None:
    rng = np.random.default_rng(1)
    numbers = np.append(rng.normal(50, 10, 200).round(1), 987.0)
    bars = column_bars(numeric_column("x", numbers, numbers))
    assert bars is not None
    assert bars.edges is not None
    ends = [float(edge) for edge in bars.edges]
    assert numbers.min() < ends[0]
    assert ends[-1] < 100
    assert _counted(numbers, np.array(ends))[-1] >= 3


def test_rare_levels_are_together_or_not_at_all() -> None:
    codes = np.repeat(np.arange(5), [50, 30, 10, 1, 1]).astype(np.int32)
    column = ColumnPair(name="w", original=codes, released=codes, levels=tuple("abcde"))
    bars = column_bars(column)
    assert bars is not None
    assert bars.edges is None
    assert bars.original == [0.54, 0.33, 0.13]  # the two rare ones are with the third
    lone = ColumnPair(name="w", original=codes[-2:], released=codes, levels=tuple("abcde"))
    assert column_bars(lone) is None


@pytest.mark.parametrize(
    ("unit", "low", "high", "shown"),
    [
        ("days since 1970-01-01", 19_000.0, 20_000.0, r"20\d\d-\d\d-\d\d"),
        ("seconds since 1970-01-01", 1.6e9, 1.7e9, r"20\d\d-\d\d-\d\d"),
        ("seconds since midnight", 0.0, 86_000.0, r"\d\d:\d\d"),
        ("", 0.0, 0.01, r"0\.\d+"),
    ],
)
def test_edges_are_written_as_people_write_them(
    unit: str, low: float, high: float, shown: str
) -> None:
    import re

    numbers = np.random.default_rng(1).uniform(low, high, 300)
    column = ColumnPair(name="x", original=numbers, released=numbers, unit=unit)
    bars = column_bars(column)
    assert bars is not None
    assert bars.edges
    assert all(re.fullmatch(shown, edge) for edge in bars.edges)
