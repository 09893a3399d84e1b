"""What inspection would say about a table, as far as it must be known of every release."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from icsa.inspection.findings import (
    notes_on_codes,
    notes_on_doubt,
    notes_on_far_dates,
    notes_on_far_numbers,
    notes_on_notation,
    notes_on_written_dates,
)
from icsa.inspection.limits import LIMITS
from icsa.inspection.names import names_person_number
from icsa.inspection.notations import are_written_dates, may_have_obstacles
from icsa.inspection.oddities import far_rows, may_be_far, may_have_codes
from icsa.inspection.profile import cells_there, profile_of, sample_of
from icsa.matrices import Vector
from icsa.schema import KINDS, ColumnSpec, Schema
from icsa.tables.table import Table
from icsa.threads import in_threads, threads_for

__all__ = ["cautions_on"]


def cautions_on(table: Table, schema: Schema) -> tuple[str, ...]:
    """Return what to look at in the original before its release is used, by column.

    Kinds that only the custodian can decide, codes that may stand for missing, dates and numbers
    far from all others, dates written as numbers, and cells that keep a column from being one of
    numbers or dates. Values are only counted in columns in which a quick look finds something.

    Examples
    --------
    >>> table = Table(pl.DataFrame({"age": [41, 52, 38, 67, 29, 999, 999]}))
    >>> cautions_on(table, Schema(columns={"age": ColumnSpec(name="age", kind="integer")}))
    ('age: 999 in 2 rows may stand for missing: if so, missing_codes = [999].',)
    """
    specs = [spec for spec in schema.columns.values() if spec.name in table.frame.columns]
    threads = threads_for(table.frame.height * table.frame.width, None)
    found = in_threads(lambda spec: list(_cautions(table, spec)), specs, threads)
    return tuple(
        f"{spec.name}: {note}" if note.endswith("?") else f"{spec.name}: {note}."
        for spec, notes in zip(specs, found, strict=True)
        for note in notes
    )


def _cautions(table: Table, spec: ColumnSpec) -> Iterator[str]:
    if spec.action == "keep" or not table.frame.height:
        return
    cells = cells_there(table, spec.name, spec)
    if isinstance(cells.dtype, pl.String | pl.Categorical | pl.Enum):
        yield from _on_texts(table, spec, cells)
    elif cells.dtype.is_numeric():
        yield from _on_numbers(table, spec, cells)
    elif spec.action == "mask" and KINDS[spec.kind].is_temporal:
        yield from notes_on_far_dates(cells)


def _on_texts(table: Table, spec: ColumnSpec, cells: pl.Series) -> Iterator[str]:
    if may_have_obstacles(cells):
        yield from notes_on_notation(profile_of(table, spec.name, spec), spec)


def _on_numbers(table: Table, spec: ColumnSpec, cells: pl.Series) -> Iterator[str]:
    masked = spec.action == "mask"
    drawn = sample_of(cells).cast(pl.Float64).to_numpy()
    doubtful = masked and _may_be_doubtful(cells, spec, drawn)
    dates = are_written_dates(drawn)
    codes = masked and may_have_codes(cells)
    far = masked and KINDS[spec.kind].is_number and _has_far_rows(cells)
    if not (doubtful or dates or codes or far):
        return
    profile = profile_of(table, spec.name, spec)
    if doubtful:
        yield from notes_on_doubt(profile, spec)
    if dates:
        yield from notes_on_written_dates(profile, spec)
    if codes:
        yield from notes_on_codes(profile, spec)
    if far:
        yield from notes_on_far_numbers(profile, spec)


def _may_be_doubtful(cells: pl.Series, spec: ColumnSpec, drawn: Vector) -> bool:
    """Return whether whole numbers are all different, as given ones are, or few, as levels are."""
    if spec.kind == "ordinal":
        return names_person_number(spec.name) or cells.n_unique() > LIMITS.few_values
    different = np.unique(drawn).size == drawn.size >= LIMITS.rows_to_be_unique
    return spec.kind == "integer" and different


def _has_far_rows(cells: pl.Series) -> bool:
    return may_be_far(cells) and far_rows(cells.cast(pl.Float64).to_numpy()).size > 0
