"""A lone person is put together again from a permuted release, and from no other."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.attacks import reassemble
from icsa.privacy import outlier_replication_error

from .tables import people, released

SEEDS = range(10)


def errors_of(mask: str, *, decorrelate: bool = False, severity: float = 50.0) -> list[float]:
    """Return the relative squared distance of guess and person, 1 where there is no guess."""
    found = []
    for seed in SEEDS:
        x = people(240, 5, seed, severity=severity)
        guess = reassemble(released(x, mask, seed, decorrelate=decorrelate)[0]).guess
        found.append(
            1.0 if guess is None else outlier_replication_error(x, guess[None], [x.shape[0] - 1])
        )
    return found


@pytest.mark.parametrize("decorrelate", [False, True])
def test_a_permuted_lone_person_is_put_together_again(decorrelate: bool) -> None:
    found = errors_of("permute", decorrelate=decorrelate)
    # Of 20 other seeds 19 were below .1, and the median was .009.
    assert np.median(found) < 0.03
    assert np.mean(np.array(found) < 0.1) >= 0.8


@pytest.mark.parametrize(("mask", "decorrelate"), [("rotate", False), ("redraw", True)])
def test_no_piece_is_left_by_masks_that_draw_anew(mask: str, decorrelate: bool) -> None:
    assert min(errors_of(mask, decorrelate=decorrelate)) > 0.3


def test_the_guess_is_nobody_else() -> None:
    for seed in SEEDS:
        x = people(240, 5, seed, severity=50.0)
        outsider = people(240, 5, seed + 1000, severity=50.0)[-1:]
        guess = reassemble(released(x, "permute", seed)[0]).guess
        assert outlier_replication_error(outsider, guess[None], [0]) > 0.1


def test_pieces_by_hand() -> None:
    """Along the axes of a table with a scatter near 1, (40, 0, 0), (0, 30, 0) and (0, 0, 20)."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 3))
    rows[[7, 11, 13]] = np.diag([40.0, 30.0, -20.0])
    # Beside the first piece, so it is no piece of its own.
    rows[17] = [35.0, 2.0, 2.0]
    found = reassemble(rows)
    assert found.pieces.tolist() == [7, 11, 13]
    assert found.n_far == 4
    np.testing.assert_allclose(found.guess, [40.0, 30.0, -20.0], rtol=0.05)
    np.testing.assert_allclose(np.abs(found.lengths), [40.0, 30.0, 20.0], rtol=0.1)
    assert "pieces of 4 rows" in repr(found)
    assert "40" not in repr(found)


def test_nobody_far_out_gives_no_guess() -> None:
    for seed in SEEDS:
        found = reassemble(people(240, 5, seed))
        assert found.guess is None
        assert found.pieces.size == 0


def test_the_guess_moves_with_the_table() -> None:
    x = people(240, 5, 3, severity=50.0)
    rows = released(x, "permute", 3)[0]
    scale, shift = np.array([1e-3, 1.0, 50.0, 7.0, 0.1]), np.arange(5.0)
    guess, moved = reassemble(rows).guess, reassemble(rows * scale + shift).guess
    np.testing.assert_allclose(moved, guess * scale + shift, rtol=0.02, atol=0.05)
