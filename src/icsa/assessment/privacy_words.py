"""Words for people and privacy: every measure's name, what is good, and the glossary's entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = [
    "ATTACKERS",
    "COUNTED",
    "MEASURES",
    "NOT_COUNTED",
    "PRIVACY_TERMS",
    "RULES",
    "SHOWN",
    "Term",
    "Wording",
    "attacker_words",
    "rule_says",
]

SAFE_HIGH = "higher is safer"
SAFE_LOW = "lower is safer"


@dataclass(frozen=True)
class Term:
    """An entry of the glossary.

    Attributes
    ----------
    name, definition : str
    formula : str
        In words or plain signs; empty for a word that is not a figure.
    direction : str
        Such as "lower is safer"; empty where there is none.
    good : str
        Which values are good.
    also : tuple of str
        What other tools call it.
    """

    name: str
    definition: str
    formula: str = ""
    direction: str = ""
    good: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Wording:
    """Words for one measure.

    Attributes
    ----------
    label : str
        Its name in tables.
    good : str
        Which values are good, in few words.
    also : tuple of str
        What other tools call it.
    source : str
        Its name among those of `icsa.privacy.assess_privacy`; empty where it is the same.
    term : str
        The glossary's entry; empty where it is the same.
    """

    label: str
    good: str
    also: tuple[str, ...] = ()
    source: str = ""
    term: str = ""


_DCR = "near or above the original's own"
_DCR_WORDS: Mapping[str, Any] = {"good": _DCR, "also": ("DCR",), "term": "dcr"}
_NNDR_WORDS: Mapping[str, Any] = {"good": _DCR, "also": ("NNDR",), "term": "nndr"}
_YARDSTICK = "a yardstick"
# Replaced by the number where it is known.
_CHANCE = "about what chance gives"

MEASURES: Mapping[str, Wording] = MappingProxyType(
    {
        "smallest_chance": Wording(label="smallest P of a person", good="above .015", also=("P",)),
        "expected_replicas": Wording(
            label="largest Lambda: replicas to be expected before any key",
            good="below .1, or what chance gives",
            also=("Lambda",),
        ),
        "nearest_release_share": Wording(
            label="share of people nearer to the release than to anyone else",
            good="about what fresh data give, one half for as many rows",
        ),
        "rho_median": Wording(label="median rho", good="about 1"),
        "attack": Wording(
            label="all-but-one attack: cells guessed right",
            good="as the control",
            source="attack_success",
        ),
        "attack_control": Wording(
            label="control: the same attack on the original without the person",
            good=_YARDSTICK,
            term="attack",
        ),
        "ore": Wording(label="outlier replication error, raw", good="well above 0", also=("ORE",)),
        "ore_scaled": Wording(
            label="outlier replication error, centred and scaled", good="towards 1"
        ),
        "verbatim_rows": Wording(label="rows copied cell by cell", good=_CHANCE),
        "identical_match_share": Wording(
            label="share of released rows that are copies",
            good=_CHANCE,
            also=("IMS", "identical match share"),
        ),
        "replicated_uniques": Wording(
            label="share of unique original rows in the release",
            good=_CHANCE,
            also=("replicated uniques",),
        ),
        "exact_rows_chance": Wording(
            label="P of so many unique people repeated cell by cell", good="above .005"
        ),
        "equal_cells_chance": Wording(
            label="P of people with rare cells in common with a released row", good="above .005"
        ),
        "near_cells_chance": Wording(
            label="P of people near to a released row in many cells", good="above .005"
        ),
        "closer_share": Wording(
            label="share of everybody nearer to the release than to anyone else", good=_CHANCE
        ),
        "verbatim_extremes": Wording(
            label="columns' unique largest or smallest values in the release", good=_CHANCE
        ),
        "extremes_chance": Wording(
            label="P of so many people's extremes in the release", good="above .001"
        ),
        "interval_disclosure": Wording(
            label="share of people within a small robust ball of a released row",
            good="0",
            also=("robust-distance interval disclosure",),
        ),
        "dcr": Wording(label="distance to the closest record, 5%", source="dcr_q05", **_DCR_WORDS),
        "dcr_median": Wording(label="distance to the closest record, median", **_DCR_WORDS),
        "dcr_original": Wording(
            label="closest record within the original, 5%",
            good=_YARDSTICK,
            source="dcr_q05_original",
            term="dcr",
        ),
        "dcr_median_original": Wording(
            label="closest record within the original, median", good=_YARDSTICK, term="dcr"
        ),
        "nndr": Wording(
            label="nearest neighbour distance ratio, 5%", source="nndr_q05", **_NNDR_WORDS
        ),
        "nndr_median": Wording(label="nearest neighbour distance ratio, median", **_NNDR_WORDS),
        "nndr_original": Wording(
            label="distance ratio within the original, 5%",
            good=_YARDSTICK,
            source="nndr_q05_original",
            term="nndr",
        ),
        "nndr_median_original": Wording(
            label="distance ratio within the original, median", good=_YARDSTICK, term="nndr"
        ),
        "dcr_share": Wording(
            label="share of originals nearer to the release than to another original",
            good="about one half for as many rows",
            also=("DCR share",),
        ),
    }
)

# What each rule of the verdict says of any table, for "look again" and for "do not release" where
# that is more. The public edition says nothing else.
RULES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "person": (
            "The release comes nearer to somebody who stands out than chance explains.",
            "Somebody who stands out has a near copy in the release.",
        ),
        "group": (
            "The people who stand out are, as a group, nearer to the release than chance explains.",
        ),
        "parts": ("Parts of rows were passed on: several cells of a person stand together.",),
        "parts of trajectories": (
            "Rows of somebody with several, such as visits, stand in the release as they were.",
        ),
        "exact rows": ("More people stand in the release cell by cell than chance explains.",),
        "before release": (
            "Under another key a copy of somebody who stands out is not unlikely.",
            "Under another key a copy of somebody who stands out is likely.",
        ),
        "reproducible": ("The key came from a seed, which can be guessed: for tests only.",),
        "identifiers": (
            "A column that names people, free text, or a column that was to be dropped was "
            "released with some people's own values.",
            "A column that names people, free text, or a column that was to be dropped was "
            "released with people's own values.",
        ),
        "self-test": ("The assessment failed its own test on this table: do not rely on it.",),
        "rehearsal": ("Who was in the table can be told better than by chance, by this recipe.",),
        "holdout": ("Who was in the table can be told better than by chance.",),
        "keys": ("Under other keys the word would often be worse.",),
        "not compared": (
            "Columns hold something else in the release than in the original, and could not be "
            "compared.",
        ),
        "not assessed": (
            "The release has columns that the original does not have: what they give away was not "
            "looked at.",
        ),
        "row order": ("Rows stand in the order of the original, so that places name people.",),
        "gaps": ("Which cells are missing is in more rows as it was than chance explains.",),
        "linked columns": ("Some columns were copied row by row: who knows one reads the others.",),
        "equal cells": (
            "Somebody, who need not stand out, has more rare cells in common with a released row "
            "than chance explains.",
        ),
        "near cells": (
            "Somebody, who need not stand out, is nearer to a released row than chance explains.",
        ),
        "closer": ("More people are nearer to the release than to anyone else than by chance.",),
        "resemblance": ("Many people resemble a released row a little too much.",),
        "small": ("Too few people stand out to tell copies from chance.",),
        "extremes": (
            "More largest or smallest values that only one person has were released as they are "
            "than chance explains.",
        ),
        "another table": (
            "These do not look like a table and its release; nothing else was decided.",
        ),
        "near twin": ("What the release comes near to may be somebody who is almost the same.",),
    }
)


def rule_says(rule: str, word: str) -> str:
    """Return what a rule says of any table.

    Examples
    --------
    >>> rule_says("person", "do not release")
    'Somebody who stands out has a near copy in the release.'
    """
    known = RULES.get(rule, (f"The rule “{rule}” is met.",))
    return known[-1] if word == "do not release" else known[0]


# By attack, and by what is known as the attacks say it: what is known and guessed, in words for
# every table and reader. An attack's words for anything else are under "".
ATTACKERS: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "singling out": {"": ("nothing but the release", "what only one person is like")},
        "linkability": {"": ("two halves of people's columns", "which halves are one person's")},
        "inference": {
            "": ("some columns of somebody", "other columns"),
            "everything but one cell": ("everything but one cell of somebody", "that cell"),
        },
        "membership": {"": ("everything about somebody", "whether that person is in the table")},
        "digits": {"": ("how the original was rounded", "original rows")},
        "reassembly": {"": ("the far rows of the release", "somebody who stands out")},
        "two releases": {"": ("another release of the table", "how both were made")},
        "two visits": {
            "": ("two rows of somebody and when they were", "who of the release that is"),
            "when two rows of somebody were": (
                "when two rows of somebody were",
                "that both are one released person's",
            ),
        },
        "all but one": {"": ("everybody else's rows", "the last row's cells")},
    }
)


def attacker_words(attack: str, knows: str) -> tuple[str, str]:
    """Return what an attacker knows and guesses, without a name from the table.

    Examples
    --------
    >>> attacker_words("inference", "age and ward")
    ('some columns of somebody', 'other columns')
    """
    known = ATTACKERS.get(attack, {"": ("the release", attack)})
    return known.get(knows, known[""])


# Measures that count people or cells, and those that are neither a count nor a share of people; the
# rest are shares. The public edition does not tell of one or two people.
COUNTED = frozenset({"verbatim_rows", "verbatim_extremes"})
NOT_COUNTED = frozenset(
    {
        *("equal_cells_chance", "near_cells_chance", "extremes_chance", "visit_rows"),
        *("smallest_chance", "exact_rows_chance", "expected_replicas", "rho_median", "redraws"),
        *("attack", "ore", "ore_scaled", "dcr", "nndr"),
    }
)

# What a terminal shows; files have all.
SHOWN = (
    "smallest_chance",
    "expected_replicas",
    "nearest_release_share",
    "rho_median",
    "attack",
    "attack_control",
    "ore",
    "ore_scaled",
    "verbatim_rows",
    "exact_rows_chance",
    "equal_cells_chance",
    "near_cells_chance",
    "closer_share",
    "verbatim_extremes",
    "dcr",
    "nndr",
)

PRIVACY_TERMS: Mapping[str, Term] = {
    # --- a person
    "row": Term(
        "row",
        "The row's number in the original, counted from 1 without the heading. Of somebody with "
        "several rows: the first.",
    ),
    "units": Term(
        "unit",
        "Somebody with several rows: a patient with visits, a household, a school. Everything is "
        "asked of units, by what their rows come to: means, last values, slopes over time or "
        "spreads, and how many rows there are.",
    ),
    "visit_rows": Term(
        "P of rows in common",
        "How likely it is by chance that rows of people with several have so rare cells in common "
        "with released rows. Small: parts of somebody's trajectory were copied.",
        "as P of rare cells in common, between a row and one row of everybody else",
        SAFE_HIGH,
        "above .005",
    ),
    "why": Term(
        "why chosen",
        "By distance (far from the centre), by isolation (far from the fifth neighbour), by both, "
        "or given by who ordered the assessment.",
    ),
    "robust_distance": Term(
        "robust distance",
        "How far a person is from the centre, in units that the people who stand out cannot "
        "stretch.",
        "root of (x − centre)′ S⁻¹ (x − centre); both by the minimum covariance determinant",
        also=("robust Mahalanobis distance",),
    ),
    "d_org": Term(
        "how alone (d_org)",
        "The distance to the nearest other person in the original. Large: nobody is like this one.",
        "smallest distance from the person to any other original row",
    ),
    "d_rel": Term(
        "how near the release comes (d_rel)",
        "The distance to the nearest released row. 0: an exact copy is in the release.",
        "smallest distance from the person to any released row",
        SAFE_HIGH,
        also=("distance to closest record, seen from the original",),
    ),
    "rho": Term(
        "rho",
        "How near the release comes, measured by how alone the person is. Below 1 the release is "
        "nearer than anybody else.",
        "d_rel ÷ d_org",
        SAFE_HIGH,
        "around 1 or more; 0.5 or less together with a small P is a near copy",
        ("ratio to the nearest neighbour within the original",),
    ),
    "lens": Term(
        "lens",
        "A way to measure distances. E: every column in units of its median absolute deviation. "
        "M: relations between columns taken out first. A: as E, with the release centred and "
        "scaled by itself, which finds shifted and rescaled copies. The worst of the three counts.",
    ),
    "smallest_chance": Term(
        "P",
        "How likely a fresh sample of the same population would come as near to this person as "
        "the release does, corrected for the number of people and the three lenses. Over all "
        "people the smallest one is given.",
        "w × smallest over the lenses of q ÷ (q + n ÷ n*), at most 1; q the larger of rho^D and "
        "the share of rows with as near a neighbour, D the dimension, n and n* the rows of "
        "original and release, w 3 × number of people on average and least for who is most alone",
        SAFE_HIGH,
        "above 0.015: chance is explanation enough",
    ),
    "attack": Term(
        "all-but-one attack",
        "Somebody who knows all of a person's cells but one guesses that one from the nearest "
        "released row. The control makes the same guess from the original without that person: "
        "what can be guessed there too is not this release's doing.",
        "share of cells guessed right, against the same share for the control",
        SAFE_LOW,
        "not above the control",
        ("attribute inference", "attribute disclosure"),
    ),
    "h": Term(
        "h (cells in common)",
        "The most cells that one released row has exactly equal to this person's. The control is "
        "the same among the other originals.",
        "largest number of equal cells over the released rows",
        SAFE_LOW,
        "not more than one above the control",
    ),
    "expected_replicas": Term(
        "Lambda",
        "The risk before any key is drawn: how many near copies of a person a release is expected "
        "to hold, averaged over all keys. The limit is its upper end.",
        "expected number of released rows within d_org ÷ 2 of the person",
        SAFE_LOW,
        "0.1 or less; from 0.5 on a near copy is likely",
    ),
    "stands_out_by": Term(
        "stands out by", "Which columns make this person unusual, with their shares of the whole."
    ),
    "match_by": Term(
        "matched by",
        "Which of those columns the nearest released row repeats, with their shares of the match.",
    ),
    "near_twin": Term(
        "near twin",
        "Another original row is almost the same as this one. A near release may be the twin's; "
        "rho is large or small for that reason.",
    ),
    "redraws": Term(
        "fresh keys",
        "The release made again and again, each time under another key: what rho would have been. "
        "They tell whether this key was lucky, typical or unlucky.",
    ),
    "control": Term(
        "people not in the table (control)",
        "What is told about people whom the release was not made from is what anybody could know; "
        "only what is told beyond that is given away by the release. In a rehearsal "
        "the recipe releases random halves of the people, and the other half is the control; a "
        "holdout is people whom somebody kept out. Without either there is only the nearest other "
        "original, which is weaker. Told apart (AUC): how often somebody who was in is nearer to "
        "the release than somebody who was not. Nearest: how many of the 1% nearest were in.",
    ),
    # --- all people together
    "rho_median": Term(
        "median rho",
        "The rho of the person in the middle of all who stand out.",
        "median of d_rel ÷ d_org under lens E",
        SAFE_HIGH,
        "above 0.8",
    ),
    "ore": Term(
        "outlier replication error (ORE)",
        "How far the nearest released row is from each person who stands out, relative to the "
        "person's length; as published, in the table's own units. It depends on where zero lies.",
        "mean of (squared distance to the nearest released row ÷ squared length of the person)",
        SAFE_HIGH,
        "far above the shuffled copy's 0; one copied person hardly moves it",
    ),
    "ore_scaled": Term(
        "outlier replication error, centred and scaled",
        "The same after every column was centred and put into robust units, so that units and the "
        "place of zero do not matter.",
        "mean of (d_rel² ÷ squared distance to the centre)",
        SAFE_HIGH,
        "near what columns shuffled on their own give",
    ),
    "verbatim_rows": Term(
        "verbatim rows",
        "Released rows that equal an original row in every cell.",
        "a count",
        SAFE_LOW,
        "about what chance gives: as often as rows of the original equal each other",
        ("exact copies",),
    ),
    "verbatim_extremes": Term(
        "verbatim extremes",
        "Largest or smallest values that only one person has, and that the release shows as they "
        "are.",
        "number of columns' ends found in the release",
        SAFE_LOW,
        "about what chance gives",
    ),
    "extremes_chance": Term(
        "P of extremes",
        "How likely fresh people would show the largest or smallest values of so many people who "
        "alone have them. Far values of the same columns tell how often values recur by chance.",
        "sum of independent events, one a person: 2 n* ÷ n × values there twice ÷ values there "
        "once",
        SAFE_HIGH,
        "above 0.001: chance is explanation enough",
    ),
    "equal_cells_chance": Term(
        "P of rare cells in common",
        "How likely fresh people would have cells in common with the original's people that are as "
        "rare together. Everybody counts, not only those who stand out; rare values weigh more.",
        "over all people (Simes) of the tail of: largest sum of −log share over cells equal to one "
        "released row, less the fifth largest among other originals",
        SAFE_HIGH,
        "above 0.005: chance is explanation enough",
    ),
    "near_cells_chance": Term(
        "P of near cells",
        "The same with numbers that are near instead of equal, near meaning that few originals are "
        "as near.",
        "as for equal cells; the share counts originals within the distance of the two cells",
        SAFE_HIGH,
        "above 0.005: chance is explanation enough",
    ),
    "closer_share": Term(
        "closer share",
        "The share of all people to whom a released row comes nearer, in ranks over all cells, "
        "than anybody else of the original.",
        "share of people; who is as near to either counts as what chance gives",
        SAFE_LOW,
        "about what chance gives, one half for as many rows",
    ),
    "nearest_release_share": Term(
        "nearest-release share",
        "The share of the people who stand out that are nearer to the release than to anybody "
        "else in the original.",
        "share of people with rho below 1",
        SAFE_LOW,
        "about one half, as for a fresh sample",
    ),
    "dcr": Term(
        "DCR (distance to the closest record)",
        "How far released rows are from the nearest original row; the 5% quantile shows the "
        "nearest ones, the median the usual ones. The original's own distances stand beside it.",
        "quantile of the smallest distance from a released row to an original one",
        SAFE_HIGH,
        "not below the original's own",
        ("distance to closest record",),
    ),
    "nndr": Term(
        "NNDR (nearest-neighbour distance ratio)",
        "The distance of a released row to the nearest original, relative to the second nearest. "
        "Near 0 the row belongs to one single person.",
        "nearest distance ÷ second nearest distance",
        SAFE_HIGH,
        "not below the original's own",
        ("nearest neighbour distance ratio",),
    ),
    "dcr_share": Term(
        "DCR share",
        "The share of all original rows that are nearer to a released row than to another "
        "original.",
        "share of rows",
        SAFE_LOW,
        "about one half",
        ("DCR share", "share closer to training"),
    ),
    "replicated_uniques": Term(
        "replicated uniques",
        "The share of the original's unique rows that occur in the release.",
        "unique rows found ÷ unique rows",
        SAFE_LOW,
        "about what chance gives",
        ("repU", "replicated uniques"),
    ),
    "exact_rows_chance": Term(
        "P of exact rows",
        "How likely fresh people would repeat so many unique people in every cell. Rows that are "
        "equal within one table show how often chance makes equal rows; everybody counts, not only "
        "those who stand out.",
        "twice the smaller of two binomial probabilities: of pairs of equal rows, those split "
        "between the tables; of unique originals found and originals there twice, the former",
        SAFE_HIGH,
        "above 0.005: chance is explanation enough",
    ),
    "identical_match_share": Term(
        "identical match share",
        "The share of released rows that equal an original row in every cell.",
        "verbatim rows ÷ released rows",
        SAFE_LOW,
        "0, or what the original has among its own rows",
        ("IMS",),
    ),
    "attackers": Term(
        "attackers",
        "Somebody who knows a part of a person, or nothing but the release, guesses the rest. A "
        "guess says something about the release only where it is more often right about people in "
        "the table than about people who were not in it.",
        "share right about people in the table − share right about others",
        SAFE_LOW,
        "about 0",
        ("Anonymeter", "DOMIAS", "singling out", "linkability", "attribute inference"),
    ),
    "interval_disclosure": Term(
        "interval disclosure",
        "The share of the people who stand out that lie within a small robust ball around their "
        "nearest released row: a tenth of a standard deviation a column.",
        "share of people with d_rel at most 0.1 × root of the number of columns, lens M",
        SAFE_LOW,
        "0",
        ("robust Mahalanobis interval disclosure",),
    ),
}
