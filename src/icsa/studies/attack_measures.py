"""People of several kinds, and what every attack of the study reaches on one release of theirs.

Each attack takes a `Target` and returns its measures by name. A name that ends in "control" is
the same attack's success on people who are not in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from icsa.attacks import (
    last_row_from_means,
    learn_last_score,
    map_from_flips,
    map_from_insiders,
    map_from_releases,
    membership_with_map,
    reassemble,
    same_directions,
    scores_present,
    table_from_digits,
)
from icsa.ics import InvariantCoordinates, invariant_coordinates
from icsa.masks import Mask, decorrelate, redraw
from icsa.masks import resolve as resolve_mask
from icsa.matrices import Matrix, Vector
from icsa.randomness import Key
from icsa.studies.named_methods import Method

__all__ = ["ATTACKS", "KINDS", "Population", "Target", "drawn_population"]

# A person has been found when the guess is nearer than this, relative and squared.
_REACHED = 0.1
_SUBSETS = 4
_STARTS = 100
_SIMULATIONS, _TESTS = 400, 150
# Largest standard deviation of an axis over the least one.
_ELONGATION = 2.0
# Of the mixture: the share that is shifted, and how far.
_SHARE, _SHIFT = 0.2, 3.0
# A rounded table has a step of this share of a standard deviation.
_STEP = 0.1


def _normal(generator: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    return generator.normal(size=shape)


def _lognormal(generator: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    mean, variance = np.exp(0.5), (np.e - 1.0) * np.e
    return np.asarray((np.exp(generator.normal(size=shape)) - mean) / np.sqrt(variance))


def _heavy(degrees: int) -> Callable[[np.random.Generator, tuple[int, int]], Matrix]:
    scale = np.sqrt(degrees / (degrees - 2.0))
    return lambda generator, shape: np.asarray(generator.standard_t(degrees, size=shape) / scale)


def _mixture(generator: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    shifted = generator.uniform(size=shape[0]) < _SHARE
    rows = generator.normal(size=shape)
    rows[:, 0] += _SHIFT * (shifted - _SHARE)
    rows[:, 0] /= np.sqrt(1.0 + _SHIFT**2 * _SHARE * (1.0 - _SHARE))
    return rows


# Independent columns of mean 0 and variance 1.
KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Matrix]] = {
    "normal": _normal,
    "lognormal": _lognormal,
    "t3": _heavy(3),
    "t5": _heavy(5),
    "mixture": _mixture,
    "rounded": _normal,
}


@dataclass(frozen=True, eq=False)
class Population:
    """People of one kind, with mean 0, whose columns are correlated.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    mixing : ndarray of shape (n_columns, n_columns)
        From independent columns to those of the table.
    """

    kind: str
    mixing: Matrix

    def people(self, n: int, generator: np.random.Generator) -> Matrix:
        """Return n people."""
        rows = KINDS[self.kind](generator, (n, self.mixing.shape[0])) @ self.mixing.T
        return self._rounded(rows)

    def lone_person(self, severity: float, generator: np.random.Generator) -> Vector:
        """Return somebody `severity` standard deviations away, in a random direction."""
        direction = generator.normal(size=self.mixing.shape[0])
        return self._rounded(self.mixing @ (severity * direction / np.linalg.norm(direction)))

    def _rounded(self, rows: Matrix) -> Matrix:
        return np.rint(rows / _STEP) * _STEP if self.kind == "rounded" else rows


def drawn_population(kind: str, columns: int, generator: np.random.Generator) -> Population:
    """Return a population with random axes, the longest twice as long as the shortest."""
    axes = np.linalg.qr(generator.normal(size=(columns, columns)))[0]
    return Population(kind, axes * np.linspace(1.0, _ELONGATION, columns))


@dataclass(frozen=True, eq=False)
class Target:
    """A table, how it is released, and where its people come from.

    Attributes
    ----------
    table : ndarray of shape (n_rows, n_columns)
        The last row is the one that stands out or is unknown.
    population : Population
        For people who are not in the table.
    method : Method
    key : Key
        Of the releases.
    seed : sequence of int
        Of everything else that is random; the same for all methods.
    severity : float
        How far out the last person is.
    """

    table: Matrix
    population: Population
    method: Method
    key: Key
    seed: tuple[int, ...]
    severity: float

    def coordinates(self) -> InvariantCoordinates:
        """Return the true map."""
        return invariant_coordinates(self.table, scatters=self.method.scatters)

    def release(self, coordinates: InvariantCoordinates, number: int = 0) -> Matrix:
        """Return one of the releases, with all digits."""
        return self.method.release(self.table, coordinates, self.key.child("release", number))

    def generator(self) -> np.random.Generator:
        """Return random numbers that are the same for all methods."""
        return np.random.default_rng([*self.seed, 1])


def _relative_distances(rows: Matrix, person: Matrix) -> float:
    """Return the least squared distance to a person over the person's squared length."""
    return float(np.square(rows - person).sum(axis=1).min() / np.square(person).sum())


def _reassembly(target: Target) -> dict[str, float]:
    """Return the paper's ORE, that of the guess, and whether person and outsider were found."""
    released = target.release(target.coordinates())
    person = target.table[-1]
    outsider = target.population.lone_person(target.severity, target.generator())
    guess = reassemble(released).guess
    nearest = _relative_distances(released, person)
    # Who has no guess takes the centre, 0.
    tried = np.zeros_like(person) if guess is None else guess
    guessed, control = (_relative_distances(tried[None], who) for who in (person, outsider))
    return {
        "ORE of nearest row": nearest,
        "ORE of guess": guessed,
        "found": float(guessed < _REACHED),
        "found, control": float(control < _REACHED),
    }


