"""TOML files to schemas, taken at their word."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tomlkit

from icsa.columns.declared import BELONGINGS
from icsa.errors import InputError, UnknownNameError
from icsa.files import read_toml, require_readable
from icsa.inspection.design_checks import require_design
from icsa.inspection.kinds import guess_kind
from icsa.inspection.profile import profile_of
from icsa.recipes import require_choices
from icsa.schema import ACTIONS, DESIGN_KEYS, KINDS, ColumnSpec, Design, Schema
from icsa.schema_files.checks import check_column, check_rules_hold, declared_value
from icsa.tables.table import Table

__all__ = ["read_schema"]

_VERSION = 1
_TOP = ("columns", "keep", *DESIGN_KEYS, "raking", "recipe", "rules", "version")
_OF_COLUMNS = (
    "action",
    "belongs_to",
    "derive",
    "key",
    "kind",
    "levels",
    "lower",
    "missing_codes",
    "step",
    "upper",
)
_MOST_NAMES = 20


def read_schema(path: str | Path, table: Table) -> Schema:
    r"""Return the schema in a TOML file, checked against the table that it is for.

    Parameters
    ----------
    path : str or Path
    table : Table
        Every column must have an entry, or be named under ``keep``.

    Raises
    ------
    InputError
        The file is no TOML, or says something about the table that cannot be. No message holds a
        cell.
    OSError
        There is no such file, or it may not be read.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"age": [41, 52, 38]}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "schema.toml"
    ...     _ = path.write_text('version = 1\n[columns.age]\nkind = "integer"\nupper = 120\n')
    ...     read_schema(path, table).columns["age"].upper
    120
    """
    require_readable(
        Path(path),
        "Check its name and its folder, or make one with: icsa inspect FILE --schema-out S.toml",
    )
    said = read_toml(Path(path), "Texts stand in quotes, lists in square brackets.")
    _require_known(path, "key", said, _TOP)
    if said.get("version") != _VERSION:
        raise InputError(
            f"{path}: version is missing or not {_VERSION}. Begin with a line version = {_VERSION}."
        )
    keep = _strings(path, "keep", said.get("keep", []))
    columns = _table_of(path, "columns", said)
    names = table.frame.columns
    _require_known(path, "column", [*columns, *keep], names)
    absent = [name for name in names if name not in columns and name not in keep]
    if absent:
        raise InputError(_absent(path, absent))
    specs = {name: _column(path, name, columns.get(name), keep, table) for name in names}
    rules = tuple(_strings(path, "rules", said.get("rules", [])))
    recipe = _table_of(path, "recipe", said)
    with _naming(f"{path}: [recipe]"):
        require_choices(recipe)
    with _naming(f"{path}: rules:"):
        check_rules_hold(rules, specs, table)
    schema = Schema(columns=specs, rules=rules, recipe=recipe, design=_design(path, said, names))
    with _naming(f"{path}:"):
        require_design(table, schema)
    return schema


def _design(path: str | Path, said: Mapping[str, Any], names: Sequence[str]) -> Design:
    """Return what the file says of the rows; each name must be a column's."""
    found: dict[str, Any] = {}
    for key in (*DESIGN_KEYS, "raking"):
        value = said.get(key)
        if value is None:
            continue
        if key == "strata":
            value = tuple(_strings(path, key, value))
        elif key == "raking":
            if not isinstance(value, bool):
                raise InputError(f"{path}: raking must be true or false.")
        elif not isinstance(value, str) and not (key == "unit" and value is False):
            raise InputError(f'{path}: {key} is no text. Write {key} = "NAME" of a column.')
        listed = (value,) if isinstance(value, str) else value or ()
        _require_known(path, "column", () if isinstance(listed, bool) else listed, names)
        found[key] = value
    return Design(**found)


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Have errors begin with the place in the file that they are about."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where} {error}") from error


