"""The inspection of a table: every column, what it is taken for, why, and what to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from icsa.cards import card
from icsa.columns.levels import FEWEST_HOLDERS
from icsa.constraints.words import BY_BOUND, NEEDS_RULE
from icsa.errors import InputError
from icsa.inspection.design_checks import require_design
from icsa.inspection.edges import edges_of
from icsa.inspection.findings import missing_together, notes_on
from icsa.inspection.kinds import Guess, guess_kind
from icsa.inspection.profile import Profile, cells_there, profile_of, telling_profile
from icsa.inspection.unit_rows import rows_of_units, taken
from icsa.inspection.units_seen import UnitsSeen, belonging_of, units_seen, weight_seen
from icsa.schema import DESIGN_KEYS, KINDS, ColumnSpec, Design, Schema, with_design
from icsa.tables.table import Table
from icsa.threads import in_threads, threads_for

if TYPE_CHECKING:  # the search for relations takes a while to load
    from icsa.inspection.related import Related

__all__ = [
    "ColumnInspection",
    "Inspection",
    "guess_column",
    "guess_schema",
    "inspect_table",
    "type_in_words",
    "unit_of",
    "with_belonging",
]

_TYPES: tuple[tuple[type[pl.DataType], str], ...] = (
    (pl.String, "text"),
    (pl.Categorical, "categories"),
    (pl.Enum, "ordered categories"),
    (pl.Boolean, "true or false"),
    (pl.Date, "date"),
    (pl.Datetime, "date and time"),
    (pl.Duration, "length of time"),
    (pl.Time, "time of day"),
    (pl.Null, "empty"),
)


@dataclass(frozen=True, kw_only=True)
class ColumnInspection:
    """One column as `icsa inspect` shows it. No text holds a cell value.

    Attributes
    ----------
    name : str
    dtype : str
        The type of its cells in plain words.
    spec : ColumnSpec
        The kind that it is taken for, and what is done with it.
    why : str
        Why this kind.
    outcome : str
        What will happen to the column.
    notes : tuple of str
        What to look at, the gravest first.
    missing, distinct : int
        Number of missing cells, and of different values among the others.
    """

    name: str
    dtype: str
    spec: ColumnSpec
    why: str
    outcome: str
    notes: tuple[str, ...]
    missing: int
    distinct: int

    @property
    def kind(self) -> str:
        """The kind that it is taken for."""
        return self.spec.kind

    def as_dict(self) -> dict[str, Any]:
        """Return the inspection as names, texts and counts, for JSON."""
        return {
            "name": self.name,
            "type": self.dtype,
            "kind": self.kind,
            "action": self.spec.action,
            "why": self.why,
            "outcome": self.outcome,
            "notes": list(self.notes),
            "missing": self.missing,
            "distinct": self.distinct,
            **({} if self.spec.belongs_to is None else {"belongs_to": self.spec.belongs_to}),
        }


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """All columns of a table, inspected.

    Attributes
    ----------
    n_rows : int
    columns : tuple of ColumnInspection
        In the table's order.
    schema : Schema
        The one that was given, or the guessed one.
    units : UnitsSeen, optional
        People or groups with several rows each, where the table seems to have them.
    reasons : mapping of str to str
        Why something was found about the rows, by its key in a schema.
    """

    n_rows: int
    columns: tuple[ColumnInspection, ...]
    schema: Schema
    units: UnitsSeen | None = None
    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def _repr_html_(self) -> str:
        """Show the columns in a notebook: no cell, no row number, no label."""
        rows = [(c.name, c.kind, c.dtype, c.spec.action, len(c.notes) or "") for c in self.columns]
        headings = ("column", "kind", "type", "what will happen", "things to look at")
        heading = f"{self.n_rows:,} rows, {len(self.columns):,} columns"
        return card(heading, headings=headings, rows=rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the inspection as names, texts and counts, for JSON."""
        found: dict[str, Any] = {"rows": self.n_rows}
        design = self.schema.design
        if self.units is not None or design != Design():
            found["units"] = {
                **{key: getattr(design, key) for key in DESIGN_KEYS},
                "number": None if self.units is None else self.units.n_units,
                "reasons": dict(self.reasons),
            }
        return {**found, "columns": [column.as_dict() for column in self.columns]}


