"""From counts of right guesses to a record: shares, intervals, and what they mean in words.

Intervals of shares are Wilson's. That of a difference is Newcombe's, which squares and adds the
distances from the two shares to the ends of their intervals. Where guesses hang together, as cells
of one person do, the number of guesses in these formulas is the number of independent ones that
would be as uncertain.

References
----------
Wilson, E. B. (1927), Journal of the American Statistical Association 22, 209-212.
Newcombe, R. G. (1998), Statistics in Medicine 17, 873-890.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist

import numpy as np

from icsa.attacks.protocol import AttackResult, ControlIs, Counts, Tally
from icsa.errors import InputError
from icsa.matrices import Vector
from icsa.measures import Direction, Measure, NotEstimable

__all__ = [
    "NO_OUTSIDERS",
    "constant",
    "difference_of",
    "interval_of",
    "not_applicable",
    "outcome",
    "pooled",
    "tally_of_people",
    "tally_of_trials",
]

_LEVEL = 0.95
# Where up to so many more guesses may be right, nothing is said to be safe.
_WIDE = 0.2
_DIRECTION: Direction = "lower is safer"
NO_OUTSIDERS = NotEstimable("people who were not in the table are needed (--holdout)")


def constant(share: float, trials: int = 1) -> Tally:
    """Return the tally of a share that is known without trying.

    Examples
    --------
    >>> constant(0.5).share
    0.5
    """
    return Tally(share * trials, trials, math.inf)


def tally_of_trials(right: np.ndarray) -> Tally:
    """Return the tally of guesses, one a person, that were right or not.

    Examples
    --------
    >>> tally_of_trials(np.array([True, False, False, True]))
    Tally(hits=2.0, trials=4, effective=4.0)
    """
    return Tally(float(np.count_nonzero(right)), int(right.size), float(right.size))


def tally_of_people(shares: Vector) -> Tally | NotEstimable:
    """Return the tally of people about each of whom several guesses were made.

    Parameters
    ----------
    shares : ndarray of shape (n_people,)
        Share of guesses about each that were right; NaN where none could be made.

    Examples
    --------
    Two cells of each of four people; half of all are right, and the variance of a person's share
    is 1/6, that of a coin 1/4:

    >>> tally_of_people(np.array([1.0, 0.5, 0.5, 0.0]))
    Tally(hits=2.0, trials=4, effective=6.0)
    """
    defined = shares[~np.isnan(shares)]
    n = defined.size
    if not n:
        return NotEstimable("there is no cell to be guessed")
    mean = float(defined.mean())
    variance = float(defined.var(ddof=1)) if n > 1 else 0.0
    binomial = mean * (1.0 - mean)
    effective = n * binomial / variance if variance > 0.0 and binomial > 0.0 else float(n)
    return Tally(float(defined.sum()), int(n), effective)


def interval_of(tally: Tally, level: float = _LEVEL) -> tuple[float, float]:
    """Return Wilson's interval of a share.

    Examples
    --------
    >>> low, high = interval_of(Tally(0, 10, 10))
    >>> round(low, 3), round(high, 3)
    (0.0, 0.278)
    """
    share, n = tally.share, tally.effective
    if math.isinf(n):
        return share, share
    q = NormalDist().inv_cdf(0.5 + 0.5 * level)
    centre = (share + q * q / (2.0 * n)) / (1.0 + q * q / n)
    spread = q / (1.0 + q * q / n) * math.sqrt(share * (1.0 - share) / n + q * q / (4.0 * n * n))
    return max(0.0, min(share, centre - spread)), min(1.0, max(share, centre + spread))


def outcome(
    attack: str,
    *,
    knows: str,
    guesses: str,
    right: Tally | NotEstimable,
    control: Tally | NotEstimable = NO_OUTSIDERS,
    naive: Tally | NotEstimable,
    control_is: ControlIs = "nobody",
    means: str = "",
    rows: Sequence[int] = (),
) -> AttackResult:
    """Return the record of an attack from its tallies.

    Parameters
    ----------
    attack, knows, guesses
        As in `AttackResult`.
    right, control, naive : Tally or NotEstimable
    control_is : str
        Who the control are; nobody where there is no tally of them.
    means : str
        What that means, where the shares do not say it all.
    rows : sequence of int

    Examples
    --------
    >>> found = outcome(
    ...     "linkability", knows="two halves", guesses="that they are one", right=Tally(9, 10, 10),
    ...     control=Tally(2, 10, 10), naive=constant(0.1), control_is="nobody"
    ... )
    >>> print(found.difference)
    0.700 (0.266 to 0.865)
    """
    tallies = (right, control, naive)
    counts = Counts(*(tally if isinstance(tally, Tally) else None for tally in tallies))
    difference = _difference(right, control)
    said = means or _in_words(difference, counts, control_is)
    return AttackResult(
        attack=attack,
        knows=knows,
        guesses=guesses,
        right=_measure("right", right),
        control=_measure("right for the control", control),
        naive=_measure("right without the release", naive),
        difference=difference,
        control_is=control_is,
        means=said,
        rows=tuple(int(row) for row in rows),
        counts=counts,
    )


def not_applicable(attack: str, *, knows: str, guesses: str, reason: str) -> AttackResult:
    """Return the record of an attack that cannot be made, with the reason.

    Examples
    --------
    >>> print(not_applicable("digits", knows="", guesses="", reason="no column is a lattice").right)
    not estimable: no column is a lattice
    """
    why = NotEstimable(reason)
    return outcome(
        attack,
        knows=knows,
        guesses=guesses,
        right=why,
        control=why,
        naive=why,
        means=f"This attack cannot be made here: {reason}",
    )


def pooled(results: Iterable[Sequence[AttackResult]]) -> tuple[AttackResult, ...]:
    """Return the results of several halves (or releases) as one: their counts are added up.

    Results belong together when attack, knowledge and guess are the same. One that could not be
    made in a half rests on the others.

    Examples
    --------
    >>> first, second = (
    ...     outcome("linkability", knows="", guesses="", right=Tally(k, 10, 10),
    ...             control=Tally(1, 10, 10), naive=constant(0.1))
    ...     for k in (2, 4)
    ... )
    >>> found, = pooled([[first], [second]])
    >>> found.right.value, found.right.n, found.control.value
    (0.3, 20, 0.1)
    """
    groups: dict[tuple[str, str, str], list[AttackResult]] = {}
    for several in results:
        for result in several:
            groups.setdefault((result.attack, result.knows, result.guesses), []).append(result)
    return tuple(_together(group) for group in groups.values())


def _together(group: list[AttackResult]) -> AttackResult:
    made = [result for result in group if result.counts.right is not None]
    if len(made) < 2:
        return (made or group)[0]
    worst = max(made, key=lambda result: result.right.value or 0.0)
    controls = {result.control_is for result in made}
    if len(controls) > 1:
        raise InputError("Results with different controls cannot be pooled.")
    added = {
        name: _sum([getattr(result.counts, name) for result in made], getattr(worst, name))
        for name in ("right", "control", "naive")
    }
    return outcome(
        worst.attack,
        knows=worst.knows,
        guesses=worst.guesses,
        right=added["right"],
        control=added["control"],
        naive=added["naive"],
        control_is=worst.control_is,
        means="" if isinstance(added["control"], Tally) else worst.means,
        rows=worst.rows,
    )


def _sum(tallies: list[Tally | None], measure: Measure) -> Tally | NotEstimable:
    known = [tally for tally in tallies if tally is not None]
    if not known:
        return NotEstimable(measure.reason)
    return Tally(
        sum(tally.hits for tally in known),
        sum(tally.trials for tally in known),
        sum(tally.effective for tally in known),
    )


def _measure(name: str, tally: Tally | NotEstimable) -> Measure:
    if isinstance(tally, NotEstimable):
        return Measure.of(tally, name=name, direction=_DIRECTION)
    ends = None if math.isinf(tally.effective) else interval_of(tally)
    return Measure.of(tally.share, name=name, direction=_DIRECTION, n=tally.trials, interval=ends)


def difference_of(counts: Counts, level: float = _LEVEL) -> tuple[float, float]:
    """Return Newcombe's interval of right less control; NaN where there is no control.

    Examples
    --------
    >>> low, high = difference_of(Counts(Tally(9, 10, 10), Tally(2, 10, 10)))
    >>> round(low, 3), round(high, 3)
    (0.266, 0.865)
    """
    right, control = counts.right, counts.control
    if right is None or control is None:
        return math.nan, math.nan
    (low, high), (control_low, control_high) = (
        interval_of(tally, level) for tally in (right, control)
    )
    value = right.share - control.share
    below = math.hypot(right.share - low, control_high - control.share)
    above = math.hypot(high - right.share, control.share - control_low)
    return max(-1.0, value - below), min(1.0, value + above)


def _difference(right: Tally | NotEstimable, control: Tally | NotEstimable) -> Measure:
    """Return right less control, by Newcombe's interval."""
    name = "right less control"
    for part in (right, control):
        if isinstance(part, NotEstimable):
            return Measure.of(part, name=name, direction=_DIRECTION)
    assert isinstance(right, Tally)
    assert isinstance(control, Tally)
    value, ends = right.share - control.share, difference_of(Counts(right, control))
    return Measure.of(value, name=name, direction=_DIRECTION, n=right.trials, interval=ends)


def _in_words(difference: Measure, counts: Counts, control_is: ControlIs) -> str:
    if counts.right is None:
        return f"Not known: {difference.reason}"
    if difference.value is None or difference.low is None:
        return (
            f"{_of_hundred(counts.right.share)} of 100 are right; how many would be so about "
            "people who were not in the table is not known"
        )
    real = control_is == "people who were not in the table"
    others = f"about {control_is}" if real else "from other people of the original"
    if difference.low <= 0.0:
        wide = difference.high is not None and difference.high > _WIDE
        return f"{'Too few to tell whether' if wide else 'No'} more is learnt than {others}"
    return f"{_of_hundred(difference.value)} of 100 more are right than {others}"


def _of_hundred(share: float) -> str:
    return f"{100.0 * share:.1f}".removesuffix(".0")