def _column(
    path: str | Path, name: str, said: object, keep: Sequence[str], table: Table
) -> ColumnSpec:
    """Return the declaration of one column, checked against its cells."""
    if said is None:  # named under keep only
        kind = guess_kind(profile_of(table, name)).kind
        return ColumnSpec(name=name, kind=kind, action="keep")
    where = f"{path}: [columns.{tomlkit.key(name).as_string()}]"
    if not isinstance(said, Mapping):
        raise InputError(f'{where} is no table. Give it a kind: kind = "continuous".')
    _require_known(where, "key", said, _OF_COLUMNS)
    if "kind" not in said:
        raise InputError(f"{where} has no kind. Give one of {', '.join(KINDS)}.")
    kind = _one_of(where, "kind", said["kind"], KINDS)
    action = _one_of(where, "action", said.get("action", KINDS[kind].actions[0]), ACTIONS)
    if name in keep:
        if action != "keep" and "action" in said:
            raise InputError(
                f"{where} action is {action!r}, but the column is named under keep. Change one."
            )
        action = "keep"
    spec = ColumnSpec(
        name=name,
        kind=kind,
        action=action,
        lower=declared_value(where, "lower", kind, said.get("lower")),
        upper=declared_value(where, "upper", kind, said.get("upper")),
        step=_step(where, said.get("step")),
        levels=_scalars(where, "levels", said.get("levels", [])),
        missing_codes=_codes(where, said.get("missing_codes", [])),
        derive=_derive(where, said.get("derive"), action),
        key=_key(where, said.get("key", False)),
        belongs_to=_belonging(where, said.get("belongs_to")),
    )
    check_column(spec, table, where)
    return spec


def _require_known(where: object, what: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=_MOST_NAMES, cutoff=0.4)
            listed = known if len(known) <= _MOST_NAMES else near or known[:_MOST_NAMES]
            raise InputError(f"{where}: {UnknownNameError(what, name, listed)}")


def _one_of(where: str, key: str, value: object, known: Collection[Any]) -> Any:
    if not isinstance(value, str):
        raise InputError(f"{where} {key} is no text. Give one of {', '.join(known)}.")
    if value not in known:
        raise InputError(f"{where} {UnknownNameError(key, value, known)}")
    return value


def _table_of(path: str | Path, key: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
    found = said.get(key, {})
    if not isinstance(found, Mapping):
        raise InputError(f"{path}: {key} is no table. Write [{key}] on a line of its own.")
    return found


def _strings(where: object, key: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f'{where}: {key} is no list of texts. Write {key} = ["...", "..."].')
    return value


def _scalars(where: str, key: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list) or any(isinstance(item, list | dict) for item in value):
        raise InputError(f"{where} {key} is no list of values. Write {key} = [1, 2].")
    return tuple(value)


def _codes(where: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where} missing_codes is no list. Write missing_codes = [999].")
    codes = [tuple(code) if isinstance(code, list) else code for code in value]
    for code in codes:
        if isinstance(code, dict) or (isinstance(code, tuple) and len(code) != 2):
            raise InputError(
                f"{where} missing_codes holds something else than values and pairs of the lowest "
                "and the highest. Write missing_codes = [-1, [900, 999]]."
            )
        if isinstance(code, tuple):
            _require_ascending(where, *code)
    return tuple(codes)


def _require_ascending(where: str, low: Any, high: Any) -> None:
    try:
        wrong = "" if low <= high else "first is above its second"
    except TypeError:
        wrong = "ends cannot be compared"
    if wrong:
        raise InputError(
            f"{where} missing_codes has a pair whose {wrong}: no cell lies between. Write the "
            "lowest and then the highest, as in [[900, 999]]; two codes are [900, 999]."
        )


def _step(where: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e300:
        raise InputError(f"{where} step is no positive number. Write step = 0.5, or leave it out.")
    return value


def _belonging(where: str, value: object) -> Any:
    return None if value is None else _one_of(where, "belongs_to", value, BELONGINGS)


def _derive(where: str, value: object, action: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InputError(f'{where} derive is no text. Write derive = "weight / height^2".')
    if value and action != "mask":
        raise InputError(
            f"{where} has derive, but its action is {action!r}: only masked columns are computed. "
            "Leave one of them out."
        )
    return value.strip() if isinstance(value, str) else None


def _key(where: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{where} key is neither true nor false. Write key = true.")
    return value


def _absent(path: str | Path, absent: Sequence[str]) -> str:
    listed = ", ".join(repr(name) for name in absent[:_MOST_NAMES])
    more = f" and {len(absent) - _MOST_NAMES} more" if len(absent) > _MOST_NAMES else ""
    entry = f"[columns.{tomlkit.key(absent[0]).as_string()}]"
    return (
        f"{path}: {len(absent)} column(s) of the table have no entry: {listed}{more}. Nothing is "
        f"released unnamed. Add {entry} with a kind, or let 'icsa inspect FILE --schema-out NEW' "
        "write a schema with all columns."
    )