def guess_schema(table: Table) -> Schema:
    """Return a declaration for every column: its kind by the rules, and what is done with it.

    Identifiers are replaced, text is dropped, all others are masked; `icsa.inspection.kinds` has
    the rules. Edges that numbers cannot lie beyond are bounds (`icsa.inspection.edges`).

    Examples
    --------
    >>> table = Table(pl.DataFrame({"id": [1, 2, 3], "weight": [61.5, 70.25, 80.1]}))
    >>> [(spec.name, spec.kind, spec.action) for spec in guess_schema(table).columns.values()]
    [('id', 'identifier', 'replace'), ('weight', 'continuous', 'mask')]
    """
    names = table.frame.columns
    threads = threads_for(table.frame.height * table.frame.width, None)
    found = in_threads(lambda name: guess_column(table, name), names, threads)
    return Schema(columns=dict(zip(names, found, strict=True)))


def guess_column(table: Table, name: str) -> ColumnSpec:
    """Return the declaration that one column's cells and name suggest."""
    return _guessed(table, telling_profile(table, name))


def inspect_table(
    table: Table,
    schema: Schema | None = None,
    *,
    related: Related | None = None,
    design: Mapping[str, Any] = MappingProxyType({}),
) -> Inspection:
    """Return what each column is, why, what will happen to it, and what to look at.

    Parameters
    ----------
    table : Table
    schema : Schema, optional
        With every column of the table. None: guessed.
    related : Related, optional
        What `related_columns` finds; a guessed schema has its expressions and rules.
    design : mapping
        What is said of the rows, by the keys of `icsa.schema.Design`; it goes before the schema's.

    Examples
    --------
    >>> table = Table(pl.DataFrame({"id": [1, 2, 3], "weight": [61.5, 70.25, None]}))
    >>> for column in inspect_table(table).columns:
    ...     print(column.name, column.kind, column.outcome, column.missing, sep=": ")
    id: identifier: replaced by fresh ones: 0
    weight: binary: masked, both values as often as before: 1
    """
    specs = {} if schema is None else schema.columns
    absent = [name for name in table.frame.columns if schema is not None and name not in specs]
    if absent:
        raise InputError(
            f"The schema has no entry for {len(absent)} column(s) of the table, the first of them "
            f"{absent[0]!r}. Give each a ColumnSpec."
        )
    if schema is None:
        schema = _with_related(guess_schema(table), related)
    schema, units, reasons = _with_units(table, with_design(schema, **design), bool(specs))
    of_units = _of_units(table, schema)
    profiles = [
        profile_of(of_units if _is_of_unit(schema, name) else table, name, specs.get(name))
        for name in table.frame.columns
    ]
    guesses = {profile.name: guess_kind(profile) for profile in profiles}
    together = missing_together(profiles)
    columns = []
    for profile in profiles:
        spec = schema.columns[profile.name]
        others = () if related is None else related.notes.get(profile.name, ())
        others = _kept_by_bounds(others, schema)
        patterns = [together[profile.name]] if profile.name in together else []
        own = () if profile.name == schema.design.unit else notes_on(profile, spec)
        notes = (*own, *others, *patterns)
        columns.append(_inspected(profile, spec, guesses[profile.name], notes, bool(specs)))
    return Inspection(
        n_rows=table.frame.height,
        columns=tuple(columns),
        schema=schema,
        units=units,
        reasons=reasons,
    )


def _with_units(
    table: Table, schema: Schema, declared: bool
) -> tuple[Schema, UnitsSeen | None, Mapping[str, str]]:
    """Return the schema with whom its rows are about, what was seen of that, and why.

    What is said comes first, and is held against the cells.
    """
    design, seen, reasons = schema.design, None, dict[str, str]()
    require_design(table, schema)
    if design.unit is None and table.frame.height:
        seen = units_seen(table)
        if seen is not None and not declared:
            design = with_design(schema, **seen.design.columns).design
            reasons |= seen.reasons
    weight = None if declared or design.weight else weight_seen(table)
    if weight is not None:
        design, reasons["weight"] = replace(design, weight=weight[0]), weight[1]
    if not design.unit:
        return replace(schema, design=design), seen, reasons
    schema = with_belonging(table, replace(schema, design=design), guessed=not declared)
    return schema, seen, reasons


def unit_of(table: Table, schema: Schema | None, said: str | Literal[False] | None) -> str | None:
    """Return the column that names people with several rows, as it is said or seen; None for none.

    Examples
    --------
    >>> import polars as pl
    >>> unit_of(Table(pl.DataFrame({"id": [1, 1, 2]})), None, "id")
    'id'
    """
    declared = schema.design.unit if said is None and schema is not None else said
    if declared is not None:
        return declared or None
    seen = units_seen(table) if table.frame.height else None
    return str(seen.design.unit) if seen is not None else None


