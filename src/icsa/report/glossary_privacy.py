"""The glossary's figures about people and privacy."""

from __future__ import annotations

from collections.abc import Mapping

from icsa.report.term import SAFE_HIGH, SAFE_LOW, Term

__all__ = ["PRIVACY"]

PRIVACY: Mapping[str, Term] = {
    # --- a person
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
        "3 × number of people × smallest over the lenses of rho^D ÷ (rho^D + n ÷ n*), at most 1; D "
        "the dimension, n and n* the rows of original and release",
        SAFE_HIGH,
        "above 0.05: chance is explanation enough",
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
        "0",
        ("exact copies",),
    ),
    "verbatim_extremes": Term(
        "verbatim extremes",
        "Largest or smallest values that only one person has, and that the release shows as they "
        "are.",
        "number of columns' ends found in the release",
        SAFE_LOW,
        "0",
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
        "0",
        ("repU", "replicated uniques"),
    ),
    "identical_match_share": Term(
        "identical match share",
        "The share of released rows that equal an original row in every cell.",
        "verbatim rows ÷ released rows",
        SAFE_LOW,
        "0, or what the original has among its own rows",
        ("IMS",),
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
