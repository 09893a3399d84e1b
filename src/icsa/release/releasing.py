"""From a table about people to one that can be handed out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.cards import card
from icsa.columns import Column, ColumnSpec
from icsa.columns.counts import counts_among, moved_counts
from icsa.columns.unmasked import Identifier
from icsa.constraints.keeping import keep_rules, rules_of
from icsa.errors import InputError
from icsa.masks import MASKS
from icsa.matrices import Vector
from icsa.randomness import Key, Stream, as_key
from icsa.recipes import Recipe
from icsa.release.accounts import Accounted, ColumnChange, changes_of, reaches_of, warnings_of
from icsa.release.design_plans import DesignPlan, UnitAccount
from icsa.release.methods import MethodOptions
from icsa.release.planning import Plan, PlanOnce, plan, silent
from icsa.release.preparing import extent_of, has_reasons, prepare
from icsa.schema import Schema, names_with
from icsa.schema_files import check_schema, read_schema
from icsa.shuffling import permutation
from icsa.tables import Table, Variable, from_frame, to_frame
from icsa.tables.frames import is_lazy
from icsa.threads import give_back_memory, one_linear_algebra_thread

__all__ = [
    "Release",
    "anonymize",
    "cells_in_place",
    "is_reordered",
    "release",
    "released_variables",
    "row_order",
    "specs_in_file",
    "with_reasons",
]


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
    method : "icsa", "sa" or "forest"
    scatters : tuple of str
        A pair; none for forests.
    mask : str
        Empty for forests.
    recipe : Recipe
    n_components : int
        Coordinates that were masked, or scores that were drawn.
    reproducible : bool
        Whether the key came from a seed: such a release is for tests, not to be handed out.
    why : str
        Why the method was taken; empty where it was asked for by name.
    key : Key, optional
        Only when it was asked for: whoever has it can repeat every draw.
    units : UnitAccount, optional
        How people with several rows were released.
    written : int, optional
        Rows of a table that did not fit in memory: they are in files, and `table` has none.
    """

    table: Any
    columns: tuple[ColumnChange, ...]
    warnings: tuple[str, ...]
    relations: tuple[str, ...]
    moved_cells: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    method: str
    scatters: tuple[str, ...]
    mask: str
    recipe: Recipe
    n_components: int
    reproducible: bool
    why: str = ""
    key: Key | None = None
    units: UnitAccount | None = None
    written: int | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the release."""
        return int(self.table.frame.height) if self.written is None else self.written

    def _repr_html_(self) -> str:
        """Show in a notebook what was done to each column; no cell and no warning, which may."""
        told = (
            [f"{len(self.warnings)} thing(s) to look at are in warnings."] if self.warnings else []
        )
        if self.reproducible:
            told.append("Made with a seed, so reproducible: not for release.")
        rows = [(c.name, c.kind, c.action, c.type_after or "gone") for c in self.columns]
        headings = ("column", "kind", "what was done", "type")
        return card(repr(self)[1:-1], told, headings=headings, rows=rows)

    def __repr__(self) -> str:
        """Show how it was made, not what is in it."""
        note = ", reproducible: not for release" if self.reproducible else ""
        mask = f", mask {self.mask}" if self.mask else ""
        return f"<Release by {self.method}, recipe {self.recipe.describe()}{mask}{note}>"


def anonymize(
    table: Any,
    *,
    schema: Schema | str | Path | None = None,
    keep: Sequence[str] | str = (),
    drop: Sequence[str] | str = (),
    recipe: str = "mixed",
    method: str | None = None,
    scatters: Sequence[str] | None = None,
    mask: str | None = None,
    raw_units: bool = False,
    random_state: object = None,
    return_key: bool = False,
    progress: Callable[[str, float], None] | None = None,
    unit: str | Literal[False] | None = None,
    time: str | None = None,
    bound: str | None = None,
    role: str | None = None,
    weight: str | None = None,
    strata: Sequence[str] | str = (),
    raking: bool = True,
) -> Release:
    """Return an anonymized copy of a table with columns of any kind.

    Every column is encoded by its kind, the scores are mapped to coordinates that people who stand
    out cannot steer, each coordinate is masked on its own, and all is mapped back, calibrated and
    decoded. Rows come out in an order that has nothing to do with the original's.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or icsa.tables.Table
        One row a person, or several with `unit`; not changed. A pandas index is not released. A
        polars LazyFrame or a Dask DataFrame comes back as one: it is computed once, into private
        files, and the released frame reads files that are gone when the program ends.
    schema : Schema, str or Path, optional
        What each column is, or the name of a TOML file that says it; by default guessed, see
        `icsa.inspection.guess_schema`.
    keep : sequence of str, or str
        Columns, or one column, to release as they are. Nothing else passes unmasked.
    drop : sequence of str, or str
        Columns, or one column, to leave out.
    recipe : str
        "mixed", "topcode" or "paper"; see `icsa.release.RECIPES`.
    method : "auto", "icsa", "sa" or "forest", optional
        Robust coordinates, principal components, or columns drawn one after the other by forests,
        which keep curves. By default "auto": forests where curves are strong and rows suffice,
        otherwise robust coordinates; where no continuous column can tell who stands out, principal
        components, and a warning says so. `Release.why` has the reason.
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
    unit, time, bound, role, weight : str, optional
        Columns that say whom the rows are about, as `icsa.schema.Design` explains; they go before
        what a schema says. `unit` is False where every row is a person of its own.
    strata : sequence of str, or str
        Columns whose combinations are released each for itself.
    raking : bool
        Whether released weights give the original's weighted totals.

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
    key = as_key(random_state)
    said = {"unit": unit, "time": time, "bound": bound, "role": role, "weight": weight}
    design = {
        **said,
        "strata": _names("strata", strata),
        **({} if raking else {"raking": False}),
    }
    choices: dict[str, Any] = {
        "keep": _names("keep", keep),
        "drop": _names("drop", drop),
        "recipe": recipe,
        "design": design,
    }
    options: MethodOptions = {
        "method": method,
        "scatters": scatters,
        "mask": mask,
        "raw_units": raw_units,
    }
    if is_lazy(table):
        from icsa.release.blocks.lazy_frames import anonymize_lazily  # by way of files

        made = anonymize_lazily(
            table, key, _in_memory, schema=schema, choices=choices, options=options, told=told
        )
        return replace(made, key=key if return_key else None)
    source = table if isinstance(table, Table) else from_frame(table)
    made = _in_memory(source, key, schema, choices, options, told)
    return replace(
        made,
        table=made.table if isinstance(table, Table) else to_frame(made.table, table),
        key=key if return_key else None,
    )


