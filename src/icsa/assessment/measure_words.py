"""How each measure is called, what others call it, and what is good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["MEASURES", "SHOWN", "Wording"]


@dataclass(frozen=True)
class Wording:
    """Words for one measure.

    Attributes
    ----------
    source : str
        Its name among those of `icsa.privacy.assess_privacy`.
    label : str
        Its name in tables.
    good : str
        Which values are good.
    definition : str
        Where the glossary explains it.
    also : tuple of str
        What other tools call it.
    """

    source: str
    label: str
    good: str
    definition: str
    also: tuple[str, ...] = ()


_DCR = "near or above the original's own"

MEASURES: Mapping[str, Wording] = MappingProxyType(
    {
        "smallest_chance": Wording(
            "smallest_chance", "smallest P of a person", "above .05", "smallest_chance", ("P",)
        ),
        "expected_replicas": Wording(
            "expected_replicas",
            "largest Lambda: replicas to be expected before any key",
            "limit below .1",
            "expected_replicas",
            ("Lambda",),
        ),
        "nearest_release_share": Wording(
            "nearest_release_share",
            "share of people nearer to the release than to anyone else",
            "about what fresh data give, one half for as many rows",
            "nearest_release_share",
        ),
        "rho_median": Wording("rho_median", "median rho", "about 1", "rho_median"),
        "attack": Wording(
            "attack_success", "all-but-one attack: cells guessed right", "as the control", "attack"
        ),
        "attack_control": Wording(
            "attack_control",
            "control: the same attack on the original without the person",
            "a yardstick",
            "attack",
        ),
        "ore": Wording("ore", "outlier replication error, raw", "well above 0", "ore", ("ORE",)),
        "ore_scaled": Wording(
            "ore_scaled", "outlier replication error, centred and scaled", "towards 1", "ore_scaled"
        ),
        "verbatim_rows": Wording("verbatim_rows", "rows copied cell by cell", "0", "verbatim_rows"),
        "identical_match_share": Wording(
            "identical_match_share",
            "share of released rows that are copies",
            "0",
            "identical_match_share",
            ("IMS", "identical match share"),
        ),
        "replicated_uniques": Wording(
            "replicated_uniques",
            "share of unique original rows in the release",
            "0",
            "replicated_uniques",
            ("replicated uniques",),
        ),
        "verbatim_extremes": Wording(
            "verbatim_extremes",
            "columns' unique largest or smallest values in the release",
            "0",
            "verbatim_extremes",
        ),
        "interval_disclosure": Wording(
            "interval_disclosure",
            "share of people within a small robust ball of a released row",
            "0",
            "interval_disclosure",
            ("robust-distance interval disclosure",),
        ),
        "dcr": Wording("dcr_q05", "distance to the closest record, 5%", _DCR, "dcr", ("DCR",)),
        "dcr_median": Wording(
            "dcr_median", "distance to the closest record, median", _DCR, "dcr", ("DCR",)
        ),
        "dcr_original": Wording(
            "dcr_q05_original", "closest record within the original, 5%", "a yardstick", "dcr"
        ),
        "dcr_median_original": Wording(
            "dcr_median_original",
            "closest record within the original, median",
            "a yardstick",
            "dcr",
        ),
        "nndr": Wording(
            "nndr_q05", "nearest neighbour distance ratio, 5%", _DCR, "nndr", ("NNDR",)
        ),
        "nndr_median": Wording(
            "nndr_median", "nearest neighbour distance ratio, median", _DCR, "nndr", ("NNDR",)
        ),
        "nndr_original": Wording(
            "nndr_q05_original", "distance ratio within the original, 5%", "a yardstick", "nndr"
        ),
        "nndr_median_original": Wording(
            "nndr_median_original",
            "distance ratio within the original, median",
            "a yardstick",
            "nndr",
        ),
        "dcr_share": Wording(
            "dcr_share",
            "share of originals nearer to the release than to another original",
            "about one half for as many rows",
            "dcr_share",
            ("DCR share",),
        ),
    }
)

# What a terminal shows; files have all.
SHOWN = (
    "smallest_chance",
    "expected_replicas",
    "nearest_release_share",
    "rho_median",
    "attack",
    "ore",
    "ore_scaled",
    "verbatim_rows",
    "verbatim_extremes",
    "dcr",
    "nndr",
)
