"""Lattices are found where cells have one, and not where they have none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.lattice import Lattice, find_lattice, lattice_of, spread_positions

STEPS = [
    *("10", "7", "5", "1", "1/2", "1/4", "1/5", "1/8", "1/16"),
    *("1/10", "1/20", "1/100", "1/1000", "1/10000"),
]


@pytest.mark.parametrize("step", [Fraction(step) for step in STEPS])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_step_is_found(step: Fraction, seed: int) -> None:
    multiples = np.random.default_rng(seed).integers(-500, 500, size=200)
    numbers = np.sort(multiples * step.numerator / step.denominator)
    assert find_lattice(numbers) == Lattice(step)


@pytest.mark.parametrize(
    ("step", "offset"), [("1", "1/2"), ("10", "5"), ("2", "1"), ("7", "4"), ("1/2", "1/4")]
)
def test_a_lattice_need_not_hold_zero(step: str, offset: str) -> None:
    lattice = Lattice(Fraction(step), Fraction(offset))
    positions = np.random.default_rng(0).integers(-50, 50, size=100)
    numbers = np.sort(positions * float(lattice.step) + float(lattice.offset))
    assert find_lattice(numbers) == lattice


def test_floats_of_single_precision_have_their_lattice() -> None:
    cells = np.arange(200, 900, dtype=np.float32) / np.float32(100)
    assert find_lattice(np.sort(cells).astype(float), precision=2.0**-24) == lattice_of(0.01)
    assert find_lattice(np.sort(cells).astype(float)) is None


@pytest.mark.parametrize("unit", [1e-300, 1e-8, 1.0, 1e8, 1e300])
def test_real_numbers_have_none(unit: float) -> None:
    assert find_lattice(np.sort(np.random.default_rng(1).normal(size=500)) * unit) is None


def test_a_few_cells_may_be_off_a_fine_lattice_but_not_off_a_coarse_one() -> None:
    quarters = np.arange(1000) / 4
    quarters[[3, 7, 11]] = [0.123, 0.457, 1.111]
    assert find_lattice(np.sort(quarters)) == lattice_of(0.25)
    quarters[::30] = np.pi * (1 + quarters[::30])
    assert find_lattice(np.sort(quarters)) is None
    fives = np.arange(1000.0) * 5
    fives[7] = 34.0
    assert find_lattice(np.sort(fives)) == lattice_of(1.0)


@pytest.mark.parametrize(
    ("numbers", "step"),
    [([10.0, 20.0], 1.0), ([25.0, 27.0, 31.0], 1.0), ([5.0, 10.0, 15.0], 5.0), ([0.1, 0.2], 0.1)],
)
def test_coarse_steps_need_more_than_chance(numbers: list[float], step: float) -> None:
    assert find_lattice(np.array(numbers)) == lattice_of(step)


@given(
    step=st.fractions(Fraction(1, 1000), 100, max_denominator=1000),
    offset=st.fractions(0, 1, max_denominator=100),
    number=st.floats(-1e6, 1e6),
)
def test_neighbours_of_a_number(step: Fraction, offset: Fraction, number: float) -> None:
    lattice = Lattice(step, offset)
    above, below = lattice.above(number), lattice.below(number)
    assert below < number < above or abs(above - below) <= 2.1 * float(step)
    assert lattice.at_most(number) <= number <= lattice.at_least(number)
    rounded = lattice.round(np.array([number]))[0]
    assert abs(rounded - number) <= 0.5 * float(step) * (1 + 1e-6) + 1e-9
    np.testing.assert_allclose(lattice.round(np.array([rounded])), [rounded], rtol=1e-15)


def test_rounding_gives_the_floats_that_decimals_are_read_as() -> None:
    cents = np.array([float(f"{k // 100}.{k % 100:02d}") for k in range(2000)])
    wobbly = cents + np.random.default_rng(2).uniform(-0.004, 0.004, size=2000)
    np.testing.assert_array_equal(lattice_of(0.01).round(wobbly), cents)


def test_zero_has_no_sign_and_huge_numbers_stay() -> None:
    rounded = lattice_of(0.5).round(np.array([-0.1, 1e300, -1e300]))
    assert not np.signbit(rounded[0])
    np.testing.assert_array_equal(rounded, [0.0, 1e300, -1e300])


@pytest.mark.parametrize("step", [0.0, -1.0, float("nan"), float("inf")])
def test_a_step_is_positive(step: float) -> None:
    with pytest.raises(InputError, match="Column 'kg': a step is a positive number"):
        lattice_of(step, "kg")


def test_cells_that_no_lattice_can_be_told_for_do_not_make_one() -> None:
    for numbers in ([0.0, 0.0, 2252.58840812149], [0.0, 1e-9], [0.0, 0.0, 7.0, 1e15 / 7]):
        found = find_lattice(np.array(numbers))
        assert found is None or np.array_equal(found.round(np.array(numbers)), numbers)
        assert found is None or found.step <= 1
    assert find_lattice(np.array([0.5, 1.0, 225180.7050781251])) is None
    mostly_zero = np.concatenate([np.zeros(9990), np.linspace(0.1, 7, 10) * np.pi])
    assert find_lattice(mostly_zero) is None


def test_the_order_of_cells_does_not_matter_and_no_pattern_hides() -> None:
    n = 4096 * 250
    cells = np.arange(n) % 1000 / 4.0
    # Off the grid in .4% of the cells, at every place that an even stride would look at.
    cells[::250] = np.sqrt(2.0)
    shuffled = np.random.default_rng(0).permutation(cells)
    assert find_lattice(cells) == find_lattice(shuffled) == find_lattice(np.sort(cells))
    assert find_lattice(cells) == lattice_of(0.25)


@pytest.mark.parametrize("size", [1, 4096, 4097, 5000, 10**6])
def test_positions_are_spread_over_all_cells(size: int) -> None:
    places = spread_positions(size)
    assert places.size == min(size, 4096)
    assert (places[0], places[-1]) == (0, size - 1)
    assert np.all(np.diff(places) >= 0)
    assert np.diff(places).max(initial=0) <= 2 * max(size / 4096, 1.0) + 1
