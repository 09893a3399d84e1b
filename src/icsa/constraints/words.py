"""Relations, orders and what becomes of them, in plain words.

Numbers that could be cells are not written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

__all__ = [
    "BY_BOUND",
    "BY_RULE",
    "KEPT",
    "LOST",
    "NEEDS_RULE",
    "compute_again",
    "declare",
    "in_rows",
    "listed",
    "lost_beside_kept",
    "lost_with_gaps",
    "never_below",
    "number",
    "product_of",
    "sum_of",
]

# What becomes of something that holds in the original, behind its description.
KEPT = "; kept so"
LOST = "; not kept"
NEEDS_RULE = "; not kept without a rule"
BY_RULE = "; kept by a rule"
BY_BOUND = "; kept by the bound"


def listed(names: Iterable[str]) -> str:
    """Return names with "and" between them."""
    return " and ".join(names)


def never_below(other: str, bases: Iterable[str]) -> str:
    """Return that a column is never below others."""
    return f"{other} is never below {listed(bases)}"


def declare(rule: str) -> str:
    """Return the advice to declare a rule that `icsa inspect` proposes."""
    return f"Declare the rule {rule}: icsa inspect FILE --schema-out NEW writes a schema with it"


def compute_again(name: str) -> str:
    """Return the advice to compute a column from those that are released."""
    return f"Compute {name} again from the released columns"


def lost_with_gaps(what: str, remedy: str) -> str:
    """Return the warning on something that cells without company break."""
    return (
        f"{what}{LOST}, because one of these columns is missing in rows in which another is not. "
        f"{remedy}"
    )


def lost_beside_kept(what: str, kept: Set[str], target: str | None) -> str:
    """Return the warning on something that holds no more, because some columns are kept."""
    names = listed(sorted(kept))
    are = "are released as they are" if len(kept) > 1 else "is released as it is"
    again = ""
    if target is not None and target not in kept:
        again = f", or {compute_again(target).replace('C', 'c', 1)}"
    return (
        f"{what}; not in the release, because {names} {are} and the others are masked. "
        f"Have {names} masked{again}."
    )


def number(value: float) -> str:
    """Return a factor with at most six digits.

    Examples
    --------
    >>> number(2.0), number(1 / 3)
    ('2', '0.333333')
    """
    return f"{value:.6g}"


def in_rows(share: float) -> str:
    """Return in how many rows something holds; never "100%" for less than all, or "0%" for some.

    Examples
    --------
    >>> in_rows(1.0), in_rows(0.98901), in_rows(0.99999), in_rows(0.0)
    ('in all rows', 'in 98.9% of the rows', 'in 99.9% of the rows', 'in no row')
    """
    if share in (0.0, 1.0):
        return "in all rows" if share else "in no row"
    return f"in {min(max(share, 0.001), 0.999):.1%} of the rows"


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


def product_of(factors: Iterable[tuple[str, float]]) -> str:
    """Return a product of powers of columns.

    Examples
    --------
    >>> product_of([("weight", 1.0), ("height", -2.0)])
    'weight / height^2'
    """
    factors = tuple(factors)
    above = " * ".join(_power(name, power) for name, power in factors if power > 0)
    below = " / ".join(_power(name, -power) for name, power in factors if power < 0)
    return f"{above or '1'}{' / ' if below else ''}{below}"


def _power(name: str, power: float) -> str:
    return {1.0: name, 2.0: f"{name}^2", 0.5: f"sqrt({name})"}[power]
