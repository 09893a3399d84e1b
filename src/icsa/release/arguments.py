"""What `anonymize` is given for a schema and for columns to keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from icsa.errors import InputError
from icsa.schema import Schema
from icsa.tables import Table

__all__ = ["given_names", "given_schema"]


def given_schema(schema: object, table: Table) -> Schema | None:
    """Return the schema that is given, or that is in the file of that name; None for none.

    Examples
    --------
    >>> import polars as pl
    >>> given_schema({"age": "integer"}, Table(pl.DataFrame({"age": [41, 52]})))
    Traceback (most recent call last):
        ...
    icsa.errors.InputError: A dict is no schema. Give the name of a TOML file, ...
    """
    from icsa.schema_files import read_schema
    from icsa.schema_files.checks import check_step

    if schema is None:
        return None
    if isinstance(schema, str | Path):
        return read_schema(schema, table)
    if not isinstance(schema, Schema):
        raise InputError(
            f"A {type(schema).__name__} is no schema. Give the name of a TOML file, what "
            "icsa.schema_files.read_schema returns, or what icsa.inspection.guess_schema does."
        )
    for spec in schema.columns.values():
        if spec.action == "mask" and spec.name in table.frame.columns:
            codes = (*table.variable(spec.name).missing_codes, *spec.missing_codes)
            check_step(replace(spec, missing_codes=codes), table.frame[spec.name])
    return schema


def given_names(keep: object) -> tuple[str, ...]:
    """Return the names of columns to keep; a text is one name.

    Examples
    --------
    >>> given_names("age"), given_names(["age", "site"])
    (('age',), ('age', 'site'))
    """
    if keep is None:
        return ()
    names = (keep,) if isinstance(keep, str) or not isinstance(keep, Iterable) else tuple(keep)
    found = tuple(name for name in names if isinstance(name, str))
    if len(found) < len(names):
        raise InputError('keep must be names of columns, such as keep=["site", "year"].')
    return found
