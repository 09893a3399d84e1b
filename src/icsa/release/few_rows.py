"""Whether a table has enough rows for its columns, and what is done where it has not."""

from __future__ import annotations

from icsa.errors import InputError
from icsa.release.encoding import Encoding
from icsa.release.limits import LIMITS
from icsa.release.methods import Method

__all__ = ["factor_notes", "has_few_rows", "require_enough_rows", "require_rows"]


def require_rows(n_rows: int, encoding: Encoding) -> None:
    """Refuse tables with too few rows, or none that vary."""
    if n_rows < LIMITS.fewest_rows:
        raise InputError(
            f"The table has {n_rows} rows, and {LIMITS.fewest_rows} are the fewest that can be "
            "anonymized: among fewer, everybody stands out."
        )
    if encoding.n_scores == 0:
        raise InputError(
            "No column that is to be masked varies: there is nothing to hide, and nothing to learn "
            "from the table."
        )


def has_few_rows(n_rows: int, encoding: Encoding, method: Method) -> bool:
    """Return whether there are too few rows to find as many coordinates as there are scores.

    Then a few factors are masked instead; what cannot be had of them is refused.
    """
    why = _why_few(n_rows, encoding)
    if not why:
        return False
    if method.name == "forest":
        raise InputError(
            f"{why} by forests, which would find chance in so many columns. Use --method icsa "
            "(method='icsa'), which finds what they have in common, or drop columns."
        )
    if method.raw_units:
        raise InputError(
            f"{why} in their own units: what many columns have in common is found in a common "
            "unit. Leave --raw-units (raw_units) out."
        )
    return True


def require_enough_rows(n_rows: int, encoding: Encoding) -> None:
    """Refuse tables with fewer rows than their columns need, where all is done in blocks."""
    require_rows(n_rows, encoding)
    why = _why_few(n_rows, encoding)
    if why:
        raise InputError(f"{why} where a table does not fit in memory. Drop columns.")


def _why_few(n_rows: int, encoding: Encoding) -> str:
    """Return how many rows are needed where there are fewer, as the beginning of a sentence."""
    n_scores = encoding.n_scores
    needed = LIMITS.rows_a_score * (n_scores + 1) + 1
    if n_rows >= needed:
        return ""
    return (
        f"The table has {n_rows} rows, too few for its columns: encoded, they are {n_scores}, for "
        f"which {needed} rows are needed"
    )


def factor_notes(n_rows: int, n_scores: int, n_factors: int, explained: float) -> tuple[str, ...]:
    """Return what people should know about a release by factors.

    Examples
    --------
    >>> (note,) = factor_notes(60, 271, 4, 0.31)
    >>> note[:73]
    'MORE COLUMNS THAN ROWS CAN TELL APART: 60 rows, and encoded columns are 2'
    """
    factors = f"{n_factors} factor{'s' * (n_factors != 1)}"
    return (
        f"MORE COLUMNS THAN ROWS CAN TELL APART: {n_rows} rows, and encoded columns are "
        f"{n_scores}. The release has the {factors} that the columns have in common, "
        f"{explained:.0%} of their variance; what is left of each column is independent of the "
        "others, so that correlations of pairs that no factor explains are gone. Whoever knows "
        "most of so many cells of somebody can tell who was in the table, from the columns' means "
        "alone: assess the release with a rehearsal. With fewer columns (--drop) more is kept, and "
        "hidden.",
    )
