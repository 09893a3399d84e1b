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
from icsa.constraints import parse_rule, require_rules
from icsa.errors import InputError
from icsa.lattice import lattice_of
from icsa.tables.table import Table

__all__ = ["check_column", "check_rules_hold", "check_step", "declared_value"]


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


def check_column(where: str, spec: ColumnSpec, table: Table) -> None:
    """Raise an `InputError` where a declaration does not go with itself or with the cells.

    Parameters
    ----------
    where : str
        What an error names: the file with the column.
    spec : ColumnSpec
    table : Table
        With the column.

    Examples
    --------
    >>> spec = ColumnSpec(name="age", kind="integer", upper=50)
    >>> check_column("s.toml: [columns.age]", spec, Table(pl.DataFrame({"age": [41, 52]})))
    Traceback (most recent call last):
        ...
    icsa.errors.InputError: s.toml: [columns.age] Column 'age': 1 of 2 cells are above upper ...
    """
    _check_declaration(where, spec)
    if spec.action in ("drop", "replace"):
        return
    _check_type(where, spec, table.frame[spec.name].dtype)
    coded = _with_all_codes(spec, table)
    try:
        cells = without_codes(table.frame[spec.name], coded)
        _check_bounds(spec, cells)
        _check_levels(coded, cells)
        _check_whole(coded, cells)
        check_step(coded, table.frame[spec.name])
    except InputError as error:
        raise InputError(f"{where} {error}") from error


def check_step(spec: ColumnSpec, cells: pl.Series) -> None:
    """Raise an `InputError` where some cells are no multiples of the step that is declared.

    Dates, datetimes and times of day have no natural zero: they must be multiples apart.

    Examples
    --------
    >>> spec = ColumnSpec(name="dose", kind="integer", step=5)
    >>> check_step(spec, pl.Series("dose", [10, 25, None]))
    >>> check_step(spec, pl.Series("dose", [10, 12, 14]))
    Traceback (most recent call last):
        ...
    icsa.errors.InputError: Column 'dose': 2 of 3 cells are no multiples of the declared step 5 ...
    """
    storage = storage_of(cells.dtype)
    if spec.step is None or not kind_of(spec.kind).quantity or storage is None:
        return
    lattice_of(spec.step, spec.name)
    numbers = storage.numbers(without_codes(cells, spec))
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
    parsed = [parse_rule(text, table.frame.columns) for text in rules]
    named = dict.fromkeys(name for rule in parsed for name in rule.columns)
    checked = [columns[name] for name in named if columns[name].action in ("mask", "keep")]
    require_rules(
        parsed,
        table.frame.with_columns(
            without_codes(table.frame[spec.name], _with_all_codes(spec, table)) for spec in checked
        ),
    )


def _with_all_codes(spec: ColumnSpec, table: Table) -> ColumnSpec:
    """Return a declaration with the missing codes that the file has, too."""
    codes = (*table.variable(spec.name).missing_codes, *spec.missing_codes)
    return replace(spec, missing_codes=codes)


def _check_declaration(where: str, spec: ColumnSpec) -> None:
    kind = kind_of(spec.kind)
    allowed = kind.actions
    if spec.action not in allowed:
        hint = "" if allowed[0] != "drop" else " To mask it, give it the kind category."
        raise InputError(
            f"{where} action {spec.action!r} is not for kind {spec.kind!r}: that can be "
            f"{' or '.join(allowed)}.{hint}"
        )
    if spec.levels and not kind.has_levels:
        raise InputError(
            f"{where} levels: a column of kind {spec.kind!r} has none. Leave them out, or give it "
            "the kind category or ordinal."
        )
    if spec.step is not None and not kind.quantity:
        raise InputError(f"{where} step: a column of kind {spec.kind!r} has none. Leave it out.")
    try:
        crossed = None not in (spec.lower, spec.upper) and spec.lower > spec.upper
    except TypeError:
        crossed = True  # one with a time zone, one without
    if crossed:
        raise InputError(f"{where} lower must not be above upper.")


def _check_type(where: str, spec: ColumnSpec, dtype: pl.DataType) -> None:
    if not kind_of(spec.kind).accepts(dtype):
        raise InputError(
            f"{where} kind {spec.kind!r} does not go with the column's type, "
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
        side = "below lower" if key == "lower" else "above upper"
        remedy = "Correct them or the bound, or declare them as missing codes."
        reject(bad.fill_null(False).to_numpy(), spec, f"are {side}", remedy)


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
