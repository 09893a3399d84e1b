"""What a schema says about a column, held against the column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from icsa.columns import ColumnSpec, Kind, fit_column, kind_of, storage_of
from icsa.columns.declared import reject, without_codes
from icsa.columns.levels import find_levels
from icsa.constraints import require_rules
from icsa.constraints.keeping import rules_of
from icsa.errors import InputError, UnknownNameError
from icsa.lattice import lattice_of
from icsa.recipes import require_choices
from icsa.schema import Schema
from icsa.tables.table import Table

__all__ = ["check_column", "check_rules_hold", "check_schema", "declared_value"]


def declared_value(where: str, key: str, kind: Kind, value: object) -> Any:
    """Return a bound as a value of a column of that kind.

    Parameters
    ----------
    where, key : str
        What an error names: the file with the column, and the key.
    kind : str
        The column's.
    value : object
        As TOML gives it; None for no bound.

    Examples
    --------
    >>> declared_value("schema.toml: [columns.stay]", "upper", "duration", 90)
    datetime.timedelta(seconds=90)
    """
    if value is None:
        return None
    record = kind_of(kind)
    if record.bound_of is None:
        raise InputError(
            f"{where} {key}: a column of kind {kind!r} has no bounds. Leave it out or change the "
            "kind."
        )
    try:
        return record.bound_of(value)
    except TypeError:
        raise InputError(
            f"{where} {key} must be {record.bound_in_words} in a column of kind {kind!r}."
        ) from None


def check_schema(schema: Schema, table: Table) -> None:
    """Raise an `InputError` where a schema that is no file's does not go with a table.

    What is read from a file by `read_schema` was checked then.

    Examples
    --------
    >>> schema = Schema(columns={"age": ColumnSpec(name="age", kind="integer", upper=50)})
    >>> check_schema(schema, Table(pl.DataFrame({"age": [41, 52]})))
    Traceback (most recent call last):
        ...
    icsa.errors.InputError: Column 'age': 1 of 2 cells are above the declared upper bound 50 ...
    """
    for spec in schema.columns.values():
        if spec.name not in table.frame.columns:
            raise UnknownNameError("column", spec.name, table.frame.columns)
        check_column(spec, table)
    require_choices(schema.recipe)
    check_rules_hold(schema.rules, schema.columns, table)


def check_column(spec: ColumnSpec, table: Table, where: str = "") -> None:
    """Raise an `InputError` where a declaration does not go with itself or with the cells.

    Parameters
    ----------
    spec : ColumnSpec
    table : Table
        With the column.
    where : str
        What an error names: the file with the column. Empty where there is none.
    """
    try:
        _check_declaration(spec)
        if spec.action in ("drop", "replace"):
            return
        _check_type(spec, table.frame[spec.name].dtype)
        coded = spec.in_file(table)
        cells = without_codes(table.frame[spec.name], coded)
        _check_bounds(spec, cells)
        _check_levels(coded, cells)
        _check_whole(coded, cells)
        _check_step(coded, cells)
    except InputError as error:
        named = f"Column {spec.name!r}:"
        if not where and str(error).startswith(named):
            raise
        raise InputError(f"{where or named} {error}") from error


def _check_step(spec: ColumnSpec, cells: pl.Series) -> None:
    """Refuse cells that are no multiples of the step that is declared.

    Dates, datetimes and times of day have no natural zero: they must be multiples apart.
    """
    storage = storage_of(cells.dtype)
    if spec.step is None or not kind_of(spec.kind).quantity or storage is None:
        return
    lattice_of(spec.step, spec.name)
    numbers = storage.numbers(cells)
    beyond = np.zeros_like(numbers)
    what = f"are no multiples of the declared step {spec.step}"
    if not storage.zero_is_natural and not np.isnan(numbers).all():
        remainders, counts = np.unique(np.mod(numbers, spec.step).round(6), return_counts=True)
        beyond += remainders[counts[~np.isnan(remainders)].argmax()]
        what = f"are no multiples of the declared step {spec.step} away from most others"
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = np.rint((numbers - beyond) / spec.step) * spec.step + beyond
        error = 4.0 * storage.precision(cells.dtype) * np.abs(numbers) + 1e-9 * spec.step
        off = np.abs(numbers - nearest) > error
    reject(off, spec, what, "Correct them or the step, or leave the step out to have it found.")


def check_rules_hold(rules: Sequence[str], columns: Mapping[str, ColumnSpec], table: Table) -> None:
    """Raise an `InputError` for a rule that cannot be read, or that the table breaks.

    A code for missing is missing.

    Examples
    --------
    >>> columns = {"age": ColumnSpec(name="age", kind="integer", missing_codes=(999,))}
    >>> check_rules_hold(["age <= 120"], columns, Table(pl.DataFrame({"age": [41, 999]})))
    """
    specs = {name: spec.in_file(table) for name, spec in columns.items()}
    parsed = rules_of(rules, table.frame, specs.values())
    named = dict.fromkeys(name for rule in parsed for name in rule.columns)
    checked = [specs[name] for name in named if specs[name].action in ("mask", "keep")]
    cells = [without_codes(table.frame[spec.name], spec) for spec in checked]
    require_rules(parsed, table.frame.with_columns(cells))


def _check_declaration(spec: ColumnSpec) -> None:
    kind = kind_of(spec.kind)
    allowed = kind.actions
    if spec.action not in allowed:
        hint = "" if allowed[0] != "drop" else " To mask it, give it the kind category."
        raise InputError(
            f"action {spec.action!r} is not for kind {spec.kind!r}: that can be "
            f"{' or '.join(allowed)}.{hint}"
        )
    if spec.levels and not kind.has_levels:
        raise InputError(
            f"levels: a column of kind {spec.kind!r} has none. Leave them out, or give it "
            "the kind category or ordinal."
        )
    if spec.step is not None and not kind.quantity:
        raise InputError(f"step: a column of kind {spec.kind!r} has none. Leave it out.")
    try:
        crossed = None not in (spec.lower, spec.upper) and spec.lower > spec.upper
    except TypeError:
        crossed = True  # one with a time zone, one without
    if crossed:
        raise InputError("lower must not be above upper.")


def _check_type(spec: ColumnSpec, dtype: pl.DataType) -> None:
    if not kind_of(spec.kind).accepts(dtype):
        raise InputError(
            f"kind {spec.kind!r} does not go with the column's type, "
            f"{type(dtype).__name__}. Give it another kind, or convert the column first."
        )


def _check_bounds(spec: ColumnSpec, cells: pl.Series) -> None:
    for key in ("lower", "upper"):
        bound = getattr(spec, key)
        if bound is None:
            continue
        try:
            bad = cells < bound if key == "lower" else cells > bound
        except (TypeError, pl.exceptions.PolarsError):
            raise InputError(
                f"{key} cannot be compared with the cells. Write it in the column's own type, "
                "with a time zone where the column has one."
            ) from None
        what = f"are {'below' if key == 'lower' else 'above'} the declared {key} bound {bound}"
        remedy = "Correct them or the bound, or declare them as missing codes."
        reject(bad.fill_null(False).to_numpy(), spec, what, remedy)


def _check_levels(spec: ColumnSpec, cells: pl.Series) -> None:
    uncoded = replace(spec, missing_codes=())
    kind = kind_of(spec.kind)
    if kind.has_levels and spec.levels:
        find_levels(cells, uncoded)
    different = 0 if kind.most_values is None else cells.n_unique() - (cells.null_count() > 0)
    if kind.most_values is not None and different > kind.most_values:
        raise InputError(
            f"kind {spec.kind!r} has at most {kind.most_values} different value(s): the column has "
            f"{different}. Give it another kind, or declare missing codes."
        )
    if spec.action == "mask" and kind.compared == "order":
        fit_column(cells, uncoded)  # refuses text without an order


def _check_whole(spec: ColumnSpec, cells: pl.Series) -> None:
    if spec.action == "mask" and kind_of(spec.kind).whole and not cells.dtype.is_integer():
        numbers = cells.cast(pl.Float64).to_numpy()
        fractional = np.isfinite(numbers) & (numbers != np.rint(numbers))
        reject(fractional, spec, "are not whole numbers", "Give it the kind 'continuous'.")
