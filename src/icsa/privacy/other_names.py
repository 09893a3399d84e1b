"""Measures that users of other tools know, each with its direction and its yardstick.

No average of these decides: one copied person among many safe ones hardly moves them.
"""

from __future__ import annotations

import math

import numpy as np

from icsa.comparison.features import Features
from icsa.errors import InputError
from icsa.matrices import Vector
from icsa.measures import Direction, Measure, NotEstimable
from icsa.privacy.groups import clopper_pearson
from icsa.privacy.lenses import Lenses
from icsa.privacy.neighbours import RowNumbers, nearest
from icsa.privacy.people import Nearness, standing_out_parts
from icsa.privacy.replication import replication_measure
from icsa.privacy.row_hashes import RowHashes, row_hashes

__all__ = [
    "closest_record_measures",
    "copied_row_measures",
    "identical_match_share",
    "interval_disclosure",
    "quantile_measure",
    "raw_outlier_replication_error",
    "replicated_uniques",
    "scaled_outlier_replication_error",
    "verbatim_extremes",
    "verbatim_rows",
]

# Rows of each table that distances to the closest record are computed for.
_SAMPLED_ROWS = 1_000
# Fixed, and no secret: it chooses them.
_SEED = 20_006
# The ball of interval disclosure: so many robust standard deviations a column.
_BALL = 0.1

_SAFER_LOW: Direction = "lower is safer"
_SAFER_HIGH: Direction = "higher is safer"


def copied_row_measures(features: Features) -> dict[str, Measure]:
    """Return "verbatim_rows", "identical_match_share" and "replicated_uniques".

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> both = as_features([[1.0], [1.0], [2.0], [3.0]], [[3.0], [1.0]])
    >>> {name: measure.value for name, measure in copied_row_measures(both).items()}
    {'verbatim_rows': 2.0, 'identical_match_share': 1.0, 'replicated_uniques': 0.5}
    """
    originals, counts = np.unique(row_hashes(features.original), return_counts=True)
    releases = np.sort(row_hashes(features.released))
    copied, n = _count_of(releases, originals), features.released.n_rows
    return {
        "verbatim_rows": Measure.of(float(copied), name="verbatim rows", direction=_SAFER_LOW, n=n),
        "identical_match_share": _share(copied, n, "identical match share (IMS)"),
        "replicated_uniques": _replicated(originals[counts == 1], releases),
    }


def verbatim_rows(features: Features) -> Measure:
    """Return the number of released rows that equal an original row in every cell; 0 is good.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> both = as_features([[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 4.0], [3.0, 4.0]])
    >>> verbatim_rows(both).value
    2.0
    """
    return copied_row_measures(features)["verbatim_rows"]


def identical_match_share(features: Features) -> Measure:
    """Return the share of released rows that equal an original row (IMS); 0 is good.

    The interval is that of Clopper and Pearson.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> both = as_features([[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 4.0]])
    >>> print(identical_match_share(both))
    0.500 (0.013 to 0.987)
    """
    return copied_row_measures(features)["identical_match_share"]


def replicated_uniques(features: Features) -> Measure:
    """Return the share of the original's unique rows that occur in the release; 0 is good.

    Examples
    --------
    Of four rows two are equal; of the two unique ones one is released.

    >>> from icsa.comparison.features import as_features
    >>> both = as_features([[1.0], [1.0], [2.0], [3.0]], [[3.0], [1.0]])
    >>> replicated_uniques(both).value
    0.5
    """
    return copied_row_measures(features)["replicated_uniques"]


def verbatim_extremes(features: Features) -> Measure:
    """Return how many unique largest or smallest values of a column the release holds; 0 is good.

    `n` is the number of columns' ends that only one person has.

    Examples
    --------
    The largest value 9 is released; the smallest, 1, belongs to two people and counts for nothing.

    >>> from icsa.comparison.features import as_features
    >>> measure = verbatim_extremes(as_features([[1.0], [1.0], [4.0], [9.0]], [[2.0], [9.0]]))
    >>> measure.value, measure.n
    (1.0, 1)
    """
    n_ends, n_released = 0, 0
    columns = zip(features.original.numbers, features.released.numbers, strict=True)
    for column, released in columns:
        cells = column[~np.isnan(column)]
        if not cells.size or cells.min() == cells.max():
            continue
        for end in (cells.min(), cells.max()):
            if int(np.sum(cells == end)) == 1:
                n_ends += 1
                n_released += bool(np.any(released == end))
    value = float(n_released) if n_ends else NotEstimable("no column has an end of one person only")
    return Measure.of(value, name="verbatim extremes", direction=_SAFER_LOW, n=n_ends)


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
                direction: Direction = "neither" if suffix else _SAFER_HIGH
                key = f"{name}_{end}{suffix}"
                measures[key] = quantile_measure(values, level, name=key, direction=direction)
    nearer = int(np.sum(back.distances[:, 0] < among.distances[:, 0]))
    measures["dcr_share"] = _share(nearer, own.size, "DCR share")
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
        return Measure.of(NotEstimable("nobody stands out"), name=name, direction=_SAFER_LOW)
    return _share(int(np.sum(distances <= radius)), distances.size, name)


