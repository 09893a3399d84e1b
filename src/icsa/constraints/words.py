"""Relations in plain words. Numbers that could be cells are not written out."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["in_rows", "number", "sum_of"]


def number(value: float) -> str:
    """Return a factor with at most six digits.

    Examples
    --------
    >>> number(2.0), number(1 / 3)
    ('2', '0.333333')
    """
    return f"{value:.6g}"


def in_rows(share: float) -> str:
    """Return in how many rows something holds; never "100%" for less than all.

    Examples
    --------
    >>> in_rows(1.0), in_rows(0.98901), in_rows(0.99999)
    ('in all rows', 'in 98.9% of the rows', 'in 99.9% of the rows')
    """
    if share == 1.0:
        return "in all rows"
    return f"in {min(share, 0.999):.1%} of the rows"


def sum_of(terms: Iterable[tuple[str, float]], constant: float) -> str:
    """Return a sum of multiples of columns, those with positive factors first.

    Examples
    --------
    >>> sum_of([("a", -1.0), ("b", 0.5), ("seconds", 1 / 60)], 100.0)
    '0.5 b + seconds / 60 - a + 100'
    """
    parts = []
    for name, factor in sorted(terms, key=lambda term: term[1] < 0):
        parts.append(("-" if factor < 0 else "+", _multiple(name, abs(factor))))
    if constant:
        # Round figures belong to a formula; another might be somebody's date.
        known = abs(constant) <= 1000 and round(constant * 4) == constant * 4
        shown = number(abs(constant)) if known else "a constant"
        parts.append(("-" if known and constant < 0 else "+", shown))
    sign, first = parts[0]
    rest = "".join(f" {sign} {part}" for sign, part in parts[1:])
    return f"{'-' if sign == '-' else ''}{first}{rest}"


def _multiple(name: str, factor: float) -> str:
    if factor == 1.0:
        return name
    inverse = round(1 / factor)
    if float(number(factor)) != factor and abs(inverse * factor - 1) < 1e-12:
        return f"{name} / {inverse}"
    return f"{number(factor)} {name}"
