"""Reduced bases: the conditions that define them, and what they are used for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from icsa.attacks.lattices import integer_kernel, nearest_points, reduce_rows, short_relations


def exact_coefficients(rows: np.ndarray) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return the Gram-Schmidt coefficients and squared lengths in fractions."""
    basis = [[Fraction(int(cell)) for cell in row] for row in rows]
    orthogonal: list[list[Fraction]] = []
    mu: list[list[Fraction]] = []
    for row in basis:
        left, coefficients = row, []
        for other in orthogonal:
            value = sum(a * b for a, b in zip(row, other, strict=True)) / sum(b * b for b in other)
            coefficients.append(value)
            left = [a - value * b for a, b in zip(left, other, strict=True)]
        orthogonal.append(left)
        mu.append(coefficients)
    return mu, [sum(a * a for a in row) for row in orthogonal]


@pytest.mark.parametrize("seed", range(6))
def test_a_reduced_basis_satisfies_the_conditions_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.hstack([np.eye(8, dtype=np.int64), rng.integers(-(2**30), 2**30, size=(8, 2))])
    reduced = reduce_rows(rows)
    mu, lengths = exact_coefficients(reduced)
    assert max(abs(value) for row in mu for value in row) <= Fraction(502, 1000)
    for k in range(1, 8):
        assert lengths[k] >= (Fraction(98, 100) - mu[k][k - 1] ** 2) * lengths[k - 1]
    # The same lattice: the first columns are the whole-number transformation, of determinant 1.
    turn = reduced[:, :8]
    assert abs(round(np.linalg.det(turn.astype(float)))) == 1
    np.testing.assert_array_equal(turn @ rows, reduced)


def test_relations_between_large_numbers_are_found() -> None:
    """Twelve multiples of two hidden real numbers: ten relations cancel in all digits."""
    rng = np.random.default_rng(1)
    hidden = rng.integers(-20, 20, size=(12, 2))
    column = np.rint(hidden @ np.array([np.sqrt(2.0), np.sqrt(3.0)]) * 1e11).astype(np.int64)
    relations = short_relations(column[:, None])
    assert not (relations[:10] @ hidden).any()
    assert abs(round(np.linalg.det(relations.astype(float)))) == 1
    assert (relations[10:] @ hidden).any(axis=1).all()


def test_a_kernel_is_orthogonal_and_whole() -> None:
    rng = np.random.default_rng(2)
    hidden = rng.integers(-30, 30, size=(3, 15))
    orthogonal = integer_kernel(hidden, 12)
    assert orthogonal.shape == (12, 15)
    assert not (orthogonal @ hidden.T).any()
    back = integer_kernel(orthogonal, 3)
    # The hidden rows are whole combinations of the basis that comes back.
    combined = np.linalg.lstsq(back.T.astype(float), hidden.T.astype(float), rcond=None)[0]
    np.testing.assert_allclose(combined, np.rint(combined), atol=1e-9)
    assert integer_kernel(np.eye(4, dtype=np.int64), 1) is None


@pytest.mark.parametrize("seed", range(5))
def test_whole_numbers_come_back_from_one_real_number(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.rint(rng.normal(40.0, 12.0, size=(50, 4))).astype(np.int64)
    weights = rng.normal(size=4)
    found = nearest_points(rows @ weights, weights, np.full(4, 40.0), np.full(4, 12.0))
    np.testing.assert_array_equal(found, rows)
