"""Thin scikit-learn classes over the functions of the core."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn import get_config
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from icsa.anonymization import masked_copy
from icsa.errors import InputError, UnmatchedRowsWarning
from icsa.ics import InvariantCoordinates, invariant_coordinates
from icsa.lazily import is_from
from icsa.matrices import Matrix, as_matrix, column_names
from icsa.randomness import as_key
from icsa.rounding import require_known_rounding, warn_of_digits

__all__ = ["ICS", "ICSAnonymizer", "SpectralAnonymizer"]

_UNMATCHED = (
    "Rows of a release are not those of the same people, so y no longer goes with them, and a "
    "model behind this step in a pipeline learns nothing. Release X and y together, as columns of "
    "one table, with icsa.anonymize, and fit the model to what comes out."
)


class ICS(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Invariant coordinate selection: coordinates in which two scatters disagree the most.

    Parameters
    ----------
    scatters : pair
        Names, callables or covariance estimators; see `icsa.scatters.resolve`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Descending.
    location_ : ndarray of shape (n_features_in_,)
        The location that belongs to the first scatter.
    components_ : ndarray of shape (n_components, n_features_in_)
        The unmixing matrix W: scores are (X - location_) W'.
    coordinates_ : InvariantCoordinates
        The map itself.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(100, 3))
    >>> ics = ICS(scatters=("cov", "cov4")).fit(x)
    >>> ics.transform(x).shape, ics.eigenvalues_.shape
    ((100, 3), (3,))
    """

    def __init__(self, scatters: Sequence[object] = ("mcd50", "mcd75")) -> None:
        self.scatters = scatters

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002, N803
        """Find the coordinates of the rows of `X`."""
        _checked_matrix(self, X, reset=True)
        self.coordinates_ = invariant_coordinates(X, scatters=self.scatters)
        self.eigenvalues_ = self.coordinates_.eigenvalues
        self.location_ = self.coordinates_.location
        self.components_ = self.coordinates_.unmixing
        return self

    def transform(self, X: object) -> Any:  # noqa: N803
        """Return the scores of the rows of `X`."""
        check_is_fitted(self)
        scores = self.coordinates_.transform(_checked_matrix(self, X, reset=False))
        if _asked_output(self) != "default":
            return scores
        return _like(X, scores, list(self.get_feature_names_out()))

    def inverse_transform(self, X: object) -> Any:  # noqa: N803
        """Return the rows that have the scores `X`; in a data frame under the names seen in fit."""
        check_is_fitted(self)
        rows = self.coordinates_.inverse_transform(X)
        unnamed = [f"x{j}" for j in range(rows.shape[1])]
        return _like(X, rows, list(getattr(self, "feature_names_in_", unnamed)))

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


class _Anonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """What both anonymizers share: fit finds the coordinates, transform masks them."""

    mask: object
    decorrelate: bool | Literal["auto"]
    round: str | None

    @property
    def random_state(self) -> object:
        """What the key of a release comes from."""
        return self.__dict__["random_state"]

    @random_state.setter
    def random_state(self, value: object) -> None:
        # As a Key the bytes show neither in a repr nor in a pickle.
        secret = isinstance(value, bytes | bytearray | memoryview)
        self.__dict__["random_state"] = as_key(value) if secret else value

    def _pair(self) -> Sequence[object]:
        raise NotImplementedError

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803
        """Find the coordinates of the rows of `X`; a target `y` is not released, and is told so."""
        if y is not None:
            warnings.warn(_UNMATCHED, UnmatchedRowsWarning, stacklevel=2)
        _checked_matrix(self, X, reset=True)
        self.coordinates_: InvariantCoordinates = invariant_coordinates(X, scatters=self._pair())
        return self

    def transform(self, X: object) -> Any:  # noqa: N803
        """Return an anonymized copy of the rows of `X`, of the same kind of table.

        A released row is made of many rows of `X`, so anonymize whole tables: a few rows hide each
        other badly, and one row alone cannot be hidden at all. A data frame comes back with a new
        index 0, 1, ..., by ``set_output`` too: an old one may name people. No row of the release is
        that of the person who had it: what belongs together must be in `X` together.
        """
        check_is_fitted(self)
        require_known_rounding(self.round)
        matrix = _checked_matrix(self, X, reset=False)
        if self.round is None:
            warn_of_digits(X, matrix)
        released = masked_copy(
            X,
            self.coordinates_,
            mask=self.mask,
            decorrelate=self.decorrelate,
            round=self.round,
            random_state=self.random_state,
        )
        kind = _asked_output(self)
        # Around bare values scikit-learn puts the index of a pandas frame, so it gets a frame then.
        if kind == "default" or (kind == "pandas" and is_from("pandas", X, "DataFrame")):
            return _like(X, released)
        return released

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


