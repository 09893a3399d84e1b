"""From a table about people to one that can be handed out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns import Column
from icsa.columns.counts import counts_among, moved_counts
from icsa.columns.unmasked import Identifier
from icsa.constraints.keeping import keep_rules, rules_of
from icsa.errors import InputError
from icsa.masks import MASKS
from icsa.matrices import Vector
from icsa.randomness import Key, Stream, as_key
from icsa.recipes import Recipe
from icsa.release.accounts import ColumnChange, changes_of, reaches_of, warnings_of
from icsa.release.planning import Plan, PlanOnce, plan, silent
from icsa.release.preparing import extent_of, has_reasons, prepare
from icsa.schema import Schema, names_with
from icsa.schema_files import check_schema, read_schema
from icsa.shuffling import permutation
from icsa.tables import Table, Variable, from_frame, to_frame
from icsa.threads import give_back_memory, one_linear_algebra_thread

__all__ = ["Release", "anonymize", "release"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release:
    """An anonymized table with an account of how it was made. It holds nothing of the original.

    Attributes
    ----------
    table : data frame or Table
        Of the kind that was given.
    columns : tuple of ColumnChange
        One for each column of the original.
    warnings : tuple of str
        What to look at before the table is handed out.
    relations : tuple of str
        Relations between columns that were found and hold in the release.
    moved_cells : mapping of str to int
        For each declared rule, how many cells were moved so that it holds.
    method : "icsa" or "sa"
    scatters : pair of str
    mask : str
    recipe : Recipe
    n_components : int
        Coordinates that were masked.
    reproducible : bool
        Whether the key came from a seed: such a release is for tests, not to be handed out.
    key : Key, optional
        Only when it was asked for: whoever has it can repeat every draw.
    """

    table: Any
    columns: tuple[ColumnChange, ...]
    warnings: tuple[str, ...]
    relations: tuple[str, ...]
    moved_cells: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    method: str
    scatters: tuple[str, str]
    mask: str
    recipe: Recipe
    n_components: int
    reproducible: bool
    key: Key | None = None

    def __repr__(self) -> str:
        """Show how it was made, not what is in it."""
        note = ", reproducible: not for release" if self.reproducible else ""
        return (
            f"<Release by {self.method}, recipe {self.recipe.describe()}, mask {self.mask}{note}>"
        )


def anonymize(
    table: Any,
    *,
    schema: Schema | str | Path | None = None,
    keep: Sequence[str] | str = (),
    recipe: str = "mixed",
    method: str | None = None,
    scatters: Sequence[str] | None = None,
    mask: str | None = None,
    raw_units: bool = False,
    random_state: object = None,
    return_key: bool = False,
    progress: Callable[[str, float], None] | None = None,
) -> Release:
    """Return an anonymized copy of a table with columns of any kind.

    Every column is encoded by its kind, the scores are mapped to coordinates that people who stand
    out cannot steer, each coordinate is masked on its own, and all is mapped back, calibrated and
    decoded. Rows come out in an order that has nothing to do with the original's.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or icsa.tables.Table
        One row a person; not changed. A pandas index is not released.
    schema : Schema, str or Path, optional
        What each column is, or the name of a TOML file that says it; by default guessed, see
        `icsa.inspection.guess_schema`.
    keep : sequence of str, or str
        Columns, or one column, to release as they are. Nothing else passes unmasked.
    recipe : str
        "mixed", "topcode" or "paper"; see `icsa.release.RECIPES`.
    method : "icsa" or "sa", optional
        Robust coordinates, or principal components. By default robust ones; where no continuous
        column can tell who stands out, principal components, and a warning says so.
    scatters : pair of str, optional
        For "icsa"; an MCD takes its weights from the continuous columns.
    mask : str, optional
        "redraw", "permute", "flip" or "rotate"; by default what the recipe says, which is "redraw"
        but for "paper".
    raw_units : bool
        Whether spectral anonymization leaves the columns in their own units.
    random_state : None, int, bytes or Generator
        None draws a fresh secret key. A number makes the release reproducible by whoever guesses
        it: for tests, not to be handed out.
    return_key : bool
        Whether the release has the key. Whoever holds it can repeat every draw.
    progress : callable, optional
        Called with the name of each stage and the share of the work that is done before it.

    Returns
    -------
    Release

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> frame = pl.DataFrame({
    ...     "age": generator.integers(20, 90, 200),
    ...     "weight": generator.normal(75, 12, 200).round(1),
    ...     "height": generator.normal(170, 9, 200).round(),
    ...     "smokes": generator.choice(["yes", "no"], 200, p=[0.3, 0.7]),
    ... })
    >>> release = anonymize(frame, random_state=1)
    >>> counts = [table["smokes"].value_counts(sort=True) for table in (frame, release.table)]
    >>> release.table.shape, counts[0].equals(counts[1])
    ((200, 4), True)
    """
    told = progress or silent
    told("looking at the columns", 0.0)
    source = table if isinstance(table, Table) else from_frame(table)
    key = as_key(random_state)
    prepared = prepare(source, schema=_declared(schema, source), keep=_names(keep), recipe=recipe)
    planned = plan(
        prepared,
        method=method,
        scatters=scatters,
        mask=mask,
        raw_units=raw_units,
        progress=told,
    )
    made = release(PlanOnce(planned), key, progress=told)
    return replace(
        made,
        table=made.table if isinstance(table, Table) else to_frame(made.table, table),
        key=key if return_key else None,
    )


def _declared(schema: object, table: Table) -> Schema | None:
    """Return the schema that is given, or that is in the file of that name; None for none."""
    if schema is None:
        return None
    if isinstance(schema, str | Path):
        return read_schema(schema, table)
    if not isinstance(schema, Schema):
        raise InputError(
            f"A {type(schema).__name__} is no schema. Give the name of a TOML file, what "
            "icsa.schema_files.read_schema returns, or what icsa.inspection.guess_schema does."
        )
    check_schema(schema, table)
    return schema


def _names(keep: object) -> tuple[str, ...]:
    """Return the names of columns to keep; a text is one name.

    Examples
    --------
    >>> _names("age"), _names(["age", "site"])
    (('age',), ('age', 'site'))
    """
    if keep is None:
        return ()
    names = (keep,) if isinstance(keep, str) or not isinstance(keep, Iterable) else tuple(keep)
    found = tuple(name for name in names if isinstance(name, str))
    if len(found) < len(names):
        raise InputError('keep must be names of columns, such as keep=["site", "year"].')
    return found


def release(
    plan: Plan | PlanOnce, key: Key, *, progress: Callable[[str, float], None] = silent
) -> Release:
    """Return the release that a plan gives with a key; its table is an `icsa.tables.Table`."""
    made_by, room = plan.take() if isinstance(plan, PlanOnce) else (plan, None)
    with one_linear_algebra_thread():
        numbers = made_by.released_numbers(key, out=room, progress=progress)
    source, specs = made_by.spare, made_by.schema.columns
    coded = [specs[name].in_file(source) for name in made_by.columns]
    rules = rules_of(made_by.schema.rules, source.frame, coded)
    numbers, moved = keep_rules(numbers, made_by.bonds, rules)
    progress("writing cells", 0.8)
    give_back_memory()
    return _released(made_by, numbers, moved, key)


def _released(
    plan: Plan, numbers: Mapping[str, Vector], moved: Mapping[str, int], key: Key
) -> Release:
    """Return the release of masked numbers: their cells, and the account of all columns."""
    frame, letters = _cells_of(plan, numbers, key)
    extents = {name: extent_of(values) for name, values in numbers.items()}
    reaches = reaches_of(plan, numbers)
    return Release(
        table=replace(
            plan.spare,
            frame=frame,
            missing_letters=letters,
            variables=_variables_of(plan.spare, plan.schema, frame.columns),
        ),
        columns=tuple(changes_of(plan, frame, extents, reaches)),
        warnings=tuple(warnings_of(plan, key, extents, reaches, numbers)),
        relations=plan.relations_in(numbers),
        moved_cells=moved,
        method=plan.method,
        scatters=plan.scatters,
        mask=plan.mask,
        recipe=plan.recipe,
        n_components=plan.coordinates.eigenvalues.size,
        reproducible=key.reproducible,
    )


def _cells_of(
    plan: Plan, numbers: Mapping[str, Vector], key: Key
) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Return the released columns, and the letters of their missing cells."""
    source, schema = plan.spare, plan.schema
    n_rows = source.frame.height
    built: dict[str, pl.Series] = {}
    letters: dict[str, pl.Series] = {}
    for spec in schema.columns.values():
        name = spec.name
        cells = source.frame[name]
        if spec.action == "mask":
            built[name] = plan.columns[name].cells(numbers[name])
            if has_reasons(source, plan.extents, name):
                exact = plan.recipe.exact_counts
                found = _with_reasons(built[name], source, plan.columns[name], key, exact=exact)
                built[name], letters[name] = found
        elif spec.action == "replace":
            built[name] = Identifier.fit(cells, spec).fresh(n_rows).alias(name)
        elif spec.action == "keep":
            built[name] = cells
            letters[name] = source.missing_letters.get(name, _no_letters(cells))
    frame = pl.DataFrame(built)
    if MASKS[plan.mask].keeps_rows or names_with("keep", schema):
        # Kept columns are in their places too.
        order = permutation(n_rows, key.stream("rows"))
        frame = frame[order].with_columns(built[name] for name in names_with("replace", schema))
        letters = {name: found[order] for name, found in letters.items()}
    return frame, {name: found for name, found in letters.items() if name in source.missing_letters}


