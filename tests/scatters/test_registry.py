"""Names of scatters, what else stands for one, and what their results must be."""

from __future__ import annotations

import pickle
import pkgutil
from functools import partial

import numpy as np
import pytest

import icsa.masks
import icsa.scatters
from icsa.errors import InputError
from icsa.randomness import as_key
from icsa.scatters import SCATTERS, LocationScatter, cov_w, mcd, resolve
from icsa.scatters.base import search_generator, search_seed
from icsa.scatters.registry import checked_result

X = np.random.default_rng(0).normal(size=(60, 3))


def test_no_module_hides_a_function() -> None:
    for package in (icsa.scatters, icsa.masks):
        modules = {found.name for found in pkgutil.iter_modules(package.__path__)}
        assert modules.isdisjoint(package.__all__)


@pytest.mark.parametrize("name", sorted(SCATTERS))
def test_resolved_scatters_are_pickled_and_hashed(name: str) -> None:
    copy = pickle.loads(pickle.dumps(resolve(name)))
    assert copy == resolve(name)
    assert hash(copy) == hash(resolve(name))
    np.testing.assert_array_equal(copy(X).scatter, resolve(name)(X).scatter)


def test_a_partial_has_the_name_of_its_function() -> None:
    assert resolve(partial(partial(cov_w, alpha=-2.0), alpha=1.0)).name == "cov_w"


BAD_RESULTS = {
    "nothing": (None, "must return a LocationScatter"),
    "too small": ((np.zeros(2), np.eye(2)), "a location of 3 numbers and a 3 x 3 matrix"),
    "too small, ready": (LocationScatter(np.zeros(2), np.eye(2)), "a 3 x 3 matrix"),
    "missing": ((np.zeros(3), np.diag([1.0, np.nan, 1.0])), "not finite"),
    "far": ((np.array([0.0, np.inf, 0.0]), np.eye(3)), "not finite"),
    "lopsided": ((np.zeros(3), np.eye(3) + np.diag([1e-6, 0.0], k=1)), "not symmetric"),
    "indefinite": ((np.zeros(3), np.diag([1.0, 1.0, -1.0])), "not positive definite"),
    "singular": ((np.zeros(3), np.ones((3, 3))), "not positive definite"),
    "zero": (LocationScatter(np.zeros(3), np.zeros((3, 3))), "not positive definite"),
}


@pytest.mark.parametrize("case", BAD_RESULTS)
def test_results_that_cannot_be_used_are_refused(case: str) -> None:
    result, message = BAD_RESULTS[case]

    def mine(x: np.ndarray) -> object:
        return result

    with pytest.raises(InputError, match=f"scatter 'mine' .*{message}"):
        resolve(mine)(X)


def test_results_are_checked_free_of_units() -> None:
    units = np.array([1e-90, 1.0, 1e90])
    tiny = LocationScatter(np.zeros(3), np.cov(X.T) * units * units[:, None])
    assert checked_result(tiny, 3, "given") is tiny
    half = checked_result((np.zeros(3), np.ones((3, 3))), 3, "given", allow_singular=True)
    np.testing.assert_array_equal(half.scatter, 1.0)
    with pytest.raises(InputError, match="not positive semidefinite"):
        checked_result((np.zeros(2), np.diag([1.0, -1.0])), 2, "given", allow_singular=True)


def test_a_result_copies_and_shows_no_numbers() -> None:
    location, scatter = np.array([71.5, 2.0]), np.eye(2)
    result = LocationScatter(location, scatter, 4)
    location[0] = 0.0
    assert result.location[0] == 71.5
    assert not result.scatter.flags.writeable
    assert repr(result) == "LocationScatter(n_columns=2, iterations=4)"
    shown = repr(mcd(X))
    assert shown.startswith("MinimumCovarianceDeterminant(n_columns=3, iterations=")
    assert len(shown) < 70
    for name in ("s", "mm", "ogk", "mrcd"):
        assert len(repr(resolve(name)(X))) < 60


@pytest.mark.parametrize("state", [-1, "a", 1.5, b"short"])
@pytest.mark.parametrize("name", ["mcd50", "s", "mm"])
def test_random_states_that_are_none_are_refused(name: str, state: object) -> None:
    with pytest.raises(InputError, match=r"random_state|key"):
        resolve(name)(X, random_state=state)


def test_every_kind_of_random_state_seeds_a_search() -> None:
    secret = bytes(range(32))
    assert search_seed(None) == 0
    assert search_seed(3) == search_seed(np.int64(3)) != search_seed(4)
    assert search_seed(secret) == search_seed(as_key(secret))
    for kind in (np.random.RandomState, np.random.default_rng):
        assert search_seed(kind(1)) == search_seed(kind(1)) != search_seed(kind(2))
    assert 0 <= search_seed(3) < 2**63
    assert search_generator(3).integers(1000) == search_generator(3).integers(1000)
    first, second = (resolve("s")(X, random_state=np.random.RandomState(1)) for _ in range(2))
    np.testing.assert_array_equal(first.scatter, second.scatter)
