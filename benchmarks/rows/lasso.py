"""The cross-validated lasso of the Wisconsin study against cv.glmnet and LassoCV."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks import peers
from benchmarks.data import Table
from benchmarks.results import Case, Row, Target
from benchmarks.rows.settings import Settings
from benchmarks.timing import Duel, Timed, interleaved, paced, timed
from icsa.studies.wdbc import TARGETS, target_table
from icsa.utility.lasso import Convention, cross_validated_lasso, random_folds

__all__ = ["cases"]

_SECONDS_A_ROUND = 0.2
_TARGET = 200.0

Vector = npt.NDArray[np.float64]


def cases(settings: Settings) -> Iterator[Case]:
    """Yield a case for each peer: all ten targets, the same folds for both sides."""
    for name, peer in (("glmnet", _against_glmnet), ("sklearn", _against_sklearn)):
        yield Case(f"lasso 367x20 {name}", partial(peer, f"lasso 367x20 {name}", settings))


def _against_glmnet(name: str, settings: Settings) -> list[Row]:
    peer, target = "glmnet cv.glmnet, 10 folds", Target("ratio", _TARGET)
    server = peers.glmnet()
    if server is None:
        reason = "Rscript with glmnet is not installed"
        return [Row(name, peer=peer, target=target, absent=reason, remark=reason)]
    running = server

    def prepare(x: Table, folds: peers.Rows) -> tuple[Timed, Callable[[], Vector]]:
        running.give(x)
        running.give_folds(folds)
        return running.time_lasso, running.coefficients

    return [_row(name, peer, target, settings, prepare, "glmnet", stop_early=True)]


def _against_sklearn(name: str, settings: Settings) -> list[Row]:
    def prepare(x: Table, folds: peers.Rows) -> tuple[Timed, Callable[[], Vector]]:
        fit = partial(peers.sklearn_lasso, x[:, :-1], x[:, -1], folds)
        return timed(fit), fit

    peer = "scikit-learn LassoCV, default tolerance"
    return [_row(name, peer, None, settings, prepare, "scikit-learn", stop_early=False)]


def _row(
    name: str,
    peer: str,
    target: Target | None,
    settings: Settings,
    prepare: Callable[[Table, peers.Rows], tuple[Timed, Callable[[], Vector]]],
    convention: Convention,
    stop_early: bool,
) -> Row:
    """Return the ratio over the targets, and how far the coefficients are from the peer's."""
    duels, gaps = [], []
    for number in range(settings.choose(len(TARGETS), 1)):
        table = target_table("adbench", number)
        folds = random_folds(table.shape[0], 10, np.random.default_rng(number))
        theirs, coefficients = prepare(table, folds)
        fit = partial(
            cross_validated_lasso,
            table[:, :-1],
            table[:, -1],
            folds=folds,
            convention=convention,
            stop_early=stop_early,
        )
        ours = timed(fit)
        calls = paced(ours, theirs, _SECONDS_A_ROUND)
        duels.append(interleaved(ours, theirs, settings.choose(3, 1), calls))
        # Nearly dependent predictors share their effect in many ways: fitted values are compared.
        gap = table[:, :-1] @ (coefficients() - fit().coefficients)
        gaps.append(float(gap.std() / table[:, -1].std()))
    figures = Duel.joined(duels).figures()
    figures["details"]["gaps"] = gaps
    remark = (
        f"same folds; fitted values differ by {min(gaps):.1g} to {max(gaps):.1g} standard "
        f"deviations of the response over {len(gaps)} targets"
    )
    return Row(name, peer=peer, target=target, remark=remark, **figures)
