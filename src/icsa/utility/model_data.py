"""From data frames to a model's response and design, the same for both tables."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from icsa.errors import InputError
from icsa.matrices import Matrix, Vector
from icsa.measures import NotEstimable
from icsa.utility.formulas import ModelFormula, aliases_of, library, with_aliases

__all__ = [
    "Family",
    "ModelData",
    "as_pandas",
    "both_frames",
    "column_names",
    "model_data",
    "with_common_levels",
]

Family: TypeAlias = Literal["least squares", "logistic", "poisson", "cox"]

# Whole numbers with more different values are not taken for counts.
_MOST_COUNTS = 30
# A coefficient is named after its level: names of people must not come in that way.
_MOST_LEVELS = 50
_MOST_COEFFICIENTS = 100


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class ModelData:
    """Response and design of one table.

    Attributes
    ----------
    family : "least squares", "logistic", "poisson" or "cox"
    names : tuple of str
        Of the design's columns.
    design : ndarray of shape (n_rows, n_columns)
    response : ndarray of shape (n_rows,)
        For Cox's model the times.
    status : ndarray of shape (n_rows,), optional
        1 for an event, 0 for a censored time.
    """

    family: Family
    names: tuple[str, ...]
    design: Matrix
    response: Vector
    status: Vector | None = None

    def __repr__(self) -> str:
        """Show sizes only."""
        return f"<{self.family} model of {self.response.size} rows, {len(self.names)} columns>"


def column_names(frame: Any, table: str) -> list[str]:
    """Return the names of a frame's columns, whatever library it is from.

    Examples
    --------
    >>> import polars as pl
    >>> column_names(pl.DataFrame({"a": [1], "b": [2]}), "original")
    ['a', 'b']
    """
    library("pandas")
    if _is_pandas(frame):
        if not frame.columns.is_unique:
            raise InputError(f"The {table} has several columns of one name. Rename them.")
        return [str(name) for name in frame.columns]
    if not hasattr(frame, "to_pandas"):
        raise InputError(
            f"The {table} must be a data frame of pandas, polars or pyarrow: got a "
            f"{type(frame).__name__}."
        )
    return list(getattr(frame, "column_names", None) or frame.columns)


def as_pandas(frame: Any, columns: Sequence[str]) -> Any:
    """Return some columns as a frame of pandas; the others are not copied.

    Examples
    --------
    >>> import polars as pl
    >>> as_pandas(pl.DataFrame({"a": [1], "b": [2]}), ["b"]).to_dict("list")
    {'b': [2]}
    """
    wanted = list(columns)
    if _is_pandas(frame):
        return frame[wanted]
    try:
        return frame.select(wanted).to_pandas()
    except ModuleNotFoundError as error:
        raise InputError(
            f"To fit models to this frame {error.name} is needed. Install it by: "
            f"pip install {error.name}"
        ) from None


def both_frames(original: Any, released: Any, columns: Sequence[str]) -> tuple[Any, Any]:
    """Return a formula's columns of both tables as frames of pandas; refuse what is not released.

    Examples
    --------
    >>> import polars as pl
    >>> first, second = both_frames(pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [2]}), ["a"])
    >>> second.to_dict("list")
    {'a': [2]}
    """
    there = column_names(released, "release")
    for name in columns:
        if name not in there:
            raise InputError(
                f"Column {name!r} of the formula is in the original but not in the release. "
                "Leave it out of the formula."
            )
    return as_pandas(original, columns), as_pandas(released, columns)


def with_common_levels(original: Any, released: Any) -> tuple[Any, Any]:
    """Return both frames with the same levels of categories, and with dates as days.

    Examples
    --------
    >>> import pandas as pd
    >>> first, second = with_common_levels(
    ...     pd.DataFrame({"ward": ["b", "a"]}), pd.DataFrame({"ward": ["c", "a"]})
    ... )
    >>> list(first["ward"].cat.categories) == list(second["ward"].cat.categories) == ["a", "b", "c"]
    True
    """
    frames = original.copy(deep=False), released.copy(deep=False)
    for name in original.columns:
        columns = [frame[name] for frame in frames]
        kinds = {_kind(column) for column in columns}
        if kinds == {"time"}:
            changed = [_days(column) for column in columns]
        elif kinds == {"category"}:
            changed = _as_categories(columns, str(name))
        elif kinds == {"bool"}:
            changed = columns
        elif kinds <= {"bool", "number"}:
            changed = [_as_numbers(column) for column in columns]
        else:
            raise InputError(
                f"Column {name!r} of the formula holds another kind of cells in the release than "
                "in the original (texts, numbers or dates). Read both files alike."
            )
        for frame, column in zip(frames, changed, strict=True):
            frame[name] = column
    return frames


def model_data(
    original: Any, released: Any, formula: ModelFormula, family: str
) -> tuple[ModelData | NotEstimable, ModelData | NotEstimable]:
    """Return response and design of both tables; the original decides about family and bases.

    Frames hold the formula's columns only; rows with missing cells are left out.
    """
    first = original.dropna().reset_index(drop=True)
    second = released.dropna().reset_index(drop=True)
    nothing = NotEstimable("every row has a missing cell in the formula")
    if not len(first):
        return nothing, nothing
    design = _matrix(formula.predictors, first, formula)
    if design.shape[1] > _MOST_COEFFICIENTS:
        raise InputError(
            f"The formula {formula.text!r} has {design.shape[1]} coefficients on the original; "
            f"{_MOST_COEFFICIENTS} are allowed. Take terms out."
        )
    kind = _response_kind(first, formula, family)
    if isinstance(kind, NotEstimable):
        return kind, kind
    made = _data(first, formula, kind, design)
    if not len(second):
        return made, nothing
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = design.model_spec.get_model_matrix(
                second.rename(columns=aliases_of(second.columns)), context=_context()
            )
    except Exception:  # such as a spline beyond the range that it was made for
        return made, NotEstimable(
            "the original's terms cannot be evaluated on the release (cells beyond their range)"
        )
    return made, _data(second, formula, kind, again)


@dataclass(frozen=True, slots=True)
class _Response:
    family: Family
    event: Any = None
    no_event: Any = None


def _is_pandas(frame: Any) -> bool:
    return hasattr(frame, "iloc") and hasattr(frame, "columns")


def _context() -> dict[str, Any]:
    return {"np": np, "sqrt": np.sqrt}


def _matrix(terms: str, frame: Any, formula: ModelFormula) -> Any:
    formulaic, aliases = library("formulaic"), aliases_of(frame.columns)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return formulaic.Formula(with_aliases(terms, aliases)).get_model_matrix(
                frame.rename(columns=aliases), context=_context(), na_action="ignore"
            )
    except Exception as error:
        raise InputError(
            f"A term of the formula {formula.text!r} cannot be evaluated "
            f"({type(error).__name__}). Check that functions get numbers and arguments that they "
            "know."
        ) from None


def _response(frame: Any, formula: ModelFormula) -> Any:
    """Return the left side: a column as it is, or an expression of columns."""
    name = formula.response.strip("`")
    if name in frame.columns:
        return frame[name]
    made = _matrix(f"0 + {formula.response}", frame, formula)
    if made.shape[1] != 1:
        raise InputError(f"The response of {formula.text!r} is not one number a row.")
    return made.iloc[:, 0]


def _response_kind(frame: Any, formula: ModelFormula, family: str) -> _Response | NotEstimable:
    if formula.time:
        return _Response("cox")
    response = _response(frame, formula)
    values = response.unique().tolist()
    if not all(isinstance(value, bool | int | float) for value in values):
        if len(values) != 2 or family not in ("auto", "logistic"):
            raise InputError(
                f"The response of {formula.text!r} is a category with {len(values)} level(s). "
                "A model needs a number, or two levels (logistic)."
            )
        order = [level for level in response.cat.categories if level in values]
        return _Response("logistic", event=order[1], no_event=order[0])
    if not all(map(math.isfinite, values)):  # is refused with the number of rows later
        return _Response("least squares")
    low, high = min(values), max(values)
    if low == high:
        return NotEstimable("the response is constant")
    if family == "logistic" and len(values) != 2:
        raise InputError(
            f"A logistic model needs a response with two values: that of {formula.text!r} has "
            f"{len(values)}."
        )
    if family == "poisson" and low < 0:
        raise InputError(f"A Poisson model needs counts: {formula.text!r} has negative values.")
    if family == "logistic" or (family == "auto" and len(values) == 2):
        return _Response("logistic", event=high, no_event=low)
    counts = low == 0 and len(values) <= _MOST_COUNTS and all(v == int(v) for v in values)
    if family == "poisson" or (family == "auto" and counts):
        return _Response("poisson")
    return _Response("least squares")


def _data(
    frame: Any, formula: ModelFormula, kind: _Response, design: Any
) -> ModelData | NotEstimable:
    names = tuple(_as_written(str(name), frame.columns) for name in design.columns)
    matrix: Matrix = np.asarray(design, dtype=np.float64)
    if kind.family == "cox":
        kept = [position for position, name in enumerate(names) if name != "Intercept"]
        names, matrix = tuple(names[position] for position in kept), matrix[:, kept]
        return _survival(frame, formula, names, matrix)
    response = _response(frame, formula)
    if kind.family == "logistic":
        event = np.asarray(response == kind.event)
        if not (event | np.asarray(response == kind.no_event)).all():
            return NotEstimable("the response has values that the original's has not")
        return _finite(ModelData(kind.family, names, matrix, event.astype(np.float64)))
    numbers: Vector = np.asarray(response, dtype=np.float64)
    if kind.family == "poisson" and numbers.min() < 0.0:
        return NotEstimable("the response has negative values")
    return _finite(ModelData(kind.family, names, matrix, numbers))


def _as_written(term: str, columns: Iterable[str]) -> str:
    """Return the name of a coefficient with columns' own names."""
    for name, alias in aliases_of(columns).items():
        term = term.replace(alias, name)
    return term


