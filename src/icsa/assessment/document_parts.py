"""What the assessment's document is made of: a measure, and everything about what analyses lose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Meta, UnsetType

from icsa import measures
from icsa.errors import InputError
from icsa.measures import Direction
from icsa.privacy.reasons import Word
from icsa.utility.classification import Classifier
from icsa.utility.pair_differences import Association

__all__ = [
    "DIGITS",
    "INTERNAL",
    "AttackText",
    "Few",
    "Formula",
    "HandedFile",
    "HandedIn",
    "Measure",
    "Name",
    "Part",
    "UsualText",
    "Utility",
    "Words",
    "as_part",
    "measured",
    "rounded",
    "tidied",
]

Count: TypeAlias = Annotated[int, Meta(ge=0)]
# Whose a text is decides who may read it; `public_edition` asks. A plain `str` may hold anything of
# the tables, and is for the internal edition only.
Words: TypeAlias = Annotated[str, Meta(extra={"shown": "always"})]  # the program's own
Name: TypeAlias = Annotated[str, Meta(extra={"shown": "released"})]  # a column; if it is released
Formula: TypeAlias = Annotated[str, Meta(extra={"shown": "formula"})]  # of such names and signs
GoodText: TypeAlias = Annotated[str, Meta(extra={"shown": "good"})]  # if no number is in it
AttackText: TypeAlias = Annotated[str, Meta(extra={"shown": "attack"})]  # if it names nothing
UsualText: TypeAlias = Annotated[str, Meta(extra={"shown": "usual"})]  # if it is the usual policy's
# Gone in the public edition, whatever it is.
INTERNAL = Meta(extra={"shown": "internal"}, description="For the internal edition only.")
# How many people or cells; the public edition does not tell one from two.
Few: TypeAlias = (
    Annotated[
        int,
        Meta(ge=0, extra={"counts": "people"}, description="Null in public where fewer than 3."),
    ]
    | None
)
Number: TypeAlias = float | None
Both: TypeAlias = tuple[Count, Count]
Quantiles: TypeAlias = Annotated[
    tuple[Number, Number, Number, Number, Number],
    Meta(
        description="5, 25, 50, 75 and 95%. In the public edition null where the quantile is a "
        "value of one person only, or the smallest or largest."
    ),
]
# Significant digits of the public edition.
DIGITS = 3
T = TypeVar("T")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the document: all of its names are known, and it shows no cell by mistake."""

    def __repr__(self) -> str:
        """Show what it is only."""
        return f"<{type(self).__name__}>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Show nothing more where a traceback lists variables."""
        return []


class HandedFile(Part, frozen=True):
    """A file that was handed in: its name without its folder, and its fingerprint."""

    role: Words
    name: Annotated[Words, Meta(description="Empty for a data frame, which is no file.")]
    sha256: Annotated[
        Annotated[Words, Meta(pattern="^[0-9a-f]{64}$")] | None,
        Meta(description="Null for what is no file, or was changed after it was read."),
    ]


class HandedIn(Part, frozen=True):
    """What was handed in, when, by whom; in public the release's file only."""

    files: list[HandedFile]
    date: Annotated[Words, Meta(description="Of the assessment, in UTC.")]
    prepared_by: Words
    decided_by: Words


class Ends(Part, frozen=True):
    """What an exact shuffled copy gives, and the original with every column shuffled on its own."""

    copy: Number = None
    shuffled: Number = None


_NO_ENDS = Ends()


class Measure(Part, frozen=True):
    """A measure with its words; `definition` is where the glossary explains it."""

    label: Words
    value: Number
    low: Number
    high: Number
    n: Count
    direction: Direction
    reason: Annotated[str | None, Meta(description="Why there is no value; null if there is one.")]
    definition: Words
    also: Annotated[list[Words], Meta(description="What other tools call it.")]
    good: GoodText
    ends: Ends
    chance: Annotated[
        Number | UnsetType,
        Meta(description="What a second sample of the same population would give."),
    ] = UNSET


