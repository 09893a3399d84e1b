"""What a benchmark is and what comes out of it: cases, rows, targets, and their JSON."""

from __future__ import annotations

import fnmatch
import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

__all__ = ["HEADINGS", "Case", "Row", "Target", "number", "write_json"]

_SECONDS = ("s", "s CPU")
HEADINGS = ("row", "ours", "peer", "peer's", "ratio", "least", "target", "reached")


@dataclass(frozen=True)
class Target:
    """A bound: the ratio at least `value`, or our own figure at most `value`."""

    of: Literal["ratio", "ours"]
    value: float

    def text(self, unit: str) -> str:
        """Return the bound as people read it."""
        if self.of == "ratio":
            return ratio_text(self.value)
        return "at most " + number(self.value, unit)


@dataclass(frozen=True)
class Row:
    """One line of the table. `ratio` is the peer's figure over ours: above 1 we are better.

    Attributes
    ----------
    name : str
        The case, and what the row adds to it.
    ours, peer_value : float or None
        Medians, in `unit`.
    ratio, least_ratio : float or None
        Median and least over the interleaved rounds.
    target : Target or None
        What it should be; None where nothing was promised.
    absent : str or None
        Why there is nothing to compare with.
    remark : str
        One line on what the numbers leave out.
    details : dict
        Everything else that was measured.
    """

    name: str
    ours: float | None = None
    unit: str = "s"
    peer: str = ""
    peer_value: float | None = None
    ratio: float | None = None
    least_ratio: float | None = None
    target: Target | None = None
    absent: str | None = None
    failed: bool = False
    remark: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None where there is no target or nothing to hold to it."""
        if self.target is None:
            return None
        if self.target.of == "ratio":
            return None if self.ratio is None else self.ratio >= self.target.value
        return None if self.ours is None else self.ours <= self.target.value

    def cells(self) -> tuple[str, ...]:
        """Return the row as text under `HEADINGS`."""
        answer = {None: "", True: "yes", False: "no"}[self.reached]
        if self.absent is not None:
            answer = "failed" if self.failed else "absent"
        return (
            self.name,
            number(self.ours, self.unit),
            self.peer,
            number(self.peer_value, self.unit),
            ratio_text(self.ratio),
            ratio_text(self.least_ratio),
            "" if self.target is None else self.target.text(self.unit),
            answer,
        )


@dataclass(frozen=True)
class Case:
    """Something to measure, by name; it may give several rows."""

    name: str
    run: Callable[[], Sequence[Row]]

    def fits(self, pattern: str | None) -> bool:
        """Tell whether the name contains the pattern, or fits it as a glob."""
        return pattern is None or pattern in self.name or fnmatch.fnmatch(self.name, pattern)

    def run_safely(self) -> Sequence[Row]:
        """Return the rows; a case that fails is a row that says so, and the others go on."""
        try:
            return self.run()
        except Exception as error:
            traceback.print_exc()
            reason = f"{type(error).__name__}: {error}"
            return [Row(self.name, absent=reason, failed=True, remark=reason)]


def number(value: float | None, unit: str) -> str:
    """Return a figure with its unit, seconds below one in milliseconds; "" for None.

    Examples
    --------
    >>> number(0.0123, "s"), number(2.25, "tables"), number(None, "s")
    ('12.3 ms', '2.25 tables', '')
    """
    if value is None:
        return ""
    if unit in _SECONDS and value < 1.0:
        return f"{1e3 * value:.3g} m{unit}"
    return f"{value:.3g} {unit}".rstrip()


def ratio_text(ratio: float | None) -> str:
    """Return a ratio, below one as a fraction; "" for None.

    Examples
    --------
    >>> ratio_text(21.04), ratio_text(0.1), ratio_text(None)
    ('21x', '1/10', '')
    """
    if ratio is None:
        return ""
    return f"{ratio:.3g}x" if ratio >= 1.0 else f"1/{1.0 / ratio:.3g}"


def write_json(path: Path, report: dict[str, Any], rows: Sequence[Row]) -> None:
    """Write the report with its rows, each with its judgement and its text."""
    lines = [asdict(row) | {"reached": row.reached, "cells": row.cells()} for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report | {"headings": HEADINGS, "rows": lines}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
