"""A rounded table comes back whole from a permuted release with all its digits."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.attacks import table_from_digits
from icsa.errors import InputError

from .tables import people, released

STEPS = np.array([0.1, 1.0, 0.5, 0.01])


def rounded(p: int, seed: int) -> np.ndarray:
    """Return a table of some ten steps of spread a column."""
    return np.rint(40.0 + 10.0 * people(240, p, seed)) * STEPS[:p]


def shares(x: np.ndarray, table: np.ndarray, steps: np.ndarray) -> tuple[float, int]:
    """Return the share of the rows of `x` that were found, and the number of wrong ones."""
    found = table_from_digits(table, steps, subsets=4).rows
    true, guessed = ({tuple(row) for row in np.rint(part / steps)} for part in (x, found))
    return float(np.mean([tuple(row) in guessed for row in np.rint(x / steps)])), len(
        guessed - true
    )


@pytest.mark.parametrize("scatters", [("mcd50", "mcd75"), ("identity", "cov")])
@pytest.mark.parametrize("decorrelate", [False, True])
@pytest.mark.parametrize("p", [2, 3])
def test_all_rows_come_back_from_a_permuted_release(
    p: int, decorrelate: bool, scatters: tuple[str, str]
) -> None:
    found = []
    for seed in range(6):
        x = rounded(p, seed)
        table, _ = released(x, "permute", seed, decorrelate=decorrelate, scatters=scatters)
        share, wrong = shares(x, table, STEPS[:p])
        assert wrong == 0
        found.append(share)
    # Of 40 tables with three columns 39 came back, with two all.
    assert np.count_nonzero(np.array(found) == 1.0) >= 4


def test_four_columns() -> None:
    x, outsiders = rounded(4, 1), rounded(4, 2)
    table, _ = released(x, "permute", 1)
    assert shares(x, table, STEPS) == (1.0, 0)
    assert shares(outsiders, table, STEPS)[0] == 0.0


@pytest.mark.parametrize(("mask", "decorrelate"), [("rotate", False), ("redraw", True)])
@pytest.mark.parametrize("p", [2, 3])
def test_masks_that_draw_anew_have_no_hidden_whole_numbers(
    p: int, mask: str, decorrelate: bool
) -> None:
    for seed in range(3):
        x = rounded(p, seed)
        table, _ = released(x, mask, seed, decorrelate=decorrelate)
        found = table_from_digits(table, STEPS[:p], subsets=4)
        assert found.rows.shape == (0, p)
        assert found.votes.max(initial=0) <= 1


def test_rounding_to_the_lattice_stops_it() -> None:
    for seed in range(3):
        x = rounded(3, seed)
        table, _ = released(x, "permute", seed)
        steps = STEPS[:3]
        assert shares(x, np.rint(table / steps) * steps, steps)[0] < 0.05


def test_what_cannot_be_attacked_is_said() -> None:
    with pytest.raises(InputError, match="2 to 5 columns"):
        table_from_digits(np.zeros((300, 6)), np.ones(6))
    with pytest.raises(InputError, match="31 rows with 2"):
        table_from_digits(np.zeros((20, 2)), np.ones(2))
    with pytest.raises(InputError, match="step of each of the 2"):
        table_from_digits(np.zeros((40, 2)), [1.0])
