"""Every word and figure of an assessment in one place: what it is, and which way is good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from icsa.report.glossary_privacy import PRIVACY
from icsa.report.glossary_utility import UTILITY
from icsa.report.glossary_words import WORDS
from icsa.report.term import Term

__all__ = ["ALIASES", "GLOSSARY", "Term", "anchor", "term_from", "term_of"]

GLOSSARY: Mapping[str, Term] = {**WORDS, **PRIVACY, **UTILITY}

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
    "ari": "adjusted_rand",
    "rpe": "efficiency",
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
