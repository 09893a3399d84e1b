"""The rivals by name, and how one of them is run on a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import polars as pl

from icsa.columns import Column
from icsa.columns.unmasked import Identifier
from icsa.errors import UnknownNameError
from icsa.inspection import guess_schema
from icsa.matrices import Vector
from icsa.randomness import as_key
from icsa.release.preparing import prepare_rows
from icsa.rivals.base import Cells
from icsa.rivals.bootstrap_sample import draw_people
from icsa.rivals.cart_synthesis import draw_by_trees
from icsa.rivals.gaussian_copula import draw_from_copula
from icsa.rivals.microaggregation import microaggregate
from icsa.rivals.noise_addition import add_noise
from icsa.rivals.private_synthesis import EPSILON, draw_privately
from icsa.rivals.rank_swapping import swap_ranks
from icsa.schema import Schema
from icsa.shuffling import permutation
from icsa.tables import Table

__all__ = ["RIVALS", "Rival", "rival_release"]


@dataclass(frozen=True, kw_only=True)
class Rival:
    """A method of others.

    Attributes
    ----------
    name, summary : str
    run : function
        From cells and a generator to the numbers of every column.
    library : str
        A module that must be installed for it; empty where none must. Such a rival takes long, and
        takes part in a comparison only where it is asked for.
    """

    name: str
    summary: str
    run: Callable[[Cells, np.random.Generator], dict[str, Vector]]
    library: str = ""

    @property
    def installed(self) -> bool:
        """Whether all that it needs is there."""
        return not self.library or find_spec(self.library) is not None


RIVALS: dict[str, Rival] = {
    rival.name: rival
    for rival in (
        Rival(name="noise", summary="correlated noise, 20% of the spread", run=add_noise),
        Rival(name="mdav", summary="microaggregation, groups of five", run=microaggregate),
        Rival(name="rank-swap", summary="cells swapped within 5% of the ranks", run=swap_ranks),
        Rival(name="copula", summary="a normal law of ranks", run=draw_from_copula),
        Rival(name="cart", summary="one tree after the other, leaves of five", run=draw_by_trees),
        Rival(
            name="dp",
            summary=f"differentially private, epsilon {EPSILON:g}: few columns at a time",
            run=draw_privately,
            library="mbi",
        ),
        Rival(name="bootstrap", summary="people drawn again: a yardstick", run=draw_people),
    )
}


def rival_release(
    table: Table, name: str, *, schema: Schema | None = None, random_state: object = None
) -> Table:
    """Return what a rival makes of a table, in a random order of rows; not to be handed out.

    Identifiers are fresh and text is gone, as in a release. Relations between columns are not kept:
    no rival does that.

    Examples
    --------
    >>> ages = np.random.default_rng(0).integers(20, 90, 60)
    >>> table = Table(pl.DataFrame({"age": ages, "ward": ["north", "south"] * 30}))
    >>> made = rival_release(table, "rank-swap", random_state=1)
    >>> made.frame["age"].sort().equals(table.frame["age"].sort())
    True
    """
    if name not in RIVALS:
        raise UnknownNameError("rival", name, RIVALS)
    key = as_key(random_state).child("rival")
    declared = guess_schema(table) if schema is None else schema
    prepared = prepare_rows(table, declared, "paper")
    numbers = prepared.take_numbers()
    seed = int.from_bytes(key.stream(name).random_bytes(32).tobytes(), "big")
    made = RIVALS[name].run(Cells(prepared.columns, numbers), np.random.default_rng(seed))
    frame = _frame(table, prepared.schema, prepared.columns, made)
    return table.with_frame(frame[permutation(table.frame.height, key.stream("rows"))])


def _frame(
    table: Table, schema: Schema, columns: Mapping[str, Column], made: Mapping[str, Vector]
) -> pl.DataFrame:
    built = {}
    for spec in schema.columns.values():
        cells = table.frame[spec.name]
        if spec.action == "mask":
            built[spec.name] = columns[spec.name].cells(made[spec.name])
        elif spec.action == "replace":
            built[spec.name] = Identifier.fit(cells, spec).fresh(cells.len()).alias(spec.name)
        elif spec.action == "keep":
            built[spec.name] = cells
    return pl.DataFrame(built)
