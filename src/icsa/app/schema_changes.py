"""Changes of a schema's text, one at a time; comments and what is not meant stay as they are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

import tomlkit

from icsa.columns import KINDS
from icsa.errors import InputError, UnknownNameError
from icsa.schema import ACTIONS, DESIGN_KEYS
from icsa.tables import Table

__all__ = ["apply_change", "typed_number", "typed_value"]

_SPACES = "\u00a0\u202f\u2009 '’"
_DAY = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})")


def typed_number(typed: str) -> int | float:
    """Return a number as people of most countries type it.

    The last of comma and point is the decimal mark if it is there once; blanks are between
    thousands.

    Examples
    --------
    >>> typed_number("0,5"), typed_number("1 234,5"), typed_number("1.234,5"), typed_number("120")
    (0.5, 1234.5, 1234.5, 120)
    """
    plain = "".join(sign for sign in typed.strip() if sign not in _SPACES).replace("−", "-")
    mark = max(plain.rfind(","), plain.rfind("."))
    if mark >= 0:
        other = "," if plain[mark] == "." else "."
        whole = plain[:mark].replace(other, "")
        if plain[mark] in whole:  # several of it: all of them are between thousands
            whole, fraction = plain.replace(plain[mark], ""), ""
        else:
            fraction = plain[mark + 1 :]
        plain = f"{whole}.{fraction}" if fraction else whole
    number = re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", plain, re.IGNORECASE)
    value = float(plain) if number else math.inf
    if not math.isfinite(value):
        raise InputError(f"{typed.strip()[:20]!r} is no number. Write it as 0.5 or 0,5.")
    return int(value) if value == int(value) and abs(value) < 2**53 and "." not in plain else value


def typed_value(typed: str, kind: str) -> Any:
    """Return a bound of a column of a kind as TOML holds it: a number, a date, a time.

    Examples
    --------
    >>> typed_value("31.12.2020", "date"), typed_value("2,5", "continuous")
    (datetime.date(2020, 12, 31), 2.5)
    """
    said = typed.strip()
    day = _DAY.match(said)
    if day:
        said = f"{day[3]}-{int(day[2]):02}-{int(day[1]):02}{said[day.end() :]}"
    readers = {"date": date.fromisoformat, "datetime": datetime.fromisoformat}
    reader: Any = {**readers, "time": time.fromisoformat}.get(kind)
    if reader is None:
        return typed_number(said)
    try:
        return reader(said)
    except ValueError:
        raise InputError(
            f"{typed.strip()[:30]!r} is no {kind}. Write it as 2020-12-31, 31.12.2020 or, for a "
            "time, 13:30."
        ) from None


def apply_change(
    document: tomlkit.TOMLDocument,
    table: Table,
    change: Mapping[str, Any],
    switches: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Make one change in a schema's document.

    Parameters
    ----------
    document : TOMLDocument
    table : Table
    change : mapping
        ``key`` and ``value``; with ``column`` (its number) for one of a column: kind, action,
        lower, upper, derive. Without: one of the rows' keys, or "switch" with its ``number``.
    switches : sequence of mapping
        Those that the page showed.
    """
    key, value = change["key"], change["value"]
    if key == "switch":
        if not 0 <= change["number"] < len(switches):
            raise InputError("There is no such switch any more. Load the page again.")
        _switch(document, switches[change["number"]], value)
    elif "column" in change:
        names = table.frame.columns
        if not 0 <= change["column"] < len(names):
            raise InputError("There is no such column any more. Load the page again.")
        _change_column(document, names[change["column"]], key, value)
    elif key in DESIGN_KEYS:
        _declare(document, key, value, table.frame.columns)
    else:
        raise UnknownNameError("key", str(key), DESIGN_KEYS)


def _change_column(document: tomlkit.TOMLDocument, name: str, key: str, value: str) -> None:
    section = _section(document, name)
    kind = str(section.get("kind", "continuous"))
    if key == "kind":
        _set_kind(section, value)
    elif key == "action":
        _set_action(document, section, name, value)
    elif key in ("lower", "upper"):
        if value.strip():
            section[key] = typed_value(value, kind)
        else:
            section.pop(key, None)
    elif key == "derive":
        if value.strip():
            section["derive"] = value.strip()
        else:
            section.pop("derive", None)
    else:
        raise UnknownNameError("key", key, ("kind", "action", "lower", "upper", "derive"))


def _section(document: tomlkit.TOMLDocument, name: str) -> Any:
    columns = document.setdefault("columns", tomlkit.table(is_super_table=True))
    if name not in columns:
        columns[name] = tomlkit.table()
    return columns[name]


def _set_kind(section: Any, kind: str) -> None:
    """Give a column another kind, without what that kind does not have."""
    if kind not in KINDS:
        raise UnknownNameError("kind", kind, KINDS)
    record = KINDS[kind]
    section["kind"] = kind
    if section.get("action") not in record.actions:
        section["action"] = record.actions[0]
    gone = [] if record.has_levels else ["levels"]
    gone += [] if record.bound_of is not None else ["lower", "upper"]
    gone += [] if record.quantity else ["step"]
    gone += [] if "mask" in record.actions else ["derive"]
    for key in gone:
        section.pop(key, None)


def _set_action(document: tomlkit.TOMLDocument, section: Any, name: str, action: str) -> None:
    if action not in (*ACTIONS, "derive"):
        raise UnknownNameError("action", action, (*ACTIONS, "derive"))
    keep = document.get("keep", [])
    if name in keep:
        document["keep"] = [other for other in keep if other != name]
    section["action"] = "mask" if action == "derive" else action
    if action != "derive" and section.get("derive"):
        section.pop("derive")


def _declare(document: tomlkit.TOMLDocument, key: str, value: Any, names: Sequence[str]) -> None:
    """Say something of the rows: a column's number, several of them, "none", or nothing."""
    chosen = value if isinstance(value, list) else [value]
    numbers = [int(one) for one in chosen if str(one).isdecimal()]
    if any(number >= len(names) for number in numbers):
        raise InputError("There is no such column any more. Load the page again.")
    found = [names[number] for number in numbers]
    if key == "strata":
        said: Any = found
    else:
        said = found[0] if found else False if key == "unit" and value == "none" else None
    if said is None or said == []:
        document.pop(key, None)
    elif document.get(key) != said:
        document[key] = said
    if key == "unit" and not (isinstance(said, str)):
        for other in ("time", "bound", "role"):
            document.pop(other, None)
        for section in document.get("columns", {}).values():
            section.pop("belongs_to", None)


def _switch(document: tomlkit.TOMLDocument, switch: Mapping[str, Any], on: bool) -> None:
    if switch["what"] == "rule":
        rules = [rule for rule in document.get("rules", []) if rule != switch["text"]]
        written = tomlkit.array()
        written.extend([*rules, switch["text"]] if on else rules)
        document["rules"] = written.multiline(bool(written))
        return
    if switch["what"] == "derived":
        _section(document, switch["column"])["derive"] = switch["is"] if on else ""
        return
    for name in switch["columns"]:
        section = _section(document, name)
        if on and section.get("derive") == "":
            section.pop("derive")
        elif not on and not section.get("derive"):
            section["derive"] = ""
