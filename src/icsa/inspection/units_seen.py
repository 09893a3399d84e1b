"""Whether a table has several rows a person, found from its cells: units, times, roles, weights.

A column names units if no cell is missing, 20 or more are different, at least half of the rows
share their cell with others, and other columns are *constant*: the same in all rows of a unit in
nearly all units, but not once they are shuffled, not one to one with the unit, and not classes of
its numbers. Of columns that say the same, one counts. Two are needed; three, where neither name nor
cells say that the column names somebody; one, where a time grows within every unit; none, where a
time does, or most rows of units stand together, and the name is that of people's numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.columns import KINDS, storage_of
from icsa.columns.declared import Belonging
from icsa.columns.value_counts import counted_values
from icsa.inspection.identities import has_diagnoses
from icsa.inspection.kinds import Guess, guess_kind
from icsa.inspection.limits import LIMITS
from icsa.inspection.names import (
    is_postal,
    names_given_number,
    names_id,
    names_moment,
    names_number,
    words_of,
)
from icsa.inspection.profile import Profile, profile_of
from icsa.inspection.unit_rows import UnitRows, rows_of_units
from icsa.inspection.vocabulary import word_set
from icsa.matrices import Vector
from icsa.schema import ColumnSpec, Design
from icsa.tables.base import listed_names
from icsa.tables.table import Table

__all__ = [
    "UnitsSeen",
    "belonging_of",
    "may_name",
    "rows_of_some",
    "seen_in_sample",
    "times_within",
    "units_seen",
    "weight_seen",
]

_TIMES = word_set(
    "day days date time times visit visits week weeks month months year years wave waves age "
    "period occasion session round hour hours minute tag tage datum zeit jahr jahre monat besuch "
    "fecha dia jour mois annee giorno anno"
)
_WEIGHTS = word_set(
    "pw pweight pweights wgt wgts svywt svyweight finalwt finalweight fnlwgt fnlwt hhweight pwgt "
    "samplingweight surveyweight designweight personweight expansionfactor hochrechnungsfaktor"
)
_WEIGHT_WORDS = word_set("survey sampling design person final sample expansion probability")


@dataclass(frozen=True, kw_only=True)
class UnitsSeen:
    """Units that a table has, and by what that is known. No text holds a cell.

    Attributes
    ----------
    design : Design
        What a schema would say.
    n_units, n_rows : int
    constant : tuple of str
        Columns that are the same in all rows of every unit.
    reasons : mapping of str to str
        For each key of the design, why.
    """

    design: Design
    n_units: int
    n_rows: int
    constant: tuple[str, ...]
    reasons: Mapping[str, str]

    @property
    def options(self) -> str:
        """What to add to a command, as far as it was found."""
        named = self.design.columns.items()
        return " ".join(f"--{key} {_quoted(name)}" for key, name in named if key != "weight")

    def describe(self) -> str:
        """Return in a sentence what was seen."""
        same = f"; the same in all rows of one: {listed_names(self.constant)}"
        return (
            f"{self.design.unit!r} stands for {self.n_units:,} people or groups in {self.n_rows:,} "
            f"rows{same if self.constant else ''}"
        )


def units_seen(table: Table) -> UnitsSeen | None:
    """Return the units of a table; None where every row seems to be one.

    Examples
    --------
    >>> table = Table(pl.DataFrame({
    ...     "patient": [n // 3 + 1 for n in range(90)],
    ...     "day": [n % 3 * 30 + n // 60 for n in range(90)],
    ...     "sex": [(n // 3) ** 2 % 2 for n in range(90)],
    ... }))
    >>> seen = units_seen(table)
    >>> seen.design.unit, seen.design.time, seen.n_units
    ('patient', 'day', 30)
    """
    found = [seen for name in table.frame.columns if (seen := _seen_by(table, name)) is not None]
    if not found:
        return None
    return max(found, key=lambda seen: (*seen[1], seen[0].n_units))[0]


def weight_seen(table: Table) -> tuple[str, str] | None:
    """Return a column that seems to say how many people a row stands for, and why; or None."""
    for name in table.frame.columns:
        words = words_of(name)
        said = _WEIGHTS & {*words, "".join(words)} or (
            {"weight", "wt"} & set(words) and _WEIGHT_WORDS & set(words)
        )
        cells = table.frame[name]
        usable = bool(said) and cells.dtype.is_numeric() and not cells.null_count()
        if usable and (cells > 0).all():
            return name, "its name is that of weights, and all are positive"
    return None


def belonging_of(
    table: Table, rows: UnitRows, specs: Iterable[ColumnSpec]
) -> dict[str, tuple[Belonging, int]]:
    """Return for each column whether it belongs to units or rows, and in how many units it varies.

    What a declaration says comes first.
    """
    found: dict[str, tuple[Belonging, int]] = {}
    for spec in specs:
        varying = int(np.count_nonzero(rows.varying(table.frame[spec.name])))
        found[spec.name] = (spec.belongs_to or ("row" if varying else "unit"), varying)
    return found


def times_within(table: Table, rows: UnitRows, names: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that can be times: they grow within every unit; those named so first.

    Columns that are named so need not be in order in the file, but differ within every unit.
    """
    grown: dict[bool, list[str]] = {True: [], False: []}
    for name in names:
        numbers = _numbers(table.frame[name])
        if numbers is None or np.isnan(numbers).any():
            continue
        named = _names_time(name)
        if not named and bool(np.all(np.diff(numbers) > 0)):  # numbers of the file's rows
            continue
        if not named and (names_number(name) or names_id(name) or names_given_number(name)):
            continue
        rising = bool(rows.is_rising(numbers[rows.order]).all())
        if not rising and named:
            ordered = rows.sorted_by(numbers)
            rising = bool(rows.is_rising(numbers[ordered.order]).all())
        if rising:
            grown[named].append(name)
    return (*grown[True], *grown[False])


def _seen_by(table: Table, name: str) -> tuple[UnitsSeen, tuple[bool, int]] | None:
    """Return the units that a column names, whether they are people by its name, how many agree."""
    if not may_name(table.frame[name]):
        return None
    profile = profile_of(table, name)
    guess = guess_kind(profile)
    if is_postal(name) or has_diagnoses(profile) or not (profile.is_text or profile.is_whole):
        return None
    sample = _sample(table, name)
    if sample is not None and not _is_unit(sample, name, profile, guess):
        return None
    evidence = _is_unit(table, name, profile, guess)
    if evidence is None:
        return None
    rows, constant, times = evidence
    of_people = guess.of_people and guess.by_name
    return _described(table, name, guess, rows, constant, times), (of_people, len(constant))


def may_name(cells: pl.Series) -> bool:
    """Return whether cells can name units: none missing, many different, most of them repeated."""
    dtype, n_rows = cells.dtype, cells.len()
    text = isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
    if not (text or dtype.is_integer() or dtype.is_float()) or cells.null_count():
        return False
    if dtype.is_float() and (cells.head(LIMITS.quick_sample) % 1 != 0).any():  # no whole numbers
        return False
    _, held = counted_values(cells)
    if not LIMITS.fewest_given <= held.size <= n_rows / LIMITS.rows_a_unit:
        return False
    shared = int(held[held > 1].sum())
    return shared >= LIMITS.mostly * n_rows


def _sample(table: Table, name: str) -> Table | None:
    """Return the rows of some units of a long table; None where the table is short."""
    if table.frame.height <= 2 * LIMITS.sample:
        return None
    return table.with_frame(table.frame[rows_of_some(table.frame[name])])


def rows_of_some(cells: pl.Series) -> npt.NDArray[np.int64]:
    """Return the rows of some units that the cells of a long column may name."""
    n_rows = cells.len()
    drawn = np.random.default_rng(n_rows).integers(0, n_rows, 4 * LIMITS.fewest_given)
    chosen = cells.gather(np.unique(drawn)).unique()
    found: npt.NDArray[np.int64] = cells.is_in(chosen.implode()).arg_true().to_numpy()
    return found[: LIMITS.sample].astype(np.int64)


def seen_in_sample(sample: Table, name: str, profile: Profile) -> bool:
    """Return whether a column seems to name units, from the rows of some and all of its cells."""
    guess = guess_kind(profile)
    if is_postal(name) or has_diagnoses(profile) or not (profile.is_text or profile.is_whole):
        return False
    return _is_unit(sample, name, profile, guess) is not None


def _is_unit(
    table: Table, name: str, profile: Profile, guess: Guess
) -> tuple[UnitRows, tuple[str, ...], tuple[str, ...]] | None:
    """Return the rows, the columns that are constant and possible times, if that is enough."""
    rows = rows_of_units(table.frame[name])
    others = [other for other in table.frame.columns if other != name]
    told = guess.kind == "identifier" or (KINDS[guess.kind].has_levels and not profile.is_whole)
    constant = tuple(_constant(table, name, rows, others, numbered=not told))
    needed = 2 if told or guess.kind == "category" else 3
    if len(_different(table, constant)) >= needed:
        varying = [other for other in others if rows.varying(table.frame[other]).any()]
        return rows, constant, times_within(table, rows, varying)
    of_people = guess.kind == "identifier" and guess.of_people and guess.by_name
    if not constant and not of_people:
        return None
    varying = [other for other in others if rows.varying(table.frame[other]).any()]
    times = times_within(table, rows, varying)
    enough = times or (of_people and varying and rows.stand_together)
    return (rows, constant, times) if enough else None


def _constant(
    table: Table, name: str, rows: UnitRows, others: Iterable[str], *, numbered: bool
) -> Iterator[str]:
    """Yield the columns that are the same in all rows of nearly every unit, and not by chance."""
    repeated = rows.sizes > 1
    shuffled = np.random.default_rng(0).permutation(rows.order.size)
    for other in others:
        cells = table.frame[other]
        if cells.dtype.is_nested() or isinstance(cells.dtype, pl.Object | pl.Binary):
            continue
        varies = rows.varying(cells)[repeated]
        if varies.mean() > LIMITS.most_varying or cells.n_unique() < 2:
            continue
        if not rows.varying(cells.gather(shuffled))[repeated].mean() > 1.0 - LIMITS.nearly_all:
            continue
        first = cells.gather(rows.firsts)
        if first.n_unique() == rows.n_units:
            continue
        if numbered and _are_classes(table.frame[name].gather(rows.firsts), first):
            continue
        yield other


def _are_classes(numbers: pl.Series, values: pl.Series) -> bool:
    """Return whether values change with the numbers only as classes of them do.

    They change fewer times than there are values, or far less often than in random order.
    """
    found = _numbers(numbers)
    if found is None:
        return False
    ordered = values.gather(np.argsort(found, kind="stable"))
    changes = int(ordered.ne_missing(ordered.shift(1)).to_numpy()[1:].sum())
    shares = ordered.alias("value").value_counts(name="held")["held"].to_numpy() / ordered.len()
    by_chance = (ordered.len() - 1) * (1.0 - float(np.sum(shares**2)))
    return changes < max(ordered.n_unique(), LIMITS.classes_change * by_chance)


def _different(table: Table, names: Iterable[str]) -> list[str]:
    """Return the columns without those that are one to one with another."""
    kept: list[str] = []
    for name in names:
        alone = table.frame[name].n_unique()
        if not any(
            table.frame.select(name, other).n_unique() == alone == table.frame[other].n_unique()
            for other in kept
        ):
            kept.append(name)
    return kept


def _names_time(name: str) -> bool:
    return bool(_TIMES & set(words_of(name))) or names_moment(name)


def _numbers(cells: pl.Series) -> Vector | None:
    """Return the numbers of a column of numbers, dates or times; None for others."""
    storage = storage_of(cells.dtype)
    return None if storage is None else storage.numbers(cells)


def _described(
    table: Table,
    unit: str,
    guess: Guess,
    rows: UnitRows,
    constant: tuple[str, ...],
    times: tuple[str, ...],
) -> UnitsSeen:
    always = tuple(name for name in constant if not rows.varying(table.frame[name]).any())
    reasons = {"unit": f"{guess.why}; {_of_constants(constant, times)}"}
    named = [name for name in times if _names_time(name)]
    time = next(iter(named if named else times[:1] if len(times) == 1 else ()), None)
    if time is not None:
        others = [name for name in times if name != time]
        also = f"; so does {listed_names(others)}: choose" if others else ""
        reasons["time"] = f"it grows within every unit{also}"
    bound = None if time is None else _bound(table, rows, time, always)
    if bound is not None:
        reasons["bound"] = f"{time!r} never exceeds it, and often comes near"
    role = _role(table, unit, rows, constant) if time is None else None
    if role is not None:
        reasons["role"] = "one of its values stands in every unit exactly once"
    return UnitsSeen(
        design=Design(unit=unit, time=time, bound=bound, role=role),
        n_units=rows.n_units,
        n_rows=table.frame.height,
        constant=always,
        reasons=reasons,
    )


def _of_constants(constant: tuple[str, ...], times: tuple[str, ...]) -> str:
    if not constant:
        return "a time grows within each" if times else "rows of each stand together in the file"
    return f"{listed_names(constant)} the same in all rows of one"


def _bound(table: Table, rows: UnitRows, time: str, constant: Iterable[str]) -> str | None:
    """Return the constant column that times come nearest to without exceeding it."""
    times = _numbers(table.frame[time])
    assert times is not None
    last = np.maximum.reduceat(times[rows.order], rows.starts[:-1])
    first = np.minimum.reduceat(times[rows.order], rows.starts[:-1]).min()
    nearest, found = LIMITS.mostly, None
    for name in constant:
        storage = storage_of(table.frame[name].dtype)
        if storage is None or storage is not storage_of(table.frame[time].dtype):
            continue
        limits = storage.numbers(table.frame[name])[rows.firsts]
        if np.isnan(limits).any() or (last > limits).any():
            continue
        share = float(np.median((last - first) / np.maximum(limits - first, 1e-12)))
        if share > nearest:
            nearest, found = share, name
    return found


def _role(table: Table, unit: str, rows: UnitRows, constant: tuple[str, ...]) -> str | None:
    """Return the column of which one value stands in every unit exactly once."""
    for name in table.frame.columns:
        cells = table.frame[name]
        if name == unit or name in constant or cells.null_count() or cells.dtype.is_float():
            continue
        if not 2 <= cells.n_unique() <= LIMITS.most_roles:
            continue
        ordered, of_unit = cells.gather(rows.order), rows.unit
        for value in cells.unique():
            held = np.bincount(of_unit[(ordered == value).to_numpy()], minlength=rows.n_units)
            if (held == 1).all():
                return name
    return None


def _quoted(name: str) -> str:
    return name if name.replace("_", "").replace(".", "").isalnum() else f'"{name}"'
