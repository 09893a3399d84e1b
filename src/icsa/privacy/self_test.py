"""The assessment's own test: the two ends of its scale on the table at hand.

An exact shuffled copy must be "do not release"; the original with every column shuffled on its own
must not be (the middle one of three such shuffles counts). Where an end comes out wrong, the
assessment is not to be trusted on this table. What the measures say of both ends stands beside what
they say of the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features, FeatureTable
from icsa.measures import Measure
from icsa.privacy.lenses import Lenses, fit_lenses
from icsa.privacy.measuring import privacy_measures
from icsa.privacy.people import Surroundings, measure_surroundings
from icsa.privacy.people_findings import Findings
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import WORDS, Word
from icsa.privacy.standing_out import named_people
from icsa.privacy.verdict import verdict

__all__ = ["End", "ends_of_the_scale"]

EndName: TypeAlias = Literal["shuffled copy", "columns shuffled apart"]

# Larger tables are tested on so many of their rows, with so many of the people among them.
_MOST_ROWS = 20_000
_MOST_PEOPLE = 100
# So many people are asked for near cells: enough for a figure that stands beside another.
_NEAR_PEOPLE = 100
# A single shuffle can put an extreme person together again by chance.
_SHUFFLES = 3
# Fixed, and no secret: it shuffles tables that nobody gets to see.
_SEED = 20_007


@dataclass(frozen=True)
class End:
    """One end of the scale.

    Attributes
    ----------
    name : "shuffled copy" or "columns shuffled apart"
    word : str
        What the verdict was.
    right : bool
        Whether it is what it must be.
    why : str
        Why it is not to be trusted; empty where it is right.
    measures : mapping of str to Measure
        By the names of `icsa.privacy.measuring.privacy_measures`, to print beside the release's.
        Of a large table they are those of a part; counts of rows are for the whole.
    n_rows, n_people : int
        What it was computed on.
    """

    name: EndName
    word: Word
    right: bool
    why: str
    measures: Mapping[str, Measure] = field(repr=False)
    n_rows: int
    n_people: int


def ends_of_the_scale(
    lenses: Lenses, around: Surroundings, policy: Policy | None = None, *, threads: int = 1
) -> tuple[End, End]:
    """Return the verdicts on a shuffled copy and on columns shuffled apart.

    Examples
    --------
    >>> from icsa.comparison.features import as_features
    >>> from icsa.privacy.standing_out import standing_out
    >>> x = np.random.default_rng(1).normal(size=(100, 4))
    >>> lenses = fit_lenses(as_features(x, x))
    >>> around = measure_surroundings(lenses, standing_out(lenses))
    >>> [(end.name, end.word, end.right) for end in ends_of_the_scale(lenses, around)]
    [('shuffled copy', 'do not release', True), ('columns shuffled apart', 'release', True)]
    """
    whole = lenses.original.shape[1]
    lenses, around = _smaller(lenses, around, threads)
    original = lenses.features.original
    rng = np.random.default_rng(_SEED)
    copy = original.rows(rng.permutation(original.n_rows))
    copied = _judged(lenses, around, copy, policy, threads)
    apart = sorted(
        (_judged(lenses, around, _apart(original, rng), policy, threads) for _ in range(_SHUFFLES)),
        key=lambda judged: list(WORDS).index(judged[1]),
    )
    return (
        _end("shuffled copy", *copied, whole),
        _end("columns shuffled apart", *apart[_SHUFFLES // 2], whole),
    )


def _apart(table: FeatureTable, rng: np.random.Generator) -> FeatureTable:
    """Return the table with every column shuffled on its own."""
    numbers, codes = table.numbers.copy(), table.codes.copy()
    for column in (*numbers, *codes):
        rng.shuffle(column)
    return FeatureTable(numbers, codes)


def _smaller(lenses: Lenses, around: Surroundings, threads: int) -> tuple[Lenses, Surroundings]:
    """Return the same for fewer rows and people, where there are many."""
    rows, n = around.people.rows, lenses.original.shape[1]
    if n <= _MOST_ROWS and rows.size <= _MOST_PEOPLE:
        return lenses, around
    people = rows[:_MOST_PEOPLE]
    others = np.random.default_rng(_SEED).permutation(n)[:_MOST_ROWS]
    kept: RowNumbers = np.unique(np.concatenate([people, others])).astype(np.int64)
    table = lenses.features.original.rows(kept)
    fewer = fit_lenses(Features(table, table, lenses.features.columns))
    named = named_people(fewer, np.searchsorted(kept, people), threads=threads)
    return fewer, measure_surroundings(fewer, named, threads=threads)


def _judged(
    lenses: Lenses,
    around: Surroundings,
    released: FeatureTable,
    policy: Policy | None,
    threads: int,
) -> tuple[Findings, Word]:
    """Return what is found about a table that was made from the original, and its verdict.

    Exact rows do not count here: they would recognise every copy, and so hide that the people who
    stand out cannot be judged.
    """
    found = Findings.of(
        lenses.with_released(released), around, threads=threads, near_people=_NEAR_PEOPLE
    )
    return found, verdict(around, found.near, found.group, policy=policy).word


def _end(name: EndName, found: Findings, word: Word, whole: int) -> End:
    right = (word == "do not release") == (name == "shuffled copy")
    n_rows = found.features.released.n_rows
    return End(
        name=name,
        word=word,
        right=right,
        why="" if right else _why(name, found.around),
        measures=_of_the_whole(privacy_measures(found), whole / n_rows),
        n_rows=n_rows,
        n_people=found.rows.size,
    )


def _of_the_whole(measures: Mapping[str, Measure], factor: float) -> dict[str, Measure]:
    """Return the measures; what was counted in a part stands for the whole."""
    counted = measures["verbatim_rows"]
    rows = float(round((counted.value or 0.0) * factor))
    return {**measures, "verbatim_rows": replace(counted, value=rows, n=round(counted.n * factor))}


def _why(name: str, around: Surroundings) -> str:
    if not around.people.rows.size:
        return "nobody stands out, so that nobody can be found"
    if name == "shuffled copy":
        doubled = int(np.sum(around.d_org["E"] == 0.0))
        if not doubled:
            return (
                "an exact copy is not recognised: so few columns, or so few different values, tell "
                f"the {around.people.rows.size} people who stand out from others that a row like "
                "theirs may be there by chance"
            )
        return (
            f"an exact copy is not recognised: {doubled} of {around.people.rows.size} people who "
            "stand out have an exact double in the original"
        )
    return (
        "columns that were shuffled apart look like a copy: somebody stands out in so few columns, "
        "or so few columns tell people apart, that shuffling does not hide them"
    )
