"""A picture of both tables: principal components of the original, robustly scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icsa.comparison.column_pairs import ColumnPair, sampled
from icsa.comparison.designs import encoded
from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable

__all__ = ["PrincipalPicture", "principal_picture"]

_SEED = 0
# Cells beyond this many robust standard deviations steer the axes no more than cells there.
_CLIP = 3.0


@dataclass(frozen=True, eq=False, repr=False, slots=True, kw_only=True)
class PrincipalPicture:
    """Coordinates of both tables. One point is one person: not for a public report.

    Attributes
    ----------
    original, released : ndarray of shape (n_points, n_components)
    explained : ndarray of shape (n_components,)
        Share of the original's (clipped) variance in each component.
    loadings : ndarray of shape (n_columns, n_components)
        Share of each component that a column makes up; columns of `loadings` sum to 1.
    names : tuple of str
        The table's columns.
    """

    original: Matrix
    released: Matrix
    explained: Vector
    loadings: Matrix
    names: tuple[str, ...]

    def __repr__(self) -> str:
        """Show sizes only."""
        n, m = self.original.shape[0], self.released.shape[0]
        return f"<{self.explained.size} components, {n} and {m} points>"


def principal_picture(
    columns: Sequence[ColumnPair],
    *,
    n_components: int = 2,
    max_points: int = 2000,
    max_rows: int = 50_000,
) -> PrincipalPicture | NotEstimable:
    """Return both tables in the first principal components of the original.

    Numbers are scaled by median and median absolute deviation, categories enter as dummies
    (`icsa.comparison.designs.encoded`). The axes come from the original alone, with scaled cells
    clipped at 3 so that people who stand out do not turn them; the points are not clipped.

    Parameters
    ----------
    columns : sequence of ColumnPair
    n_components : int
    max_points, max_rows : int
        Rows of each table that become points, and that the axes are found from.

    Returns
    -------
    PrincipalPicture or NotEstimable

    Examples
    --------
    The points lie on the diagonal; the first axis has all of the variance:

    >>> from icsa.comparison.column_pairs import numeric_column
    >>> x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    >>> picture = principal_picture([numeric_column("a", x, x), numeric_column("b", x, x)])
    >>> picture
    <2 components, 5 and 5 points>
    >>> picture.explained.round(6) + 0.0, picture.loadings[:, 0].round(6)
    (array([1., 0.]), array([0.5, 0.5]))
    """
    if n_components < 1 or max_points < 1 or max_rows < 2:
        raise InputError("n_components and max_points must be at least 1, and max_rows 2.")
    design = encoded(sampled(columns, max_rows, seed=_SEED), scale="robust")
    n, k = design.original.shape
    if n < 2 or k < n_components:
        return NotEstimable(
            f"{n_components} component(s) need as many features and two rows: got {k} features "
            f"and {n} rows"
        )
    fitted = np.clip(design.original, -_CLIP, _CLIP)
    centre = fitted.mean(axis=0)
    values, vectors = np.linalg.eigh((fitted - centre).T @ (fitted - centre) / n)
    axes = vectors[:, ::-1][:, :n_components]
    # signs are free: the largest loading is positive, so that a picture can be made again, and of
    # loadings that tie the first, or else rounding would choose
    sizes = np.abs(axes)
    leading = (sizes > (1.0 - 1e-8) * sizes.max(axis=0)).argmax(axis=0)
    axes = axes * np.sign(axes[leading, np.arange(n_components)])
    names = tuple(column.name for column in columns)
    belongs = np.array([[source == name for source in design.sources] for name in names])
    return PrincipalPicture(
        original=(design.original[:max_points] - centre) @ axes,
        released=(design.released[:max_points] - centre) @ axes,
        explained=np.maximum(values[::-1][:n_components], 0.0) / max(values.sum(), 1e-300),
        loadings=belongs @ axes**2,
        names=names,
    )
