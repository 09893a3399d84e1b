"""The numbers that forests are grown by, in one place, each with what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["LIMITS", "Limits"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes of forests. *Measured* is on eight clinical tables and tables with known curves.

    Attributes
    ----------
    reach : float
        Robust standard deviations from the middle: a row with a cell beyond is left out when later
        columns are fitted, and a residual beyond is drawn at the reach itself. Measured: without it
        people who are planted far out come through.
    many_beyond : float
        Share of cells beyond the reach, at one end, from which on the reach is longer, up to twice:
        a long tail. Chosen: more than those who stand out in most tables.
    feature_reach : float
        The same for cuts of features: there are none beyond.
    mean_trees, mean_leaf : int
        Of the forest for the mean of a measurement, and rows of a leaf. With 5, 10 and 15 the
        square of a wage equation came out at 86, 91 and 92%, a product without much noise at 49,
        46 and 44%.
    least_explained : float
        Share of the variance that the forest must explain out of bag for its mean to be used.
    shape_trees, shape_leaf : int
        Of the forest for the law around the mean. Larger leaves remember less: with 20, 40 and 80
        rows, and half as many for levels, 57.6, 55.5 and 54.7% of released rows were closer to the
        half of a table that was used. Squares were kept as well, products less so.
    shape_parts : int
        Parts of equal size that residuals are divided into: cuts part laws that differ in these, be
        it in mean, spread or number of tops. Least squares do not see a circle.
    level_trees, level_leaf : int
        Of the forest for the chances of levels.
    least_chance : float
        Of a level, so that none is impossible.
    usual_rows : int
        Leaves are as given up to so many rows; of more rows they grow with the root, so that both
        errors, what is mixed up in a leaf and what chance puts there, fall.
    most_rows : int
        Rows that forests are grown on at most, a fixed sample: the error of a leaf's mean is then
        a tenth of its spread, and growing takes less time than drawing a million rows.
    """

    reach: float = 3.5
    many_beyond: float = 0.02
    feature_reach: float = 3.0
    mean_trees: int = 40
    mean_leaf: int = 10
    least_explained: float = 0.1
    shape_trees: int = 8
    shape_leaf: int = 80
    shape_parts: int = 6
    level_trees: int = 25
    level_leaf: int = 40
    least_chance: float = 0.002
    usual_rows: int = 2_000
    most_rows: int = 20_000

    def of_rows(self, leaf: int, n_rows: int) -> int:
        """Return the size of a leaf where so many rows are grown on.

        Examples
        --------
        >>> LIMITS.of_rows(20, 1_000), LIMITS.of_rows(20, 8_000)
        (20, 40)
        """
        return round(leaf * math.sqrt(max(1.0, n_rows / self.usual_rows)))


LIMITS = Limits()
