"""How far the seed of R's MCD search moves mcd50-mcd75 on the Wisconsin rows.

``python -m benchmarks.wdbc_search [--seeds 10] [--releases 100]`` releases the study's ten tables
with the scatters that robustbase's covMcd finds after each seed, and with ours, and prints the
means of every metric.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers import Robustbase, robustbase
from icsa.anonymization import masked_copy
from icsa.ics import invariant_coordinates
from icsa.privacy import outlier_replication_error
from icsa.randomness import as_key
from icsa.scatters import LocationScatter, resolve
from icsa.studies.simulation import number
from icsa.studies.wdbc import (
    SELECTION_METRICS,
    TARGETS,
    WdbcConfig,
    drawn_folds,
    fitted_lasso,
    target_table,
    wdbc_rows,
)

__all__ = ["means"]

_ALPHAS = (0.5, 0.75)
_METRICS = ("ore", "distance", *SELECTION_METRICS)
Search = Callable[[int], list[LocationScatter]]


def main() -> int:
    """Print a row for our search and one for each seed of R's."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wdbc_search", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--releases", type=int, default=100)
    options = parser.parse_args()
    server = robustbase()
    if server is None:
        print("Rscript with robustbase is not installed.", file=sys.stderr)
        return 2
    print(f"{'':10}" + "".join(f"{metric:>12}" for metric in _METRICS))
    _print_row("ours", means(_ours, options.releases))
    found = []
    for seed in range(1, options.seeds + 1):
        found.append(means(_theirs(server, seed), options.releases))
        _print_row(f"R, seed {seed}", found[-1])
    _print_row("R, least", np.min(found, axis=0))
    _print_row("R, largest", np.max(found, axis=0))
    return 0


def means(search: Search, releases: int) -> np.ndarray:
    """Return the means over all targets and releases; undefined values are left out."""
    config = WdbcConfig()
    outliers = wdbc_rows(config.rows)[1]
    rows = []
    with threadpool_limits(limits=1):
        for target in range(len(TARGETS)):
            table = target_table(config.rows, target)
            coordinates = invariant_coordinates(table, scatters=tuple(search(target)))
            key = as_key(config.seed).child("wdbc", target)
            for release in range(releases):
                state = key.child("release", release)
                released = masked_copy(
                    table, coordinates, mask="permute", random_state=state, threads=1
                )
                folds = drawn_folds(config, target, release)
                reference, fit = fitted_lasso(table, folds), fitted_lasso(released, folds)
                rows.append(
                    [
                        number(outlier_replication_error(table, released, outliers)),
                        float(np.linalg.norm(reference.coefficients - fit.coefficients)),
                        *(
                            number(metric(reference.selected, fit.selected))
                            for metric in SELECTION_METRICS.values()
                        ),
                    ]
                )
    return np.asarray(np.nanmean(np.array(rows), axis=0))


def _ours(target: int) -> list[LocationScatter]:
    table = target_table(WdbcConfig().rows, target)
    return [resolve(name)(table) for name in ("mcd50", "mcd75")]


def _theirs(server: Robustbase, seed: int) -> Search:
    def search(target: int) -> list[LocationScatter]:
        server.give(target_table(WdbcConfig().rows, target))
        return [LocationScatter(*server.fitted_mcd(alpha, seed)) for alpha in _ALPHAS]

    return search


def _print_row(name: str, values: np.ndarray) -> None:
    print(f"{name:10}" + "".join(f"{value:12.5g}" for value in values), flush=True)


if __name__ == "__main__":
    sys.exit(main())
