"""The Wisconsin study: what the lasso loses, and how near the ten malignant rows are copied."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from icsa.errors import UnknownNameError
from icsa.ics import invariant_coordinates
from icsa.jobs import Job, Work, columns_of
from icsa.matrices import Matrix
from icsa.privacy import outlier_replication_error
from icsa.randomness import as_key
from icsa.studies.named_methods import method_of
from icsa.studies.simulation import number
from icsa.utility.lasso import LassoFit, cross_validated_lasso, random_folds
from icsa.utility.selection import SELECTION_METRICS

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "ROWS",
    "TARGETS",
    "WdbcConfig",
    "drawn_folds",
    "fitted_lasso",
    "fold_ranges",
    "release_block",
    "target_table",
    "wdbc_rows",
    "wdbc_study",
]

# Malignant rows of scikit-learn's copy that stand beside all benign ones, in two published draws.
ROWS: dict[str, tuple[int, ...]] = {
    "adbench": (28, 117, 230, 95, 370, 323, 516, 498, 33, 564),
    "campos": (258, 255, 100, 302, 535, 77, 352, 34, 392, 82),
}
TARGETS = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
)
_PREDICTORS = 20
_FOLDS = 10
_BENIGN = 1


@dataclass(frozen=True)
class WdbcConfig:
    """Every parameter of the Wisconsin study; the paper's by default.

    Attributes
    ----------
    rows : str
        Which draw of malignant rows: "adbench" or "campos".
    methods : tuple of str
        As in the simulation.
    releases : int
        Releases a method and target.
    block : int
        Releases a job.
    bootstrap : int
        Resamples behind an interval.
    seed : int
        Everything random comes from it.
    """

    rows: str = "adbench"
    methods: tuple[str, ...] = ("sa", "mcd50-mcd75")
    releases: int = 2000
    block: int = 100
    bootstrap: int = 2000
    seed: int = 2026

    def __post_init__(self) -> None:
        """Refuse unknown names."""
        if self.rows not in ROWS:
            raise UnknownNameError("draw of the rows", self.rows, ROWS)
        for method in self.methods:
            method_of(method)


def wdbc_study(config: WdbcConfig) -> Work:
    """Return the study: a job for every target and block of releases."""
    jobs = (
        Job(f"t{target}-r{first:05d}", {"target": target, "first": first})
        for target in range(len(TARGETS))
        for first in range(0, config.releases, config.block)
    )
    return Work("wdbc", config, tuple(jobs), release_block)


@cache
def wdbc_rows(draw: str) -> tuple[Matrix, np.ndarray]:
    """Return the 367 x 30 table in its units, and the row numbers of the ten malignant rows."""
    # scikit-learn carries the data; only this study needs them.
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    benign = np.flatnonzero(data.target == _BENIGN)
    chosen = np.concatenate([benign, np.array(ROWS[draw])])
    return data.data[chosen], np.arange(benign.size, chosen.size)


def release_block(config: WdbcConfig, *, target: int, first: int) -> dict[str, np.ndarray]:
    """Return what a block of releases replicates and loses for one target.

    Methods share key and folds within a release, and the reference lasso of the original rows has
    the same folds, so that differences are paired. Undefined metrics are NaN.
    """
    table, outliers = target_table(config.rows, target), wdbc_rows(config.rows)[1]
    methods = [method_of(name) for name in config.methods]
    maps = {m.name: invariant_coordinates(table, scatters=m.scatters) for m in methods}
    key = as_key(config.seed).child("wdbc", target)
    found = []
    for release in range(first, min(first + config.block, config.releases)):
        folds = drawn_folds(config, target, release)
        reference = fitted_lasso(table, folds)
        for method in methods:
            released = method.release(table, maps[method.name], key.child("release", release))
            found.append(
                {
                    "target": TARGETS[target],
                    "release": release,
                    "method": method.name,
                    "ore": number(outlier_replication_error(table, released, outliers)),
                    **_compared(reference, fitted_lasso(released, folds)),
                }
            )
    return columns_of(found)


def _compared(reference: LassoFit, fit: LassoFit) -> dict[str, float]:
    return {
        "distance": float(np.linalg.norm(reference.coefficients - fit.coefficients)),
        **{
            name: number(metric(reference.selected, fit.selected))
            for name, metric in SELECTION_METRICS.items()
        },
    }


def target_table(draw: str, target: int) -> Matrix:
    """Return the 21 columns that are released together: 20 predictors, then the target."""
    everything, _ = wdbc_rows(draw)
    return np.column_stack([everything[:, :_PREDICTORS], everything[:, _PREDICTORS + target]])


def drawn_folds(config: WdbcConfig, target: int, release: int) -> np.ndarray:
    """Return the folds of a release, those of its reference too."""
    rows = wdbc_rows(config.rows)[0].shape[0]
    generator = np.random.default_rng([config.seed, target, release])
    return random_folds(rows, _FOLDS, generator)


def fitted_lasso(table: Matrix, folds: np.ndarray) -> LassoFit:
    """Return the cross-validated lasso of the last column on the others."""
    # The published figures were made with cv.glmnet.
    return cross_validated_lasso(
        table[:, :-1], table[:, -1], folds=folds, convention="glmnet", stop_early=True
    )


def fold_ranges(config: WdbcConfig, *, draws: int = 20, releases: int = 10) -> pl.DataFrame:
    """Return how far one fixed draw of the reference's folds moves the mean of every metric.

    The study draws the folds of the reference lasso anew with every release. A run that fits the
    reference once depends on the folds that it happened to draw. Here the same few releases are
    held against the references of several draws. For every method and metric ``down`` and ``up``
    are the least and the largest mean over all targets, less the mean over the draws.
    """
    import polars as pl

    metrics = ("distance", *SELECTION_METRICS)
    # By draw, target, release and metric.
    values = {m: np.empty((draws, len(TARGETS), releases, len(metrics))) for m in config.methods}
    with threadpool_limits(limits=1):
        for target in range(len(TARGETS)):
            table = target_table(config.rows, target)
            # Folds after those of the releases.
            numbers = range(config.releases, config.releases + draws)
            references = [fitted_lasso(table, drawn_folds(config, target, k)) for k in numbers]
            for method in config.methods:
                for release, fit in enumerate(_fits(config, target, method, releases)):
                    for draw, reference in enumerate(references):
                        found = _compared(reference, fit)
                        values[method][draw, target, release] = list(found.values())
    rows = []
    for method, every in values.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a metric that is nowhere defined
            by_draw = np.nanmean(every, axis=(1, 2))
        shifts = by_draw - by_draw.mean(axis=0)
        for position, metric in enumerate(metrics):
            down, up = float(shifts[:, position].min()), float(shifts[:, position].max())
            rows.append({"method": method, "metric": metric, "down": down, "up": up})
    return pl.DataFrame(rows)


def _fits(config: WdbcConfig, target: int, name: str, releases: int) -> Iterator[LassoFit]:
    """Yield the lasso on some of the study's releases."""
    table, method = target_table(config.rows, target), method_of(name)
    coordinates = invariant_coordinates(table, scatters=method.scatters)
    key = as_key(config.seed).child("wdbc", target)
    for release in range(releases):
        released = method.release(table, coordinates, key.child("release", release))
        yield fitted_lasso(released, drawn_folds(config, target, release))
