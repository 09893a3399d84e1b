"""Every word and figure of an assessment in one place: what it is, and which way is good."""

from __future__ import annotations

from collections.abc import Mapping

from icsa.assessment.privacy_words import PRIVACY_TERMS, Term
from icsa.assessment.utility_words import UTILITY_TERMS
from icsa.privacy.reasons import STATUSES

__all__ = ["GLOSSARY", "anchor"]


def anchor(key: str) -> str:
    """Return the place of an entry on the page.

    Examples
    --------
    >>> anchor("ore_scaled")
    'glossary-ore-scaled'
    """
    return f"glossary-{key.replace('_', '-')}"


_WORDS: Mapping[str, Term] = {
    "original": Term("original", "The table about people, before anything was done to it."),
    "release": Term("release", "The table that is to be handed out; also called released table."),
    "verdict": Term(
        "verdict",
        "One word for the whole release: the worst of what was found. “Do not release”: somebody "
        "who stands out, or the group, is replicated, or something else rules the release out. "
        "“Look again”: something comes nearer than chance explains, or must be looked at for "
        "another reason. “Release”: nothing was found, which is no proof of anonymity.",
    ),
    "standing_out": Term(
        "people who stand out",
        "Rows far from the centre (robust distance), or among the most isolated ones (far from "
        "their fifth neighbour), or named by who ordered the assessment. They are the easiest to "
        "recognise, so the verdict rests on them.",
    ),
    "status": Term(
        "status",
        "One word for a person: "
        + "; ".join(f"{word} ({what})" for word, what in STATUSES.items())
        + ".",
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
        "Spectral anonymization (sa) masks each principal component on its own. ICSA does the "
        "same in coordinates that outliers cannot steer, found by two scatter matrices. Forests "
        "draw one column after the other given those before it, which keeps curves.",
    ),
    "mask": Term(
        "mask",
        "What is done to each coordinate: redraw (draw new values from groups of eight people or "
        "more), permute (shuffle the values, as published: somebody far out can be put together "
        "again from the pieces), flip (change signs) or rotate (draw values of the same spread).",
    ),
    "action": Term(
        "action",
        "What happened to a column: masked, recomputed from others, replaced, dropped, constant, "
        "or kept. A kept column is released as it is and can be linked to other sources.",
    ),
    "reproducible": Term(
        "reproducible",
        "The secret key came from a seed. Who knows the seed can repeat every draw, and so check "
        "guesses about people: for studies and tests only.",
    ),
    "policy": Term(
        "policy",
        "The thresholds that the verdict uses, each with its reason and who answers for it.",
    ),
}

GLOSSARY: Mapping[str, Term] = {**_WORDS, **PRIVACY_TERMS, **UTILITY_TERMS}
