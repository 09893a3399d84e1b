"""The simulation study: how well nine methods hide planted outliers, and what regression loses."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from icsa.anonymization import masked_copy
from icsa.errors import ICSAError, InputError
from icsa.ics import invariant_coordinates
from icsa.masks import drawn_permutation
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.privacy import outlier_replication_error
from icsa.randomness import Key, as_key
from icsa.scatters import LocationScatter, resolve
from icsa.studies.methods import Method, method_of
from icsa.studies.study import Job, Study
from icsa.utility import regression_loss

__all__ = [
    "CELL",
    "PAPER_METHODS",
    "DataSet",
    "SimulationConfig",
    "draw_data",
    "number",
    "simulate_block",
    "simulation_study",
]

# What a cell of the grid is named by.
CELL = ("scenario", "n", "columns", "severity")
# The paper's nine, in its order.
PAPER_METHODS = (
    "sa",
    "cov-cov4",
    "hr-cov",
    "hr-tyler",
    "mcd50-cov",
    "mcd75-cov",
    "mcd50-hr",
    "mcd75-hr",
    "mcd50-mcd75",
)
# Standard deviation of the noise on an outlier's shift.
_SHIFT_NOISE = 0.4
# Share of the rows that the second scenario shifts.
_SHARE = 0.1


@dataclass(frozen=True)
class SimulationConfig:
    """Every parameter of the simulation; the paper's by default.

    Attributes
    ----------
    scenarios : tuple of int
        1: independent predictors, the last row's response is shifted. 2: predictors with a random
        covariance, the responses of a tenth of the rows are shifted.
    n, columns, severities : tuple of int
        Rows; predictors and response together; size of the shift.
    methods : tuple of str
        "sa" or a pair of scatters such as "mcd50-mcd75", with "+rotate" or another mask that is not
        permute, with "+d" decorrelated; see `icsa.studies.methods`.
    repetitions : int
        Data sets a cell.
    block : int
        Data sets a job.
    seed : int
        Everything random comes from it.
    """

    scenarios: tuple[int, ...] = (1, 2)
    n: tuple[int, ...] = (20, 40, 120, 240, 480)
    columns: tuple[int, ...] = (4, 8, 16, 32)
    severities: tuple[int, ...] = (0, 2, 4, 8, 16)
    methods: tuple[str, ...] = PAPER_METHODS
    repetitions: int = 1000
    block: int = 50
    seed: int = 2026

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        if not set(self.scenarios) <= {1, 2}:
            raise InputError("There are scenarios 1 and 2.")
        if min(self.n, default=0) < 2 or min(self.columns, default=0) < 2:
            raise InputError("The simulation needs 2 rows and 2 columns or more.")
        if self.repetitions < 1 or self.block < 1:
            raise InputError("The simulation needs 1 repetition or more.")
        for method in self.methods:
            method_of(method)


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table of predictors and response (last column), the true coefficients, the outliers."""

    table: Matrix
    coefficients: Vector
    outliers: np.ndarray


def simulation_study(config: SimulationConfig) -> Study:
    """Return the study: a job for every block of repetitions of every cell."""
    return Study("simulation", config, tuple(_jobs(config)), simulate_block)


def _jobs(config: SimulationConfig) -> Iterator[Job]:
    cells = itertools.product(config.scenarios, config.n, config.columns, config.severities)
    for scenario, n, columns, severity in cells:
        for first in range(0, config.repetitions, config.block):
            last = min(first + config.block, config.repetitions)
            cell = {"scenario": scenario, "n": n, "columns": columns, "severity": severity}
            name = f"s{scenario}-n{n}-c{columns}-k{severity}-r{first:05d}"
            # Small tables cost what calling the functions costs, large ones what they compute.
            cost = (last - first) * (1.0 + n * columns**1.5 / 20_000)
            yield Job(name, {**cell, "first": first, "last": last}, cost)