def _survival(
    frame: Any, formula: ModelFormula, names: tuple[str, ...], matrix: Matrix
) -> ModelData | NotEstimable:
    if not names:
        return NotEstimable("the formula has no predictor")
    columns = [frame[formula.time], frame[formula.status]]
    if any(column.dtype.kind not in "bf" for column in columns):
        return NotEstimable("surv() needs numbers: the time, and 1 (event) or 0 (censored)")
    time, status = (np.asarray(column, dtype=np.float64) for column in columns)
    if not np.isin(status, (0.0, 1.0)).all():
        return NotEstimable("the status must be 0 (censored) or 1 (event) in every row")
    if time.min() < 0.0:
        return NotEstimable("a survival time is negative")
    if not status.any():
        return NotEstimable("there is no event")
    return _finite(ModelData("cox", names, matrix, time, status))


def _finite(data: ModelData) -> ModelData | NotEstimable:
    bad = ~np.isfinite(data.design).all(axis=1) | ~np.isfinite(data.response)
    if bad.any():
        return NotEstimable(
            f"a term or the response is not finite in {int(bad.sum())} row(s), as the logarithm "
            "of 0 is"
        )
    return data


def _levels(columns: list[Any]) -> list[Any]:
    """Return the levels of both: in the original's order where it declares one, else sorted."""
    declared = list(getattr(columns[0].dtype, "categories", ()))
    found = {level for column in columns for level in column.dropna().unique().tolist()}
    declared = [level for level in declared if level in found]
    rest = found - set(declared)
    try:
        return declared + sorted(rest)
    except TypeError:
        return declared + sorted(rest, key=str)


def _kind(column: Any) -> str:
    types = library("pandas").api.types
    if column.dtype.kind in "mM":
        return "time"
    if types.is_bool_dtype(column) and column.dtype == bool:
        return "bool"
    return "number" if types.is_numeric_dtype(column) else "category"


def _as_categories(columns: list[Any], name: str) -> list[Any]:
    pandas, levels = library("pandas"), _levels(columns)
    if len(levels) > _MOST_LEVELS:
        raise InputError(
            f"Column {name!r} of the formula has {len(levels)} different texts; a category may "
            f"have {_MOST_LEVELS} levels. Group them, or give numbers or dates their type."
        )
    return [
        pandas.Series(
            pandas.Categorical(column.astype(object), categories=levels), index=column.index
        )
        for column in columns
    ]


def _as_numbers(column: Any) -> Any:
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return library("pandas").Series(numbers, index=column.index)


def _days(column: Any) -> Any:
    pandas = library("pandas")
    if column.dtype.kind == "m":
        return column / pandas.Timedelta(days=1)
    origin = pandas.Timestamp(1970, 1, 1, tz=getattr(column.dt, "tz", None))
    return (column - origin) / pandas.Timedelta(days=1)
