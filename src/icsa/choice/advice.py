"""One sentence: which release, why, what it costs beside the next best, and what to type."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from icsa.choice.candidates import Candidate
from icsa.choice.standings import Standing
from icsa.measures import Measure
from icsa.privacy.reasons import WORDS

__all__ = ["Advice", "advise", "front_of", "preferred"]

_RANK = {word: rank for rank, word in enumerate(WORDS)}
# Of a normal law: two standard errors are an interval's half-width over this.
_HALF = 1.96


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to do.

    Attributes
    ----------
    candidate : Candidate
        The one that is advised; the nearest one where none may be released.
    may_be_released : bool
        Whether its word is "release".
    text : str
        Which one and why, what it costs beside the next best on either side, and whether that is
        more than noise.
    command : str
        What to type, or to call.
    """

    candidate: Candidate
    may_be_released: bool
    text: str
    command: str


def advise(
    standings: Sequence[Standing],
    file: Path | None = None,
    schema: Path | None = None,
    said: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Advice, Standing] | None:
    """Return what to do and who is advised; None where no candidate can be made of this table.

    Of those whose word is "release" after a whole assessment, the one that lost least in the race
    is advised. What is said of it comes from other keys than those. Where there is none, the
    nearest one has the mildest word, and of those lost least.
    """
    own = [one for one in standings if not one.candidate.rival and not one.why_not]
    if not own:
        return None
    allowed = preferred([one for one in own if one.assessed and one.word == "release"])
    if not allowed:
        nearest = min(own, key=lambda one: (_RANK[one.word], not one.assessed, _value(one.raced)))
        text = (
            f"No candidate may be released: the nearest is {nearest.name}, whose word is "
            f"{nearest.word!r} ({nearest.reasons or 'no reason was noted'})."
        )
        return Advice(
            candidate=nearest.candidate,
            may_be_released=False,
            text=text,
            command=nearest.candidate.command(file, schema, said),
        ), nearest
    best = allowed[0]
    parts = [
        f"Release with {best.name}: of {_count(len(own))} it lost least in the race among those "
        f"whose word is release{_but_for_masks(best, allowed)}. Under fresh keys it loses "
        f"{_loss(best)} of what another sample of people would differ by{_at_a_risk(best)}.",
        _beside_next(best, allowed[1:]),
        _safer(best, allowed[1:]),
        _sharper(best, own),
    ]
    return Advice(
        candidate=best.candidate,
        may_be_released=True,
        text=" ".join(part for part in parts if part),
        command=best.candidate.command(file, schema, said),
    ), best


def preferred(standings: Sequence[Standing]) -> list[Standing]:
    """Return candidates in the order in which they are taken: who lost less in the race first.

    One with another mask than its recipe's comes after all with the usual one that are not clearly
    worse: of two releases by other masks more can be found out than a race sees.
    """
    ordered = sorted(standings, key=lambda one: _value(one.raced))
    found: list[Standing] = []
    while ordered:
        first = ordered[0]
        usual = (one for one in ordered if not one.candidate.mask)
        if first.candidate.mask:
            first = next((one for one in usual if not _clear(first.raced, one.raced)), first)
        ordered.remove(first)
        found.append(first)
    return found


def front_of(standings: Sequence[Standing]) -> list[Standing]:
    """Return those of our own that nobody beats in risk and loss, the least risk first.

    Only those whose word is "release" count.
    """
    able = [
        one
        for one in standings
        if not one.candidate.rival
        and one.word == "release"
        and one.loss.value is not None
        and one.risk.value is not None
    ]
    ordered = sorted(able, key=lambda one: (_value(one.risk), _value(one.loss)))
    front: list[Standing] = []
    for one in ordered:
        if not front or _value(one.loss) < _value(front[-1].loss):
            front.append(one)
    return front


def _but_for_masks(best: Standing, allowed: Sequence[Standing]) -> str:
    """Return who lost less still in the race, and why it is not advised."""
    less = [one for one in allowed if _value(one.raced) < _value(best.raced)]
    return f" (but for {less[0].name}, which must be clearly better)" if less else ""


def _at_a_risk(best: Standing) -> str:
    return "" if best.risk.value is None else f", at a risk of {_number(best.risk)}"


def _beside_next(best: Standing, others: Sequence[Standing]) -> str:
    """Return how the next one compares; fresh keys can say otherwise than the race did."""
    if not others:
        return "No other candidate was left to be assessed in full."
    other = others[0]
    clear, reversed_ = _clear(best.loss, other.loss), _value(other.loss) < _value(best.loss)
    noise = "more than noise" if clear else "no more than noise"
    told = f"The next one, {other.name}, loses {_more(best, other)}, which is {noise}"
    if not reversed_:
        return f"{told}."
    if not clear:
        return f"{told}: either will do."
    return f"{told}, and the race said otherwise: a larger budget tells which is better."


def _safer(best: Standing, others: Sequence[Standing]) -> str:
    safer = [
        one
        for one in others
        if _value(one.risk) < _value(best.risk) and _clear(best.risk, one.risk)
    ]
    if not safer:
        return "None of those that were assessed in full is safer by more than noise."
    other = min(safer, key=lambda one: _value(one.loss))
    return (
        f"Safer is {other.name}: its risk is {_number(other.risk)}, which is more than noise, and "
        f"it loses {_more(best, other)}."
    )


def _sharper(best: Standing, own: Sequence[Standing]) -> str:
    """Return who would lose less but may not be released."""
    barred = [
        one
        for one in own
        if one.word != "release" and one.loss.value is not None and _clear(best.loss, one.loss)
        if _value(one.loss) < _value(best.loss)
    ]
    if not barred:
        return ""
    other = min(barred, key=lambda one: _value(one.loss))
    less = _value(best.loss) - _value(other.loss)
    return f"{other.name} would lose {less:.2g} less, but its word is {other.word!r}."


def _more(best: Standing, other: Standing) -> str:
    """Return how much more another one loses; fresh keys can say that it is less."""
    more = _value(other.loss) - _value(best.loss)
    return f"{abs(more):.2g} {'more' if more >= 0.0 else 'less'}"


def _clear(first: Measure, second: Measure) -> bool:
    """Return whether two measures differ by more than their intervals explain together."""
    errors = [_error(measure) for measure in (first, second)]
    return abs(_value(first) - _value(second)) > _HALF * math.hypot(*errors)


def _error(measure: Measure) -> float:
    if measure.low is None or measure.high is None:
        return math.inf
    return (measure.high - measure.low) / (2.0 * _HALF)


def _value(measure: Measure) -> float:
    return math.inf if measure.value is None else measure.value


def _number(measure: Measure) -> str:
    return "not known" if measure.value is None else f"{measure.value:.2f}"


def _loss(standing: Standing) -> str:
    loss = standing.loss
    if loss.low is None or loss.high is None:
        return _number(loss)
    return f"{_number(loss)} ({max(0.0, loss.low):.2f} to {loss.high:.2f})"


def _count(n: int) -> str:
    return f"{n} candidates" if n > 1 else "one candidate"