def _variables_of(source: Table, schema: Schema, released: Sequence[str]) -> dict[str, Variable]:
    """Return what the file says about released columns: nothing about codes that are no more."""
    found = {name: source.variables[name] for name in released if name in source.variables}
    for name in found.keys() & names_with("replace", schema):
        variable = found[name]
        found[name] = replace(variable, value_labels={}, missing_codes=(), letter_labels={})
    return found


def _with_reasons(
    released: pl.Series, source: Table, column: Column, key: Key, *, exact: bool
) -> tuple[pl.Series, pl.Series]:
    """Return the cells with the original's codes for missing, shuffled, and its letters likewise.

    A cell that is missing for no reason given is null in both.
    """
    original = source.frame[column.name]
    letters = source.missing_letters.get(column.name, _no_letters(original))
    gone = pl.Series(np.isnan(column.numbers(original)))
    codes = original.filter(gone)
    found = _no_letters(released)
    if not codes.len():
        return released, found
    rows = np.flatnonzero(released.is_null().to_numpy())
    stream = key.child("missing codes").stream(original.name)
    if exact:
        drawn = np.resize(permutation(codes.len(), stream), rows.size)
    else:
        reasons = pl.DataFrame([codes.alias("code"), letters.filter(gone).alias("letter")])
        moving = key.child("counts").child("reasons").stream(original.name)
        drawn = _moved_reasons(reasons, rows.size, moving)[permutation(rows.size, stream)]
    return released.scatter(rows, codes[drawn]), found.scatter(rows, letters.filter(gone)[drawn])


def _moved_reasons(reasons: pl.DataFrame, n_rows: int, stream: Stream) -> npt.NDArray[np.int64]:
    """Return a row of `reasons` for each row, every reason as often as before but for a few."""
    distinct = (
        reasons.with_row_index("row")
        .group_by(reasons.columns, maintain_order=True)
        .agg(pl.col("row").first(), pl.len().alias("people"))
        .sort("people", descending=True, maintain_order=True)
    )
    counts = moved_counts(distinct["people"].cast(pl.Int64).to_numpy(), stream)
    return np.repeat(distinct["row"].cast(pl.Int64).to_numpy(), counts_among(counts, n_rows))


def _no_letters(cells: pl.Series) -> pl.Series:
    return pl.Series(cells.name, [None], dtype=pl.String).new_from_index(0, cells.len())