def _digits(target: Target) -> dict[str, float]:
    """Return the share of rows, and of other people's rows, that came back from the digits."""
    table = np.rint(target.severity * target.table)
    whole = Target(table, target.population, target.method, target.key, target.seed, 0.0)
    released = whole.release(whole.coordinates())
    generator = target.generator()
    outsiders = np.rint(target.severity * target.population.people(len(table), generator))
    seed = int(generator.integers(1 << 31))
    found = table_from_digits(released, np.ones(table.shape[1]), subsets=_SUBSETS, seed=seed)
    rows = {tuple(row) for row in found.rows.tolist()}
    members, control = (
        float(np.mean([tuple(row) in rows for row in people.tolist()]))
        for people in (table, outsiders)
    )
    return {"rows": members, "rows, control": control, "whole table": float(members == 1.0)}


def _two_releases(target: Target) -> dict[str, float]:
    """Return the share of the map that two releases give, and who is found with it."""
    coordinates = target.coordinates()
    first, second = (target.release(coordinates, number) for number in (0, 1))
    generator = target.generator()
    seed = int(generator.integers(1 << 31))
    found = map_from_releases(first, second, starts=_STARTS, seed=seed)
    spread = target.table.std(axis=0)
    unmixing = same_directions(found.directions, coordinates.unmixing, spread)
    mixing = same_directions(
        map_from_flips(first, second), coordinates.mixing.T, np.ones(spread.size)
    )
    outsiders = target.population.people(len(target.table), generator)
    members, control = (
        _share_present(people, found.directions, found.scores)
        for people in (target.table, outsiders)
    )
    return {
        "coordinates": found.first.shape[0] / spread.size,
        "directions": float(max(unmixing.mean(), mixing.mean())),
        "members": members,
        "members, control": control,
    }


def _share_present(people: Matrix, directions: Matrix, scores: Matrix) -> float:
    """Return the share of the people all of whose scores are there; 0 where no map was found."""
    if not directions.shape[0]:
        return 0.0
    return float(np.mean(scores_present(people @ directions.T, scores) == directions.shape[0]))


def _insiders(target: Target) -> dict[str, float]:
    """Return the share of the map that p + 2 insiders find, and p + 2 people who are none."""
    coordinates = target.coordinates()
    released = target.release(coordinates)
    count = target.table.shape[1] + 2
    outsiders = target.population.people(count, target.generator())
    spread = target.table.std(axis=0)
    members, control = (
        float(
            same_directions(
                map_from_insiders(released, people).directions, coordinates.unmixing, spread
            ).mean()
        )
        for people in (target.table[:count], outsiders)
    )
    return {"directions": members, "directions, control": control}


def _differencing(target: Target) -> dict[str, float]:
    """Return what all rows but one tell about the last: from the means, and after training."""
    coordinates = target.coordinates()
    known, last = target.table[:-1], target.table[-1]
    generator = target.generator()
    guess = last_row_from_means(target.release(coordinates), known)
    spread = known.std(axis=0)
    outsider = target.population.people(1, generator)[0]
    from_means, control = (
        float(np.sqrt(np.mean(((guess - person) / spread) ** 2))) for person in (last, outsider)
    )
    scores = coordinates.transform(target.table)
    tests = coordinates.transform(target.population.people(_TESTS, generator))
    mask = resolve_mask(target.method.mask)
    if target.method.decorrelate:
        mask = _with_others(mask, scores[:, 1:])
    learnt = learn_last_score(
        scores[:-1, 0],
        tests[:, 0],
        mask,
        key=target.key.child("training"),
        simulations=_SIMULATIONS,
    )
    return {
        "error from means": from_means,
        "error from means, control": control,
        "score": learnt.score,
        "size": learnt.size,
    }


def _with_others(mask: Mask, others: Matrix) -> Mask:
    """Return a mask of single coordinates that decorrelates each with the table's other ones.

    The other coordinates, the last person's cells among them, are given to the attacker.
    """

    def masked(
        z: Matrix,
        *,
        key: object,
        out: Matrix | None = None,  # noqa: ARG001
        threads: int = 1,  # noqa: ARG001
        first: int = 0,  # noqa: ARG001
    ) -> Matrix:
        result = np.empty_like(z)
        assert isinstance(key, Key)
        for j in range(z.shape[1]):
            whole = np.asfortranarray(np.column_stack([z[:, j], others]))
            drawn = mask(whole, key=key.child("simulation", j))
            original = None if mask is redraw else whole
            result[:, j] = decorrelate(drawn, original)[:, 0]
        return result

    return masked


def _membership(target: Target) -> dict[str, float]:
    """Return how well who knows the true map tells members from outsiders."""
    coordinates = target.coordinates()
    released = target.release(coordinates)
    outsiders = target.population.people(len(target.table), target.generator())
    found = membership_with_map(
        *(coordinates.transform(rows) for rows in (released, target.table, outsiders))
    )
    return {"nearest": found.nearest, "density": found.density, "outermost": found.outermost}


# What an attack does to a target; severity is 0 where nobody stands out, and steps a standard
# deviation for the digits.
ATTACKS: dict[str, Callable[[Target], dict[str, float]]] = {
    "reassembly": _reassembly,
    "digits": _digits,
    "two releases": _two_releases,
    "insiders": _insiders,
    "all but one": _differencing,
    "membership": _membership,
}