def draw_data(
    scenario: int, n: int, columns: int, severity: float, generator: np.random.Generator
) -> DataSet:
    """Return one data set of the simulation.

    y = X beta + N(0, 1), beta_j = (-1)^(j+1) / sqrt(j), p = columns - 1 predictors. Scenario 1: X
    is normal with variances p, p - 1, ..., 1, and the last row's y is shifted. Scenario 2: X is
    normal with covariance Q L Q', Q uniformly random, L the descending (p - j + 1)/p + U(0, .05),
    and the y of a random tenth of the rows is shifted. A shift is severity + N(0, .4^2).

    Examples
    --------
    >>> data = draw_data(1, 20, 4, 16.0, np.random.default_rng(0))
    >>> data.table.shape, data.outliers, data.coefficients.round(3)
    ((20, 4), array([19]), array([ 1.   , -0.707,  0.577]))
    """
    p = columns - 1
    order = np.arange(1, p + 1)
    coefficients = (-1.0) ** (order + 1) / np.sqrt(order)
    if scenario == 1:
        x = generator.normal(size=(n, p)) * np.sqrt(order[::-1])
        outliers = np.array([n - 1])
    else:
        spread = np.sort((p - order + 1) / p + generator.uniform(0.0, 0.05, size=p))[::-1]
        # The signs of R's diagonal make the orthogonal factor uniform (Mezzadri 2007).
        q, r = np.linalg.qr(generator.normal(size=(p, p)))
        x = (generator.normal(size=(n, p)) * np.sqrt(spread)) @ (q * np.sign(np.diagonal(r))).T
        count = max(1, round(_SHARE * n))
        outliers = np.sort(generator.choice(n, size=count, replace=False))
    y = x @ coefficients + generator.normal(size=n)
    y[outliers] += severity + _SHIFT_NOISE * generator.normal(size=outliers.size)
    return DataSet(np.column_stack([x, y]), coefficients, outliers)


def simulate_block(
    config: SimulationConfig,
    *,
    scenario: int,
    n: int,
    columns: int,
    severity: int,
    first: int,
    last: int,
) -> dict[str, np.ndarray]:
    """Return ORE and loss of every method on the data sets first..last-1 of a cell.

    All methods see the same data and the same key. What cannot be estimated is NaN with its reason
    beside it.
    """
    cell = (scenario, n, columns, severity)
    key = as_key(config.seed).child(f"simulation {cell}")
    found: list[tuple[int, str, float, float, str]] = []
    for repetition in range(first, last):
        generator = np.random.default_rng([config.seed, *cell, repetition])
        data = draw_data(scenario, n, columns, severity, generator)
        scatters = _Scatters(data.table)
        secret = key.child("release", repetition)
        permutation = drawn_permutation(n, columns, key=secret)
        for method in map(method_of, config.methods):
            mask = permutation if method.mask == "permute" else method.mask
            result = _evaluate(data, scatters, method, mask, secret)
            found.append((repetition, method.name, *result))
    repetitions, methods, ores, losses, reasons = zip(*found, strict=True)
    size = len(found)
    return {
        "scenario": np.full(size, scenario),
        "n": np.full(size, n),
        "columns": np.full(size, columns),
        "severity": np.full(size, severity),
        "repetition": np.array(repetitions),
        "method": np.array(methods),
        "ore": np.array(ores),
        "loss": np.array(losses),
        "reason": np.array(reasons),
    }


class _Scatters:
    """The scatters of one table, each computed once, when a method first needs it."""

    def __init__(self, table: Matrix) -> None:
        self._table = table
        self._found: dict[str, LocationScatter | ICSAError] = {}

    def __getitem__(self, name: str) -> LocationScatter:
        if name not in self._found:
            try:
                self._found[name] = resolve(name)(self._table)
            except ICSAError as error:
                self._found[name] = error
        found = self._found[name]
        if isinstance(found, ICSAError):
            raise found
        return found


def _evaluate(
    data: DataSet, scatters: _Scatters, method: Method, mask: str | Callable[..., Matrix], key: Key
) -> tuple[float, float, str]:
    """Return ORE, loss and, where one of them is NaN, the reason."""
    first, second = method.scatters
    try:
        coordinates = invariant_coordinates(
            data.table, scatters=(scatters[first], scatters[second])
        )
        released = masked_copy(
            data.table,
            coordinates,
            mask=mask,
            decorrelate=method.decorrelate,
            random_state=key,
            threads=1,
        )
    except ICSAError as error:
        return np.nan, np.nan, f"{method.name}: {error}"
    ore = outlier_replication_error(data.table, released, data.outliers)
    loss = regression_loss(data.coefficients, released)
    reasons = [str(found.reason) for found in (ore, loss) if isinstance(found, NotEstimable)]
    return number(ore), number(loss), "; ".join(reasons)


def number(found: float | NotEstimable) -> float:
    """Return an estimate as a number for a column of results: NaN where there is none."""
    return np.nan if isinstance(found, NotEstimable) else found
