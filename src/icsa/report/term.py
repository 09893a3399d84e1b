"""An entry of the glossary."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GOOD_HIGH", "GOOD_LOW", "SAFE_HIGH", "SAFE_LOW", "Term"]

SAFE_HIGH = "higher is safer"
SAFE_LOW = "lower is safer"
GOOD_LOW = "lower is better"
GOOD_HIGH = "higher is better"


@dataclass(frozen=True)
class Term:
    """An entry of the glossary.

    Attributes
    ----------
    name, definition : str
    formula : str
        In words or plain signs; empty for a word that is not a figure.
    direction : str
        Such as "lower is safer"; empty where there is none.
    good : str
        Which values are good.
    also : tuple of str
        What other tools call it.
    """

    name: str
    definition: str
    formula: str = ""
    direction: str = ""
    good: str = ""
    also: tuple[str, ...] = ()
