"""The theorem's study: spectral anonymization copies a far outlier whatever the permutations."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from icsa.errors import InputError
from icsa.ics import InvariantCoordinates, invariant_coordinates
from icsa.jobs import Job, Work, columns_of
from icsa.matrices import Matrix
from icsa.privacy import outlier_replication_error
from icsa.randomness import as_key
from icsa.studies.named_methods import method_of
from icsa.studies.simulation import number

__all__ = ["TheoremConfig", "adversarial_release", "bound", "measure_cell", "theorem_study"]


@dataclass(frozen=True)
class TheoremConfig:
    """Every parameter of the theorem's study.

    Attributes
    ----------
    n, columns : tuple of int
        Rows besides the outlier, and columns.
    distances : tuple of float
        Distance H of the outlier in units of n + 2 times the radius M = 1 of the other rows; the
        bound holds above 1.
    methods : tuple of str
        As in the simulation; "sa" is the one that the theorem speaks of.
    tables, releases : int
        Tables a cell, and releases a table and method.
    seed : int
        Everything random comes from it.
    """

    n: tuple[int, ...] = (30, 100)
    columns: tuple[int, ...] = (3, 6, 12)
    distances: tuple[float, ...] = (1.5, 5.0, 15.0, 50.0, 150.0, 500.0)
    methods: tuple[str, ...] = ("sa", "hr-tyler", "mcd50-hr", "mcd50-mcd75")
    tables: int = 20
    releases: int = 100
    seed: int = 2026

    def __post_init__(self) -> None:
        """Refuse what the theorem does not cover."""
        if min(self.distances) <= 1.0:
            raise InputError("The theorem needs an outlier farther away than (n + 2) M.")
        if min(self.columns) < 2 or min(self.n) < 5:
            raise InputError("The theorem's study needs 2 columns and 5 rows or more.")


def bound(n: int, columns: int, distance: float, radius: float = 1.0) -> float:
    """Return the theorem's bound on the relative squared distance to the nearest released row.

    2 (p - 1) M {(n - 4) M + 4 H} / H^2, for every permutation, when H > (n + 2) M.
    """
    return 2 * (columns - 1) * radius * ((n - 4) * radius + 4 * distance) / distance**2


def theorem_study(config: TheoremConfig) -> Work:
    """Return the study: a job for every size and distance."""
    cells = itertools.product(config.n, config.columns, enumerate(config.distances))
    jobs = (
        Job(f"n{n}-c{columns}-h{step:02d}", {"n": n, "columns": columns, "step": step})
        for n, columns, (step, _) in cells
    )
    return Work("theorem", config, tuple(jobs), measure_cell)


def measure_cell(
    config: TheoremConfig, *, n: int, columns: int, step: int
) -> dict[str, np.ndarray]:
    """Return, for every table and method, the nearest distances over the releases."""
    distance = config.distances[step] * (n + 2)
    key = as_key(config.seed).child(f"theorem {(n, columns, step)}")
    found = []
    for table_number in range(config.tables):
        generator = np.random.default_rng([config.seed, n, columns, table_number])
        table = _table(n, columns, distance, generator)
        first = table_number * config.releases
        for method in map(method_of, config.methods):
            coordinates = invariant_coordinates(table, scatters=method.scatters)
            nearest = [
                _nearest(table, method.release(table, coordinates, key.child(method.name, number)))
                for number in range(first, first + config.releases)
            ]
            worst = _nearest(table, adversarial_release(table, coordinates))
            found.append(
                {
                    "n": n,
                    "columns": columns,
                    "distance": distance,
                    "bound": bound(n, columns, distance),
                    "table": table_number,
                    "method": method.name,
                    "lowest": min(nearest),
                    "mean": np.mean(nearest),
                    "highest": max(nearest),
                    "adversarial": worst,
                }
            )
    return columns_of(found)


def adversarial_release(table: Matrix, coordinates: InvariantCoordinates) -> Matrix:
    """Return a permuted release that keeps the last row as far from its copies as it can.

    The row that gets the last row's own score in the component where it stands out most gets, in
    every other component, the score that lies farthest from the last row's.

    Examples
    --------
    >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [40.0, 0.0]])
    >>> released = adversarial_release(x, invariant_coordinates(x, scatters=("identity", "cov")))
    >>> np.abs(released[0].round(6))
    array([40.,  1.])
    """
    scores = coordinates.transform(table)
    gaps = np.abs(scores - scores[-1])
    spread = np.median(gaps, axis=0) / np.maximum(np.median(np.abs(scores), axis=0), 1e-300)
    leading = int(np.argmax(spread))
    masked = scores.copy(order="F")
    for component in range(scores.shape[1]):
        chosen = -1 if component == leading else int(np.argmax(gaps[:, component]))
        masked[[0, chosen], component] = masked[[chosen, 0], component]
    return coordinates.inverse_transform(masked)


def _table(n: int, columns: int, distance: float, generator: np.random.Generator) -> Matrix:
    """Return n rows spread evenly over the ball of radius 1, and one at `distance`."""
    directions = generator.normal(size=(n + 1, columns))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.append(generator.uniform(size=n) ** (1.0 / columns), distance)
    return np.asarray(directions * lengths[:, None])


def _nearest(table: Matrix, released: Matrix) -> float:
    return number(outlier_replication_error(table, released, np.array([table.shape[0] - 1])))
