"""The anchored scatter: weights from some columns, moments of all."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.errors import InputError
from icsa.scatters import anchored, mcd
from icsa.scatters.anchored_estimate import anchor_weights


def test_is_the_reweighted_mcd_up_to_its_factor_where_all_columns_are_anchors():
    x = np.random.default_rng(0).normal(size=(80, 3))
    x[:8] += 30.0
    both, plain = anchored(x, anchors=[0, 1, 2]), mcd(x)
    np.testing.assert_array_equal(both.weights, plain.weights)
    np.testing.assert_allclose(both.location, plain.location, rtol=1e-12)
    factor = plain.consistency * plain.correction
    np.testing.assert_allclose(both.scatter * factor, plain.scatter, rtol=1e-10)


def test_four_rows_by_hand():
    # The MCD of one column keeps the rows that are close; the far row has no say in the second.
    x = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [900.0, 50.0]])
    found = anchored(x, anchors=[0])
    kept = x[found.weights]
    assert not found.weights[5]
    np.testing.assert_allclose(found.location, kept.mean(axis=0))
    np.testing.assert_allclose(found.scatter, np.cov(kept.T))


def test_works_where_the_plain_mcd_is_singular():
    generator = np.random.default_rng(1)
    x = np.column_stack([generator.normal(size=(100, 2)), generator.random(100) < 0.1])
    with pytest.raises(InputError, match="singular"):
        mcd(x)
    found = anchored(x, anchors=[0, 1])
    assert np.linalg.eigvalsh(found.scatter)[0] > 0.0


def test_is_affine_equivariant_for_given_anchors():
    generator = np.random.default_rng(2)
    x, anchors = generator.normal(size=(90, 3)), generator.normal(size=(90, 2))
    a, b = generator.normal(size=(3, 3)), generator.normal(size=3)
    before, after = (anchored(y, anchors=anchors, alpha=0.75) for y in (x, x @ a.T + b))
    np.testing.assert_allclose(after.location, a @ before.location + b, rtol=1e-10)
    np.testing.assert_allclose(after.scatter, a @ before.scatter @ a.T, rtol=1e-9, atol=1e-12)


def test_drops_anchors_that_are_tied_and_columns_that_follow_from_others():
    generator = np.random.default_rng(3)
    x = generator.normal(size=(80, 4))
    x[:60, 1] = 7.0
    x[:, 3] = x[:, 0] + x[:, 2]
    _, used = anchor_weights(x, 0.5)
    assert 1 not in used
    assert len(used) == 2


def test_says_when_no_anchor_is_left():
    x = np.column_stack([np.arange(50.0), np.zeros(50)])
    with pytest.raises(InputError, match="No anchor is left"):
        anchored(x, anchors=[1])


@pytest.mark.parametrize(
    ("change", "match"), [({"alpha": 0.4}, "alpha"), ({"alpha": "x"}, "alpha")]
)
def test_says_what_is_wrong_with_the_support_fraction(change, match):
    with pytest.raises(InputError, match=match):
        anchored(np.random.default_rng(4).normal(size=(50, 2)), anchors=[0, 1], **change)


def test_positions_of_anchors_may_be_an_array():
    x = np.random.default_rng(4).normal(size=(50, 3))
    assert anchored(x, anchors=np.array([0, 2])).anchors == (0, 1)


@pytest.mark.parametrize("usual", [0.0, -0.0639, 1e6 / 3])
def test_a_level_that_only_outliers_have_borrows_its_spread_from_everybody(usual):
    generator = np.random.default_rng(4)
    x = np.column_stack([generator.normal(size=(100, 2)), np.full(100, usual)])
    x[:3, :2] += 100.0
    x[:3, 2] += 1.0
    found = anchored(x, anchors=[0, 1])
    assert found.n_borrowed == 1
    np.testing.assert_allclose(found.scatter[2, 2], np.var(x[:, 2], ddof=1))


def test_a_long_table_is_judged_by_a_fit_to_some_of_its_rows():
    generator = np.random.default_rng(5)
    x = generator.normal(size=(50_000, 3))
    x[:500] += 40.0
    weights, used = anchor_weights(x, 0.5)
    assert used == (0, 1, 2)
    assert not weights[:500].any()
    assert abs(weights[500:].mean() - 0.975) < 0.005


def test_anchors_must_fit_the_table():
    x = np.random.default_rng(6).normal(size=(50, 2))
    with pytest.raises(InputError, match="from 0 to 1"):
        anchored(x, anchors=[2])
    with pytest.raises(InputError, match="got 49 rows for 50"):
        anchored(x, anchors=x[1:])