def raw_outlier_replication_error(features: Features, rows: RowNumbers) -> Measure:
    """Return the outlier replication error of the numeric columns as they are, as in the paper.

    It depends on where zero lies and on the units: a constant column can make it as small as one
    likes. `scaled_outlier_replication_error` does not.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> both = as_features([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]], [[3.0, 3.0], [0.0, 0.0]])
    >>> raw_outlier_replication_error(both, np.array([2])).value
    0.04
    """
    name = "outlier replication error, raw"
    original, released = features.original.numbers, features.released.numbers
    reason = ""
    if not rows.size:
        reason = "nobody stands out"
    elif not original.shape[0]:
        reason = "there are no numeric columns"
    elif np.isnan(original[:, rows]).any() or np.isnan(released).any():
        reason = "numeric cells are missing"
    if reason:
        return Measure.of(NotEstimable(reason), name=name, direction=_SAFER_HIGH)
    measure = replication_measure(original[:, rows].T, released.T, np.arange(rows.size))
    return _renamed(measure, name)


def scaled_outlier_replication_error(lenses: Lenses, rows: RowNumbers, near: Nearness) -> Measure:
    """Return the mean of d_rel^2 / |x_k|^2 over the people, centred and in robust units.

    |x_k|^2 is the person's squared distance to the centre under lens E, categories counted by how
    rare they are (`icsa.privacy.people.standing_out_parts`). 0 is a copy, 1 as far as the centre.

    Examples
    --------
    The median is 2: 10 is 8 away from it, and 3.5 from the nearest released row. (3.5/8)^2 = .191.

    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.people import measure_nearness, measure_surroundings
    >>> from icsa.privacy.standing_out import named_people
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
    >>> released = np.array([[-1.0], [0.5], [1.5], [4.5], [6.5]])
    >>> lenses = fit_lenses(as_features(x, released))
    >>> near = measure_nearness(lenses, measure_surroundings(lenses, named_people(lenses, [4])))
    >>> round(scaled_outlier_replication_error(lenses, np.array([4]), near).value, 3)
    0.191
    """
    lengths = standing_out_parts(lenses, rows).sum(axis=1)
    ratios = near.d_rel["E"] ** 2 / np.where(lengths > 0.0, lengths, np.nan)
    return Measure.mean_of(
        ratios,
        name="outlier replication error, centred and robustly scaled",
        direction=_SAFER_HIGH,
        reason="nobody stands out" if not rows.size else "the people are at the centre",
    )


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


def _replicated(unique: RowHashes, releases: RowHashes) -> Measure:
    if not unique.size:
        return Measure.of(
            NotEstimable("no row of the original is unique"),
            name="replicated uniques",
            direction=_SAFER_LOW,
        )
    return _share(_count_of(unique, releases), unique.size, "replicated uniques")


def _count_of(hashes: RowHashes, known: RowHashes) -> int:
    """Return how many of some hashes are among others; both are sorted."""
    places = np.searchsorted(known, hashes)
    places[places == known.size] = 0
    return int(np.count_nonzero(known[places] == hashes))


def _sampled(n: int) -> RowNumbers:
    chosen = np.random.default_rng(_SEED).permutation(n)[:_SAMPLED_ROWS]
    return np.sort(chosen).astype(np.int64)


def _share(count: int, n: int, name: str) -> Measure:
    interval = clopper_pearson(count, n)
    return Measure.of(count / n, name=name, direction=_SAFER_LOW, n=n, interval=interval)


def _renamed(measure: Measure, name: str) -> Measure:
    return Measure(
        name=name,
        value=measure.value,
        low=measure.low,
        high=measure.high,
        direction=measure.direction,
        n=measure.n,
        n_undefined=measure.n_undefined,
        reason=measure.reason,
    )
