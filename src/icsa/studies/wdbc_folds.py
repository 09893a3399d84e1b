"""How far the lasso's folds alone move the means of the Wisconsin study."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from icsa.anonymization import masked_copy
from icsa.ics import invariant_coordinates
from icsa.randomness import as_key
from icsa.studies.named_methods import method_of
from icsa.studies.simulation import number
from icsa.studies.wdbc import (
    TARGETS,
    WdbcConfig,
    drawn_folds,
    fitted_lasso,
    target_table,
)
from icsa.utility.lasso import LassoFit
from icsa.utility.selection import SELECTION_METRICS

__all__ = ["fold_ranges"]

_METRICS = ("distance", *SELECTION_METRICS)


def fold_ranges(config: WdbcConfig, *, draws: int = 20, releases: int = 10) -> pl.DataFrame:
    """Return how far one fixed draw of the reference's folds moves the mean of every metric.

    The study draws the folds of the reference lasso anew with every release. A run that fits the
    reference once depends on the folds that it happened to draw. Here the same few releases are
    held against the references of several draws.

    Parameters
    ----------
    config : WdbcConfig
    draws, releases : int
        Draws of folds, and releases a method and target.

    Returns
    -------
    DataFrame
        For every method and metric ``down`` and ``up``: the least and the largest mean over all
        targets, less the mean over the draws.
    """
    # By draw, target, release and metric.
    values = {m: np.empty((draws, len(TARGETS), releases, len(_METRICS))) for m in config.methods}
    with threadpool_limits(limits=1):
        for target in range(len(TARGETS)):
            table = target_table(config.rows, target)
            references = [fitted_lasso(table, f) for f in _folds(config, target, draws)]
            for method in config.methods:
                for release, fit in enumerate(_fits(config, target, method, releases)):
                    for draw, reference in enumerate(references):
                        values[method][draw, target, release] = _compared(reference, fit)
    rows = []
    for method, found in values.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a metric that is nowhere defined
            by_draw = np.nanmean(found, axis=(1, 2))
        shifts = by_draw - by_draw.mean(axis=0)
        for position, metric in enumerate(_METRICS):
            down, up = float(shifts[:, position].min()), float(shifts[:, position].max())
            rows.append({"method": method, "metric": metric, "down": down, "up": up})
    return pl.DataFrame(rows)


def _folds(config: WdbcConfig, target: int, draws: int) -> Iterator[np.ndarray]:
    # After the folds of the releases.
    for draw in range(draws):
        yield drawn_folds(config, target, config.releases + draw)


def _fits(config: WdbcConfig, target: int, method: str, releases: int) -> Iterator[LassoFit]:
    """Yield the lasso on some of the study's releases."""
    table = target_table(config.rows, target)
    chosen = method_of(method)
    coordinates = invariant_coordinates(table, scatters=chosen.scatters)
    key = as_key(config.seed).child("wdbc", target)
    for release in range(releases):
        released = masked_copy(
            table,
            coordinates,
            mask=chosen.mask,
            decorrelate=chosen.decorrelate,
            random_state=key.child("release", release),
            threads=1,
        )
        yield fitted_lasso(released, drawn_folds(config, target, release))


def _compared(reference: LassoFit, fit: LassoFit) -> list[float]:
    return [
        float(np.linalg.norm(reference.coefficients - fit.coefficients)),
        *(number(f(reference.selected, fit.selected)) for f in SELECTION_METRICS.values()),
    ]
