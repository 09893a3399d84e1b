"""Where a candidate stands: what its draws say of its risk, its loss and its word."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from scipy.special import stdtrit

from icsa.choice.candidates import Candidate
from icsa.choice.planting import PEOPLE
from icsa.measures import Estimate, Measure, NotEstimable
from icsa.privacy.people_findings import clopper_pearson
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import WORDS, Word

__all__ = ["Standing", "standing_of"]

_LEVEL = 0.95
_WORDS: tuple[Word, ...] = tuple(WORDS)
_ENOUGH_SPLITS = 5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Standing:
    """What is known of a candidate.

    Attributes
    ----------
    candidate : Candidate
    why_not : str
        Why it cannot be made of this table; empty where it can.
    loss : Measure
        In units of what another sample of the same people would differ by: over fresh keys where
        there were any, or else over those of the race.
    raced : Measure
        The same over the keys of the race, by which it won or lost.
    parts : mapping of str to float
        What the loss is made of, by name.
    risk : Measure
        The larger of `members` and `planted`.
    members : Measure
        How much better than by guessing members are told from others: 2 AUC - 1, on halves.
    planted : Measure
        Share of planted people whom a release reveals.
    gains : mapping of str to float
        What attackers get more about members than about others, on halves, by attack.
    words : mapping of Word to int
        How many keys have each word.
    word : "release", "look again" or "do not release"
        Over all of them; of the whole assessment where there was one.
    assessed : bool
        Whether there was.
    reasons : str
        Why it is not "release".
    fresh : bool
        Whether loss and words are of fresh keys, that had no part in the race.
    rounds : int
        In how many rounds it was.
    """

    candidate: Candidate
    why_not: str = ""
    loss: Measure
    raced: Measure
    parts: Mapping[str, float] = field(default_factory=dict)
    risk: Measure
    members: Measure
    planted: Measure
    gains: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[Word, int] = field(default_factory=dict)
    word: Word
    assessed: bool = False
    reasons: str = ""
    fresh: bool = False
    rounds: int = 1

    @property
    def name(self) -> str:
        """The candidate's."""
        return self.candidate.name

    @property
    def surely_forbidden(self) -> bool:
        """Whether the keys so far leave no doubt that too many of them have another word."""
        count = sum(self.words.values())
        bad = count - self.words.get("release", 0)
        limit = clopper_pearson(bad, count)[0] if count else 0.0
        return bool(self.why_not) or limit > Policy().keys_look.value

    def __repr__(self) -> str:
        """Show the name, the word and the two numbers."""
        return f"<{self.name}: {self.word}, loss {self.loss}, risk {self.risk}>"


def standing_of(
    candidate: Candidate, rows: pl.DataFrame, fresh: pl.DataFrame | None = None, rounds: int = 1
) -> Standing:
    """Return where a candidate stands after its trials.

    Parameters
    ----------
    candidate : Candidate
    rows : DataFrame
        Of its trials in the race, as `icsa.choice.trials.try_candidate` gives them.
    fresh : DataFrame, optional
        Of its trial with fresh keys: the loss and the words are theirs.
    rounds : int
        In how many rounds of the race it was.
    """
    keys = rows if fresh is None else fresh
    failed = rows.filter(pl.col("what") == "failed")["note"].to_list()
    members, planted = _members(rows), _planted(_values(rows, "planting", "found"))
    words = _word_counts(_values(keys, "key", "word"))
    word, reasons = _word_over_keys(words, members)
    assessed = None if fresh is None else fresh.filter(pl.col("what") == "assessed")
    if assessed is not None and assessed.height:
        word, reasons = _WORDS[int(assessed["value"][0])], assessed["note"][0]
    of_keys = keys.filter((pl.col("what") == "key") & ~pl.col("measure").is_in(["word", "loss"]))
    return Standing(
        candidate=candidate,
        why_not=failed[0] if failed else "",
        loss=_mean(_values(keys, "key", "loss")),
        raced=_mean(_values(rows, "key", "loss")),
        parts=_means(of_keys),
        risk=_larger(members, planted),
        members=members,
        planted=planted,
        gains=_means(
            rows.filter(
                (pl.col("what") == "split") & ~pl.col("measure").is_in(["area", "variance"])
            )
        ),
        words=words,
        word=word,
        assessed=assessed is not None and bool(assessed.height),
        reasons=reasons,
        fresh=fresh is not None,
        rounds=rounds,
    )


