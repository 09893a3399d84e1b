"""Constraints between columns: relations that are found, and rules that are declared.

What looks for relations takes, each by the names of columns: `numbers`, one float64 vector each,
NaN where missing; `steps`, those of their lattices, None or absent for none; and `kinds`. Every
threshold stands in `icsa.constraints.limits`. Rules are written as ::

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

from icsa.constraints.checking import Violation, check_rules, require_rules
from icsa.constraints.computing import Computed
from icsa.constraints.derivation import Derivation, find_derivation
from icsa.constraints.enforcing import Latitude, enforce_rules
from icsa.constraints.gaps import Gap, find_gaps, find_orders
from icsa.constraints.grammar import Rule, parse_rule
from icsa.constraints.linear import LinearRelation, find_relations
from icsa.constraints.orders import Order, find_unkept_orders
from icsa.constraints.products import ProductRelation, find_products

__all__ = [
    "Computed",
    "Derivation",
    "Gap",
    "Latitude",
    "LinearRelation",
    "Order",
    "ProductRelation",
    "Rule",
    "Violation",
    "check_rules",
    "enforce_rules",
    "find_derivation",
    "find_gaps",
    "find_orders",
    "find_products",
    "find_relations",
    "find_unkept_orders",
    "parse_rule",
    "require_rules",
]
