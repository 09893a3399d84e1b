"""Scatters of long tables: sums over all rows where that is what they are, a sample for the others.

Shorter tables are looked at whole. Beyond, a scatter that is no sum over rows is fitted to a fixed
sample of them, in memory and from files, so that both ways find the same coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from icsa.errors import ConvergenceError, ExactFitError, InputError
from icsa.limits import LONG
from icsa.matrices import Matrix
from icsa.row_sums import mean_and_covariance
from icsa.scatters import SCATTERS, LocationScatter, ResolvedScatter, resolve
from icsa.scatters.anchored_estimate import judging_rows, with_borrowed_variance
from icsa.subspaces import spanned_subspace

__all__ = [
    "fitted_to_sample",
    "is_summed",
    "named_scatter",
    "sampled_rows",
    "telling_of_exact_fits",
]

# Means and products of rows are all that these need.
_SUMMED = ("identity", "cov")


def is_summed(name: str) -> bool:
    """Return whether a scatter is a sum over rows.

    Examples
    --------
    >>> is_summed("cov"), is_summed("cov4")
    (True, False)
    """
    return name in _SUMMED


def named_scatter(name: str) -> ResolvedScatter:
    """Return the scatter of a name as releases fit it; its errors call it as people do.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> bool(np.all(named_scatter("tyler")(x).scatter == resolve("tyler")(x).scatter))
    True
    """
    scatter = resolve(name)
    return _named(scatter if is_summed(name) else _sampled(scatter))


def sampled_rows(n_rows: int) -> npt.NDArray[np.int64]:
    """Return which rows of a long table scatters are fitted to, ascending: the MCD's own."""
    rows = judging_rows(n_rows)
    assert not isinstance(rows, slice)
    return np.sort(rows)


def fitted_to_sample(
    scatter: ResolvedScatter, sample: Matrix, everyone: Callable[[], Matrix]
) -> LocationScatter:
    """Return a scatter of some rows, which is regular if that of all rows is.

    Where the sample does not vary, such as in a level that few people have, the variance is that
    among all rows.

    Parameters
    ----------
    scatter : ResolvedScatter
    sample : ndarray of shape (n_rows, n_columns)
    everyone : function
        Gives the covariance of all rows; called where it is needed.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> x[:, 1] = 0.0
    >>> fitted_to_sample(resolve("variances"), x, lambda: np.eye(2)).scatter.round(2)
    array([[0.88, 0.  ],
           [0.  , 1.  ]])
    """
    space = spanned_subspace(
        sample, find_dependent=True, orthonormal=not scatter.affine_equivariant
    )
    if space is None:
        return scatter(sample)
    core = scatter(space.reduce(sample, space.origin))
    location = space.origin + space.spread @ core.location
    inside = space.spread @ core.scatter @ space.spread.T
    found, _ = with_borrowed_variance(location, inside, everyone)
    return LocationScatter(location, found)


@contextmanager
def telling_of_exact_fits() -> Iterator[None]:
    """Have a scatter that is singular on a table say which ones are not."""
    try:
        yield
    except ExactFitError as error:
        others = [name for name, scatter in SCATTERS.items() if scatter.anchored_at is not None]
        raise InputError(
            f"{error.estimate} is singular on this table: its discrete columns put too many rows "
            f"on one hyperplane. Use the scatters {','.join(others)}, whose weights come from the "
            "continuous columns alone, or --method sa."
        ) from None


def _named(scatter: ResolvedScatter) -> ResolvedScatter:
    """Return a scatter whose errors call it as people do, not by the one that it is made from."""

    def found(x: Matrix, **options: object) -> LocationScatter:
        try:
            return scatter.function(x, **options)
        except ExactFitError as error:
            error.estimate = scatter.name
            raise
        except ConvergenceError as error:
            if scatter.name in re.findall(r"\w+", str(error))[:1]:
                raise
            raise ConvergenceError(f"{scatter.name}: {error}") from error

    return replace(scatter, function=found)


def _sampled(scatter: ResolvedScatter) -> ResolvedScatter:
    """Return a scatter that looks at some rows of a long table."""

    def found(x: Matrix, **options: object) -> LocationScatter:
        if x.shape[0] <= LONG:
            return scatter.function(x, **options)
        sample = np.ascontiguousarray(x[sampled_rows(x.shape[0])])
        return fitted_to_sample(scatter, sample, lambda: mean_and_covariance(x)[1])

    return replace(scatter, function=found)