class Summary(Part, frozen=True):
    """A column in one table."""

    mean: Number
    sd: Number
    quantiles: Quantiles


class Distance(Part, frozen=True):
    """Of a column's distributions in both tables, and what two samples would give."""

    name: Literal["KS", "TV"]
    value: Number
    chance: Number
    chance_high: Number


class Level(Part, frozen=True):
    """The shares of a level in both tables."""

    level: str
    original: Number
    released: Number


class Bars(Part, frozen=True):
    """A column's distribution in both tables, in bins that hold nobody or at least three people.

    The first bin of numbers is open below, the last one above; levels have no edges.
    """

    edges: Annotated[
        list[Words] | None, Meta(description="Between the bins, round; null for levels.")
    ]
    widths: Annotated[
        list[Annotated[int, Meta(ge=1)]] | None,
        Meta(description="Of the bins between two edges, in steps; null for levels."),
    ]
    original: list[float]
    released: list[float]


class Column(Part, frozen=True):
    """A column in both tables."""

    name: Name
    kind: Words
    unit: Words
    original: Summary
    released: Summary
    missing: tuple[Number, Number]
    distance: Distance
    levels: Annotated[list[Level] | None, INTERNAL]
    beyond: Annotated[str | None, INTERNAL]
    bars: Bars | None


class Pair(Part, frozen=True):
    """The association of two columns in both tables."""

    first: Name
    second: Name
    measure: Association
    original: Number
    released: Number
    difference: Number
    chance: Number


class Pairs(Part, frozen=True):
    """The associations of all pairs of columns; `worst` are those that changed most."""

    names: list[Name]
    difference: list[list[Number]]
    limit: Annotated[
        list[list[Number]],
        Meta(description="What 95% of the differences between two samples stay below."),
    ]
    chance: Number
    worst: list[Pair]


class Picture(Part, frozen=True):
    """Rows of both tables in the original's first two principal components."""

    original: list[tuple[float, float]]
    released: list[tuple[float, float]]
    explained: tuple[float, float]


class Estimate(Part, frozen=True):
    """A coefficient with its interval."""

    estimate: Number
    low: Number
    high: Number


class Coefficient(Part, frozen=True):
    """A coefficient in both tables."""

    term: Formula
    original: Estimate
    released: Estimate
    overlap: Number
    error_in_se: Number
    sign_flip: bool
    significance_flip: bool


class Model(Part, frozen=True, kw_only=True):
    """An analysis of both tables; empty where it could not be done."""

    formula: Formula
    family: Words = ""
    n: Both = (0, 0)
    rows: list[Coefficient] = []
    reason: str | None


class Learnt(Part, frozen=True):
    """How well is predicted what was learnt from either table; the loss is original − released."""

    name: Literal["accuracy", "auc"]
    original: Measure
    released: Measure
    loss: Number
    chance: Annotated[Number, Meta(description="What 95% of losses by chance stay below.")]


class Classification(Part, frozen=True, kw_only=True):
    """The prediction of a column; `model` is empty where nothing was learnt."""

    target: Name
    model: Classifier | Literal[""] = ""
    n_test: Count = 0
    guessing: Annotated[
        Number, Meta(description="Right answers of always guessing the most frequent level.")
    ] = None
    rows: list[Learnt] = []
    reason: str | None


class Clustering(Part, frozen=True):
    """Groups found in both tables."""

    clusters: Annotated[int, Meta(ge=2)]
    agreement: Measure
    of_a_sample: Measure


class Variable(Part, frozen=True):
    """Whether a column was selected in each table."""

    name: Name
    original: bool
    released: bool


