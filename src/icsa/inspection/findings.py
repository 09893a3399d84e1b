"""What to look at in a column before a release: one function a finding, one sentence a note.

A note holds counts, rows and names of columns, never a cell value; codes and words that stand for
"missing" in many files are named, because the fixed lists here have them, not a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import chain

import numpy as np
import polars as pl

from icsa.columns.levels import FEWEST_HOLDERS
from icsa.inspection.edges import are_years, edges_of
from icsa.inspection.identities import has_diagnoses
from icsa.inspection.kinds import ONLY_THESE, guess_kind
from icsa.inspection.limits import LIMITS
from icsa.inspection.names import names_grades
from icsa.inspection.notations import are_written_dates, obstacle_in
from icsa.inspection.oddities import (
    far_rows,
    notes_on_heaping,
    sentinel_codes,
    sentinel_words,
)
from icsa.inspection.profile import Profile
from icsa.schema import KINDS, ColumnSpec

__all__ = [
    "missing_together",
    "notes_on",
    "notes_on_codes",
    "notes_on_doubt",
    "notes_on_far_dates",
    "notes_on_far_numbers",
    "notes_on_notation",
    "notes_on_written_dates",
]

# Dates that programs write where there is none: of Excel, SAS, Unix, and of open ends.
_PLACEHOLDERS = tuple(
    date(*day)
    for day in (
        (1899, 12, 30),
        (1900, 1, 1),
        (1904, 1, 1),
        (1960, 1, 1),
        (1970, 1, 1),
        (9999, 12, 31),
    )
)


def notes_on(profile: Profile, spec: ColumnSpec) -> tuple[str, ...]:
    """Return what to look at in one column, the gravest first.

    Parameters
    ----------
    profile : Profile
        Its cells.
    spec : ColumnSpec
        What it is taken for.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> table = Table(pl.DataFrame({"ward": ["A", "B", "B", "B", "C"]}))
    >>> notes_on(profile_of(table, "ward"), ColumnSpec(name="ward", kind="category"))
    ('2 of 3 levels are held by fewer than 3 rows',)
    """
    notation = list(notes_on_notation(profile, spec))
    found: Iterator[str] = chain(
        _kept(spec),
        notation or _identity(profile, spec),
        notes_on_doubt(profile, spec),
        notes_on_written_dates(profile, spec),
        notes_on_codes(profile, spec),
        notes_on_far_dates(profile.cells),
        notes_on_far_numbers(profile, spec),
        _rare_levels(profile, spec),
        _unordered_codes(profile, spec),
        _one_value(profile, spec),
        notes_on_heaping(profile, spec),
        _unusable(profile),
        _missing(profile, spec),
        _bounds(profile, spec),
    )
    return tuple(found)


def missing_together(profiles: Sequence[Profile]) -> Mapping[str, str]:
    """Return a note for each column that is missing in exactly the rows in which others are.

    Examples
    --------
    >>> from icsa.inspection.profile import profile_of
    >>> from icsa.tables.table import Table
    >>> cells = {"ascites": [1, None, 0], "spiders": [0, None, 0], "age": [41, 52, None]}
    >>> table = Table(pl.DataFrame(cells))
    >>> missing_together([profile_of(table, name) for name in cells])["spiders"]
    "missing in the same 1 row as 'ascites'; stays so"
    """
    groups: dict[tuple[int, bytes], list[Profile]] = {}
    for profile in profiles:
        if 0 < profile.missing < profile.n_rows:
            pattern = np.packbits(profile.cells.is_null().to_numpy()).tobytes()
            groups.setdefault((profile.missing, pattern), []).append(profile)
    notes = {}
    for (missing, _), group in groups.items():
        names = [profile.name for profile in group]
        rows = f"{missing} row" + "s" * (missing != 1)
        for name in names if len(names) > 1 else ():
            others = _listed([other for other in names if other != name])
            notes[name] = f"missing in the same {rows} as {others}; stays so"
    return notes


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[: LIMITS.listed])
    return (
        shown if len(names) <= LIMITS.listed else f"{shown} and {len(names) - LIMITS.listed} more"
    )


def _kept(spec: ColumnSpec) -> Iterator[str]:
    if spec.action == "keep":
        yield "RELEASED AS IT IS, because the schema says keep: whoever knows a cell finds the row"


def notes_on_notation(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    """Yield what keeps a column of texts from being one of numbers or dates."""
    if not profile.is_text or spec.kind in ("binary", "constant") or spec.action == "keep":
        return
    obstacle = obstacle_in(profile)
    if obstacle is not None and not guess_kind(profile).by_name:
        yield obstacle.note(masked=spec.action == "mask")


def _identity(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    all_different = profile.distinct == profile.present >= LIMITS.rows_to_be_unique
    if spec.kind == "identifier":
        yield from _why_an_id(profile, all_different)
    elif spec.kind == "text":
        if profile.distinct > LIMITS.nearly_all * profile.present:
            yield "near-unique text: each cell can point at a person"
        if has_diagnoses(profile):
            yield "codes of diagnoses: shorten them to groups to have them in the release"
        elif spec.action == "drop" and not profile.is_nested:
            # More levels than half of the rows are too many to be masked.
            few = 2 * profile.distinct < profile.n_rows
            kinds = "category or identifier" if few else "identifier"
            yield f"to have it in the release, give it the kind {kinds}"
    elif spec.kind == "category" and profile.distinct > LIMITS.nearly_all * profile.present > 0:
        yield "near-unique: if each cell points at a person, the kind is identifier or text"


def _why_an_id(profile: Profile, all_different: bool) -> Iterator[str]:
    guess = guess_kind(profile)
    if all_different:
        yield "looks like an id"
    elif guess.by_name:
        yield "looks like an id by its name"
    elif guess.kind == "identifier":
        yield f"looks like an id: {guess.why}"
    if profile.distinct < profile.present and guess.of_people:
        yield (
            "the same id stands in several rows: rows of one person are released as if of "
            "different people"
        )
    elif profile.distinct < profile.present:
        yield "fresh ones differ in every row: who has the same is not shown"


def notes_on_doubt(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    """Yield what the custodian alone can decide about a kind that was guessed."""
    guess = guess_kind(profile)
    if guess.doubt and guess.kind == spec.kind and spec.action == "mask" and not spec.derive:
        yield guess.doubt


def notes_on_written_dates(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    """Yield that all numbers are dates."""
    if spec.kind in ("binary", "constant"):
        return
    if profile.is_whole and are_written_dates(profile.numbers):
        yield (
            "dates written as numbers: no order or calendar is kept; write them as 2020-07-27, or "
            "drop the column"
        )


def notes_on_codes(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    """Yield codes and words that may stand for missing."""
    if spec.kind in ("identifier", "text"):
        return
    codes = sentinel_codes(profile) or sentinel_words(profile)
    for code, rows in codes.items():
        shown = f'"{code}"' if isinstance(code, str) else f"{code:.15g}"
        yield f"{shown} in {rows} rows may stand for missing: if so, missing_codes = [{shown}]"


def notes_on_far_dates(cells: pl.Series) -> Iterator[str]:
    """Yield dates that stand for none, and those far outside the rest."""
    if not isinstance(cells.dtype, pl.Date | pl.Datetime) or cells.null_count() == cells.len():
        return
    days = cells.cast(pl.Date)
    present = cells.len() - cells.null_count()
    for placeholder in _PLACEHOLDERS:
        stands = days == placeholder
        rows = int(stands.sum())
        if rows > 1:
            yield f"{placeholder} in {rows} rows is a date that programs write for no date"
            days = days.set(stands.fill_null(False), None)
    if days.null_count() == days.len():
        return
    numbers = days.to_physical().cast(pl.Float64).to_numpy()
    first, third = np.nanquantile(numbers, [0.25, 0.75])
    far = np.abs(numbers - (first + third) / 2) > (LIMITS.far_dates + 0.5) * max(third - first, 1.0)
    if 0 < far.sum() <= LIMITS.most_far_dates * present + 1 and present > LIMITS.listed:
        yield f"{far.sum()} dates far outside the rest ({_rows(far)})"


def notes_on_far_numbers(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    """Yield the rows of numbers extremely far from all others."""
    if not KINDS[spec.kind].is_number or not profile.dtype.is_numeric():
        return
    numbers = profile.cells.cast(pl.Float64).to_numpy()
    rows = far_rows(numbers)
    if not rows.size or not np.isfinite(numbers[rows]).all():
        return
    codes = list(sentinel_codes(profile))
    if np.isin(numbers[rows], codes).any():  # which have a note of their own
        return
    flags = np.zeros(numbers.size, dtype=np.bool_)
    flags[rows] = True
    lies = "1 number lies" if rows.size == 1 else f"{rows.size} numbers lie"
    yield (
        f"{lies} extremely far from all others ({_rows(flags)}): a total, a slip of the decimal "
        "point, or somebody who stands out?"
    )


def _rows(flags: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
    """Return the first rows that are flagged, counted from 1."""
    found = np.flatnonzero(flags) + 1
    shown = ", ".join(str(row) for row in found[: LIMITS.listed])
    return f"row{'s' * (found.size > 1)} {shown}{', ...' * (found.size > LIMITS.listed)}"


def _rare_levels(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    if not KINDS[spec.kind].has_levels or not profile.distinct:
        return
    rare = int((profile.held < FEWEST_HOLDERS).sum())
    if rare:
        levels = f"{rare} of {profile.distinct} levels"
        verb = "is" if rare == 1 else "are"
        yield f"{levels} {verb} held by fewer than {FEWEST_HOLDERS} rows"


def _unordered_codes(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    plain = not profile.variable.value_labels and profile.variable.measurement is None
    if spec.kind == "ordinal" and profile.dtype.is_numeric() and plain:
        if not names_grades(profile.name) and guess_kind(profile).doubt != ONLY_THESE:
            yield "codes without an order? then the kind is category"
    elif spec.kind == "ordinal" and isinstance(profile.dtype, pl.String) and not spec.levels:
        yield "text has no order: give levels = [...] in theirs, or the kind category"


def _one_value(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    if spec.kind not in ("continuous", "integer") or profile.distinct <= 2:
        return
    if profile.largest_share >= LIMITS.many_equal:
        yield f"{profile.largest_share:.0%} of the cells hold one and the same number"


def _unusable(profile: Profile) -> Iterator[str]:
    if profile.is_nested:
        yield "cells of this type cannot be masked"
    elif profile.dtype.is_numeric() and profile.numbers.size < profile.distinct:
        yield "some cells are infinite: replace them by numbers or leave them empty"


def _missing(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    if not profile.n_rows:
        return
    share = profile.missing / profile.n_rows
    if profile.missing == profile.n_rows:
        yield "no cell has a value"
        return
    if share > LIMITS.mostly:
        yield f"mostly missing: {share:.0%}"
    if profile.distinct == 1:
        yield "constant: tells people nothing apart" + (
            ", but for who has it" if profile.missing else ""
        )
    elif spec.kind != "constant" and 0 < profile.present < FEWEST_HOLDERS:
        yield f"fewer than {FEWEST_HOLDERS} rows have a value"


def _bounds(profile: Profile, spec: ColumnSpec) -> Iterator[str]:
    edges = edges_of(profile, spec.kind)
    if edges is not None and (edges.lower, edges.upper) == (spec.lower, spec.upper):
        yield edges.describe()
        return
    declared = [f"{side} bound" for side in ("lower", "upper") if getattr(spec, side) is not None]
    if declared:
        yield f"kept within the schema's {' and '.join(declared)}"
    elif KINDS[spec.kind].is_number and are_years(profile):
        yield "years: declare lower and upper in a schema, so that no cell leaves them"
    elif (
        KINDS[spec.kind].is_number
        and profile.distinct > LIMITS.values_for_heaping
        and np.count_nonzero(profile.numbers < 0) == 1
    ):
        yield "one value only is negative: if it is wrong, correct it or give a lower bound"
