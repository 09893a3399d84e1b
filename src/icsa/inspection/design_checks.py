"""What is said of a table's rows held against its cells: told by numbers of units, never by cells.

A table that has units nobody has spoken of is refused, too: released as if every row were a person,
people would come apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from icsa.columns import storage_of
from icsa.errors import InputError
from icsa.inspection.limits import LIMITS
from icsa.inspection.unit_rows import Flags, UnitRows, rows_of_units
from icsa.inspection.units_seen import belonging_of, units_seen
from icsa.matrices import Vector
from icsa.schema import Design, Schema
from icsa.tables.table import Table

__all__ = [
    "checked_units",
    "require_constant",
    "require_design",
    "require_said",
    "require_sense",
    "require_weight",
]


def require_said(table: Table, schema: Schema, doing: str = "Released") -> None:
    """Raise an `InputError` where a table has units that nobody has spoken of.

    `doing` is what would be done to rows that are no people.

    Examples
    --------
    >>> from icsa.inspection import guess_schema
    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"patient": [1, 2] * 30, "kg": [61.5, 70.25] * 30}))
    >>> require_said(table, guess_schema(table))
    """
    if schema.design.unit is not None:
        return
    seen = units_seen(table)
    if seen is None:
        return
    raise InputError(
        f"Several rows are about one person: {seen.describe()}. {doing} row by row, people would "
        f"come apart. Add {seen.options} ({_in_schema(seen.design)} in a schema), or --unit none "
        "where every row is a person of its own (unit = false; unit=False in Python)."
    )


def _in_schema(design: Design) -> str:
    return ", ".join(f'{key} = "{name}"' for key, name in design.columns.items())


def require_design(table: Table, schema: Schema) -> None:
    """Raise an `InputError` where what is said of the rows contradicts itself or the cells.

    A table without rows stands for one in files, whose passes look at its cells.
    """
    require_sense(schema)
    if table.frame.is_empty():
        return
    if schema.design.unit:
        checked_units(table, schema)
    if schema.design.weight:
        require_weight(table, schema)


def require_sense(schema: Schema) -> None:
    """Raise an `InputError` where what is said of the rows contradicts itself."""
    design = schema.design
    for needed, key in (("unit", "time"), ("time", "bound"), ("unit", "role")):
        if getattr(design, key) and not getattr(design, needed):
            raise InputError(
                f"{key} goes with {needed}: say which column that is, or leave it out."
            )
    if design.time and design.role:
        raise InputError("time and role are two ways to tell rows of a unit apart: leave one out.")
    twice = list(design.columns.values())
    if len(set(twice)) < len(twice):
        raise InputError("One column is named twice among unit, time, bound, role and weight.")
    for key, name in design.columns.items():
        if schema.columns[name].action == "keep":
            raise InputError(f"Column {name!r} is the {key}, which is not released as it is.")


def checked_units(table: Table, schema: Schema) -> tuple[UnitRows, Mapping[str, str]]:
    """Return the rows of each unit in their order, and whether columns belong to units or rows.

    Rows are in the order of times where there is one, and as the table has them otherwise.
    """
    design = schema.design
    assert design.unit
    rows = rows_of_units(table.frame[design.unit])
    if rows.n_units == table.frame.height:
        raise InputError(
            f"Column {design.unit!r} is the unit, and every unit has one row only. Leave unit out, "
            "or say --unit none (unit = false)."
        )
    if rows.n_units < LIMITS.fewest_units:
        raise InputError(
            f"Column {design.unit!r} names {rows.n_units} units, and {LIMITS.fewest_units} are the "
            "fewest that can be anonymized: among fewer, everybody stands out."
        )
    found = belonging_of(table, rows, schema.columns.values())
    for name, (where, varying) in found.items():
        require_constant(name, where, varying, rows.n_units)
    belonging = {name: where for name, (where, _) in found.items()}
    if design.time:
        rows = _require_times(table, rows, design, belonging)
    if design.role:
        _require_role(table, design.role, belonging)
    return rows, belonging


def require_constant(name: str, belonging: str, varying: int, n_units: int) -> None:
    """Raise an `InputError` where a column belongs to units and varies within some."""
    if belonging == "unit" and varying:
        raise InputError(
            f"Column {name!r} belongs to the unit, but varies within {varying} of "
            f'{n_units} units. Correct it, or say belongs_to = "row".'
        )


def _require_times(
    table: Table, rows: UnitRows, design: Design, belonging: Mapping[str, str]
) -> UnitRows:
    assert design.time
    times = _numbers(table, design.time, "time")
    if belonging[design.time] == "unit":
        raise InputError(
            f"Column {design.time!r} is the time, but is the same in all rows of every unit. Name "
            "another one, or none."
        )
    rows = rows.sorted_by(times)
    _tell(
        ~rows.is_rising(times[rows.order]),
        f"Column {design.time!r} is the time, but two rows have the same one within",
        "Correct them, or name a time that tells them apart.",
    )
    if design.bound:
        if belonging[design.bound] != "unit":
            raise InputError(
                f"Column {design.bound!r} is the bound of {design.time!r}, but varies within units."
            )
        limits = _numbers(table, design.bound, "bound")
        alike = storage_of(table.frame[design.time].dtype)
        if storage_of(table.frame[design.bound].dtype) is not alike:
            raise InputError(
                f"The bound {design.bound!r} and the time {design.time!r} are of different types."
            )
        _tell(
            rows.any((times > limits)[rows.order]),
            f"Column {design.time!r} exceeds its bound {design.bound!r} within",
            "Correct them, or name no bound.",
        )
    return rows


def _require_role(table: Table, role: str, belonging: Mapping[str, str]) -> None:
    cells = table.frame[role]
    if cells.null_count():
        raise InputError(f"Column {role!r} is the role, and {cells.null_count()} rows have none.")
    if cells.n_unique() > LIMITS.most_roles or belonging[role] == "unit":
        raise InputError(
            f"Column {role!r} is the role: it needs 2 to {LIMITS.most_roles} values that tell the "
            "rows of a unit apart."
        )


def require_weight(table: Table, schema: Schema) -> None:
    """Raise an `InputError` where weights are missing or not positive."""
    design = schema.design
    assert design.weight
    weights = _numbers(table, design.weight, "weight")
    low = int(np.count_nonzero(~(weights > 0.0)))
    if low:
        raise InputError(
            f"Column {design.weight!r} is the weight: {low} of {weights.size} are not positive. "
            "Leave these rows out: they stand for nobody."
        )


def _numbers(table: Table, name: str, what: str) -> Vector:
    cells = table.frame[name]
    storage = storage_of(cells.dtype)
    if storage is None:
        raise InputError(
            f"Column {name!r} is the {what}: numbers or dates are needed, and it has "
            f"{type(cells.dtype).__name__}."
        )
    if cells.null_count():
        raise InputError(
            f"Column {name!r} is the {what}, and {cells.null_count()} of {cells.len()} rows have "
            "none. Fill them, or leave these rows out."
        )
    return storage.numbers(cells)


def _tell(units: Flags, what: str, remedy: str) -> None:
    if units.any():
        raise InputError(f"{what} {np.count_nonzero(units)} of {units.size} units. {remedy}")
