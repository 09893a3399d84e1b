"""Every word and figure of an assessment in one place: what it is, and which way is good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ALIASES", "GLOSSARY", "Term", "anchor", "term_from", "term_of"]

_SAFE_HIGH = "higher is safer"
_SAFE_LOW = "lower is safer"
_GOOD_LOW = "lower is better"
_GOOD_HIGH = "higher is better"


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


GLOSSARY: Mapping[str, Term] = {
    # --- words
    "original": Term("original", "The table about people, before anything was done to it."),
    "release": Term("release", "The table that is to be handed out; also called released table."),
    "verdict": Term(
        "verdict",
        "One word for the whole release. “Do not release”: somebody who stands out, or the group, "
        "is replicated. “Look again”: something comes nearer than chance explains. “Release”: "
        "nothing was found, which is no proof of anonymity.",
    ),
    "standing_out": Term(
        "people who stand out",
        "Rows far from the centre (robust distance), or among the most isolated ones (far from "
        "their fifth neighbour), or named by who ordered the assessment. They are the easiest to "
        "recognise, so the verdict rests on them.",
    ),
    "status": Term(
        "status",
        "One word for a person: replicated (a near copy is in the release); near or look (nearer "
        "than chance explains); at risk (a likely key would replicate); repeated in part (several "
        "cells together); near twin (somebody else is almost the same, so a near release may be "
        "theirs); nothing found or hidden.",
    ),
    "self_test": Term(
        "self-test",
        "The assessment also judges an exact copy in shuffled order, which must be “do not "
        "release”, and the original with every column shuffled on its own, which must not be. If "
        "either comes out wrong, nothing here is to be trusted for this table.",
    ),
    "ends": Term(
        "the two ends of a scale",
        "What a measure gives for an exact copy in shuffled order (nothing is protected) and for "
        "columns shuffled on their own (nothing is left to recognise, and no relation is left "
        "either). A release lies somewhere between; further towards the second is safer.",
    ),
    "chance": Term(
        "what chance gives",
        "What two samples of this size from the same population would differ by. A difference "
        "within it says nothing; only what lies beyond it is a change.",
    ),
    "interval": Term(
        "interval",
        "The range in brackets: where the true value lies with about 95% certainty, given how few "
        "people or rows the number rests on.",
    ),
    "method": Term(
        "method",
        "Spectral anonymization (sa) shuffles each principal component on its own. ICSA does the "
        "same in coordinates that outliers cannot steer, found by two scatter matrices.",
    ),
    "mask": Term(
        "mask",
        "What is done to each coordinate: permute (shuffle the values), flip (change signs), "
        "rotate, or decorrelate (shuffle, then take chance correlations out).",
    ),
    "action": Term(
        "action",
        "What happened to a column: masked, recomputed from others, replaced, dropped, constant, "
        "or kept. A kept column is released as it is and can be linked to other sources.",
    ),
    "reproducible": Term(
        "reproducible",
        "The secret key came from a seed. Who knows the seed can undo the release: for studies and "
        "tests only.",
    ),
    # --- people
    "row": Term("row", "The row's number in the original, counted from 1 without the heading."),
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
        _SAFE_HIGH,
        also=("distance to closest record, seen from the original",),
    ),
    "rho": Term(
        "rho",
        "How near the release comes, measured by how alone the person is. Below 1 the release is "
        "nearer than anybody else.",
        "d_rel ÷ d_org",
        _SAFE_HIGH,
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
        "3 × number of people × smallest over the lenses of rho^D ÷ (rho^D + n ÷ n*), at most 1; D "
        "the dimension, n and n* the rows of original and release",
        _SAFE_HIGH,
        "above 0.05: chance is explanation enough",
    ),
    "attack": Term(
        "all-but-one attack",
        "Somebody who knows all of a person's cells but one guesses that one from the nearest "
        "released row. The control makes the same guess from the original without that person: "
        "what can be guessed there too is not this release's doing.",
        "share of cells guessed right, against the same share for the control",
        _SAFE_LOW,
        "not above the control",
        ("attribute inference", "attribute disclosure"),
    ),
    "h": Term(
        "h (cells in common)",
        "The most cells that one released row has exactly equal to this person's. The control is "
        "the same among the other originals.",
        "largest number of equal cells over the released rows",
        _SAFE_LOW,
        "not more than one above the control",
    ),
    "expected_replicas": Term(
        "Lambda",
        "The risk before any key is drawn: how many near copies of a person a release is expected "
        "to hold, averaged over all keys. The limit is its upper end.",
        "expected number of released rows within d_org ÷ 2 of the person",
        _SAFE_LOW,
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
        "redraws",
        "The release made again and again under fresh keys: what rho would have been. They tell "
        "whether this key was lucky, typical or unlucky.",
    ),
    # --- privacy
    "rho_median": Term(
        "median rho",
        "The rho of the person in the middle of all who stand out.",
        "median of d_rel ÷ d_org under lens E",
        _SAFE_HIGH,
        "above 0.8",
    ),
    "ore": Term(
        "outlier replication error (ORE)",
        "How far the nearest released row is from each person who stands out, relative to the "
        "person's length; as published, in the table's own units. It depends on where zero lies.",
        "mean of (squared distance to the nearest released row ÷ squared length of the person)",
        _SAFE_HIGH,
        "far above the shuffled copy's 0; one copied person hardly moves it",
    ),
    "ore_scaled": Term(
        "outlier replication error, centred and scaled",
        "The same after every column was centred and put into robust units, so that units and the "
        "place of zero do not matter.",
        "mean of (d_rel² ÷ squared distance to the centre)",
        _SAFE_HIGH,
        "near what columns shuffled on their own give",
    ),
    "verbatim_rows": Term(
        "verbatim rows",
        "Released rows that equal an original row in every cell.",
        "a count",
        _SAFE_LOW,
        "0",
        ("exact copies",),
    ),
    "verbatim_extremes": Term(
        "verbatim extremes",
        "Largest or smallest values that only one person has, and that the release shows as they "
        "are.",
        "number of columns' ends found in the release",
        _SAFE_LOW,
        "0",
    ),
    "nearest_release_share": Term(
        "nearest-release share",
        "The share of the people who stand out that are nearer to the release than to anybody "
        "else in the original.",
        "share of people with rho below 1",
        _SAFE_LOW,
        "about one half, as for a fresh sample",
    ),
    "dcr": Term(
        "DCR (distance to the closest record)",
        "How far released rows are from the nearest original row; the 5% quantile shows the "
        "nearest ones, the median the usual ones. The original's own distances stand beside it.",
        "quantile of the smallest distance from a released row to an original one",
        _SAFE_HIGH,
        "not below the original's own",
        ("distance to closest record",),
    ),
    "nndr": Term(
        "NNDR (nearest-neighbour distance ratio)",
        "The distance of a released row to the nearest original, relative to the second nearest. "
        "Near 0 the row belongs to one single person.",
        "nearest distance ÷ second nearest distance",
        _SAFE_HIGH,
        "not below the original's own",
        ("nearest neighbour distance ratio",),
    ),
    "dcr_share": Term(
        "DCR share",
        "The share of all original rows that are nearer to a released row than to another "
        "original.",
        "share of rows",
        _SAFE_LOW,
        "about one half",
        ("DCR share", "share closer to training"),
    ),
    "replicated_uniques": Term(
        "replicated uniques",
        "The share of the original's unique rows that occur in the release.",
        "unique rows found ÷ unique rows",
        _SAFE_LOW,
        "0",
        ("repU", "replicated uniques"),
    ),
    "identical_match_share": Term(
        "identical match share",
        "The share of released rows that equal an original row in every cell.",
        "verbatim rows ÷ released rows",
        _SAFE_LOW,
        "0, or what the original has among its own rows",
        ("IMS",),
    ),
    "interval_disclosure": Term(
        "interval disclosure",
        "The share of the people who stand out that lie within a small robust ball around their "
        "nearest released row: a tenth of a standard deviation a column.",
        "share of people with d_rel at most 0.1 × root of the number of columns, lens M",
        _SAFE_LOW,
        "0",
        ("robust Mahalanobis interval disclosure",),
    ),
    # --- utility
    "mean": Term(
        "mean and SD", "The average, and the standard deviation: the usual distance to it."
    ),
    "quantiles": Term(
        "quantiles",
        "The values below which 5, 25, 50, 75 and 95% of the cells lie. In the strips: the line "
        "runs from 5 to 95%, the box from 25 to 75%, the mark is the median.",
    ),
    "ks": Term(
        "KS distance",
        "How much the distribution of a number changed.",
        "largest difference between the two tables' shares of cells up to a value",
        _GOOD_LOW,
        "not above what chance gives",
        ("Kolmogorov-Smirnov statistic", "KS complement is 1 − KS"),
    ),
    "tv": Term(
        "TV distance",
        "How much the shares of a column's categories changed.",
        "half the sum of the absolute differences of the shares",
        _GOOD_LOW,
        "not above what chance gives",
        ("total variation distance", "TV complement is 1 − TV"),
    ),
    "pairs": Term(
        "association of two columns",
        "How strongly two columns go together: Pearson's or Spearman's correlation for two "
        "numbers, Cramér's V for two categories, the correlation ratio for one of each. The "
        "difference is released minus original.",
        "association in the release − association in the original",
        "nearer to 0 is better",
        "within what chance gives",
        ("correlation similarity", "contingency similarity"),
    ),
    "pmse": Term(
        "pMSE",
        "How well a model tells released rows from original ones, by its guessed probabilities.",
        "mean of (guessed probability − share of released rows)²",
        _GOOD_LOW,
        "near what a release from the same distribution gives",
        ("propensity score mean-squared error",),
    ),
    "s_pmse": Term(
        "S_pMSE",
        "pMSE in units of what it would be for a release from the original's own distribution.",
        "pMSE ÷ its expectation",
        _GOOD_LOW,
        "about 1; below 10 is usually called good",
        ("standardized pMSE", "pMSE ratio"),
    ),
    "coefficient": Term(
        "coefficient",
        "What a model says one column does to the outcome, the others held fixed; with its 95% "
        "interval, fitted once to the original and once to the release.",
    ),
    "overlap": Term(
        "interval overlap",
        "How much the two intervals of a coefficient have in common.",
        "mean of (common length ÷ length of each interval)",
        _GOOD_HIGH,
        "near 1; 0 or below: no overlap",
        ("confidence interval overlap (IO)",),
    ),
    "error_in_se": Term(
        "error in standard errors",
        "How far the release moved a coefficient, in units of its own uncertainty.",
        "|released − original| ÷ the original's standard error",
        _GOOD_LOW,
        "below 1",
        ("standardized difference",),
    ),
    "flips": Term(
        "flips",
        "Conclusions that change: a coefficient's sign, or whether it differs significantly from "
        "0.",
        good="none",
    ),
    "components": Term(
        "principal components",
        "The two directions in which the original varies most; both tables are drawn in them. The "
        "percentage is the share of the variation.",
        also=("PCA",),
    ),
    "task": Term(
        "task",
        "Something learnt from the release and tried on the original, against the same learnt "
        "from the original.",
    ),
    "policy": Term(
        "policy",
        "The thresholds that the verdict uses, each with its reason and who answers for it.",
    ),
}

# What the same thing is called in files.
ALIASES: Mapping[str, str] = {
    "attack_success": "attack",
    "attack_control": "attack",
    "corrected_chance": "smallest_chance",
    "cramers_v": "pairs",
    "correlation_ratio": "pairs",
    "ims": "identical_match_share",
    "lambda": "expected_replicas",
    "matched_by": "match_by",
    "p": "smallest_chance",
    "pearson": "pairs",
    "significance_flip": "flips",
    "sign_flip": "flips",
    "spearman": "pairs",
    "worst_lens": "lens",
}


def term_of(key: str) -> str | None:
    """Return the glossary's entry for a measure's name, or None where there is none.

    Examples
    --------
    >>> term_of("dcr_q05_original"), term_of("#glossary-ore"), term_of("something")
    ('dcr', 'ore', None)
    """
    bare = key.strip().removeprefix("#").removeprefix("glossary-").lower().replace("-", "_")
    bare = ALIASES.get(bare, bare)
    if bare in GLOSSARY:
        return bare
    for family in ("dcr", "nndr"):
        if bare.startswith(f"{family}_"):
            return family
    return None


def anchor(key: str) -> str:
    """Return the place of an entry on the page.

    Examples
    --------
    >>> anchor("ore_scaled")
    'glossary-ore-scaled'
    """
    letters = [letter if letter.isalnum() and letter.isascii() else "-" for letter in key.lower()]
    return f"glossary-{''.join(letters)}"


def term_from(measure: Mapping[str, Any]) -> Term:
    """Return an entry for a measure that the glossary does not know, from what it says itself.

    Examples
    --------
    >>> term_from({"label": "my risk", "direction": "lower is safer"}).name
    'my risk'
    """
    return Term(
        name=str(measure.get("label") or "measure"),
        definition="A measure of this assessment.",
        direction=str(measure.get("direction") or ""),
        good=str(measure.get("good") or ""),
        also=tuple(str(name) for name in measure.get("also") or ()),
    )
