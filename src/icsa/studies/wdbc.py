"""The Wisconsin study: what the lasso loses, and how near the ten malignant rows are copied."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from icsa.anonymization import masked_copy
from icsa.errors import UnknownNameError
from icsa.ics import invariant_coordinates
from icsa.matrices import Matrix
from icsa.privacy import outlier_replication_error
from icsa.randomness import as_key
from icsa.studies.jobs import Job, Study
from icsa.studies.named_methods import method_of
from icsa.studies.simulation import number
from icsa.utility.lasso import LassoFit, cross_validated_lasso, random_folds
from icsa.utility.selection import SELECTION_METRICS

__all__ = [
    "ROWS",
    "TARGETS",
    "WdbcConfig",
    "drawn_folds",
    "fitted_lasso",
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


def wdbc_study(config: WdbcConfig) -> Study:
    """Return the study: a job for every target and block of releases."""
    jobs = (
        Job(f"t{target}-r{first:05d}", {"target": target, "first": first})
        for target in range(len(TARGETS))
        for first in range(0, config.releases, config.block)
    )
    return Study("wdbc", config, tuple(jobs), release_block)


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
            released = masked_copy(
                table,
                maps[method.name],
                mask=method.mask,
                decorrelate=method.decorrelate,
                random_state=key.child("release", release),
                threads=1,
            )
            fit = fitted_lasso(released, folds)
            found.append(
                {
                    "target": TARGETS[target],
                    "release": release,
                    "method": method.name,
                    "ore": number(outlier_replication_error(table, released, outliers)),
                    "distance": float(np.linalg.norm(reference.coefficients - fit.coefficients)),
                    **{
                        name: number(metric(reference.selected, fit.selected))
                        for name, metric in SELECTION_METRICS.items()
                    },
                }
            )
    return {name: np.array([row[name] for row in found]) for name in found[0]}


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
