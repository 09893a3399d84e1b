"""Relations between columns: sums, columns that follow others, products.

All of them look at one float64 vector a column, NaN where missing.
"""

from __future__ import annotations

from icsa.relations.derivation import Derivation, find_derivation
from icsa.relations.gaps import Gap, find_gaps, find_orders
from icsa.relations.linear import LinearRelation, find_relations
from icsa.relations.orders import Order, find_unkept_orders
from icsa.relations.products import ProductRelation, find_products

__all__ = [
    "Derivation",
    "Gap",
    "LinearRelation",
    "Order",
    "ProductRelation",
    "find_derivation",
    "find_gaps",
    "find_orders",
    "find_products",
    "find_relations",
    "find_unkept_orders",
]
