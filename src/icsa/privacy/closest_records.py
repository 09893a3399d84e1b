"""Distances to closest records, as users of other tools know them, with the original's own.

No average of these decides: one copied person among many safe ones hardly moves them.
"""

from __future__ import annotations

import math

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.errors import InputError
from icsa.matrices import Vector
from icsa.measures import Direction, Measure, NotEstimable
from icsa.privacy.lenses import Lenses
from icsa.privacy.neighbours import nearest
from icsa.privacy.people import Nearness
from icsa.privacy.people_findings import share_measure

__all__ = ["closest_record_measures", "interval_disclosure", "quantile_measure"]

# Rows of each table that distances to the closest record are computed for.
_SAMPLED_ROWS = 1_000
# Fixed, and no secret: it chooses them.
_SEED = 20_006
# The ball of interval disclosure: so many robust standard deviations a column.
_BALL = 0.1


def closest_record_measures(lenses: Lenses, *, threads: int = 1) -> dict[str, Measure]:
    """Return DCR, NNDR and the DCR share, each beside the original's own.

    DCR is the distance of a released row to the closest original (lens E), NNDR that distance over
    the one to the second closest; the original's own leave the row itself out. The DCR share is the
    share of the originals nearer to a released row than to another original: about n*/(n* + n - 1)
    for fresh data. All on at most 1,000 rows of each table. Values near the original's own are
    good.

    Returns
    -------
    dict of str to Measure
        "dcr_q05", "dcr_median", "nndr_q05", "nndr_median", the same with "_original", "dcr_share".

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> x = np.array([[0.0], [1.0], [3.0], [7.0]])  # median 2, scale 1.5 * 1.4826
    >>> found = closest_record_measures(fit_lenses(as_features(x, x + 0.5)))
    >>> found["dcr_share"].value, round(found["dcr_median"].value * 1.5 * 1.4826, 3)
    (1.0, 0.5)
    """
    originals, releases = lenses.originals("E"), lenses.releases("E")
    own, shown = _sampled(originals.n_rows), _sampled(releases.n_rows)
    among = nearest(originals.rows(own), originals, k=2, own=own, threads=threads)
    across = nearest(releases.rows(shown), originals, k=2, threads=threads)
    back = nearest(originals.rows(own), releases, threads=threads)
    measures = {}
    for suffix, distances in (("", across.distances), ("_original", among.distances)):
        farther = np.where(distances[:, 1] > 0.0, distances[:, 1], np.nan)
        ratios = distances[:, 0] / np.where(np.isfinite(farther), farther, np.nan)
        for level, end in ((0.05, "q05"), (0.5, "median")):
            for name, values in (("dcr", distances[:, 0]), ("nndr", ratios)):
                direction: Direction = "neither" if suffix else "higher is safer"
                key = f"{name}_{end}{suffix}"
                measures[key] = quantile_measure(values, level, name=key, direction=direction)
    nearer = int(np.sum(back.distances[:, 0] < among.distances[:, 0]))
    measures["dcr_share"] = share_measure(nearer, own.size, "DCR share")
    return measures


def interval_disclosure(lenses: Lenses, near: Nearness) -> Measure:
    """Return the share of people within a small robust ball of their nearest released row.

    The ball has the radius .1 sqrt(p) under lens M: a tenth of a robust standard deviation a
    column. 0 is good.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.people import measure_nearness, measure_surroundings
    >>> from icsa.privacy.standing_out import named_people
    >>> x = np.random.default_rng(1).normal(size=(50, 3))
    >>> lenses = fit_lenses(as_features(x, x + 0.01))
    >>> near = measure_nearness(lenses, measure_surroundings(lenses, named_people(lenses, [1, 2])))
    >>> interval_disclosure(lenses, near).value
    1.0
    """
    radius = _BALL * math.sqrt(max(1, lenses.n_varying))
    distances = near.d_rel["M"]
    name = "robust interval disclosure"
    if not distances.size:
        return Measure.of(NotEstimable("nobody stands out"), name=name, direction="lower is safer")
    return share_measure(int(np.sum(distances <= radius)), distances.size, name)


def quantile_measure(
    values: Vector, level: float, *, name: str, direction: Direction = "neither"
) -> Measure:
    """Return a quantile with its interval from order statistics (binomial, about 95%).

    Undefined values (NaN or infinite) are left out and counted.

    Examples
    --------
    >>> print(quantile_measure(np.arange(101.0), 0.5, name="median"))
    50.0 (40.0 to 60.0)
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"A quantile's level lies between 0 and 1: got {level}.")
    ordered = np.sort(values[np.isfinite(values)])
    n = ordered.size
    if not n:
        reason = NotEstimable("no distance is defined")
        return Measure.of(reason, name=name, direction=direction, n_undefined=values.size)
    half = 1.959964 * math.sqrt(n * level * (1.0 - level))
    low = max(0, math.floor(n * level - half))
    high = min(n - 1, math.floor(n * level + half))
    return Measure.of(
        float(np.quantile(ordered, level)),
        name=name,
        direction=direction,
        n=n,
        n_undefined=values.size - n,
        interval=(float(ordered[low]), float(ordered[high])),
    )


def _sampled(n: int) -> RowNumbers:
    chosen = np.random.default_rng(_SEED).permutation(n)[:_SAMPLED_ROWS]
    return np.sort(chosen).astype(np.int64)
