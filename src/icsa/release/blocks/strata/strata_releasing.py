"""The strata of a large table released, each for itself, and put together."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from icsa.columns import ColumnSpec
from icsa.columns.unmasked import Identifier
from icsa.inspection.unit_rows import Places
from icsa.randomness import Key
from icsa.release.blocks.block_cells import Cells
from icsa.release.blocks.block_preparing import Declared
from icsa.release.blocks.block_releasing import release_declared
from icsa.release.blocks.block_weights import check_weights
from icsa.release.blocks.explained_passes import Ways, share_of_all
from icsa.release.blocks.ground import Ground
from icsa.release.blocks.made_in_blocks import MadeInBlocks
from icsa.release.blocks.passes import Passes, Task
from icsa.release.blocks.scratch import Scratch
from icsa.release.blocks.strata.split_tables import (
    Piece,
    find_strata,
    piece_table,
    pieces_of,
    split_column,
)
from icsa.release.blocks.strata.strata_cells import ReleasedPiece, put_together
from icsa.release.blocks.units.unit_preparing import declare_units_in_blocks
from icsa.release.methods import MethodOptions
from icsa.release.planning import PlanOnce, plan
from icsa.release.preparing import prepare
from icsa.release.releasing import Release, release
from icsa.release.strata_release import (
    account_of_strata,
    rows_a_unit,
    said_of_stratum,
    size_in_words,
    telling_of_stratum,
)
from icsa.schema import Schema, names_with
from icsa.tables import Table
from icsa.tables.stored import StoredColumns, StoredTable

__all__ = ["release_strata_in_blocks"]

_RELEASING = "releasing strata"


@dataclass(frozen=True, eq=False, repr=False)
class _Strata:
    """What is the same for all strata.

    Attributes
    ----------
    schema : Schema
        Of the whole table.
    recipe : str
    n_strata : int
    options : MethodOptions
    secret : bytes
        The key's.
    reproducible : bool
        Whether the key is that of a seed.
    """

    schema: Schema
    recipe: str
    n_strata: int
    options: MethodOptions
    secret: bytes
    reproducible: bool

    def key(self, number: int) -> Key:
        """Return the key of a stratum."""
        return Key(self.secret, reproducible=self.reproducible).child("stratum", number)


class _MadeInMemory(NamedTuple):
    """The accounts of several strata, and how many rows each of their units has."""

    accounts: tuple[Release, ...]
    sizes: Places


def release_strata_in_blocks(
    passes: Passes, ground: Ground, declared: Declared, key: Key, options: MethodOptions
) -> MadeInBlocks:
    """Return the release of a stored table stratum by stratum: the cells that one in memory has."""
    table, schema = ground.table, declared.schema
    if schema.design.unit:
        schema = declare_units_in_blocks(passes, table, declared).schema
    if schema.design.weight:
        passes.once("weights", check_weights, table, schema)
    sizes: tuple[int, ...] = passes.once("finding strata", find_strata, table, schema)
    pieces = pieces_of(sizes, ground)
    tasks = [
        Task(split_column, (table, name, place, pieces)) for place, name in enumerate(table.names)
    ]
    passes.over("splitting strata", tasks)
    replaced = names_with("replace", schema)
    found = passes.over(
        "identifiers", [Task(_identifier, (table, schema.columns[name])) for name in replaced]
    )
    table.let_go(table.names)
    passes.drop(["rows of strata", "order", "starts"])
    passes.scratch.drop_spare()
    # All strata are made alike.
    straight: MethodOptions = {**options, "straight": True}
    strata = _Strata(schema, declared.recipe, len(sizes), straight, key.reveal(), key.reproducible)
    made = list(_released(passes, ground, pieces, strata))
    accounts = [account for piece in made for account in piece.accounts]
    cells = put_together(passes, made, schema, dict(zip(replaced, found, strict=True)), table, key)
    frame = cells.between(0, 0)
    account = replace(
        account_of_strata(accounts, schema),
        table=Table(
            frame, {n: v for n, v in table.variables.items() if n in frame.columns}, table.layout
        ),
        written=cells.n_rows,
    )
    return MadeInBlocks(cells, account, {})


def _identifier(_: Scratch, table: StoredTable, spec: ColumnSpec) -> Identifier:
    """Return what the cells of a column are replaced by in all strata."""
    return Identifier.fit(table.column(spec.name).frame[spec.name], spec)


def _released(
    passes: Passes, ground: Ground, pieces: Sequence[Piece], strata: _Strata
) -> Iterator[ReleasedPiece]:
    """Yield the released pieces of the table, in their order."""
    scratch, table = passes.scratch, ground.table
    fitting = [piece for piece in pieces if piece.fits]
    share = sum(piece.n_rows for piece in fitting) / ground.n_rows

    def told(_name: str, done: float) -> None:
        passes.told(_RELEASING, share * done)

    tasks = [
        Task(_release_in_memory, (piece_table(scratch, table, piece), piece, strata))
        for piece in fitting
    ]
    made = replace(passes, told=told).over("strata in memory", tasks)
    small: dict[int, _MadeInMemory] = {
        piece.first: one for piece, one in zip(fitting, made, strict=True)
    }
    for piece in fitting:
        piece_table(scratch, table, piece).let_go(table.names)
    for piece in pieces:
        if piece.fits:
            one = small[piece.first]
            yield ReleasedPiece(one.accounts, one.sizes, _released_path(scratch, piece.first))
        else:
            yield _release_large(passes, ground, piece, strata, share)
            share += piece.n_rows / ground.n_rows


def _released_path(scratch: Scratch, number: int) -> Path:
    return scratch.folder / "strata" / f"{number}.released.arrow"


def _release_in_memory(
    scratch: Scratch, stored: StoredColumns, piece: Piece, strata: _Strata
) -> _MadeInMemory:
    """Write the released cells of strata that fit, one after the other."""
    frame = pl.DataFrame([stored.column(name).frame[name] for name in stored.names])
    accounts, frames, sizes = [], [], []
    unit = strata.schema.design.unit
    for number, rows in piece.strata():
        part = Table(frame[rows], stored.variables, stored.layout)
        with telling_of_stratum(number, strata.n_strata, size_in_words(part, unit)):
            said = said_of_stratum(part, strata.schema)
            prepared = prepare(part, schema=said, recipe=strata.recipe)
            del part
            made = release(PlanOnce(plan(prepared, **strata.options)), strata.key(number))
        frames.append(made.table.frame)
        sizes.append(rows_a_unit(made.table.frame, unit))
        accounts.append(replace(made, table=made.table.with_frame(made.table.frame.clear())))
    with scratch.telling_of_room():
        whole = pl.concat(frames, how="vertical_relaxed")
        whole.write_ipc(_released_path(scratch, piece.first))
    return _MadeInMemory(tuple(accounts), np.concatenate(sizes))


def _release_large(
    passes: Passes, ground: Ground, piece: Piece, strata: _Strata, before: float
) -> ReleasedPiece:
    """Return a stratum that does not fit, released by blocks in scratch of its own."""
    number, scratch = piece.first, passes.scratch
    name = f"stratum {number}"
    if not scratch.has(name):
        folder = scratch.folder / name
        folder.mkdir(exist_ok=True)

        def told(inner: str, share: float) -> None:
            forests = strata.options.get("method") == "forest"
            ways = Ways(of_units=bool(strata.schema.design.unit), by_forests=forests)
            done = share_of_all(inner, share, ways=ways)[1]
            passes.told(_RELEASING, before + done * piece.n_rows / ground.n_rows)

        own = replace(passes, scratch=Scratch(folder, piece.n_rows), told=told)
        stored = piece_table(scratch, ground.table, piece)
        said = own.once("what is said", _said, stored, strata.schema)
        made = release_declared(
            own,
            replace(ground, table=stored),
            Declared(said, strata.recipe, by_schema=True),
            strata.key(number),
            strata.options,
        )
        own.scratch.drop_spare()
        scratch.keep(name, made)
        shutil.rmtree(scratch.folder / "strata" / str(number), ignore_errors=True)
    kept: MadeInBlocks = scratch.kept(name)
    return ReleasedPiece((kept.release,), _unit_sizes(kept.cells), kept.cells)


def _said(_: Scratch, stored: StoredTable, schema: Schema) -> Schema:
    weight = schema.design.weight
    part = stored.without_rows() if weight is None else stored.column(weight)
    return said_of_stratum(part, schema)


def _unit_sizes(cells: Cells) -> Places:
    starts = cells.starts
    return np.ones(cells.n_rows, dtype=np.int64) if starts is None else np.diff(starts)