def _in_memory(
    source: Table,
    key: Key,
    schema: object,
    choices: Mapping[str, Any],
    options: MethodOptions,
    told: Callable[[str, float], None],
) -> Release:
    """Return the release of a table that fits; its table is an `icsa.tables.Table`."""
    prepared = prepare(source, schema=_declared(schema, source), **choices)
    planned = plan(prepared, progress=told, **options)
    return release(PlanOnce(planned), key, progress=told)


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


def _names(option: str, given: object) -> tuple[str, ...]:
    """Return the names of columns that an option is given; a text is one name.

    Examples
    --------
    >>> _names("keep", "age"), _names("keep", ["age", "site"])
    (('age',), ('age', 'site'))
    """
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    found = tuple(name for name in names if isinstance(name, str))
    if len(found) < len(names):
        raise InputError(f'{option} must be names of columns, such as {option}=["site", "year"].')
    return found


def release(
    plan: Plan | DesignPlan | PlanOnce, key: Key, *, progress: Callable[[str, float], None] = silent
) -> Release:
    """Return the release that a plan gives with a key; its table is an `icsa.tables.Table`."""
    made_by, room = plan.take() if isinstance(plan, PlanOnce) else (plan, None)
    if isinstance(made_by, DesignPlan):
        return made_by.released(key, progress)
    with one_linear_algebra_thread():
        numbers = made_by.released_numbers(key, out=room, progress=progress)
    rules = rules_of(made_by.schema.rules, made_by.spare.frame, specs_in_file(made_by))
    numbers, moved = keep_rules(numbers, made_by.bonds, rules)
    progress("writing cells", 0.8)
    give_back_memory()
    return _released(made_by, numbers, moved, key)


