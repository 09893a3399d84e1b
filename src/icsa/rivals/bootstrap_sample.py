"""The bootstrap: people drawn with replacement. No method, but a yardstick for what is lost."""

from __future__ import annotations

import numpy as np

from icsa.matrices import Vector
from icsa.rivals.base import Cells

__all__ = ["draw_people"]


def draw_people(cells: Cells, generator: np.random.Generator) -> dict[str, Vector]:
    """Return whole rows drawn with replacement: what another sample of people would give."""
    rows = generator.integers(0, cells.n_rows, cells.n_rows)
    return {name: numbers[rows] for name, numbers in cells.numbers.items()}
