"""The assessment's own test: the two ends of its scale on the table at hand.

An exact shuffled copy must be "do not release"; the original with every column shuffled on its own
must not be (the middle one of three such shuffles counts). Where an end comes out wrong, the
assessment is not to be trusted on this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from icsa.privacy.features import Features, FeatureTable
from icsa.privacy.groups import nearest_release_group
from icsa.privacy.lenses import Lenses, fit_lenses
from icsa.privacy.neighbours import RowNumbers
from icsa.privacy.people import Surroundings, measure_nearness, measure_surroundings
from icsa.privacy.standing_out import named_people
from icsa.privacy.verdict import WORDS, Policy, Word, verdict

__all__ = ["End", "ends_of_the_scale"]

# Larger tables are tested on so many of their rows, with so many of the people among them.
_MOST_ROWS = 20_000
_MOST_PEOPLE = 100
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
    median_ratio, smallest_chance : float
        Median rho under lens E and smallest P, to print beside the release's.
    n_rows, n_people : int
        What it was computed on.
    """

    name: Literal["shuffled copy", "columns shuffled apart"]
    word: Word
    right: bool
    why: str
    median_ratio: float
    smallest_chance: float
    n_rows: int
    n_people: int


def ends_of_the_scale(
    lenses: Lenses, around: Surroundings, policy: Policy | None = None, *, threads: int = 1
) -> tuple[End, End]:
    """Return the verdicts on a shuffled copy and on columns shuffled apart.

    Examples
    --------
    >>> from icsa.privacy.features import as_features
    >>> from icsa.privacy.standing_out import standing_out
    >>> x = np.random.default_rng(1).normal(size=(100, 4))
    >>> lenses = fit_lenses(as_features(x, x))
    >>> around = measure_surroundings(lenses, standing_out(lenses))
    >>> [(end.name, end.word, end.right) for end in ends_of_the_scale(lenses, around)]
    [('shuffled copy', 'do not release', True), ('columns shuffled apart', 'release', True)]
    """
    lenses, around = _smaller(lenses, around, threads)
    original = lenses.features.original
    rng = np.random.default_rng(_SEED)
    copy = original.rows(rng.permutation(original.n_rows))
    copied = _end("shuffled copy", lenses, around, copy, policy, threads)
    apart = [
        _end("columns shuffled apart", lenses, around, _apart(original, rng), policy, threads)
        for _ in range(_SHUFFLES)
    ]
    return copied, sorted(apart, key=lambda end: WORDS.index(end.word))[_SHUFFLES // 2]


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
    fewer = fit_lenses(Features(table, table, lenses.features.names, lenses.features.grids))
    named = named_people(fewer, np.searchsorted(kept, people), threads=threads)
    return fewer, measure_surroundings(fewer, named, threads=threads)


def _end(
    name: Literal["shuffled copy", "columns shuffled apart"],
    lenses: Lenses,
    around: Surroundings,
    released: FeatureTable,
    policy: Policy | None,
    threads: int,
) -> End:
    near = measure_nearness(lenses.with_released(released), around, threads=threads)
    group = nearest_release_group(near.rho["E"], lenses.original.shape[1], released.n_rows)
    word = verdict(around, near, group, policy=policy).word
    right = (word == "do not release") == (name == "shuffled copy")
    return End(
        name=name,
        word=word,
        right=right,
        why="" if right else _why(name, around),
        median_ratio=group.median_ratio,
        smallest_chance=float(near.corrected.min(initial=1.0)),
        n_rows=released.n_rows,
        n_people=around.people.rows.size,
    )


def _why(name: str, around: Surroundings) -> str:
    if not around.people.rows.size:
        return "nobody stands out, so that nobody can be found"
    if name == "shuffled copy":
        doubled = int(np.sum(around.d_org["E"] == 0.0))
        return (
            f"an exact copy is not recognised: {doubled} of {around.people.rows.size} people who "
            "stand out have an exact double in the original"
        )
    return (
        "columns that were shuffled apart look like a copy: somebody stands out in so few columns, "
        "or so few columns tell people apart, that shuffling does not hide them"
    )