def specs_in_file(plan: Accounted) -> list[ColumnSpec]:
    """Return what is declared of the masked columns, with the missing codes of their file."""
    return [plan.schema.columns[name].in_file(plan.spare) for name in plan.columns]


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
            variables=released_variables(plan.spare, plan.schema, frame.columns),
        ),
        columns=tuple(changes_of(plan, frame, extents, reaches)),
        warnings=tuple(warnings_of(plan, key, extents, reaches, numbers)),
        relations=plan.relations_in(numbers),
        moved_cells=moved,
        method=plan.method,
        scatters=plan.scatters,
        mask=plan.mask,
        recipe=plan.recipe,
        n_components=plan.n_components,
        reproducible=key.reproducible,
        why=plan.why,
    )


def _cells_of(
    plan: Plan, numbers: Mapping[str, Vector], key: Key
) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """Return the released columns, and the letters of their missing cells."""
    source, schema = plan.spare, plan.schema
    n_rows = source.frame.height
    built, letters = cells_in_place(plan, numbers, key, n_rows)
    frame = pl.DataFrame(built)
    if is_reordered(plan.mask, schema):
        # Kept columns are in their places too.
        order = row_order(n_rows, key)
        frame = frame[order].with_columns(built[name] for name in names_with("replace", schema))
        letters = {name: found[order] for name, found in letters.items()}
    return frame, {name: found for name, found in letters.items() if name in source.missing_letters}


def is_reordered(mask: str, schema: Schema) -> bool:
    """Return whether rows are shuffled at the end: some would stand where they stood before."""
    return bool((mask and MASKS[mask].keeps_rows) or names_with("keep", schema))


def row_order(n_rows: int, key: Key) -> npt.NDArray[np.int64]:
    """Return the order in which such rows come out."""
    return permutation(n_rows, key.stream("rows"))


def cells_in_place(
    plan: Accounted, numbers: Mapping[str, Vector], key: Key, n_rows: int
) -> tuple[dict[str, pl.Series], dict[str, pl.Series]]:
    """Return the columns of so many released rows, and the letters of their missing cells."""
    source, schema = plan.spare, plan.schema
    built: dict[str, pl.Series] = {}
    letters: dict[str, pl.Series] = {}
    for spec in schema.columns.values():
        name = spec.name
        cells = source.frame[name]
        if spec.action == "mask":
            built[name] = plan.columns[name].cells(numbers[name])
            if has_reasons(source, plan.extents, name):
                exact = plan.recipe.exact_counts
                found = with_reasons(built[name], source, plan.columns[name], key, exact=exact)
                built[name], letters[name] = found
        elif spec.action == "replace":
            built[name] = Identifier.fit(cells, spec).fresh(n_rows).alias(name)
        elif spec.action == "keep":
            built[name] = cells
            letters[name] = source.missing_letters.get(name, _no_letters(cells))
    return built, letters


def released_variables(
    source: Table, schema: Schema, released: Sequence[str]
) -> dict[str, Variable]:
    """Return what the file says about released columns: nothing about codes that are no more."""
    found = {name: source.variables[name] for name in released if name in source.variables}
    for name in found.keys() & names_with("replace", schema):
        variable = found[name]
        found[name] = replace(variable, value_labels={}, missing_codes=(), letter_labels={})
    return found


def with_reasons(
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
