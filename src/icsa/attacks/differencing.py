"""All but one: what a release tells about the last row to those who know all others.

Where a release keeps the means, the last row is a difference of two sums. Otherwise an attacker who
has the map as well can learn from simulated releases what the last score does to a masked
coordinate, and use that on the real one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icsa.correlations import varies
from icsa.errors import InputError
from icsa.masks import Mask
from icsa.matrices import Matrix, Vector, as_matrix
from icsa.randomness import as_key

__all__ = ["Learnt", "last_row_from_means", "learn_last_score"]

# Prior standard deviation of the noise on resampled scores, in standard deviations.
_JITTER = 0.3
_POWERS = (1, 2, 3, 4)
_PENALTIES = np.logspace(-10.0, 4.0, 29)


@dataclass(frozen=True)
class Learnt:
    """Errors of a trained attacker, relative to one who knows nothing: 1 is nothing learnt.

    Attributes
    ----------
    score : float
        Root mean squared error of the last person's score over that of the best constant.
    size : float
        The same for the score's absolute value, for masks that hide the sign alone.
    """

    score: float
    size: float


def last_row_from_means(released: object, known: object) -> Vector:
    """Return the row that is missing if the release has exactly the original's means.

    n times the release's mean, less the sum of the known rows.

    Parameters
    ----------
    released : array-like of shape (n_rows, n_columns)
    known : array-like of shape (n_rows - 1, n_columns)
        All rows of the original but one.

    Examples
    --------
    >>> last_row_from_means([[3.0, 5.0], [1.0, 9.0]], [[1.0, 5.0]])
    array([3., 9.])
    """
    rows, others = as_matrix(released), as_matrix(known)
    if others.shape != (rows.shape[0] - 1, rows.shape[1]):
        raise InputError(
            f"All rows but one are needed, {rows.shape[0] - 1} of {rows.shape[1]} cells: "
            f"got {others.shape[0]} of {others.shape[1]}."
        )
    return np.asarray(rows.sum(axis=0) - others.sum(axis=0))


def learn_last_score(
    known: object,
    last: object,
    mask: Mask,
    *,
    key: object,
    simulations: int = 600,
    releases: int = 1,
) -> Learnt:
    """Return what an attacker learns about the last score of a coordinate that was masked.

    The other scores and the mask are known, its key is not. Last scores are drawn like the known
    ones, each is masked together with them under a key of the attacker's, and a ridge regression
    of the last score on the sorted masked scores and the sums of their powers is fitted; the
    penalty is the one with the least error when each simulation is left out in turn. It predicts
    the true last scores from real releases.

    Parameters
    ----------
    known : array-like of shape (n_rows - 1,)
        The scores that are known.
    last : array-like of shape (n_tests,)
        The true last scores, each in a release of its own; drawn like the known ones, so that the
        error of the best constant is the control.
    mask : Mask
        What releases are made with.
    key : Key, or what `icsa.randomness.as_key` takes
        Of everything that is drawn.
    simulations : int
        How many releases the attacker makes to learn from.
    releases : int
        How many releases of the same table there are, under keys of their own; what they show is
        averaged.

    Returns
    -------
    Learnt

    Examples
    --------
    >>> from icsa.masks import permute, rotate
    >>> scores = np.random.default_rng(1).normal(size=139)
    >>> found = learn_last_score(scores[:39], scores[39:], permute, key=1)
    >>> found.score < 0.01
    True
    >>> found = learn_last_score(scores[:39], scores[39:], rotate, key=1)
    >>> found.score > 0.9, found.size < 0.1
    (True, True)
    """
    others, truth = (np.asarray(part, dtype=np.float64).ravel() for part in (known, last))
    if others.size < 2 or truth.size < 2 or simulations < 2:
        raise InputError("Two known scores, two last ones and two simulations or more are needed.")
    if releases < 1:
        raise InputError("One release or more is needed.")
    if not varies(others):
        raise InputError("The known scores are all equal: nothing can be learnt from them.")
    centre, scale = float(others.mean()), float(others.std())
    others, truth = (others - centre) / scale, (truth - centre) / scale
    secret = as_key(key)
    generator = np.random.default_rng(secret.stream("training").words(4))
    guesses = generator.choice(others, simulations) + _JITTER * generator.normal(size=simulations)
    training, real = (
        np.mean(
            [
                _features(_masked(others, scores, mask, secret.child(purpose, release)), others)
                for release in range(releases)
            ],
            axis=0,
        )
        for purpose, scores in (("simulated", guesses), ("real", truth))
    )
    return Learnt(
        score=_relative_error(training, guesses, real, truth),
        size=_relative_error(training, np.abs(guesses), real, np.abs(truth)),
    )


def _masked(known: Vector, last: Vector, mask: Mask, key: object) -> Matrix:
    """Return a release a column: the known scores and one of the last ones, masked."""
    scores = np.empty((known.size + 1, last.size), order="F")
    scores[:-1] = known[:, None]
    scores[-1] = last
    return mask(scores, key=key)


def _features(masked: Matrix, known: Vector) -> Matrix:
    """Return for each release the sorted scores and sizes, less the known ones', and power sums."""
    ordered = np.sort(masked, axis=0)
    quantiles = np.interp(
        np.linspace(0.0, 1.0, masked.shape[0]), np.linspace(0.0, 1.0, known.size), np.sort(known)
    )
    sums = [(masked**power).sum(axis=0) - (known**power).sum() for power in _POWERS]
    sums += [np.sqrt(np.maximum(sums[1], 0.0)), np.cbrt(sums[2])]
    return np.column_stack([(ordered - quantiles[:, None]).T, *sums])


def _relative_error(training: Matrix, target: Vector, real: Matrix, truth: Vector) -> float:
    """Return the error of ridge predictions over that of the mean of the truth."""
    centre, scale = training.mean(axis=0), training.std(axis=0)
    varies = scale > 1e-12 * np.abs(centre).max(initial=1.0)
    x, y = (
        np.clip((part[:, varies] - centre[varies]) / scale[varies], -8.0, 8.0)
        for part in (training, real)
    )
    predicted = _ridge(x, target - target.mean(), y) + target.mean()
    return float(np.sqrt(np.mean((predicted - truth) ** 2) / np.mean((truth - truth.mean()) ** 2)))


def _ridge(x: Matrix, target: Vector, new: Matrix) -> Vector:
    """Return predictions by the penalty whose errors, each row left out in turn, are least."""
    left, values, right = np.linalg.svd(x, full_matrices=False)
    projected = left.T @ target
    best, chosen = np.inf, np.zeros_like(values)
    for penalty in _PENALTIES * x.shape[0]:
        shrink = values**2 / (values**2 + penalty)
        fitted = left @ (shrink * projected)
        leverage = np.einsum("ij,j,ij->i", left, shrink, left) + 1.0 / x.shape[0]
        error = float(np.mean(((target - fitted) / np.maximum(1.0 - leverage, 1e-6)) ** 2))
        if error < best:
            best, chosen = error, values / (values**2 + penalty) * projected
    return np.asarray(new @ (right.T @ chosen))
