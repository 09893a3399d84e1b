"""Every measure of a release by the name it has in files: the one list of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features
from icsa.matrices import LARGEST
from icsa.measures import Measure, NotEstimable
from icsa.privacy.closest_records import (
    closest_record_measures,
    interval_disclosure,
    quantile_measure,
)
from icsa.privacy.copies import copied_row_measures, resemblance_measures, verbatim_extremes
from icsa.privacy.lenses import Lenses
from icsa.privacy.people import Nearness, standing_out_parts
from icsa.privacy.people_findings import Findings
from icsa.privacy.replication import replication_measure

__all__ = [
    "privacy_measures",
    "raw_outlier_replication_error",
    "scaled_outlier_replication_error",
]

_NOBODY = "nobody stands out"


def privacy_measures(found: Findings) -> dict[str, Measure]:
    """Return the measures of a release by name, such as "ore", "verbatim_rows" and "dcr_q05".

    A new measure gets a file of its own and a line here.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.people import measure_surroundings
    >>> from icsa.privacy.standing_out import standing_out
    >>> x = np.random.default_rng(1).normal(size=(100, 4))
    >>> lenses = fit_lenses(as_features(x, x[::-1]))
    >>> around = measure_surroundings(lenses, standing_out(lenses))
    >>> measures = privacy_measures(Findings.of(lenses, around))
    >>> measures["verbatim_rows"].value, measures["attack_success"].value
    (100.0, 1.0)
    """
    lenses, near, rows = found.lenses, found.near, found.rows
    smallest = float(near.corrected.min()) if rows.size else NotEstimable(_NOBODY)
    return {
        "smallest_chance": Measure.of(
            smallest, name="smallest P", direction="higher is safer", n=rows.size
        ),
        "nearest_release_share": found.group.share,
        "rho_median": quantile_measure(
            near.rho["E"], 0.5, name="median rho", direction="higher is safer"
        ),
        "attack_success": Measure.mean_of(
            found.attack.success,
            name="all-but-one attack",
            direction="lower is safer",
            reason=_NOBODY,
        ),
        "attack_control": Measure.mean_of(
            found.attack.control, name="all-but-one attack, control", reason=_NOBODY
        ),
        "ore": raw_outlier_replication_error(*found.in_raw_units),
        "ore_scaled": scaled_outlier_replication_error(lenses, rows, near),
        **copied_row_measures(found.exact),
        **resemblance_measures(found.everybody),
        "verbatim_extremes": verbatim_extremes(found.extremes),
        "extremes_chance": Measure.of(
            found.extremes.chance,
            name="P of so many extremes",
            direction="higher is safer",
            n=found.extremes.people,
        ),
        "interval_disclosure": interval_disclosure(lenses, near),
        **closest_record_measures(found.for_averages, threads=found.threads),
    }


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
        reason = _NOBODY
    elif not original.shape[0]:
        reason = "there are no numeric columns"
    elif np.isnan(original[:, rows]).any() or np.isnan(released).any():
        reason = "numeric cells are missing"
    elif max(np.abs(original[:, rows]).max(), np.abs(released).max(initial=0.0)) > LARGEST:
        reason = f"numbers are larger than {LARGEST:g}: squared they are none"
    if reason:
        return Measure.of(NotEstimable(reason), name=name, direction="higher is safer")
    measure = replication_measure(original[:, rows].T, released.T, np.arange(rows.size))
    return replace(measure, name=name)


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
        direction="higher is safer",
        reason=_NOBODY if not rows.size else "the people are at the centre",
    )
