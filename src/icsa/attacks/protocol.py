"""What every attack on tables takes and returns: targets in, one record with its control out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np

from icsa.comparison.features import Features, FeatureTable
from icsa.measures import Measure

__all__ = ["Attack", "AttackKind", "AttackResult", "ControlIs", "Counts", "Tally", "Targets"]

ControlIs: TypeAlias = Literal[
    "people who were not in the table", "the original without the person", "nobody"
]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Targets:
    """Whom an attack is made on, and with what.

    Attributes
    ----------
    features : Features
        The people in the table (its `original`) and the release.
    outsiders : FeatureTable, optional
        People like them who were not in the table, with the same columns: the control.
    also_released : FeatureTable, optional
        Another release of the same table that is already out.
    knows, secret : tuple of str
        Columns that the attacker knows, and those to be guessed; empty: the attack chooses.
    """

    features: Features
    outsiders: FeatureTable | None = None
    also_released: FeatureTable | None = None
    knows: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<Targets: {self.features!r}>"


@dataclass(frozen=True)
class Tally:
    """How many guesses were right, and of how many.

    Attributes
    ----------
    hits : float
        Right guesses; no whole number where a guess is about several cells.
    trials : int
        Guesses: people, predicates or pairs.
    effective : float
        How many independent guesses would be as uncertain: `trials` unless guesses hang together.
        Infinite for what is known without trying.
    """

    hits: float
    trials: int
    effective: float

    @property
    def share(self) -> float:
        """Right guesses of all."""
        return self.hits / self.trials


@dataclass(frozen=True)
class Counts:
    """The tallies behind a result's shares; None where there are none. Those of halves add up."""

    right: Tally | None = None
    control: Tally | None = None
    naive: Tally | None = None


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """How far an attacker got, beside the same attack on people who were not in the table.

    Attributes
    ----------
    attack : str
        Its name, as the command line takes it.
    knows, guesses : str
        What the attacker knows, and what is guessed, in words.
    right, control, naive : Measure
        Share of guesses that are right: about people in the table, about the control, and by
        somebody who guesses without the release.
    difference : Measure
        `right` less `control`, with its interval: what the release gives away.
    control_is : str
        Who the control are.
    means : str
        What that means, in a sentence without row numbers and cells.
    rows : tuple of int
        People about whom the guess was right where that is a finding; for internal use only.
    counts : Counts
        How many guesses the shares rest on, for `icsa.attacks.pooled`.
    """

    attack: str
    knows: str
    guesses: str
    right: Measure
    control: Measure
    naive: Measure
    difference: Measure
    control_is: ControlIs
    means: str
    rows: tuple[int, ...] = ()
    counts: Counts = Counts()


class Attack(Protocol):
    """One attack: `people` is how many are tried at most, chosen by `rng`."""

    def __call__(
        self, targets: Targets, *, people: int, rng: np.random.Generator
    ) -> tuple[AttackResult, ...]:
        """Return what the attacker gets, one record for each thing that is guessed."""


@dataclass(frozen=True)
class AttackKind:
    """An attack with what is to be known before it is run.

    Attributes
    ----------
    run : Attack
    summary : str
        What the attacker does, in a sentence.
    needs : str
        What it cannot do without, beside a release; empty for nothing.
    quick : bool
        Whether every assessment runs it.
    """

    run: Attack
    summary: str
    needs: str = ""
    quick: bool = True
