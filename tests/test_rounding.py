"""Releases on the lattice of their original: which lattice, which digits, which sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa import (
    ICSAnonymizer,
    SpectralAnonymizer,
    anonymize_matrix,
    invariant_coordinates,
    masked_copy,
)
from icsa.errors import DigitsWarning, InputError, RoundedRelationWarning
from icsa.lattice import (
    Lattice,
    lattice_of,
    lattice_of_cells,
    lattices_of_columns,
    spread_positions,
)
from icsa.rounding import rounding_of

STEPS = ("5", "1", "1/2", "1/4", "1/10", "1/100")


def _real(seed: int, n: int = 90, p: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 30.0 * rng.normal(size=(n, p)) @ rng.normal(size=(p, p))


def _on(step: str, numbers: np.ndarray) -> np.ndarray:
    return lattice_of(float(Fraction(step))).round(numbers)


def _is_decimal_multiple(number: float, step: Fraction) -> bool:
    """Return whether a float is the one that a multiple of the step is read as."""
    return number == float(round(Fraction(number) / step) * step)


@pytest.mark.parametrize("step", STEPS)
@given(seed=st.integers(0, 2**32 - 1), mask=st.sampled_from(["permute", "rotate"]))
def test_released_cells_are_multiples_of_the_step_to_the_last_digit(
    step: str, seed: int, mask: str
) -> None:
    x = _on(step, _real(seed))
    released = anonymize_matrix(x, scatters=("cov", "cov4"), mask=mask, random_state=seed)
    assert all(_is_decimal_multiple(cell, Fraction(step)) for cell in released.ravel().tolist())
    with pytest.warns(DigitsWarning):
        digits = anonymize_matrix(
            x, scatters=("cov", "cov4"), mask=mask, round=None, random_state=seed
        )
    assert np.abs(released - digits).max() <= (0.5 + 1e-6) * float(Fraction(step))
    half = 0.5 * float(Fraction(step))
    assert np.all(np.abs(released.mean(axis=0) - digits.mean(axis=0)) <= half)


@given(seed=st.integers(0, 2**32 - 1))
def test_rounding_again_changes_nothing_and_only_columns_on_a_lattice_change(seed: int) -> None:
    x = _real(seed)
    x[:, 1], x[:, 3] = _on("1/10", x[:, 1]), 0.1 + 0.2  # a constant that is no decimal
    digits = _real(seed + 1)
    digits[:, 3] = x[:, 3]
    once = digits.copy()
    rounding_of(x).apply_in_place(once)
    np.testing.assert_array_equal(once[:, [0, 2, 3]], digits[:, [0, 2, 3]])
    assert not np.array_equal(once[:, 1], digits[:, 1])
    twice = once.copy()
    rounding_of(once).apply_in_place(twice)
    np.testing.assert_array_equal(twice, once)


def test_all_digits_are_those_of_the_masked_rows_and_real_numbers_get_no_warning() -> None:
    x = _real(1)
    coordinates = invariant_coordinates(x, scatters=("cov", "cov4"))
    plain = masked_copy(x, coordinates, mask="permute", decorrelate=False, random_state=3)
    for rounding in ("lattice", None):
        released = anonymize_matrix(
            x,
            scatters=("cov", "cov4"),
            mask="permute",
            decorrelate=False,
            round=rounding,
            random_state=3,
        )
        np.testing.assert_array_equal(released, plain)


def test_masked_copies_are_rounded_when_asked_also_where_they_are() -> None:
    x = np.asfortranarray(np.rint(_real(2)))
    coordinates = invariant_coordinates(x, scatters=("cov", "cov4"))
    digits = masked_copy(x, coordinates, random_state=3)  # without a warning: it may be scores
    assert not np.array_equal(digits, np.rint(digits))
    rounded = masked_copy(x, coordinates, round="lattice", random_state=3)
    np.testing.assert_array_equal(rounded, np.rint(digits))
    masked_copy(x, coordinates, round="lattice", random_state=3, out=x)
    np.testing.assert_array_equal(x, rounded)


@pytest.mark.parametrize("kind", [ICSAnonymizer, SpectralAnonymizer])
def test_estimators_round_by_the_table_that_they_are_given(kind: type) -> None:
    halves, tenths = _on("1/2", _real(3)), _on("1/10", _real(3))
    fitted = kind(random_state=1).fit(halves)
    for table, step in ((halves, "1/2"), (tenths, "1/10")):
        released = fitted.transform(table)
        np.testing.assert_array_equal(released, _on(step, released))
    with pytest.warns(DigitsWarning, match="Column\\(s\\) age: rounded"):
        released = (
            kind(round=None, random_state=1)
            .fit(pd.DataFrame({"dose": _real(4)[:, 0], "age": halves[:, 1]}))
            .transform(pd.DataFrame({"dose": _real(4)[:, 0], "age": halves[:, 1]}))
        )
    assert not np.array_equal(released["age"], _on("1/2", released["age"].to_numpy()))
    with pytest.raises(InputError, match="round is 'lattice', or None"):
        kind(round="steps").fit(halves).transform(halves)


def test_a_warning_names_the_attack_and_the_remedy() -> None:
    x = pd.DataFrame(np.rint(_real(5)), columns=list("abcd"))
    with pytest.warns(DigitsWarning, match="a, b, c, d: .* digits attack, .* round='lattice'"):
        anonymize_matrix(x, round=None, random_state=1)
    with pytest.raises(InputError, match="round is 'lattice', or None"):
        anonymize_matrix(x, round="whole")


@pytest.mark.parametrize("pair", [("cov", "cov4"), ("identity", "cov")])
@given(seed=st.integers(0, 2**32 - 1), order=st.permutations(range(6)))
def test_totals_of_whole_numbers_stay_totals(
    pair: tuple[str, str], seed: int, order: list[int]
) -> None:
    parts = np.rint(_real(seed, p=3))
    a, b, c = parts.T
    table = np.column_stack([a, b, c, a + b, a + 2 * b - c + 7, (a + c) / 2])[:, order]
    released = anonymize_matrix(table, scatters=pair, random_state=seed)
    a, b, c, ab, weighted, middle = released[:, np.argsort(order)].T
    np.testing.assert_array_equal(released, 0.5 * np.rint(2.0 * released))
    np.testing.assert_array_equal(ab, a + b)
    np.testing.assert_array_equal(weighted, a + 2 * b - c + 7)
    np.testing.assert_array_equal(middle, (a + c) / 2)


def test_a_column_of_finer_steps_is_the_one_that_is_computed() -> None:
    whole, tenths = np.rint(_real(6)[:, 0]), _on("1/10", _real(7)[:, 1])
    x = np.column_stack([_on("1/10", whole + tenths), whole, tenths])
    released = anonymize_matrix(x, random_state=2)
    np.testing.assert_array_equal(released[:, 1], np.rint(released[:, 1]))
    np.testing.assert_array_equal(released, _on("1/10", released))
    np.testing.assert_allclose(released[:, 0], released[:, 1] + released[:, 2], atol=1e-12)


def test_a_real_column_that_follows_from_rounded_ones_does_not_tell_their_digits() -> None:
    x = np.rint(_real(8))
    x[:, 3] = np.pi * x[:, 0] - x[:, 1] / 7
    released = anonymize_matrix(x, random_state=2)
    np.testing.assert_array_equal(released[:, :3], np.rint(released[:, :3]))
    np.testing.assert_allclose(
        released[:, 3], np.pi * released[:, 0] - released[:, 1] / 7, atol=1e-9
    )


def test_a_real_total_of_a_rounded_and_a_real_part_is_computed_again() -> None:
    age, real = np.rint(_real(9)[:, 0]), _real(9)[:, 1]
    for order in ([0, 1, 2], [2, 1, 0]):
        x = np.column_stack([age, real, age + real])[:, order]
        age_, real_, total = anonymize_matrix(x, random_state=2)[:, order].T
        np.testing.assert_array_equal(age_, np.rint(age_))
        np.testing.assert_allclose(total, age_ + real_, atol=1e-10)


def test_a_relation_that_no_column_can_keep_is_said_to_be_rounded() -> None:
    rng = np.random.default_rng(10)
    u, v = rng.integers(-40, 40, size=(2, 200))
    v += (u + v) % 2  # 3 u + 5 v is even
    x = pd.DataFrame({"u": u, "v": v, "t": (3 * u + 5 * v) // 2, "other": rng.normal(size=200)})
    with pytest.warns(RoundedRelationWarning, match="Columns u, v, t: the exact relation"):
        released = anonymize_matrix(x, random_state=2)
    np.testing.assert_array_equal(released[:, :3], np.rint(released[:, :3]))
    off = np.abs(2 * released[:, 2] - 3 * released[:, 0] - 5 * released[:, 1])
    assert 0 < off.max() <= 1 + 1.5 + 2.5


def test_relations_among_real_numbers_only_are_left_alone() -> None:
    x = _real(11)
    x[:, 2] = np.rint(x[:, 2])
    x[:, 3] = x[:, 0] + x[:, 1]
    assert rounding_of(x).sums == ()


@pytest.mark.parametrize("unit", [1e-8, 0.0371, 1.0, 512.3, 1e9])
@given(seed=st.integers(0, 2**32 - 1))
def test_scaled_whole_numbers_have_their_grid(unit: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 2000, size=150).astype(float)
    scaled = (whole - whole.mean()) / whole.std() * unit
    lattice = lattice_of_cells(scaled)
    assert lattice is not None
    # A coarser grid may hold by chance, but never a finer one.
    steps = lattice.width * whole.std() / unit
    assert steps == pytest.approx(round(steps), rel=1e-9)
    np.testing.assert_allclose(lattice.round(scaled), scaled, rtol=0, atol=1e-9 * unit)


@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([5, 20, 500]),
    unit=st.sampled_from([1e-120, 1.0, 1e120]),
)
def test_real_numbers_have_no_grid(seed: int, size: int, unit: float) -> None:
    assert lattice_of_cells(np.random.default_rng(seed).normal(size=size) * unit) is None


def test_two_values_are_a_grid_only_in_company() -> None:
    low, high = np.sqrt(2.0), np.pi
    assert lattice_of_cells(np.array([low, high])) is None
    lattice = lattice_of_cells(np.array([low, high, low, high, high]))
    assert lattice is not None
    assert lattice.width == pytest.approx(high - low)


def test_long_columns_are_looked_at_as_a_whole() -> None:
    n = 20_000
    whole = np.arange(n) % 97.0
    few_off, half_off, late = whole.copy(), whole.copy(), np.zeros(n)
    few_off[5::1000] += np.pi / 10  # 20 cells: the lattice holds for the rest
    half_off[n // 2 :] += np.random.default_rng(0).normal(size=n // 2)
    unseen = np.setdiff1d(np.arange(n), spread_positions(n))[-1]
    late[unseen] = 4.5  # constant but for one row
    tens = 10.0 * whole
    tens[unseen] = 33.0
    single = (whole / 10).astype(np.float32).astype(float)
    single[7] = np.float32(3.14159)
    x = np.column_stack([whole, few_off, half_off, late, tens, single, np.full(n, 2.5)])
    one, tenth = lattice_of(1.0), lattice_of(0.1)
    found = lattices_of_columns(x)
    assert found[:3] == (one, one, None)
    assert isinstance(found[3], Lattice)
    assert found[4:] == (one, tenth, None)


def test_relations_of_long_tables_hold_in_all_rows_or_are_none() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 50, size=(20_000, 3)).astype(float)
    x[:, 2] = x[:, 0] + x[:, 1]
    assert [each.column for each in rounding_of(x).sums] == [2]
    x[12_345, 2] += 1.0
    assert rounding_of(x).sums == ()