def with_belonging(table: Table, schema: Schema, *, guessed: bool) -> Schema:
    """Return a schema with a unit that says of every column whether it belongs to units or rows.

    The unit itself is an identifier. What was guessed of columns that belong to units is guessed
    again, from one row a unit: ten rows of one person on an edge are one person there.
    """
    unit = schema.design.unit
    assert unit
    rows = rows_of_units(table.frame[unit])
    found = belonging_of(table, rows, schema.columns.values())
    columns = {
        name: spec if name == unit else replace(spec, belongs_to=found[name][0])
        for name, spec in schema.columns.items()
    }
    if guessed or columns[unit].action == "mask":
        columns[unit] = replace(columns[unit], kind="identifier", action="replace", levels=())
    schema = replace(schema, columns=columns)
    if not guessed:
        return schema
    of_units = _of_units(table, schema)
    for name, spec in columns.items():
        if spec.belongs_to == "unit":
            again = _guessed(of_units, telling_profile(of_units, name))
            action = spec.action if spec.action in ("keep", "drop") else again.action
            derive, where = spec.derive, spec.belongs_to
            columns[name] = replace(again, action=action, derive=derive, belongs_to=where)
    return replace(schema, columns=columns)


def _of_units(table: Table, schema: Schema) -> Table:
    """Return the first row of each unit; the table itself where there are none."""
    unit = schema.design.unit
    return taken(table, rows_of_units(table.frame[unit]).firsts) if unit else table


def _kept_by_bounds(notes: Iterable[str], schema: Schema) -> tuple[str, ...]:
    """Return notes on orders; that of a time and its bound is kept without a rule."""
    design = schema.design
    order = f"{design.time} is never above {design.bound}"
    kept = {f"{order}{NEEDS_RULE}": f"{order}{BY_BOUND}"} if design.bound else {}
    return tuple(kept.get(note, note) for note in notes)


def _is_of_unit(schema: Schema, name: str) -> bool:
    return name == schema.design.unit or schema.columns[name].belongs_to == "unit"


def _with_related(schema: Schema, related: Related | None) -> Schema:
    """Return a guessed schema with how columns follow from others, and with rules."""
    if related is None:
        return schema
    columns = {
        name: replace(spec, derive=related.derive.get(name))
        for name, spec in schema.columns.items()
    }
    return replace(schema, columns=columns, rules=related.rules)


def _guessed(table: Table, profile: Profile) -> ColumnSpec:
    guess = guess_kind(profile)
    action = KINDS[guess.kind].actions[0]
    if guess.kind == "constant" and 0 < profile.present < min(FEWEST_HOLDERS, profile.n_rows):
        action = "drop"  # a value that one or two people have is theirs alone
    edges = edges_of(profile, guess.kind)
    if edges is not None and profile.n_rows < table.frame.height:  # of a sample
        edges = edges.if_around(cells_there(table, profile.name))
    return ColumnSpec(
        name=profile.name,
        kind=guess.kind,
        action=action,
        levels=guess.levels,
        lower=None if edges is None else edges.lower,
        upper=None if edges is None else edges.upper,
    )


def _inspected(
    profile: Profile, spec: ColumnSpec, guess: Guess, notes: tuple[str, ...], declared: bool
) -> ColumnInspection:
    why = guess.why
    if declared:
        why = "the schema says so"
        if guess.kind != spec.kind:
            why += f"; by itself it looks {guess.kind} ({guess.why})"
    return ColumnInspection(
        name=profile.name,
        dtype=type_in_words(profile.dtype),
        spec=spec,
        why=why,
        outcome=_outcome(spec, profile),
        notes=notes,
        missing=profile.missing,
        distinct=profile.distinct,
    )


def _outcome(spec: ColumnSpec, profile: Profile) -> str:
    if spec.action == "keep":
        return "RELEASED AS IT IS"
    if spec.action == "drop":
        return "left out"
    if spec.action == "replace":
        return "replaced by fresh ones"
    if spec.derive:
        return f"computed from the others: {spec.derive}"
    kind = KINDS[spec.kind]
    natural = kind.is_number and spec.lower is None and profile.numbers.size
    if natural and profile.numbers.min() >= 0.0:
        return f"{kind.promise}, none negative"
    return kind.promise


def type_in_words(dtype: pl.DataType) -> str:
    """Return a data type in plain words.

    Examples
    --------
    >>> type_in_words(pl.Int64())
    'whole number'
    """
    for known, words in _TYPES:
        if isinstance(dtype, known):
            return words
    if dtype.is_integer():
        return "whole number"
    return "number" if dtype.is_numeric() else "other"
