"""The two ends of every privacy measure's scale on the table at hand.

What the measures say of an exact shuffled copy, and of the original with every column shuffled on
its own. The verdicts on both are the self-test of `icsa.privacy.self_test`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from icsa.measures import Measure
from icsa.privacy import other_names
from icsa.privacy.features import Features, FeatureTable
from icsa.privacy.groups import nearest_release_group
from icsa.privacy.lenses import Lenses, fit_lenses
from icsa.privacy.neighbours import RowNumbers
from icsa.privacy.partial_knowledge import all_but_one_attack
from icsa.privacy.people import Surroundings, measure_nearness, measure_surroundings
from icsa.privacy.standing_out import named_people

__all__ = ["Ends", "ends_of_measures"]

Ends = Mapping[str, tuple[float | None, float | None]]

# Larger tables are looked at through so many of their rows, with so many of the people among them.
_MOST_ROWS = 10_000
_MOST_PEOPLE = 100
# Fixed, and no secret: it shuffles tables that nobody gets to see.
_SEED = 20_008


def ends_of_measures(features: Features, people: RowNumbers, *, threads: int = 1) -> Ends:
    """Return what each measure says of a shuffled copy and of columns shuffled apart, by its name.

    Parameters
    ----------
    features : Features
    people : ndarray of int
        Row numbers of those who stand out, from 0.
    threads : int
        As in `icsa.privacy.neighbours.nearest`.

    Examples
    --------
    >>> from icsa.privacy.features import as_features
    >>> x = np.random.default_rng(1).normal(size=(100, 4))
    >>> ends = ends_of_measures(as_features(x, x), np.array([3, 5]))
    >>> ends["verbatim_rows"]
    (100.0, 0.0)
    """
    n = features.original.n_rows
    table, rows = _smaller(features.original, people)
    rng = np.random.default_rng(_SEED)
    copy = table.rows(rng.permutation(table.n_rows))
    apart = FeatureTable(
        _each(rng, table.numbers).astype(np.float64), _each(rng, table.codes).astype(np.int32)
    )
    lenses = fit_lenses(Features(table, copy, features.names, features.grids))
    around = measure_surroundings(lenses, named_people(lenses, rows, threads=threads))
    first = _measures(lenses, around, threads)
    second = _measures(lenses.with_released(apart), around, threads)
    ends = {key: (first[key].value, second[key].value) for key in first}
    part = n / table.n_rows
    # A count grows with the table: what was counted in a part stands for the whole.
    counted = (first["verbatim_rows"].value or 0.0, second["verbatim_rows"].value or 0.0)
    ends["verbatim_rows"] = (float(round(counted[0] * part)), float(round(counted[1] * part)))
    return ends


def _smaller(table: FeatureTable, people: RowNumbers) -> tuple[FeatureTable, RowNumbers]:
    n = table.n_rows
    if n <= _MOST_ROWS:
        return table, people[:_MOST_PEOPLE]
    chosen = people[:_MOST_PEOPLE]
    others = np.random.default_rng(_SEED).permutation(n)[:_MOST_ROWS]
    kept = np.unique(np.concatenate([chosen, others]))
    return table.rows(kept), np.searchsorted(kept, chosen).astype(np.int64)


def _each(rng: np.random.Generator, columns: np.ndarray) -> np.ndarray:
    return np.array([rng.permutation(column) for column in columns]).reshape(columns.shape)


def _measures(lenses: Lenses, around: Surroundings, threads: int) -> dict[str, Measure]:
    """Return the measures by the names that `icsa.privacy.assess_privacy` gives them."""
    near = measure_nearness(lenses, around, threads=threads)
    features, rows = lenses.features, around.people.rows
    group = nearest_release_group(near.rho["E"], features.original.n_rows, features.released.n_rows)
    attack = all_but_one_attack(lenses, rows, threads=threads)
    return {
        "smallest_chance": Measure.of(
            float(near.corrected.min(initial=1.0)), name="smallest P", n=rows.size
        ),
        "nearest_release_share": group.share,
        "rho_median": other_names.quantile_measure(near.rho["E"], 0.5, name="median rho"),
        "attack_success": Measure.mean_of(attack.success, name="attack"),
        "attack_control": Measure.mean_of(attack.control, name="attack, control"),
        "ore": other_names.raw_outlier_replication_error(features, rows),
        "ore_scaled": other_names.scaled_outlier_replication_error(lenses, rows, near),
        **other_names.copied_row_measures(features),
        "verbatim_extremes": other_names.verbatim_extremes(features),
        "interval_disclosure": other_names.interval_disclosure(lenses, near),
        **other_names.closest_record_measures(lenses, threads=threads),
    }