class Selection(Part, frozen=True, kw_only=True):
    """Which columns the lasso selects in both tables; empty where it could not be run."""

    response: Name
    n: Both = (0, 0)
    n_incomplete: Annotated[Both, Meta(description="Rows left out as a cell is missing.")] = (0, 0)
    left_out: Annotated[
        list[Name],
        Meta(description="Columns left out because too many of their cells are missing."),
    ] = []
    variables: list[Variable] = []
    measures: Annotated[
        dict[str, Measure],
        Meta(
            extra_json_schema={
                "propertyNames": {"enum": ["recall", "fpr", "precision", "jaccard", "distance"]}
            }
        ),
    ] = {}
    reason: str | None


class Tasks(Part, frozen=True):
    """What was learnt from both tables."""

    classification: list[Classification]
    clustering: Clustering | None
    selection: list[Selection]


class OtherRelease(Part, frozen=True):
    """The release that this one is compared with."""

    verdict: Word
    rows: Count
    notes: list[str]


class Ore(Part, frozen=True, rename={"which": "is"}):
    """The outlier replication errors of both releases, and which of its two forms."""

    which: Literal["ore", "ore_scaled"]
    released: Measure
    other: Measure


class EfficiencyLine(Part, frozen=True):
    """One loss; ratios with the root of the error as defined, and without as printed."""

    loss: Formula
    released: Number
    other: Number
    defined: Measure
    printed: Measure


class Efficiency(Part, frozen=True):
    """Relative privacy efficiency against another release; above 1 favours this one."""

    other: OtherRelease
    ore: Ore
    lines: list[EfficiencyLine]
    no_interval: Words


class LostCurve(Part, frozen=True):
    """A square or product of columns whose effect on another is weaker in the release."""

    column: Name
    first: Name
    second: Name
    original: Number
    released: Number
    chance: Annotated[
        Number, Meta(description="What another sample moves it by at most, all terms considered.")
    ]


class Curves(Part, frozen=True):
    """Squares and products of columns: how many were compared, are curves, and were lost."""

    columns: Count
    left_out: Count
    compared: Count
    found: Count
    lost: Count
    worst: list[LostCurve]


class Utility(Part, frozen=True):
    """What analyses lose."""

    columns: list[Column]
    pairs: Pairs
    curves: Curves
    whole: Annotated[dict[str, Measure], Meta(extra_json_schema={"required": ["pmse", "s_pmse"]})]
    picture: Annotated[Picture | None, INTERNAL]
    models: list[Model]
    tasks: Tasks
    efficiency: Efficiency | None


def measured(
    measure: measures.Measure,
    *,
    definition: str,
    good: str,
    label: str = "",
    also: Sequence[str] = (),
    ends: Ends = _NO_ENDS,
    chance: Number | UnsetType = UNSET,
) -> Measure:
    """Return a measured value with its words."""
    return Measure(
        label=label or measure.name,
        value=measure.value,
        low=measure.low,
        high=measure.high,
        n=measure.n,
        direction=measure.direction,
        reason=measure.reason or None,
        definition=definition,
        also=list(also),
        good=good,
        ends=ends,
        chance=chance,
    )


def as_part(values: Any, kind: type[T], what: str) -> T:
    """Return plain values, such as those of a JSON file, as the part of a document they are."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise InputError(
            f"{what}: {error}. Make it anew: it may come from another version of icsa."
        ) from None


def tidied(part: T, digits: int | None = None) -> T:
    """Return a part without numbers that JSON does not know, rounded where that is asked for.

    Examples
    --------
    >>> shown = tidied(Ends(copy=1.23456, shuffled=float("nan")), 3)
    >>> shown.copy, shown.shuffled
    (1.23, None)
    """
    return msgspec.convert(_tidy(msgspec.to_builtins(part, enc_hook=_plain), digits), type(part))


def rounded(value: float, digits: int) -> float | None:
    """Return a number with so many significant digits; None for one that is not finite."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _tidy(value: Any, digits: int | None) -> Any:
    if isinstance(value, dict):
        return {key: _tidy(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tidy(item, digits) for item in value]
    return rounded(value, digits or 17) if isinstance(value, float) else value


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"An assessment's document cannot hold a {type(value).__name__}.")
