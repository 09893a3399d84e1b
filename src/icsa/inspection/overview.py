"""The inspection of a table: every column, what it is taken for, why, and what to look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from icsa.columns.levels import FEWEST_HOLDERS
from icsa.errors import InputError
from icsa.inspection.edges import edges_of
from icsa.inspection.findings import missing_together, notes_on
from icsa.inspection.kinds import Guess, guess_kind
from icsa.inspection.profile import Profile, cells_there, profile_of, telling_profile
from icsa.schema import KINDS, ColumnSpec, Schema
from icsa.tables.table import Table
from icsa.threads import in_threads, threads_for

if TYPE_CHECKING:  # the search for relations takes a while to load
    from icsa.inspection.related import Related

__all__ = ["ColumnInspection", "Inspection", "guess_schema", "inspect_table", "type_in_words"]

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
    """

    n_rows: int
    columns: tuple[ColumnInspection, ...]
    schema: Schema

    def as_dict(self) -> dict[str, Any]:
        """Return the inspection as names, texts and counts, for JSON."""
        return {"rows": self.n_rows, "columns": [column.as_dict() for column in self.columns]}


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
    found = in_threads(lambda name: _guessed(table, telling_profile(table, name)), names, threads)
    return Schema(columns=dict(zip(names, found, strict=True)))


def inspect_table(
    table: Table,
    schema: Schema | None = None,
    *,
    related: Related | None = None,
) -> Inspection:
    """Return what each column is, why, what will happen to it, and what to look at.

    Parameters
    ----------
    table : Table
    schema : Schema, optional
        With every column of the table. None: guessed.
    related : Related, optional
        What `related_columns` finds; a guessed schema has its expressions and rules.

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
    profiles = [profile_of(table, name, specs.get(name)) for name in table.frame.columns]
    guesses = {profile.name: guess_kind(profile) for profile in profiles}
    if schema is None:
        schema = _with_related(guess_schema(table), related)
    together = missing_together(profiles)
    columns = []
    for profile in profiles:
        spec = schema.columns[profile.name]
        others = () if related is None else related.notes.get(profile.name, ())
        patterns = [together[profile.name]] if profile.name in together else []
        notes = (*notes_on(profile, spec), *others, *patterns)
        columns.append(_inspected(profile, spec, guesses[profile.name], notes, bool(specs)))
    return Inspection(n_rows=table.frame.height, columns=tuple(columns), schema=schema)


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