def _values(rows: pl.DataFrame, what: str, measure: str) -> np.ndarray:
    found = rows.filter((pl.col("what") == what) & (pl.col("measure") == measure))
    return found["value"].to_numpy()


def _means(rows: pl.DataFrame) -> dict[str, float]:
    found = rows.group_by("measure", maintain_order=True).agg(pl.col("value").mean())
    return dict(found.rows())


def _mean(values: np.ndarray) -> Measure:
    """Return the mean over keys with its interval by Student's t: there are few of them."""
    estimate: Estimate = NotEstimable("there is no release")
    interval = None
    if values.size:
        estimate = mean = float(values.mean())
    if values.size > 1:
        error = float(values.std(ddof=1)) / math.sqrt(values.size)
        half = float(stdtrit(values.size - 1, 0.5 + 0.5 * _LEVEL)) * error
        interval = mean - half, mean + half
    return Measure.of(
        estimate, name="loss", direction="lower is better", n=values.size, interval=interval
    )


def _members(rows: pl.DataFrame) -> Measure:
    """Return 2 AUC - 1 over splits, with the interval of `membership_rounds.pooled_area`."""
    areas, variances = (_values(rows, "split", name) for name in ("area", "variance"))
    name = "members told from others"
    if not areas.size:
        return Measure.of(NotEstimable("halves of the people cannot be released"), name=name)
    spread = float(variances.mean())
    if areas.size >= _ENOUGH_SPLITS:
        spread = max(spread, float(areas.var(ddof=1)))
    value, half = 2.0 * float(areas.mean()) - 1.0, 2.0 * 1.96 * math.sqrt(spread / areas.size)
    low, high = max(0.0, value - half), min(1.0, max(0.0, value + half))
    held = max(0.0, value)
    return Measure(
        name=name,
        value=held,
        low=min(low, held),
        high=max(high, held),
        n=areas.size,
        direction="lower is safer",
    )


def _planted(shares: np.ndarray) -> Measure:
    name = "planted people found"
    if not shares.size:
        return Measure.of(NotEstimable("too few columns in which people can be moved"), name=name)
    people = PEOPLE * shares.size
    low, high = clopper_pearson(round(float(shares.sum()) * PEOPLE), people)
    value = float(shares.mean())
    return Measure(
        name=name,
        value=value,
        low=min(low, value),
        high=max(high, value),
        n=people,
        direction="lower is safer",
    )


def _larger(first: Measure, second: Measure) -> Measure:
    known = [measure for measure in (first, second) if measure.value is not None]
    return max(known, key=lambda measure: measure.value or 0.0, default=first)


def _word_counts(values: Sequence[float] | np.ndarray) -> dict[Word, int]:
    return {word: int(np.sum(np.asarray(values) == k)) for k, word in enumerate(_WORDS)}


def _word_over_keys(words: Mapping[Word, int], members: Measure) -> tuple[Word, str]:
    """Return the word that keys and halves give, by the thresholds of an assessment."""
    policy, count = Policy(), max(1, sum(words.values()))
    stop, bad = words["do not release"], count - words["release"]
    has = "has" if bad == 1 else "have"
    told = f"{bad} of {count} keys {has} another word than release" if bad else ""
    if stop >= policy.keys_stop.value * count:
        return "do not release", told
    if bad >= policy.keys_look.value * count:
        return "look again", told
    limit = 2.0 * policy.rehearsal_area.value - 1.0
    if members.low is not None and members.low > limit:
        return "look again", "members are told from others"
    return "release", ""
