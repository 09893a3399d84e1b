"""One substitution of an M-estimate, against a slow truth."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.scatters import weighting
from icsa.scatters.weighting import substitution


def slow_substitution(y, w, v, average):
    """The readable twin: y (n, p) whitened rows, w and v functions of the squared length."""
    kept = [row for row in y if w(row @ row) > 0.0]
    scatter = sum(w(row @ row) * np.outer(row, row) for row in kept)
    scatter = scatter / (sum(w(row @ row) for row in kept) if average else len(kept))
    pull = sum(v(row @ row) * row for row in kept)
    shift = pull / sum(v(row @ row) for row in kept)
    change = scatter - np.eye(y.shape[1])
    sizes = np.linalg.norm(change) / np.sqrt(y.shape[1]), np.linalg.norm(pull) / len(kept)
    return shift, change, max(sizes)


def tyler_weight(d):
    return 3.0 / d if d > 0.0 else 0.0


def t_weight(d):
    return 5.0 / (2.0 + d)


@pytest.mark.parametrize(
    ("options", "w", "v"),
    [
        ((3.0, 0.0, 0.5, False), tyler_weight, lambda d: np.sqrt(tyler_weight(d))),
        ((3.0, 0.0, 0.0, False), tyler_weight, lambda d: 1.0),
        ((5.0, 2.0, 1.0, True), t_weight, t_weight),
    ],
    ids=["hr", "tyler", "t"],
)
@pytest.mark.parametrize("block", [7, 4096])
def test_against_slow_twin(options, w, v, block, monkeypatch):
    monkeypatch.setattr(weighting, "_BLOCK", block)
    rng = np.random.default_rng(0)
    base = rng.standard_normal((3, 40))
    a = np.tril(rng.standard_normal((3, 3)))
    location = rng.standard_normal(3)
    base[:, 5] = base[:, 6]  # tied rows
    b = a @ location
    top, bottom, power, average = options
    move = substitution(top, bottom, location_power=power, average=average)(base, a, b)
    shift, change, residual = slow_substitution((a @ base - b[:, None]).T, w, v, average)
    np.testing.assert_allclose(move.change, change, rtol=1e-12, atol=1e-14)
    if power:
        np.testing.assert_allclose(move.shift, shift, rtol=1e-12, atol=1e-14)
        assert move.residual == pytest.approx(residual, rel=1e-12)
    else:
        assert (move.shift == 0.0).all()


def test_a_row_at_the_location_is_left_out():
    base = np.array([[0.0, 1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0, -2.0]])
    step = substitution(2.0, 0.0, location_power=0.5, average=False)
    move = step(base, np.eye(2), np.zeros(2))
    # Four unit vectors along the axes: mean zero, 2 mean(u u') = I.
    assert (move.shift == 0.0).all()
    assert np.abs(move.change).max() < 1e-15
    assert move.residual < 1e-15
