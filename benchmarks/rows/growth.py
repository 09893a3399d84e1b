"""How time grows with rows and with columns: fitted exponents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.data import Table, table
from benchmarks.results import Case, Row, number
from benchmarks.rows.settings import Settings
from benchmarks.timing import fastest, fitted_exponent
from icsa.anonymization import masked_copy
from icsa.ics import invariant_coordinates
from icsa.scatters.hettmansperger_randles import hr
from icsa.scatters.mcd_estimate import mcd
from icsa.scatters.tyler_shape import tyler

__all__ = ["cases"]

_ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
_COLUMNS = (2, 4, 8, 16, 32, 64)
_FIXED_ROWS, _FIXED_COLUMNS = 2_000, 10


def _masking(x: Table) -> Callable[[], object]:
    coordinates = invariant_coordinates(x, scatters=("cov", "cov4"))
    return partial(masked_copy, x, coordinates)


# From a table to the call that is timed.
_WORK: dict[str, Callable[[Table], Callable[[], object]]] = {
    "mcd50": lambda x: partial(mcd, x, alpha=0.5),
    "hr": lambda x: partial(hr, x),
    "tyler": lambda x: partial(tyler, x),
    "masked_copy": _masking,
}


def cases(settings: Settings) -> Iterator[Case]:
    """Yield a case for each function and direction."""
    rows = [(n, _FIXED_COLUMNS) for n in _ROWS if n <= settings.choose(1_000_000, 30_000)]
    columns = [(_FIXED_ROWS, p) for p in _COLUMNS]
    rounds = settings.choose(3, 1)
    for work in _WORK:
        for letter, shapes, sizes in (
            ("n", rows, [n for n, _ in rows]),
            ("p", columns, [p for _, p in columns]),
        ):
            name = f"growth {work} {letter}={sizes[0]}..{sizes[-1]}"
            yield Case(name, partial(_row, name, work, letter, shapes, sizes, rounds))


def _row(
    name: str,
    work: str,
    letter: str,
    shapes: Sequence[tuple[int, int]],
    sizes: Sequence[int],
    rounds: int,
) -> list[Row]:
    seconds = [fastest(_WORK[work](table(n, p)), rounds) for n, p in shapes]
    times = ", ".join(number(second, "s") for second in seconds)
    return [
        Row(
            name,
            fitted_exponent(sizes, seconds),
            unit="exponent",
            remark=f"time ~ {letter}^exponent: {times}",
            details={"sizes": list(sizes), "seconds": seconds},
        )
    ]
