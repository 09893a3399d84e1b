"""A data set of the simulation, and what one release of it gives away and loses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from icsa.attacks.reassembly import reassemble
from icsa.errors import ICSAError
from icsa.ics import InvariantCoordinates, invariant_coordinates
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.privacy import outlier_replication_error, replication_errors
from icsa.randomness import Key
from icsa.scatters import LocationScatter, resolve
from icsa.studies.named_methods import Method
from icsa.utility import regression_loss

__all__ = ["DataSet", "Maps", "Scores", "attacked_errors", "draw_data", "number", "scores_of"]

# Standard deviation of the noise on an outlier's shift.
_SHIFT_NOISE = 0.4
# Share of the rows that the second scenario shifts.
_SHARE = 0.1
# What `attacked_errors` returns, of a release that was not attacked.
_NOT_ATTACKED = (np.nan, np.nan)


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table of predictors and response (last column), the true coefficients, the outliers."""

    table: Matrix
    coefficients: Vector
    outliers: np.ndarray


def draw_data(
    scenario: int, n: int, columns: int, severity: float, generator: np.random.Generator
) -> DataSet:
    """Return one data set of the simulation.

    y = X beta + N(0, 1), beta_j = (-1)^(j+1) / sqrt(j), p = columns - 1 predictors. Scenario 1: X
    is normal with variances p, p - 1, ..., 1, and the last row's y is shifted. Scenario 2: X is
    normal with covariance Q L Q', Q uniformly random, L the descending (p - j + 1)/p + U(0, .05),
    and the y of a random tenth of the rows is shifted. A shift is severity + N(0, .4^2).
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


class Scores(NamedTuple):
    """What one release of a data set gives away and loses; NaN where there is nothing to say.

    Attributes
    ----------
    ore : float
        The outlier replication error: the mean over the outliers of the relative squared distance
        to the nearest released row.
    loss : float
        The distance between the true coefficients and those of least squares on the release.
    reassembled : float
        The ORE for who also has the guess of `icsa.attacks.reassembly`: the guess counts as one
        more released row. At most the ORE, and the ORE itself where the attack makes no guess or
        a worse one. NaN where the release was not attacked or cannot be.
    guess : float
        The relative squared distance of the guess alone to the outlier nearest to it, in units of
        that outlier's squared length; NaN where there is no guess.
    reason : str
        Why something is NaN that was asked for; a guess need not be made, so that has none.
    """

    ore: float
    loss: float
    reassembled: float
    guess: float
    reason: str


class Maps:
    """The scatters and coordinates of one table, each computed once, when it is first needed."""

    def __init__(self, table: Matrix) -> None:
        self._table = table
        self._scatters: dict[str, LocationScatter | ICSAError] = {}
        self._coordinates: dict[tuple[str, str], InvariantCoordinates] = {}

    def coordinates(self, scatters: tuple[str, str]) -> InvariantCoordinates:
        """Return the coordinates of a pair of scatters; its error where there are none."""
        if scatters not in self._coordinates:
            first, second = map(self._scatter, scatters)
            found = invariant_coordinates(self._table, scatters=(first, second))
            self._coordinates[scatters] = found
        return self._coordinates[scatters]

    def _scatter(self, name: str) -> LocationScatter:
        if name not in self._scatters:
            try:
                self._scatters[name] = resolve(name)(self._table)
            except ICSAError as error:
                self._scatters[name] = error
        found = self._scatters[name]
        if isinstance(found, ICSAError):
            raise found
        return found


def scores_of(
    data: DataSet,
    maps: Maps,
    method: Method,
    mask: Callable[..., Matrix] | None,
    key: Key,
    *,
    attack: bool,
) -> Scores:
    """Return the scores of one release."""
    try:
        released = method.release(data.table, maps.coordinates(method.scatters), key, mask)
    except ICSAError as error:
        return Scores(np.nan, np.nan, *_NOT_ATTACKED, f"{method.name}: {error}")
    ore = outlier_replication_error(data.table, released, data.outliers)
    loss = regression_loss(data.coefficients, released)
    reasons = [str(found.reason) for found in (ore, loss) if isinstance(found, NotEstimable)]
    attacked = _NOT_ATTACKED
    if attack:
        try:
            attacked = attacked_errors(data, released)
        except ICSAError as error:
            reasons.append(f"reassembly: {error}")
    return Scores(number(ore), number(loss), *attacked, "; ".join(reasons))


def attacked_errors(data: DataSet, released: Matrix) -> tuple[float, float]:
    """Return what `Scores` calls reassembled and guess."""
    guess = reassemble(released).guess
    people = data.table[data.outliers]
    near_rows = _errors(people, released)
    if guess is None:
        return float(near_rows.mean()), np.nan
    near_guess = _errors(people, guess[None, :])
    return float(np.minimum(near_rows, near_guess).mean()), float(near_guess.min())


def _errors(people: Matrix, rows: Matrix) -> Vector:
    """Return each person's relative squared distance to the nearest row; NaN for somebody at 0."""
    found = replication_errors(people, rows, np.arange(people.shape[0]))
    return np.full(people.shape[0], np.nan) if isinstance(found, NotEstimable) else found


def number(found: float | NotEstimable) -> float:
    """Return an estimate as a number for a column of results: NaN where there is none."""
    return np.nan if isinstance(found, NotEstimable) else found
