"""What to do about each reason of a verdict: commands to type, the first to try first."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from icsa.masks import MASKS
from icsa.privacy import Person
from icsa.privacy.reasons import Reason
from icsa.schema import NO_DESIGN, Design
from icsa.tables import output_options

__all__ = ["Circumstances", "with_remedies"]

_STRICTER = "topcode"
# Rules that say that rows or parts of rows were taken over as they were.
_TAKEN_OVER = frozenset(
    {
        *("exact rows", "equal cells", "closer", "parts", "parts of trajectories", "digits"),
        *("holdout", "gaps", "linked columns"),
    }
)
_MORE = "More people in the table, or fewer columns about them, make everybody harder to recognise"
_WORDS: Mapping[str, tuple[str, ...]] = {
    "self-test": (
        "Have somebody look at the two tables side by side: on this table the rules cannot tell a "
        "copy from chance. More columns would help",
    ),
    "near twin": (
        "Look at the two rows: if one person was entered twice, take one out and release again",
    ),
    "another table": (
        "Check the names of the two files, and that columns have the same names in both",
    ),
    "not compared": (
        "Assess the release before numbers are turned into bands or levels are renamed, or give "
        "levels the same names in both tables",
    ),
    "not assessed": (
        "Take these columns out of the release, or give them the names that they have in the "
        "original, and assess it again",
    ),
    "row order": ("Put the released rows into a random order, and assess the release again",),
    "two releases": (
        "Hand out one of the two releases only. If one is out, this one must stay in the house",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What advice depends on.

    Attributes
    ----------
    file, schema : Path, optional
        Of the original, as they were given; None in Python.
    making : mapping, optional
        How the release was made, where that is known.
    people : sequence of Person
        Those who stand out.
    design : Design
        Whom the rows are about.
    """

    file: Path | None = None
    schema: Path | None = None
    making: Mapping[str, Any] | None = None
    people: Sequence[Person] = ()
    design: Design = NO_DESIGN


def with_remedies(reasons: Sequence[Reason], known: Circumstances) -> tuple[Reason, ...]:
    """Return the reasons, each with what to do about it.

    Examples
    --------
    >>> copied = Reason("do not release", "exact rows", "7 people stand in the release")
    >>> (advised,) = with_remedies([copied], Circumstances(file=Path("clinic.csv")))
    >>> advised.remedies[0]
    'icsa anonymize clinic.csv'
    >>> near = Reason("look again", "person", "somebody is near")
    >>> with_remedies([near], Circumstances())[0].remedies[0]
    "icsa.anonymize(table, recipe='topcode')"
    """
    taken_over = any(reason.rule in _TAKEN_OVER for reason in reasons)
    options = _next_options(known.making, taken_over=taken_over)
    return tuple(replace(reason, remedies=_remedies(reason, known, options)) for reason in reasons)


def _remedies(
    reason: Reason, known: Circumstances, options: Mapping[str, str] | None
) -> tuple[str, ...]:
    if reason.rule in _WORDS:
        return _WORDS[reason.rule]
    if reason.rule in ("reproducible", "identifiers"):
        return (_again(known, **_as_made(known.making), drop=reason.columns),)
    needed = (known.design.unit, known.design.weight)
    columns = reason.columns or _columns_that_match(reason, known.people)
    columns = tuple(name for name in columns if name not in needed)
    asked = _asked_for(known.making)
    advice = [] if options is None else [_again(known, **{**asked, **options})]
    if columns:
        stricter = {**asked, **(options or {"recipe": _STRICTER})}
        advice.append(_again(known, **stricter, drop=columns))
    return (*advice, _MORE)


def _next_options(made: Mapping[str, Any] | None, *, taken_over: bool) -> dict[str, str] | None:
    """Return the options of the release to try next; None where the strictest one was tried."""
    stricter = {"recipe": _STRICTER}
    if made is None:  # by any tool: icsa with its usual recipe takes nothing over
        return {} if taken_over else stricter
    was_strict = made["recipe"] == _STRICTER
    if made["method"] == "forest":  # which the default may take again
        return {"method": "icsa", **(stricter if was_strict else {})}
    if made["method"] != "icsa" or MASKS[made["mask"]].keeps_scores:
        return stricter if was_strict else {}
    return None if was_strict else stricter


def _as_made(made: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the options that make such a release again."""
    if made is None:
        return {}
    usual = {"method": "icsa", "recipe": "mixed"}
    return _asked_for(made) | {k: made[k] for k, v in usual.items() if made[k] != v}


def _asked_for(made: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the method icsa where somebody asked for it: left out, forests might be taken."""
    asked = made is not None and made["method"] == "icsa" and made.get("why") == ""
    return {"method": "icsa"} if asked else {}


def _columns_that_match(reason: Reason, people: Sequence[Person]) -> tuple[str, ...]:
    """Return the column that the release repeats most often of the people of a reason."""
    rows = set(reason.rows)
    first = Counter(
        person.matched_by[0][0] for person in people if person.row in rows and person.matched_by
    )
    return tuple(name for name, _ in first.most_common(1))


def _again(known: Circumstances, *, drop: Sequence[str] = (), **options: str) -> str:
    """Return the command, or the call, that makes the release with these options."""
    if known.file is None:
        said: dict[str, Any] = {"unit": False} if known.design.unit is False else {}
        said |= known.design.columns
        lists = {"strata": list(known.design.strata), "drop": list(drop)}
        given = {**said, **options, **{name: listed for name, listed in lists.items() if listed}}
        told = "".join(f", {name}={value!r}" for name, value in given.items())
        return f"icsa.anonymize(table{told})"
    words = ["icsa", "anonymize", str(known.file)]
    if known.schema is not None:
        words += ["--schema", str(known.schema)]
    words += known.design.options
    for name, value in options.items():
        words += [f"--{name}", value]
    for name in drop:
        words += ["--drop", name]
    words += output_options(known.file)
    return shlex.join(words)
