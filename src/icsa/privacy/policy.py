"""The thresholds of the verdict, each with its reason and who answers for it."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Policy", "Threshold"]

_MEASURED = "error rates measured on fresh, synthetic and copied tables: benchmarks/verdict.py"
_KEYS = "tables released under many keys: benchmarks/keys.py"
_REHEARSED = "harmless and harmful recipes on real tables: benchmarks/rehearsal.py"
_HALVES = "error rates measured on halves of real tables and on copies: benchmarks/halves.py"


@dataclass(frozen=True)
class Threshold:
    """A number that decides, why it is this number, and who answers for it.

    Examples
    --------
    >>> Threshold(0.05, "the usual level").value
    0.05
    """

    value: float
    reason: str
    source: str = _MEASURED
    owner: str = "the icsa developers"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The thresholds of the verdict.

    Examples
    --------
    >>> Policy().person_chance.value
    0.015
    >>> stricter = Policy(person_chance=Threshold(0.1, "few people, all vulnerable"))
    """

    person_chance: Threshold = Threshold(
        0.015,
        "P at or below it: the release is nearer to a person than chance explains; halves of real "
        "tables have so small a P in one or two of a hundred",
        _HALVES,
    )
    person_ratio: Threshold = Threshold(
        0.5, "rho at or below it besides: at most half as far as the nearest other original"
    )
    person_rest: Threshold = Threshold(
        0.8,
        "a person is replicated only if rho without the column that stands out most is as small",
    )
    group_chance: Threshold = Threshold(
        0.01, "the group's share is larger than chance explains; alone it rejects harmless releases"
    )
    group_ratio_stop: Threshold = Threshold(
        0.5, "median rho at or below it besides: the group as a whole is replicated"
    )
    group_ratio_look: Threshold = Threshold(
        0.8, "median rho at or below it besides: the group as a whole is approached"
    )
    part_cells: Threshold = Threshold(
        2.0, "so many cells or more equal to one released row count as a repeated part"
    )
    part_excess: Threshold = Threshold(1.0, "if they are more than the control's by more than this")
    part_surprise: Threshold = Threshold(
        3.5,
        "or, rare values weighing more, if their surprise (sum of -log frequency) exceeds the "
        "control's by this: by chance about one person in ten",
    )
    part_share: Threshold = Threshold(
        0.5, "repeated parts count from this share of the people on: blocks were passed on"
    )
    part_chance: Threshold = Threshold(
        0.01,
        "and if so many more people have them than have as much in common with another original",
        _HALVES,
    )
    small_ratio: Threshold = Threshold(
        0.45,
        "all people who stand out are nearer to the release than to anyone else, too few for the "
        "group's test, and their median rho is at or below it",
        _HALVES,
    )
    exact_look: Threshold = Threshold(
        0.005,
        "P of so many people who are repeated in every cell, whether they stand out or not: half "
        "a percent, as all rules together are to alarm on at most 3% of fresh tables",
    )
    exact_stop: Threshold = Threshold(
        0.001, "the same: rows were copied; on fresh people in one table of a thousand at most"
    )
    equal_look: Threshold = Threshold(
        0.005,
        "joint P of the people who have rare cells in common with a released row: everybody counts",
        _HALVES,
    )
    equal_stop: Threshold = Threshold(
        0.001, "the same: somebody was copied, but for a few cells at most", _HALVES
    )
    near_look: Threshold = Threshold(
        0.005, "joint P of the people to whom a released row is near in many cells", _HALVES
    )
    near_stop: Threshold = Threshold(0.001, "the same: somebody was copied with noise", _HALVES)
    closer_look: Threshold = Threshold(
        0.15,
        "so many people would have to be copied to bring as many nearer to the release than to "
        "anyone else, if that is clear (closer_clear)",
        _HALVES,
    )
    closer_stop: Threshold = Threshold(
        0.5, "the same: half of the people or more were copied, with noise or without", _HALVES
    )
    closer_clear: Threshold = Threshold(
        3.5, "clear: so many standard errors, which allow for neighbours in common", _HALVES
    )
    large_clear: Threshold = Threshold(
        4.0,
        "so many standard errors more people than one in twenty resemble a released row as one in "
        "twenty resembles another original",
        _HALVES,
    )
    extremes_look: Threshold = Threshold(
        0.001,
        "P of so many people whose unique largest or smallest value is released: far values of the "
        "same columns show how often that happens by chance",
        _HALVES,
    )
    before_stop: Threshold = Threshold(
        0.5, "upper limit of min(1, Lambda) at or above it: a key that replicates is likely"
    )
    before_look: Threshold = Threshold(
        0.1, "lower limit of min(1, Lambda) above it: a key that replicates is not unlikely"
    )
    before_factor: Threshold = Threshold(
        2.0,
        "and above so many times the chance that fresh people come as near: with few columns a "
        "released row lies near everybody. Without it nine in ten harmless tables of five columns "
        "alarmed, with it a third, those with people far out and alone",
        source="84 harmless tables of 3 to 12 columns, and 60 with somebody at 20 sd",
    )
    keys_look: Threshold = Threshold(
        0.2,
        "share of fresh keys under which the rules above look again or worse: that is the word of "
        "the recipe, whatever key was drawn; harmless recipes reach it on one table in a hundred",
        source=_KEYS,
    )
    keys_stop: Threshold = Threshold(
        0.5, "the same for do not release: most keys are no good, as with Lambda", source=_KEYS
    )
    rehearsal_area: Threshold = Threshold(
        0.75,
        "lower limit of the chance that a member is nearer than somebody who was not in the table",
        source=_REHEARSED,
    )
    rehearsal_nearest: Threshold = Threshold(
        0.85,
        "lower limit of the share of members among the 1% who are nearest to the release",
        source=_REHEARSED,
    )
    identifier_share: Threshold = Threshold(
        0.1,
        "identifiers, texts or columns to be dropped that came through in this share of the "
        "released rows or more were not replaced; in fewer rows they may be so by coincidence",
        source="chosen; no error rate was measured",
    )

    attack_chance: Threshold = Threshold(
        0.001,
        "level of the lower limit of what attackers get more about people in the table than about "
        "others: ten guesses are looked at, and all together alarm on at most 1% of fresh people",
        source="intervals measured on fresh people: docs/attacks.rst",
    )
    attack_look: Threshold = Threshold(
        0.02,
        "this limit above it: singling out, linkability or inference gain from the release",
        source="measured on fresh people and recipes: docs/attacks.rst",
    )
    attack_stop: Threshold = Threshold(
        0.2,
        "the same above this: one guess in five is right because the person is in the table",
        source="chosen",
    )
    membership_look: Threshold = Threshold(
        0.1,
        "the limit of how much better than one half members are told from others; good syntheses "
        "have .04 to .09",
        source="measured on fresh people and recipes: docs/attacks.rst",
    )
    membership_stop: Threshold = Threshold(
        0.3, "the same above this: four in five are told", source="chosen"
    )

    def values(self) -> dict[str, float]:
        """Return every threshold's number by its name."""
        return {item.name: getattr(self, item.name).value for item in fields(self)}
