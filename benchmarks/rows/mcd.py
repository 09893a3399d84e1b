"""The minimum covariance determinant against robustbase and scikit-learn: time and objective."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks import peers
from benchmarks.data import KINDS, Table, table
from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings
from benchmarks.timing import Duel, Timed, interleaved, paced, timed
from icsa.scatters.mcd_estimate import mcd

__all__ = ["cases"]

_ALPHAS = (0.5, 0.75)
# An objective counts as above the peer's when it is by more than this.
_TOLERANCE = 1e-9
_SECONDS_A_ROUND = 0.1


@dataclass(frozen=True)
class _Size:
    """A size of table, the promised ratio, and how often it is measured."""

    n: int
    p: int
    target: float
    sets: int
    rounds: int

    def __str__(self) -> str:
        return f"{self.n}x{self.p}"


_SMALL = (_Size(40, 4, 15, 20, 3), _Size(120, 8, 8, 20, 3), _Size(480, 32, 30, 20, 1))
_LARGE = (_Size(5_000, 20, 10, 3, 3), _Size(100_000, 10, 10, 3, 3), _Size(1_000_000, 10, 10, 3, 1))


def cases(settings: Settings) -> Iterator[Case]:
    """Yield a case for each size, alpha and kind of data, first against R, then scikit-learn."""
    for peer, sizes in ((_against_robustbase, _SMALL + _LARGE), (_against_sklearn, _SMALL)):
        for size in sizes:
            for alpha in _ALPHAS:
                for kind in KINDS:
                    library = "robustbase" if peer is _against_robustbase else "sklearn"
                    name = f"mcd {size} alpha={alpha:g} {kind} {library}"
                    yield Case(name, partial(peer, name, size, alpha, kind, settings))


def _against_robustbase(
    name: str, size: _Size, alpha: float, kind: str, settings: Settings
) -> list[Row]:
    server = peers.robustbase()
    peer, target = "robustbase covMcd, 500 starts", Target("ratio", size.target)
    if server is None:
        reason = "Rscript with robustbase is not installed"
        return [Row(name, peer=peer, target=target, absent=reason, remark=reason)]
    found = _Found([], [])
    for seed in range(settings.choose(size.sets, 1)):
        x = table(size.n, size.p, kind, seed)
        server.give(x)
        theirs = partial(server.time_mcd, alpha)
        found.add(x, alpha, theirs, server.best_rows, settings.choose(size.rounds, 1))
    return [found.time_row(name, peer, target), found.objective_row(name, peer)]


def _against_sklearn(
    name: str, size: _Size, alpha: float, kind: str, settings: Settings
) -> list[Row]:
    found = _Found([], [])
    for seed in range(settings.choose(5, 1)):
        x = table(size.n, size.p, kind, seed)
        theirs = partial(peers.sklearn_mcd_rows, x, mcd(x, alpha=alpha).support.size)
        found.add(x, alpha, timed(theirs), theirs, settings.choose(2, 1))
    return [found.time_row(name, "scikit-learn MinCovDet", None)]


@dataclass
class _Found:
    """Timings and differences of the objectives (ours minus the peer's), set by set."""

    duels: list[Duel]
    gaps: list[float]
    calls: tuple[int, int] | None = None

    def add(
        self, x: Table, alpha: float, peer: Timed, peer_rows: Callable[[], peers.Rows], rounds: int
    ) -> None:
        """Measure one more set; the first one also tells how many calls fill a round."""
        ours = timed(lambda: mcd(x, alpha=alpha))
        self.calls = self.calls or paced(ours, peer, _SECONDS_A_ROUND)
        self.duels.append(interleaved(ours, peer, rounds, self.calls))
        self.gaps.append(_objective_gap(x, alpha, peer_rows()))

    def time_row(self, name: str, peer: str, target: Target | None) -> Row:
        """Return the ratio of times."""
        figures = Duel.joined(self.duels).figures()
        return Row(name, peer=peer, target=target, remark=self._comparison(), **figures)

    def objective_row(self, name: str, peer: str) -> Row:
        """Return on how many sets our objective is above the peer's: none is the target."""
        return Row(
            f"{name} objective",
            self._above,
            unit="sets",
            peer=peer,
            target=Target("ours", 0),
            remark=self._comparison(),
            details={"sets": len(self.gaps), "gaps": self.gaps},
        )

    @property
    def _above(self) -> int:
        return sum(gap > _TOLERANCE for gap in self.gaps)

    def _comparison(self) -> str:
        below = sum(gap < -_TOLERANCE for gap in self.gaps)
        return (
            f"objective above the peer's on {self._above} of {len(self.gaps)} sets, below on "
            f"{below}; difference {min(self.gaps):.2g} to {max(self.gaps):.2g}"
        )


def _objective_gap(x: Table, alpha: float, rows: peers.Rows) -> float:
    """Return our objective minus the peer's, both computed here: below 0 we are better."""
    support = mcd(x, alpha=alpha).support
    if support.size != rows.size:
        raise RuntimeError(f"Our subset has {support.size} rows, the peer's {rows.size}.")
    return _log_det(x[support]) - _log_det(x[rows])


def _log_det(x: Table) -> float:
    """Return the log determinant of the covariance, divisor h - 1."""
    return float(np.linalg.slogdet(np.cov(x, rowvar=False))[1])