class ICSAnonymizer(_Anonymizer):
    """Anonymize rows by masking their invariant coordinates (ICSA).

    With robust scatters outliers cannot steer the coordinates, so that no coordinate is made for
    one of them. How well they are hidden depends on the table: few columns hide little.

    This is the method alone, for tables of continuous columns without gaps. `icsa.anonymize` does
    more: it knows kinds of columns (categories, counts, dates, identifiers, bounds), transforms
    skewed ones, brings their quantiles and correlations back, keeps sums and rules, and fills what
    is missing. Here a skewed column may come out with a standard deviation more than twice the
    original's, and a positive one with negative values.

    A release is of the whole table: released row i is not person i, so that a target outside of
    `X` no longer goes with it. As a step of a pipeline before a classifier or a regression it gives
    a model that learnt from rows and targets of different people. Release `X` and `y` together, as
    the second example does.

    Parameters
    ----------
    scatters : pair
        Names, callables or covariance estimators; see `icsa.scatters.resolve`.
    mask : str or callable
        "redraw", "permute" (as published), "flip", "rotate", or a function ``(z, *, key)``.
    decorrelate : bool or "auto"
        Whether to take out the chance correlations that the mask leaves between components; "auto"
        does so after "redraw".
    round : "lattice" or None
        Whether each column is released as it is rounded in the table given to ``transform``, or
        with all digits; see `icsa.anonymize_matrix`.
    random_state : None, int, bytes or Generator
        None: a fresh secret key for every release, kept nowhere. An int or a Generator makes
        releases reproducible, for studies and tests, not for a release. 32 bytes are a key.

    Attributes
    ----------
    coordinates_ : InvariantCoordinates
        The map to the coordinates and back, not to be handed out: with the key it undoes "permute"
        and "flip".

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(100, 3))
    >>> released = ICSAnonymizer(random_state=1).fit_transform(x)
    >>> bool(np.abs(released.mean(axis=0) - x.mean(axis=0)).max() < 0.1)
    True

    A target is a column of the table that is released, and the model comes after the release:

    >>> import pandas as pd
    >>> from icsa import anonymize
    >>> patients = pd.DataFrame(x, columns=["a", "b", "c"])
    >>> patients["ill"] = x.sum(axis=1) > 0
    >>> release = anonymize(patients, random_state=1).table
    >>> released_x, released_y = release[["a", "b", "c"]], release["ill"]
    >>> bool(np.corrcoef(released_x.sum(axis=1), released_y)[0, 1] > 0.5)
    True
    """

    def __init__(
        self,
        scatters: Sequence[object] = ("mcd50", "mcd75"),
        mask: object = "redraw",
        decorrelate: bool | Literal["auto"] = "auto",
        round: str | None = "lattice",  # noqa: A002
        random_state: object = None,
    ) -> None:
        self.scatters = scatters
        self.mask = mask
        self.decorrelate = decorrelate
        self.round = round
        self.random_state = random_state

    def _pair(self) -> Sequence[object]:
        return self.scatters


class SpectralAnonymizer(_Anonymizer):
    """Anonymize rows by masking their principal components (spectral anonymization, SA).

    A strong outlier dominates the first component and comes out nearly as it was: see
    `ICSAnonymizer`.

    Parameters
    ----------
    standardize : bool
        Whether to divide columns by their standard deviations first; without it the result depends
        on the columns' units.
    mask, decorrelate, round, random_state
        As in `ICSAnonymizer`.

    Attributes
    ----------
    coordinates_ : InvariantCoordinates
        The map to the coordinates and back, not to be handed out: with the key it undoes "permute"
        and "flip".

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(100, 3))
    >>> same = ICSAnonymizer(scatters=("identity", "cov"), random_state=1).fit_transform(x)
    >>> bool(np.array_equal(SpectralAnonymizer(random_state=1).fit_transform(x), same))
    True
    """

    def __init__(
        self,
        standardize: bool = False,
        mask: object = "redraw",
        decorrelate: bool | Literal["auto"] = "auto",
        round: str | None = "lattice",  # noqa: A002
        random_state: object = None,
    ) -> None:
        self.standardize = standardize
        self.mask = mask
        self.decorrelate = decorrelate
        self.round = round
        self.random_state = random_state

    def _pair(self) -> Sequence[object]:
        return ("variances" if self.standardize else "identity", "cov")


def _checked_matrix(estimator: BaseEstimator, x: object, *, reset: bool) -> Matrix:
    """Return `x` as a matrix, and have scikit-learn remember or compare its columns.

    The values are checked here: scikit-learn's own messages quote cells.
    """
    matrix = as_matrix(x, minimum_rows=2 if reset else 1)
    if hasattr(x, "columns"):
        repeated = [name for name, times in Counter(column_names(x)).items() if times > 1]
        if repeated:
            raise InputError(
                f"More than one column is called {repeated[0]!r}. Give every column its own name."
            )
    validate_data(estimator, X=x, reset=reset, skip_check_array=True)
    return matrix


def _asked_output(estimator: BaseEstimator) -> str:
    """Return the kind of table that set_output, or else the global configuration, asks for."""
    own = getattr(estimator, "_sklearn_output_config", {})
    return str(own.get("transform", get_config()["transform_output"]))


def _like(x: object, values: Matrix, names: list[str] | None = None) -> Any:
    """Return `values` as the kind of table that `x` is, with a new index."""
    frame: Any = x
    columns = np.asarray(values).T
    for library in ("pandas", "polars"):
        if is_from(library, x, "DataFrame"):
            named = dict(zip(names or frame.columns, columns, strict=True))
            return sys.modules[library].DataFrame(named)
    if is_from("pyarrow", x, "Table"):
        named = dict(zip(names or frame.column_names, columns, strict=True))
        return sys.modules["pyarrow"].table(named)
    return values
