"""The simulation study: how well nine methods hide planted outliers, and what regression loses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from icsa.errors import InputError
from icsa.jobs import Job, Work, columns_of
from icsa.masks import drawn_permutation
from icsa.randomness import as_key
from icsa.studies.named_methods import PAPER_MASK, method_of
from icsa.studies.simulation_scores import Maps, draw_data, number, scores_of

__all__ = [
    "CELL",
    "PAPER_METHODS",
    "SimulationConfig",
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
# Those of the paper that are attacked where nothing else is said: the one that it improves on, and
# the one that it recommends.
_ATTACKED = ("sa", "mcd50-mcd75")


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
        permute, with "+d" decorrelated; see `icsa.studies.named_methods`.
    repetitions : int
        Data sets a cell.
    block : int
        Data sets a job.
    seed : int
        Everything random comes from it.
    attacked : tuple of str, optional
        Methods whose releases are attacked as well, for `Scores.reassembled`; it takes an MCD of
        each release. By default sa, mcd50-mcd75 and all that are not the paper's.
    attacked_repetitions : int
        How many data sets of a cell, the first ones.
    """

    scenarios: tuple[int, ...] = (1, 2)
    n: tuple[int, ...] = (20, 40, 120, 240, 480)
    columns: tuple[int, ...] = (4, 8, 16, 32)
    severities: tuple[int, ...] = (0, 2, 4, 8, 16)
    methods: tuple[str, ...] = PAPER_METHODS
    repetitions: int = 1000
    block: int = 50
    seed: int = 2026
    attacked: tuple[str, ...] | None = None
    attacked_repetitions: int = 200

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        if not set(self.scenarios) <= {1, 2}:
            raise InputError("There are scenarios 1 and 2.")
        if min(self.n, default=0) < 2 or min(self.columns, default=0) < 2:
            raise InputError("The simulation needs 2 rows and 2 columns or more.")
        if self.repetitions < 1 or self.block < 1:
            raise InputError("The simulation needs 1 repetition or more.")
        if self.attacked_repetitions < 0:
            raise InputError("The repetitions to attack are 0 or more.")
        for method in self.methods:
            method_of(method)
        for method in self.attacked or ():
            if method not in self.methods:
                raise InputError(
                    f"{method!r} is to be attacked but not simulated: it is one of "
                    f"{', '.join(self.methods)}, or add it to the methods."
                )

    @property
    def attacked_methods(self) -> tuple[str, ...]:
        """The methods that are attacked, whether they were given or not."""
        if self.attacked is not None:
            return self.attacked
        spared = set(PAPER_METHODS) - set(_ATTACKED)
        return tuple(method for method in self.methods if method not in spared)


def simulation_study(config: SimulationConfig) -> Work:
    """Return the study: a job for every block of repetitions of every cell."""
    return Work("simulation", config, tuple(_jobs(config)), simulate_block)


def _jobs(config: SimulationConfig) -> Iterator[Job]:
    cells = itertools.product(config.scenarios, config.n, config.columns, config.severities)
    for scenario, n, columns, severity in cells:
        cell = dict(zip(CELL, (scenario, n, columns, severity), strict=True))
        for first in range(0, config.repetitions, config.block):
            last = min(first + config.block, config.repetitions)
            name = f"s{scenario}-n{n}-c{columns}-k{severity}-r{first:05d}"
            # Small tables cost what calling the functions costs, large ones what they compute. An
            # attack costs about as much as two of the paper's methods.
            attacked = max(min(last, config.attacked_repetitions) - first, 0)
            releases = 9 * (last - first) + 2 * attacked * len(config.attacked_methods)
            cost = releases / 9 * (1.0 + n * columns**1.5 / 20_000)
            yield Job(name, {**cell, "first": first, "last": last}, cost)


def simulate_block(
    config: SimulationConfig, *, first: int, last: int, **cell: int
) -> dict[str, np.ndarray]:
    """Return the `Scores` of every method on the data sets first..last-1 of a cell.

    A cell is named by `CELL`. All methods see the same data and the same key. What cannot be
    estimated is NaN with its reason beside it.
    """
    place = scenario, n, columns, severity = tuple(cell[name] for name in CELL)
    key = as_key(config.seed).child(f"simulation {place}")
    attacked = set(config.attacked_methods)
    found = []
    for repetition in range(first, last):
        generator = np.random.default_rng([config.seed, *place, repetition])
        data = draw_data(scenario, n, columns, severity, generator)
        maps = Maps(data.table)
        secret = key.child("release", repetition)
        permutation = drawn_permutation(n, columns, key=secret)
        for method in map(method_of, config.methods):
            mask = permutation if method.mask == PAPER_MASK else None
            attack = repetition < config.attacked_repetitions and method.name in attacked
            scores = scores_of(data, maps, method, mask, secret, attack=attack)
            record = {**cell, "repetition": repetition, "method": method.name}
            found.append({**record, **scores._asdict()})
    return columns_of(found)
