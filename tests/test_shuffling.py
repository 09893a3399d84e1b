"""Shuffles are exactly uniform on both paths, and the kernels do what their slow twins do."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc

from icsa import shuffling
from icsa.errors import InputError
from icsa.randomness import as_key
from icsa.shuffling import permutation, shuffle

LONG = 100_000  # two label bits by default


def p_value(counts: np.ndarray) -> float:
    expected = counts.mean()
    return float(chdtrc(counts.size - 1, np.sum((counts - expected) ** 2) / expected))


# --- slow twins ----------------------------------------------------------------------------------


def slow_fisher_yates(cells: list[int], draws: list[int]) -> tuple[list[int], int]:
    """Insert each cell at a uniform place; return the cells that are in, and the draws used."""
    result: list[int] = []
    used = 0
    while len(result) < len(cells) and used < len(draws):
        bound = len(result) + 1
        j, remainder = divmod(draws[used] * bound, 2**32)
        used += 1
        if remainder >= 2**32 % bound:
            result.append(cells[len(result)])
            result[j], result[-1] = result[-1], result[j]
    return result, used


def slow_shuffle(column: np.ndarray, stream, bits: int) -> list[float]:
    """Sort stably by the labels, then shuffle bucket by bucket."""
    if bits == 0:
        buckets = [list(column)]
    else:
        words = stream.random_bytes(8 * math.ceil(column.size / 8))
        labels = words[: column.size].astype(int) % 2**bits
        buckets = [list(column[labels == label]) for label in range(2**bits)]
    result = []
    for bucket in buckets:
        draws = [int(draw) for draw in stream.half_words(len(bucket))]
        shuffled, _ = slow_fisher_yates(bucket, draws)
        assert len(shuffled) == len(bucket)  # no draw is thrown away at these sizes and seeds
        result += shuffled
    return result


@given(size=st.integers(0, 300), bits=st.integers(0, 8), seed=st.integers(0, 10**6))
def test_a_shuffle_is_that_of_its_slow_twin(size: int, bits: int, seed: int) -> None:
    column = np.arange(size, dtype=float)
    fast = shuffle(column, as_key(seed).stream("a"), _label_bits=bits)
    assert list(fast) == slow_shuffle(column, as_key(seed).stream("a"), bits)


@given(size=st.integers(1, 60), data=st.data())
def test_fisher_yates_throws_draws_away_as_its_slow_twin(size: int, data: st.DataObject) -> None:
    # Small draws have remainders below the bound, so that many of them are thrown away.
    draw = st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 1), st.just(2**31), st.just(2**30))
    draws = data.draw(st.lists(draw, min_size=1, max_size=80))
    cells = np.arange(size, dtype=np.uint64)
    out = np.empty_like(cells)
    done = shuffling._fisher_yates(cells, out, 0, np.array(draws, dtype=np.uint32))
    expected, _ = slow_fisher_yates(list(range(size)), draws)
    assert list(out[:done]) == expected


def test_a_draw_thrown_away_is_replaced_by_the_next() -> None:
    # Three cells have the bounds 1, 2 and 3; 2^32 mod 3 = 1, so draw 0 is no good for the third.
    class Draws:
        def __init__(self) -> None:
            self.left = [5, 2**31, 0, 2**32 - 1]

        def half_words(self, size: int) -> np.ndarray:
            taken, self.left = self.left[:size], self.left[size:]
            return np.array(taken, dtype=np.uint32)

    stream = Draws()
    # 2^31 keeps the second where it is; 2^32 - 1 the third.
    assert list(shuffle(np.array([1.0, 2.0, 3.0]), stream)) == [1.0, 2.0, 3.0]  # type: ignore[arg-type]
    assert stream.left == []


@given(labels=st.lists(st.integers(0, 255), max_size=60), bits=st.integers(1, 8))
def test_counting_and_placing_are_a_stable_sort_by_label(labels: list[int], bits: int) -> None:
    mask = 2**bits - 1
    low = np.array(labels, dtype=np.int64) & mask
    counts = np.zeros(2**bits, dtype=np.uint64)
    shuffling._count_labels(np.array(labels, dtype=np.uint8), np.uint8(mask), counts)
    np.testing.assert_array_equal(counts, np.bincount(low, minlength=2**bits))
    words = np.frombuffer(bytes(labels) + bytes(-len(labels) % 8), dtype=np.uint64).copy()
    cells, out = np.arange(low.size, dtype=np.uint64), np.empty(low.size, dtype=np.uint64)
    free = np.cumsum(counts, dtype=np.uint64) - counts
    shuffling._place_cells(cells, words, np.uint64(mask), free, out)
    np.testing.assert_array_equal(out, np.argsort(low, kind="stable"))
    np.testing.assert_array_equal(free, np.cumsum(counts))


# --- uniform -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [0, 1, 2, 8])
def test_all_120_orders_of_5_are_equally_likely(bits: int) -> None:
    number = {order: k for k, order in enumerate(permutations(range(5)))}
    counts = np.zeros(120)
    key = as_key(2024)
    column = np.arange(5.0)
    stream = key.stream("orders", bits)
    for _ in range(12_000):
        counts[number[tuple(shuffle(column, stream, _label_bits=bits).astype(int))]] += 1
    assert p_value(counts) > 0.001


@pytest.mark.parametrize("bits", [0, 3])
def test_every_pair_of_places_is_equally_likely(bits: int) -> None:
    n, repetitions = 40, 8_000
    where = np.zeros((n, n))
    pairs = np.zeros((n, n))
    stream = as_key(2024).stream("places", bits)
    column = np.arange(float(n))
    for _ in range(repetitions):
        order = shuffle(column, stream, _label_bits=bits).astype(int)
        where[order, np.arange(n)] += 1
        first, last = np.flatnonzero((order == 0) | (order == n - 1))
        pairs[(first, last) if order[first] == 0 else (last, first)] += 1
    # Rows and columns of `where` add up to the repetitions: (n - 1)^2 degrees of freedom.
    statistic = np.sum((where - repetitions / n) ** 2) / (repetitions / n) * (n - 1) / n
    assert 0.001 < chdtrc((n - 1) ** 2, statistic) < 0.999
    assert p_value(pairs[~np.eye(n, dtype=bool)]) > 0.001


def test_a_long_column_is_mixed_throughout() -> None:
    order = permutation(LONG, as_key(5).stream("a"))
    cells = np.histogram2d(np.arange(LONG), order, bins=20)[0].ravel()
    assert p_value(cells) > 0.001
    # A random order has one fixed point on average, and no trend.
    assert np.sum(order == np.arange(LONG)) < 8
    assert abs(np.corrcoef(order, np.arange(LONG))[0, 1]) < 4 / math.sqrt(LONG)


# --- the same result by every way ----------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 32_768, 32_769, LONG])
def test_in_place_strided_and_read_only_columns_give_the_same(n: int) -> None:
    column = np.random.default_rng(1).normal(size=n)
    kept = column.copy()
    expected = shuffle(column, as_key(6).stream("a"))
    np.testing.assert_array_equal(column, kept)
    np.testing.assert_array_equal(np.sort(expected), np.sort(column))
    frozen = column.copy()
    frozen.setflags(write=False)
    wide = np.repeat(column, 3).reshape(n, 3)
    for source in (frozen, wide[:, 1]):
        np.testing.assert_array_equal(shuffle(source, as_key(6).stream("a")), expected)
    room = np.empty_like(column)
    shuffle(column, as_key(6).stream("a"), out=column[:], scratch=room)
    np.testing.assert_array_equal(column, expected)


@pytest.mark.parametrize("bits", [0, 4])
def test_blocks_do_not_matter(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    column = np.arange(1000.0)
    expected = shuffle(column, as_key(7).stream("a"), _label_bits=bits)
    monkeypatch.setattr(shuffling, "_DRAWS_AT_ONCE", 5)
    np.testing.assert_array_equal(
        shuffle(column, as_key(7).stream("a"), _label_bits=bits), expected
    )


def test_long_columns_take_two_passes_with_buckets_for_the_cache() -> None:
    bits = shuffling._label_bits_for
    assert [bits(n) for n in (0, 1, 2**15, 2**15 + 1, 2**16, 2**16 + 1)] == [0, 0, 0, 1, 1, 2]
    assert bits(10**7) == bits(10**9) == 8


def test_cells_keep_every_bit() -> None:
    odd = np.array([0x7FF8000000000001, 0xFFF0DEADBEEF0001, 1, 2**63], dtype=np.uint64)
    shuffled = shuffle(odd.view(np.float64), as_key(8).stream("a"))
    assert set(shuffled.view(np.uint64)) == set(odd)


def test_a_permutation_is_the_shuffle_of_its_numbers() -> None:
    order = permutation(LONG, as_key(9).stream("a"))
    column = np.random.default_rng(2).normal(size=LONG)
    np.testing.assert_array_equal(shuffle(column, as_key(9).stream("a")), column[order])
    assert permutation(0, as_key(9).stream("a")).size == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"column": np.zeros((2, 2))},
        {"column": np.zeros(4, dtype=np.float32)},
        {"column": np.zeros(4), "out": np.zeros(3)},
        {"column": np.zeros(4), "scratch": np.zeros(5)},
        {"column": np.zeros(4), "out": np.zeros(4, dtype=np.int64)},
    ],
)
def test_vectors_that_do_not_fit_are_refused(arguments: dict) -> None:
    with pytest.raises(InputError, match="vectors of one length, with cells of eight bytes"):
        shuffle(stream=as_key(1).stream("a"), **arguments)


def test_strided_and_read_only_targets_are_refused() -> None:
    frozen = np.zeros(4)
    frozen.setflags(write=False)
    for out in (frozen, np.zeros(8)[::2]):
        with pytest.raises(InputError, match="writeable and in one piece"):
            shuffle(np.zeros(4), as_key(1).stream("a"), out=out)


def test_each_kernel_is_compiled_once() -> None:
    for n in (10, LONG):
        for column in (np.arange(float(n)), np.repeat(np.arange(float(n)), 2)[::2]):
            shuffle(column, as_key(1).stream("a"))
        shuffle(np.arange(float(n)), as_key(1).stream("a"), out=np.empty(n))
        permutation(n, as_key(1).stream("a"))
    for compiled in (shuffling._count_labels, shuffling._place_cells, shuffling._fisher_yates):
        assert len(compiled.signatures) == 1  # type: ignore[attr-defined]
