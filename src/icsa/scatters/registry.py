"""Names of scatters, and what else can stand for one."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from icsa.errors import InputError, UnknownNameError
from icsa.linalg import symmetrize
from icsa.matrices import Matrix
from icsa.scatters.base import LocationScatter

__all__ = ["SCATTERS", "ResolvedScatter", "checked_result", "resolve"]


@dataclass(frozen=True)
class ResolvedScatter:
    """A scatter ready to be called as ``scatter(x, random_state=None)``, and what is known of it.

    Attributes
    ----------
    name : str
        The registered name, or that of the callable.
    summary : str
        One line for people.
    robustness : str
        "I" (one outlier breaks it), "II" (many do), "III" (fewer than half cannot), or "-" (does
        not depend on the data, or not known).
    affine_equivariant : bool
        Whether S(XA' + b) = A S(X) A', for a shape up to a factor. Not assumed of a callable.
    needs_full_rank : bool
        Whether columns that depend on each other exactly make it fail.
    unit_determinant : bool
        Whether it is a shape: a scatter without size, scaled to determinant 1.
    seeded : bool
        Whether it takes a random state.
    anchored_at : float, optional
        For a scatter that discrete columns make singular: in a table that has some, the rows that
        count are those that the MCD with this support fraction keeps of the continuous columns.
    """

    name: str
    summary: str
    robustness: str = "-"
    affine_equivariant: bool = False
    needs_full_rank: bool = True
    unit_determinant: bool = False
    seeded: bool = False
    anchored_at: float | None = None
    function: Callable[..., LocationScatter] = field(repr=False, default=None)  # type: ignore[assignment]

    def __call__(self, x: Matrix, *, random_state: object = None) -> LocationScatter:
        """Return the location and scatter of the rows of `x`."""
        return self.function(x, random_state=random_state) if self.seeded else self.function(x)


@dataclass(frozen=True)
class _Member:
    """A scatter of this package, whose module is imported when it is first called."""

    module: str
    function: str
    arguments: tuple[tuple[str, Any], ...]

    def __call__(self, x: Matrix, **keywords: Any) -> LocationScatter:
        function = getattr(importlib.import_module(f"icsa.scatters.{self.module}"), self.function)
        result: LocationScatter = function(x, **dict(self.arguments), **keywords)
        return result


def _member(
    summary: str, robustness: str, module: str, function: str, **options: Any
) -> ResolvedScatter:
    """Describe a scatter of this package."""
    call = _Member(module, function, tuple(options.pop("arguments", {}).items()))
    options.setdefault("affine_equivariant", True)
    return ResolvedScatter("", summary, robustness, function=call, **options)


_MCD: dict[str, Any] = {"module": "mcd_estimate", "function": "mcd", "seeded": True}

SCATTERS: dict[str, ResolvedScatter] = {
    name: ResolvedScatter(**{**vars(member), "name": name})
    for name, member in {
        "identity": _member(
            "the identity matrix around the mean",
            "-",
            "moments",
            "identity",
            affine_equivariant=False,
            needs_full_rank=False,
        ),
        "variances": _member(
            "the variances of the columns, no correlations",
            "I",
            "moments",
            "variances",
            affine_equivariant=False,
            needs_full_rank=False,
        ),
        "cov": _member("the covariance matrix", "I", "moments", "cov", needs_full_rank=False),
        "cov4": _member("the matrix of fourth moments", "I", "moments", "cov4"),
        "cov_axis": _member(
            "covariance of the directions from the mean", "I", "moments", "cov_axis"
        ),
        "cov_w": _member("covariance weighted by the squared distance", "I", "moments", "cov_w"),
        "tm": _member("t M-estimate, 1 degree of freedom", "II", "t_estimate", "tm"),
        "tm1": _member("t M-estimate, 1 degree of freedom", "II", "t_estimate", "tm"),
        "tm2": _member(
            "t M-estimate, 2 degrees of freedom", "II", "t_estimate", "tm", arguments={"df": 2.0}
        ),
        "tm5": _member(
            "t M-estimate, 5 degrees of freedom", "II", "t_estimate", "tm", arguments={"df": 5.0}
        ),
        "tyler": _member(
            "Tyler's shape around the mean, which one person can move",
            "II",
            "tyler_shape",
            "tyler",
            unit_determinant=True,
        ),
        "tyler_median": _member(
            "Tyler's shape around the column medians",
            "II",
            "tyler_shape",
            "tyler",
            arguments={"location": "median"},
            affine_equivariant=False,
            unit_determinant=True,
        ),
        "hr": _member(
            "Hettmansperger and Randles' median and shape",
            "II",
            "hettmansperger_randles",
            "hr",
            unit_determinant=True,
        ),
        "duembgen": _member(
            "Tyler's shape of all differences", "II", "pairs", "duembgen", unit_determinant=True
        ),
        "symm_huber": _member("Huber's M-estimate of all differences", "II", "pairs", "symm_huber"),
        "hp1": _member(
            "van der Waerden rank shape, one step from hr",
            "II",
            "rank_shape",
            "hp1",
            unit_determinant=True,
        ),
        "mcd50": _member(
            "minimum covariance determinant of half the rows, reweighted",
            "III",
            **_MCD,
            anchored_at=0.5,
        ),
        "mcd75": _member(
            "minimum covariance determinant of 75% of the rows, reweighted",
            "III",
            **_MCD,
            arguments={"alpha": 0.75},
            anchored_at=0.75,
        ),
        "mcd50_raw": _member(
            "minimum covariance determinant of half the rows",
            "III",
            **_MCD,
            arguments={"reweighted": False},
        ),
        "mcd75_raw": _member(
            "minimum covariance determinant of 75% of the rows",
            "III",
            **_MCD,
            arguments={"alpha": 0.75, "reweighted": False},
        ),
        "ogk": _member(
            "orthogonalized Gnanadesikan-Kettenring estimate",
            "III",
            "ogk_estimate",
            "ogk",
            affine_equivariant=False,
        ),
        "mrcd": _member(
            "minimum regularized covariance determinant, for more columns than rows",
            "III",
            "mrcd_estimate",
            "mrcd",
            affine_equivariant=False,
            needs_full_rank=False,
        ),
        "s": _member("S-estimate, bisquare, 50% breakdown", "III", "s_estimate", "s", seeded=True),
        "mm": _member(
            "MM-estimate, bisquare, 95% efficient", "III", "mm_estimate", "mm", seeded=True
        ),
    }.items()
}


def resolve(scatter: object) -> ResolvedScatter:
    """Return the scatter that a name, a callable or a covariance estimator stands for.

    Parameters
    ----------
    scatter : str, callable or estimator
        A registered name; or a callable that takes a matrix and returns a `LocationScatter` or a
        pair (location, scatter); or an object with ``fit`` whose clone has ``location_`` and
        ``covariance_`` afterwards, as scikit-learn's covariance estimators do.

    Returns
    -------
    ResolvedScatter
        Callable as ``(x, *, random_state=None) -> LocationScatter``.

    Examples
    --------
    >>> resolve("cov")(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])).location.round(3)
    array([0.667, 0.667])
    >>> resolve("mdc50")
    Traceback (most recent call last):
    icsa.errors.UnknownNameError: No scatter 'mdc50'. Did you mean 'mcd50'? Known: cov, cov4, ...
    """
    if isinstance(scatter, ResolvedScatter):
        return scatter
    if isinstance(scatter, str):
        if scatter not in SCATTERS:
            raise UnknownNameError("scatter", scatter, SCATTERS)
        return SCATTERS[scatter]
    if hasattr(scatter, "fit") and not isinstance(scatter, type):
        name = type(scatter).__name__
        return ResolvedScatter(name, f"{name}, fitted", function=_EstimatorScatter(scatter))
    if callable(scatter):
        name = _name_of(scatter)
        return ResolvedScatter(name, "a callable", function=_CallableScatter(scatter, name))
    raise InputError(
        "A scatter must be a name, a callable or a covariance estimator: got an object of type "
        f"{type(scatter).__name__}. Known names: {', '.join(sorted(SCATTERS))}."
    )


@dataclass(frozen=True)
class _EstimatorScatter:
    """A covariance estimator in scikit-learn's manner as a scatter."""

    estimator: Any

    def __call__(self, x: Matrix) -> LocationScatter:
        clone = getattr(self.estimator, "__sklearn_clone__", None)
        fresh = clone() if clone else type(self.estimator)(**self.estimator.get_params(deep=False))
        fitted = fresh.fit(x)
        missing = [name for name in ("location_", "covariance_") if not hasattr(fitted, name)]
        if missing:
            raise InputError(
                f"{type(self.estimator).__name__} has no {' and no '.join(missing)} after fit. "
                "Give a covariance estimator, or a callable that returns (location, scatter)."
            )
        result = (fitted.location_, fitted.covariance_)
        return checked_result(result, x.shape[1], type(fitted).__name__)


