"""How long a whole assessment will take and how much memory, said before it starts."""

from __future__ import annotations

from icsa.privacy import Cost, estimate_cost

__all__ = ["assessment_cost"]

# Measured on one core beside the privacy part: seconds for any table, and for each cell.
_START, _CELL = 1.5, 5e-7
# Bytes that the program itself takes, and how often the tables lie in memory.
_PROGRAM, _COPIES = 250 * 2**20, 4
# Of so many rows one stands out; at most so many people are looked at.
_ROWS_A_PERSON, _MOST_PEOPLE = 100, 1_000


def assessment_cost(n_rows: int, n_released: int, n_columns: int) -> Cost:
    """Return the time and memory that `icsa.assessment.assess` will need, to a factor of two.

    Releases that are made again, and analyses by formula, come on top.

    Examples
    --------
    >>> print(assessment_cost(1_000, 1_000, 10))
    about 2 s and 251 MB
    """
    people = min(_MOST_PEOPLE, max(5, n_rows // _ROWS_A_PERSON))
    privacy = estimate_cost(max(1, n_rows), max(1, n_released), max(1, n_columns), people)
    cells = (n_rows + n_released) * n_columns
    return Cost(privacy.seconds + _START + _CELL * cells, _PROGRAM + _COPIES * 8 * cells)
