"""The public edition of a document: what its types let everybody see.

A text is gone unless its type says that it is the program's own, a released column's name, or made
of such names; what is for the internal edition is gone; counts of one or two people are not told.
A part that is new, and says nothing, shows none of its texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, inspect
from msgspec.structs import replace

from icsa.assessment.document import Attacker, Document
from icsa.assessment.document_parts import Ends, HandedFile, Measure
from icsa.assessment.privacy_words import ATTACKERS, COUNTED, NOT_COUNTED
from icsa.privacy import Policy

__all__ = ["FEW", "FEWEST_TOLD", "public_edition"]

T = TypeVar("T", bound=msgspec.Struct)

# A count below it, but for 0, is about one or two people.
FEWEST_TOLD = 3
FEW = f"fewer than {FEWEST_TOLD}"
_ELSEWHERE = "the internal edition says why"
_OWN_POLICY = "set by who ordered this assessment"
_CHANCE = "about what chance gives"
_NOT_RELEASED = "not released"
_GONE = object()

# What formulas, terms and losses are made of besides names of columns.
_SIGNS = re.compile(
    r"\(level \d+\)|\b(?:Intercept|I|C|surv|abs|exp|log|log10|log1p|log2|np|sqrt|[0-3])\b|1 − |"
    r"share of variance between units|correlation of successive rows|rows a unit|weighted means|"
    r"columns of units are the same in all their rows|no two rows of a unit are at one time|"
    r"every unit has one head|standard deviation|sd\(residual\)|\bsd\(|<=|\||\bmean\b|"
    r"mean distance of columns \(KS or TV\)|mean error of coefficients, in standard errors: |"
    r"adjusted Rand index of \d+ groups|accuracy of predicting |recall|false positive rate|"
    r"precision|Jaccard index|distance of coefficients|, lasso for |[-+*/:~(),.'\s]"
)


def public_edition(document: Document) -> Document:
    """Return what everybody may read of a document; the same of one that is public already."""
    released = {*document.tables.matched, *document.tables.only_released}
    if document.units is not UNSET:
        columns = document.units.columns
        released |= {own.name for own in columns if own.column is None or own.column in released}
    shown = _Reader(frozenset(released)).part(document)
    summary = replace(shown.people_summary, status=_untold(document.people_summary.status))
    return replace(shown, edition="public", people_summary=summary, people=UNSET)


@dataclass(frozen=True)
class _Reader:
    """Somebody who may know the names of these columns."""

    released: AbstractSet[str]

    def part(self, part: T) -> T:
        """Return a part with what this reader may see of each field."""
        changed = {}
        for name, kind in _kinds(type(part)).items():
            value = self.value(getattr(part, name), kind)
            changed[name] = _NOT_RELEASED if value is _GONE else value
        told: Any = replace(part, **changed)
        if isinstance(part, Measure):
            told = _without_few(told, part)
        elif isinstance(part, Attacker):
            told = _without_difference(told, part)
        seen: T = told
        return seen

    def value(self, value: Any, kind: Any, shown: str = "", counts: str = "") -> Any:
        """Return what is seen of a value of a type, or `_GONE`."""
        while isinstance(kind, inspect.Metadata):
            more = kind.extra or {}
            shown, counts = more.get("shown", shown), more.get("counts", counts)
            kind = kind.type
        if shown == "internal":
            return [] if isinstance(value, list) else None
        if isinstance(kind, inspect.UnionType):
            return self.value(value, _member(kind, value), shown, counts)
        if isinstance(value, msgspec.Struct):
            return self.part(value)
        if isinstance(value, list | tuple):
            return self.every(value, kind)
        if isinstance(value, dict):
            return {key: self.value(item, kind.value_type) for key, item in value.items()}
        if isinstance(kind, inspect.StrType):
            return self.text(value, shown)
        few = counts == "people" and isinstance(value, int) and 0 < value < FEWEST_TOLD
        return None if few else value

    def every(self, values: list[Any] | tuple[Any, ...], kind: Any) -> Any:
        """Return a list without what is about columns that were not released; a tuple whole."""
        if isinstance(kind, inspect.TupleType):
            pairs = zip(values, kind.item_types, strict=True)
            return tuple(self.value(value, item) for value, item in pairs)
        seen = [self.value(value, kind.item_type) for value in values if self.concerns(value)]
        return [value for value in seen if value is not _GONE and value != ""]

    def concerns(self, value: Any) -> bool:
        """Return whether a part is about the release's file and columns."""
        if isinstance(value, HandedFile):
            return value.role == "release"
        if not isinstance(value, msgspec.Struct):
            return True
        kinds = _kinds(type(value)).items()
        names = [getattr(value, name) for name, kind in kinds if _shown(kind) == "released"]
        return all(name in self.released for name in names if isinstance(name, str))

    def text(self, text: str, shown: str) -> Any:
        """Return a text that may be read, or what stands in its place."""
        if shown == "always":
            return text
        if shown == "released":
            return text if text in self.released else _GONE
        if shown == "formula":
            rest = _SIGNS.sub("", self.names.sub("", text))
            return "an analysis" if rest else text
        if shown == "good":
            return _CHANCE if "by chance" in text else text
        if shown == "attack":
            return text if any(text in known for known in ATTACKERS.values()) else ""
        if shown == "usual":
            return text if text in _usual_texts() else _OWN_POLICY
        return ""

    @cached_property
    def names(self) -> re.Pattern[str]:
        """What finds names of columns, the longest first."""
        longest = sorted(self.released, key=len, reverse=True)
        return re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest) or r"$^")


