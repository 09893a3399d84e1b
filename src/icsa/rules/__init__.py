"""Rules that a release must keep: bounds, allowed values, order, what is missing when.

::

    age >= 18                            a bound: a number, or an ISO date or time
    diagnosed <= died                    order of two columns of one type; also <, >=, >
    stage in {1, 2, 3, 4}                allowed values; text in quotes: grade in {"low", "high"}
    weeks missing                        also: weeks present
    if pregnant = 0 then weeks missing   a test (=, !=, in, missing, <= ...), and what follows
    if smoker = "yes" then packs >= 1

Names of columns with spaces or other signs stand in backticks, or in double quotes; behind = and in
double quotes hold text. A comparison holds where a cell is missing; a test does not. A date and a
date with a time are compared by their days.
"""

from __future__ import annotations

from icsa.rules.checking import Violation, check_rules, require_rules
from icsa.rules.enforcing import enforce_rules
from icsa.rules.grammar import Rule, parse_rule
from icsa.rules.latitude import Latitude

__all__ = [
    "Latitude",
    "Rule",
    "Violation",
    "check_rules",
    "enforce_rules",
    "parse_rule",
    "require_rules",
]
