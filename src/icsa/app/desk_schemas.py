"""At the desk: a schema's text held against its table, and changes made in the text."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from icsa.app.desk_tables import Opened, table_of
from icsa.app.schema_changes import apply_change
from icsa.columns import KINDS
from icsa.constraints.words import KEPT
from icsa.errors import ICSAError, InputError
from icsa.inspection import ColumnInspection, inspect_table
from icsa.inspection.related import Related, related_columns
from icsa.schema import ACTIONS, DESIGN_KEYS, Schema
from icsa.schema_files import read_schema

__all__ = ["changed", "checked", "switches"]

_NAME = "schema.toml"
# Cells up to which relations are looked for after every change, in a tenth of a second; in longer
# tables an expression that cannot be computed is told when the release is made.
_QUICKLY_RELATED = 100_000


def checked(*, file: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return what a schema says of each column, and what is wrong with it, if anything.

    Where it is wrong, notes are those of the last schema that was not.
    """
    on_desk = table_of(file)
    problem = _problem(on_desk, text)
    try:
        said = tomlkit.parse(text).unwrap()
    except TOMLKitError:
        said = None
    return {"text": text, "problem": problem, **_shown(on_desk, said)}


def changed(
    *, file: Mapping[str, Any], text: str, changes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a schema's text after changes, checked; comments in it stay."""
    on_desk = table_of(file)
    try:
        document = tomlkit.parse(text)
    except TOMLKitError:
        raise InputError(
            "The text of the schema is no TOML as it stands. Correct it there, or undo."
        ) from None
    known = switches(on_desk, document.unwrap())
    for change in changes:
        apply_change(document, on_desk.table, change, known)
    return checked(file=file, text=tomlkit.dumps(document))


def _problem(on_desk: Opened, text: str) -> str:
    """Return what is wrong with a schema; nothing where it holds, which is then noted."""
    with tempfile.TemporaryDirectory(prefix="icsa-schema-") as folder:
        path = Path(folder) / _NAME
        path.write_text(text, encoding="utf-8")
        try:
            schema = read_schema(path, on_desk.table)
            related = _related(on_desk, schema)
            on_desk.inspection = inspect_table(on_desk.table, schema, related=related)
        except ICSAError as error:
            notes = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
            return f"{error}{notes}".replace(f"{path}: ", "").replace(str(path), _NAME)
    return ""


def _related(on_desk: Opened, schema: Schema) -> Related:
    """Return what holds between columns by a schema, looked for only if that may be otherwise."""
    if on_desk.table.frame.height * on_desk.table.frame.width > _QUICKLY_RELATED:
        return on_desk.related
    decides = (schema.rules, [(s.kind, s.action, s.derive) for s in schema.columns.values()])
    if on_desk.looked_for is None or on_desk.looked_for[0] != decides:
        on_desk.looked_for = decides, related_columns(on_desk.table, schema)
    return on_desk.looked_for[1]


def _shown(on_desk: Opened, said: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return columns, what is said of the rows, and what can be switched on and off."""
    columns = said.get("columns", {}) if said is not None else {}
    columns = columns if isinstance(columns, Mapping) else {}
    keep = said.get("keep", []) if said is not None else []
    return {
        "columns": [
            _column(on_desk, column, columns.get(column.name), keep)
            for column in on_desk.inspection.columns
        ],
        "design": {key: (said or {}).get(key) for key in DESIGN_KEYS},
        "switches": [] if said is None else switches(on_desk, said),
        "parsed": said is not None,
    }


def _column(
    on_desk: Opened, column: ColumnInspection, said: Any, keep: Sequence[str]
) -> dict[str, Any]:
    """Return a line of the page: what the text says, and what inspection says."""
    spec = column.spec
    looks, why = on_desk.reasons[column.name]
    told: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    kind = told.get("kind", spec.kind)
    kind = kind if kind in KINDS else spec.kind
    action = "keep" if column.name in keep else told.get("action", KINDS[kind].actions[0])
    derive = told.get("derive")
    dtype = on_desk.table.frame[column.name].dtype
    fits = [name for name, record in KINDS.items() if record.accepts(dtype) or name == kind]
    return {
        "name": column.name,
        "label": on_desk.table.variable(column.name).label or "",
        "type": column.dtype,
        "kind": kind,
        "kinds": fits,
        "action": "derive" if derive and action == "mask" else action,
        "actions": _actions(kind, action),
        "lower": _written(told.get("lower")),
        "upper": _written(told.get("upper")),
        "bounds": KINDS[kind].bound_in_words if KINDS[kind].bound_of is not None else "",
        "derive": derive if isinstance(derive, str) else "",
        "belongs_to": told.get("belongs_to", ""),
        "why": why if looks == column.kind else column.why,
        "outcome": column.outcome,
        "notes": list(column.notes),
        "missing": column.missing,
        "distinct": column.distinct,
        "picture": on_desk.pictures.get(column.name, ""),
    }


def _actions(kind: str, action: str) -> list[str]:
    allowed = KINDS[kind].actions
    found: list[str] = [name for name in ACTIONS if name in allowed or name == action]
    return [*found, "derive"] if "mask" in allowed else found


def switches(on_desk: Opened, said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rules, computed columns and relations that were found, each on or off."""
    related = on_desk.related
    rules = said.get("rules", [])
    rules = [rule for rule in rules if isinstance(rule, str)] if isinstance(rules, list) else []
    columns = said.get("columns", {})

    def derive_of(name: str) -> Any:
        told = columns.get(name) if isinstance(columns, Mapping) else None
        return told.get("derive") if isinstance(told, Mapping) else None

    found: list[dict[str, Any]] = [
        {"what": "rule", "text": rule, "on": rule in rules}
        for rule in dict.fromkeys((*related.rules, *rules))
    ]
    for name, expression in related.derive.items():
        words = f"{name} is computed: {expression}"
        on = bool(derive_of(name))
        found.append({"what": "derived", "text": words, "on": on, "column": name, "is": expression})
    names = sorted(on_desk.table.frame.columns, key=len, reverse=True)
    for target, notes in related.notes.items():
        for note in notes:
            if target in related.derive or not note.endswith(KEPT):
                continue
            members = _named(note, names)
            on = all(derive_of(name) != "" for name in members)
            words = note.removesuffix(KEPT)
            found.append({"what": "relation", "text": words, "on": on, "columns": members})
    return found


def _named(sentence: str, names: Sequence[str]) -> list[str]:
    """Return the columns that a sentence names; a name within a longer one is not meant."""
    found, left = [], sentence
    for name in names:
        if name in left:
            found.append(name)
            left = left.replace(name, " ")
    return found


def _written(value: Any) -> str:
    if value is None:
        return ""
    iso = getattr(value, "isoformat", None)
    return iso() if iso else str(value)