def _without_few(told: Measure, measure: Measure) -> Measure:
    """Return a measure without its value where that tells of one or two people."""
    if measure.value is None:
        known = measure.reason in (FEW, _ELSEWHERE)
        return replace(told, reason=measure.reason if known else _ELSEWHERE)
    if measure.definition in NOT_COUNTED or not measure.direction.endswith("safer"):
        return told
    if measure.low is None and measure.definition not in COUNTED:
        return told  # known without anybody having been counted

    def few(value: float | None) -> bool:
        count = value if measure.definition in COUNTED else (value or 0.0) * measure.n
        return bool(count) and 0 < round(count or 0.0, 6) < FEWEST_TOLD

    copied, shuffled = (None if few(end) else end for end in (told.ends.copy, told.ends.shuffled))
    told = replace(told, ends=Ends(copy=copied, shuffled=shuffled))
    if not few(measure.value):
        return told
    return replace(told, value=None, low=None, high=None, reason=FEW)


def _without_difference(told: Any, attack: Attacker) -> Any:
    """Return an attack with its difference, which is no count, unless it gives away its parts."""
    if told.right.reason == FEW or told.control.reason == FEW:
        gone = {"value": None, "low": None, "high": None, "reason": FEW}
        return replace(told, difference=replace(told.difference, **gone))
    if attack.difference.value is None:
        return told
    return replace(told, difference=replace(attack.difference, good=told.difference.good))


def _untold(status: Mapping[Any, int | None]) -> dict[Any, int | None]:
    """Return counts without those of one or two people, and without what these follow from.

    Examples
    --------
    >>> _untold({"replicated": 1, "look": 0, "hidden": 35})
    {'replicated': None, 'look': 0, 'hidden': None}
    """
    told = {key: None if n is None or 0 < n < FEWEST_TOLD else n for key, n in status.items()}
    others = {key: n for key, n in told.items() if n}
    if sum(n is None for n in told.values()) == 1 and others:
        told[min(others, key=others.__getitem__)] = None
    return told


@cache
def _kinds(part: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the type of each field of a part, with what it says besides."""
    kind = inspect.type_info(part)
    assert isinstance(kind, inspect.StructType)
    return {field.name: field.type for field in kind.fields}


def _shown(kind: Any) -> str:
    shown = ""
    while isinstance(kind, inspect.Metadata):
        shown = (kind.extra or {}).get("shown", shown)
        kind = kind.type
    return shown


def _member(kind: inspect.UnionType, value: Any) -> Any:
    """Return the member of a union that a value is of."""
    for member in kind.types:
        inner = member
        while isinstance(inner, inspect.Metadata):
            inner = inner.type
        fits = {
            inspect.NoneType: value is None,
            inspect.StrType: isinstance(value, str),
            inspect.IntType: isinstance(value, int) and not isinstance(value, bool),
            inspect.FloatType: isinstance(value, float),
            inspect.ListType: isinstance(value, list),
            inspect.StructType: isinstance(value, getattr(inner, "cls", ())),
        }.get(type(inner), False)
        if fits:
            return member
    return kind.types[0]


@cache
def _usual_texts() -> frozenset[str]:
    """Return the reasons, sources and owners of the usual policy."""
    every = [getattr(Policy(), item.name) for item in fields(Policy)]
    return frozenset(text for each in every for text in (each.reason, each.source, each.owner))
