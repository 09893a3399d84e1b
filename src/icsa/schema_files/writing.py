"""Schemas as text that people read and change: TOML with a comment for every column."""

from __future__ import annotations

import textwrap
from datetime import timedelta
from typing import Any

import tomlkit
from tomlkit.items import Table as Section

from icsa.columns import KINDS
from icsa.inspection.overview import ColumnInspection, Inspection
from icsa.schema import DESIGN_KEYS

__all__ = ["schema_text"]

_HEAD = (
    "What each column is, and what is to be done with it. Change what is wrong, then give this "
    f"file with --schema. Kinds: {', '.join(KINDS)}. Actions: mask, replace (identifiers), drop, "
    "keep (released as it is). A column may also have lower, upper, step, levels, "
    "missing_codes, derive: how it follows from others, such as weight / height^2, and "
    "key = true: others may know it, and recognise people by it."
)


def schema_text(inspection: Inspection) -> str:
    """Return the schema of an inspected table as TOML, with why and what to look at as comments.

    Levels stand in it only where a schema gave them, and for ordinal columns whose levels are
    held by three rows or more each; no other cell value does.

    Examples
    --------
    >>> import polars as pl
    >>> from icsa.inspection import inspect_table
    >>> from icsa.tables.table import Table
    >>> text = schema_text(inspect_table(Table(pl.DataFrame({"weight": [61.5, 70.2, 80.1]}))))
    >>> print(text[text.index("[columns.weight]") :])
    [columns.weight]
    # numbers with decimals
    kind = "continuous"
    action = "mask"
    <BLANKLINE>
    """
    document = tomlkit.document()
    for line in textwrap.wrap(_HEAD, 92, break_on_hyphens=False):
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    document.add("version", tomlkit.item(1))
    document.add("keep", tomlkit.item([]))
    rules = tomlkit.item(list(inspection.schema.rules)).multiline(bool(inspection.schema.rules))
    if not inspection.schema.rules:
        rules.comment('such as "diagnosed <= died"')
    document.add("rules", rules)
    _add_design(document, inspection)
    document.add(tomlkit.nl())
    if inspection.schema.recipe:
        document.add("recipe", tomlkit.item(dict(inspection.schema.recipe)))
    columns = tomlkit.table(is_super_table=True)
    for column in inspection.columns:
        columns.add(tomlkit.key(column.name), _section(column))
    document.add("columns", columns)
    return tomlkit.dumps(document).rstrip("\n") + "\n"


def _add_design(document: tomlkit.TOMLDocument, inspection: Inspection) -> None:
    """Add what is said of the rows, with the reasons of what was found."""
    design = inspection.schema.design
    reasons = inspection.reasons
    if inspection.units is not None and "time" not in reasons and not design.time:
        document.add(tomlkit.comment('time = "...": when a row of a unit was, if that matters'))
    for key in DESIGN_KEYS:
        value = getattr(design, key)
        if value is None or value == ():
            continue
        written = tomlkit.item(list(value) if isinstance(value, tuple) else value)
        if key in reasons:
            written.comment(reasons[key])
        document.add(key, written)
    if not design.raking:
        document.add("raking", tomlkit.item(False))


def _section(column: ColumnInspection) -> Section:
    spec, kind = column.spec, KINDS[column.spec.kind]
    section = tomlkit.table()
    section.add(tomlkit.comment(column.why))
    for note in column.notes:
        section.add(tomlkit.comment(f"look at: {note}"))
    section.add("kind", spec.kind)
    section.add("action", spec.action)
    for key in ("lower", "upper", "step"):
        value = getattr(spec, key)
        if value is not None:
            section.add(key, _written(value))
    if spec.levels:
        section.add("levels", tomlkit.item(list(spec.levels)))
    elif kind.has_levels and kind.most_values is None:
        order = ", in ascending order" if kind.compared == "order" else ""
        section.add(tomlkit.comment(f"levels: those seen{order}"))
    if spec.missing_codes:
        codes = [list(code) if isinstance(code, tuple) else code for code in spec.missing_codes]
        section.add("missing_codes", tomlkit.item(codes))
    if spec.derive is not None:
        section.add("derive", spec.derive)
    if spec.key:
        section.add("key", True)
    if spec.belongs_to is not None:
        section.add("belongs_to", spec.belongs_to)
    section.add(tomlkit.nl())
    return section


def _written(value: Any) -> Any:
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        return int(seconds) if seconds == int(seconds) else seconds
    return value
