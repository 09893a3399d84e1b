"""Every measure of a release by the name it has in files; for the ends of the scales too."""

from __future__ import annotations

from icsa.measures import Measure, NotEstimable
from icsa.privacy import other_names
from icsa.privacy.groups import Group
from icsa.privacy.lenses import Lenses
from icsa.privacy.partial_knowledge import AttackOutcome
from icsa.privacy.people import Nearness, Surroundings

__all__ = ["privacy_measures"]

_NOBODY = "nobody stands out"


def privacy_measures(
    lenses: Lenses,
    around: Surroundings,
    near: Nearness,
    group: Group,
    attack: AttackOutcome,
    *,
    threads: int = 1,
) -> dict[str, Measure]:
    """Return the measures of a release by name, such as "ore", "verbatim_rows" and "dcr_q05".

    Parameters
    ----------
    lenses : Lenses
        With the release.
    around, near, group, attack
        What was found about the people who stand out.
    threads : int
        As in `icsa.privacy.neighbours.nearest`.

    Examples
    --------
    >>> import numpy as np
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.groups import nearest_release_group
    >>> from icsa.privacy.lenses import fit_lenses
    >>> from icsa.privacy.partial_knowledge import all_but_one_attack
    >>> from icsa.privacy.people import measure_nearness, measure_surroundings
    >>> from icsa.privacy.standing_out import standing_out
    >>> x = np.random.default_rng(1).normal(size=(100, 4))
    >>> lenses = fit_lenses(as_features(x, x[::-1]))
    >>> around = measure_surroundings(lenses, standing_out(lenses))
    >>> near = measure_nearness(lenses, around)
    >>> group = nearest_release_group(near.rho["E"], 100, 100)
    >>> attack = all_but_one_attack(lenses, around.people.rows)
    >>> measures = privacy_measures(lenses, around, near, group, attack)
    >>> measures["verbatim_rows"].value, measures["attack_success"].value
    (100.0, 1.0)
    """
    features, rows = lenses.features, around.people.rows
    smallest = float(near.corrected.min()) if rows.size else NotEstimable(_NOBODY)
    return {
        "smallest_chance": Measure.of(
            smallest, name="smallest P", direction="higher is safer", n=rows.size
        ),
        "nearest_release_share": group.share,
        "rho_median": other_names.quantile_measure(
            near.rho["E"], 0.5, name="median rho", direction="higher is safer"
        ),
        "attack_success": Measure.mean_of(
            attack.success, name="all-but-one attack", direction="lower is safer", reason=_NOBODY
        ),
        "attack_control": Measure.mean_of(
            attack.control, name="all-but-one attack, control", reason=_NOBODY
        ),
        "ore": other_names.raw_outlier_replication_error(features, rows),
        "ore_scaled": other_names.scaled_outlier_replication_error(lenses, rows, near),
        **other_names.copied_row_measures(features),
        "verbatim_extremes": other_names.verbatim_extremes(features),
        "interval_disclosure": other_names.interval_disclosure(lenses, near),
        **other_names.closest_record_measures(lenses, threads=threads),
    }