@dataclass(frozen=True)
class _CallableScatter:
    """A callable of the user's as a scatter."""

    call: Callable[..., Any]
    name: str

    def __call__(self, x: Matrix) -> LocationScatter:
        return checked_result(self.call(x), x.shape[1], self.name)


def checked_result(
    result: object, n_columns: int, name: str, *, allow_singular: bool = False
) -> LocationScatter:
    """Return what a scatter gave for a table of `n_columns` columns, if it can be used.

    Parameters
    ----------
    result : LocationScatter or pair (location, scatter)
        Checked for its shape, finite cells, symmetry and positive definiteness, free of units.
    n_columns : int
        Number of columns of the table.
    name : str
        What errors call the scatter.
    allow_singular : bool
        Whether positive semidefinite is enough.

    Examples
    --------
    >>> checked_result((np.zeros(2), np.eye(2)), 2, "mine")
    LocationScatter(n_columns=2, iterations=0)
    >>> checked_result((np.zeros(2), np.diag([1.0, -1.0])), 2, "mine")
    Traceback (most recent call last):
    icsa.errors.InputError: The scatter 'mine' gave a matrix that is not positive definite. ...
    """
    found = _as_scatter(result)
    if found.location.shape != (n_columns,) or found.scatter.shape != (n_columns, n_columns):
        raise InputError(
            f"The scatter {name!r} must return a LocationScatter, or a location of {n_columns} "
            f"numbers and a {n_columns} x {n_columns} matrix."
        )
    if not (np.isfinite(found.location).all() and np.isfinite(found.scatter).all()):
        raise InputError(f"The scatter {name!r} gave numbers that are not finite (NaN or inf).")
    if found.asymmetry > 1e-8:
        raise InputError(f"The scatter {name!r} gave a matrix that is not symmetric.")
    least = -1e-8 if allow_singular else n_columns * np.finfo(float).eps
    if found.smallest_eigenvalue < least:
        kind = "semidefinite" if allow_singular else "definite"
        raise InputError(
            f"The scatter {name!r} gave a matrix that is not positive {kind}. Drop columns that "
            "depend on others, or use another scatter."
        )
    if isinstance(result, LocationScatter):
        return result
    return LocationScatter(found.location, symmetrize(found.scatter))


def _as_scatter(result: Any) -> LocationScatter:
    """Return what a scatter gave, unchecked; one without columns where it is no pair of arrays."""
    if isinstance(result, LocationScatter):
        return result
    try:
        location, scatter = (np.array(part, dtype=np.float64) for part in result)
    except (TypeError, ValueError):
        location = scatter = np.empty(0)
    return LocationScatter(location, scatter)


def _name_of(function: object) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))
