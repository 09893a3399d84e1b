"""More columns than rows: a few factors come out, nobody is copied, and it is said."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.errors import InputError
from icsa.randomness import as_key
from icsa.release import plan, prepare, release
from icsa.release.factors import factor_loadings, fill_by_factors
from icsa.tables import Table


def expressions(n: int = 60, p: int = 150, seed: int = 0) -> np.ndarray:
    """Return numbers with three factors, of which each column has one or none."""
    generator = np.random.default_rng(seed)
    slopes = np.zeros((3, p))
    slopes[generator.integers(0, 3, p), np.arange(p)] = generator.choice([-1.5, 0.0, 1.5], p)
    return generator.normal(size=(n, 3)) @ slopes + generator.normal(size=(n, p))


def numbers(n: int = 60, p: int = 150) -> pl.DataFrame:
    return pl.DataFrame({f"g{j}": c for j, c in enumerate(expressions(n, p).round(3).T)})


def survey(n: int = 60, p: int = 90) -> pl.DataFrame:
    """Return answers of all kinds, some of them missing."""
    generator = np.random.default_rng(1)
    x = expressions(n, p)
    cells: dict[str, object] = {"age": generator.integers(20, 80, n)}
    for j in range(p):
        if j % 3 == 0:
            answers = np.clip(np.rint(x[:, j] + 3.0), 1, 5)
            gone = generator.random(n) < 0.1
            cells[f"q{j}"] = pl.Series(np.where(gone, np.nan, answers), nan_to_null=True)
        elif j % 3 == 1:
            cells[f"q{j}"] = np.where(x[:, j] > 0.3, "yes", "no")
        else:
            cells[f"q{j}"] = np.array(["a", "b", "c"])[np.digitize(x[:, j], [-0.7, 0.7])]
    return pl.DataFrame(cells)


def pairs(x: np.ndarray) -> np.ndarray:
    return np.corrcoef(x.T)[np.triu_indices(x.shape[1], 1)]


@pytest.mark.parametrize("method", [None, "icsa", "sa"])
def test_what_columns_have_in_common_is_kept(method: str | None) -> None:
    frame = numbers()
    made = icsa.anonymize(frame, method=method, random_state=1)
    assert made.method == (method or "icsa")
    assert made.n_components == 3
    assert any("3 factors" in note and "MORE COLUMNS" in note for note in made.warnings)
    before, after = pairs(frame.to_numpy()), pairs(made.table.to_numpy())
    strong = np.abs(before) > 0.5
    kept = float(np.mean(after[strong] * np.sign(before[strong]))) / np.abs(before[strong]).mean()
    assert 0.75 < kept < 1.1
    for name in frame.columns:
        assert abs(made.table[name].mean() - frame[name].mean()) < 0.3 * frame[name].std()


def test_nobody_is_copied_and_correlations_are_not_those_of_the_very_people() -> None:
    frame = numbers()
    x, made = frame.to_numpy(), icsa.anonymize(frame, random_state=1).table.to_numpy()
    apart = np.linalg.norm(x[:, None] - x[None], axis=2) + np.diag(np.full(60, np.inf))
    near = np.linalg.norm(x[:, None] - made[None], axis=2).min(axis=1)
    assert (near > 0.7 * apart.min(axis=1)).all()
    # Calibrated, all 59 directions of the people would be those of the release.
    own = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2]
    released = np.linalg.svd(made - made.mean(axis=0), full_matrices=False)[2]
    shared = float((own @ released.T).ravel() @ (own @ released.T).ravel()) / own.shape[0]
    assert shared < 0.6  # of fresh people .4


def test_all_kinds_and_missing_cells_come_out_as_they_were() -> None:
    frame = survey()
    made = icsa.anonymize(frame, random_state=1)
    for name in frame.columns:
        assert made.table[name].dtype == frame[name].dtype
        assert made.table[name].null_count() == frame[name].null_count()
    yes = [name for name in frame.columns if frame[name].n_unique() == 2]
    for name in yes:
        assert (made.table[name] == "yes").sum() == (frame[name] == "yes").sum()
    tables = (frame, made.table)
    before, after = (pairs((t.select(yes).to_numpy() == "yes").astype(float)) for t in tables)
    strong = np.abs(before) > 0.4
    kept = float(np.mean(after[strong] * np.sign(before[strong]))) / np.abs(before[strong]).mean()
    assert 0.6 < kept < 1.2  # .4 without regard to levels


def test_people_planted_far_out_do_not_come_back() -> None:
    x = expressions()
    x[[3, 40]] = 60.0 * np.sign(np.random.default_rng(2).normal(size=(2, 150)))
    made = icsa.anonymize(pl.DataFrame(x.round(3)), random_state=1).table.to_numpy()
    nearest = [np.linalg.norm(made - x[row], axis=1).min() for row in (3, 40)]
    assert min(nearest) > 0.8 * np.linalg.norm(x[3])


def test_one_key_one_release_and_a_plan_serves_many() -> None:
    planned = plan(prepare(Table(survey())))
    first = release(planned, as_key(1)).table.frame
    assert not release(planned, as_key(2)).table.frame.equals(first)
    assert release(planned, as_key(1)).table.frame.equals(first)


def test_without_anything_in_common_columns_are_independent() -> None:
    frame = pl.DataFrame(np.random.default_rng(0).normal(size=(60, 120)).round(3))
    made = icsa.anonymize(frame, random_state=1)
    assert made.n_components == 1
    before, after = pairs(frame.to_numpy()), pairs(made.table.to_numpy())
    assert abs(np.corrcoef(before, after)[0, 1]) < 0.15


def test_somebody_far_out_makes_no_factor() -> None:
    x = expressions()
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    true = factor_loadings(x)
    x[0] = 50.0
    found = factor_loadings(x)
    assert found.shape == true.shape == (150, 3)
    assert np.linalg.svd(found.T @ true, compute_uv=False).min() > 0.9


def test_gaps_are_filled_by_what_the_factors_say() -> None:
    x = expressions()
    gone = np.random.default_rng(1).random(x.shape) < 0.05
    filled = np.where(gone, np.nan, x)
    fill_by_factors(filled)
    assert np.array_equal(filled[~gone], x[~gone])
    assert np.corrcoef(filled[gone], x[gone])[0, 1] > 0.25  # .6 of the variance is noise


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"method": "forest"}, "forests, which would find chance.*--method icsa"),
        ({"method": "sa", "raw_units": True}, "in their own units.*--raw-units"),
    ],
)
def test_what_cannot_be_had_is_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=f"60 rows, too few for its columns.*{told}"):
        icsa.anonymize(numbers(), **options)
