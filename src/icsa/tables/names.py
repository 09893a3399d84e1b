"""Names of columns that every step can use, and lists of names for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from icsa.errors import InputError

__all__ = ["check_usable", "listed_names"]

_MOST_LISTED = 5


def check_usable(source: str, names: Iterable[str]) -> None:
    """Raise an error for a name that polars takes for a pattern of names: ``*`` and ``^...$``.

    Examples
    --------
    >>> check_usable("t.csv", ["age", "income ($)"])
    >>> check_usable("t.csv", ["^age$"])
    Traceback (most recent call last):
    icsa.errors.InputError: t.csv: column '^age$' cannot keep its name...
    """
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise InputError(
                f"{source}: column {name!r} cannot keep its name, which would stand for other "
                "columns too. Rename it."
            )


def listed_names(names: Sequence[str]) -> str:
    """Return some names in quotes, the first five and how many more.

    Examples
    --------
    >>> listed_names(["Data", "Codes"])
    "'Data', 'Codes'"
    """
    more = len(names) - _MOST_LISTED
    listed = ", ".join(repr(name) for name in names[:_MOST_LISTED])
    return listed if more <= 0 else f"{listed} and {more} more"
