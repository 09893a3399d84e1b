"""The schema: what each column is and what is to be done with it, as people declare it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from icsa.columns import ACTIONS, KINDS, Action, ColumnSpec
from icsa.errors import InputError, UnknownNameError

__all__ = [
    "ACTIONS",
    "DESIGN_KEYS",
    "KINDS",
    "NO_DESIGN",
    "ColumnSpec",
    "Design",
    "Schema",
    "design_with",
    "names_with",
    "with_design",
    "with_fates",
]

# What a schema says of the rows, besides its columns; options of the same names say it too.
DESIGN_KEYS = ("unit", "time", "bound", "role", "weight", "strata")


@dataclass(frozen=True, kw_only=True)
class Design:
    """Whom the rows are about: people with several rows each, households, a weighted sample.

    Attributes
    ----------
    unit : str, False or None
        The column that names people or households with several rows; False where every row is a
        person of its own; None where nobody has said: then a table that looks otherwise is refused.
    time : str, optional
        When a row of a unit was: it grows from row to row.
    bound : str, optional
        A column of the unit that no time exceeds, such as the end of follow-up.
    role : str, optional
        Who a row of a household is (head, partner, child).
    weight : str, optional
        How many people a row stands for.
    strata : tuple of str
        Columns whose combinations are released each for itself.
    raking : bool
        Whether released weights give the original's weighted totals.
    """

    unit: str | Literal[False] | None = None
    time: str | None = None
    bound: str | None = None
    role: str | None = None
    weight: str | None = None
    strata: tuple[str, ...] = ()
    raking: bool = True

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are named, by what they are; strata left out."""
        found = {key: getattr(self, key) for key in DESIGN_KEYS if key != "strata"}
        return {key: name for key, name in found.items() if name}

    @property
    def options(self) -> list[str]:
        """The words of a command that say the same.

        Examples
        --------
        >>> Design(unit="id", strata=("town",)).options, Design(unit=False).options
        (['--unit', 'id', '--strata', 'town'], ['--unit', 'none'])
        """
        named = [("unit", "none")] if self.unit is False else []
        named += [*self.columns.items(), *(("strata", name) for name in self.strata)]
        return [word for key, name in named for word in (f"--{key}", name)]


NO_DESIGN = Design()


@dataclass(frozen=True, kw_only=True)
class Schema:
    """All columns of a table, the rules that a release must keep, and choices of the recipe.

    Attributes
    ----------
    columns : mapping of str to ColumnSpec
        In the table's order; one for each column.
    rules : tuple of str
        Such as ``diagnosed <= died``, ``if pregnant = 0 then weeks missing``.
    recipe : mapping
        Choices that override the recipe's, by name.
    design : Design
        Whom the rows are about.
    """

    columns: Mapping[str, ColumnSpec]
    rules: tuple[str, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    design: Design = NO_DESIGN


def names_with(action: Action, schema: Schema) -> list[str]:
    """Return the columns that something is to be done with.

    Examples
    --------
    >>> age = ColumnSpec(name="age", kind="integer")
    >>> names_with("mask", Schema(columns={"age": age}))
    ['age']
    """
    return [spec.name for spec in schema.columns.values() if spec.action == action]


def with_fates(schema: Schema, *, keep: Sequence[str] = (), drop: Sequence[str] = ()) -> Schema:
    """Return the schema with some columns to be released as they are, and some to be left out.

    Examples
    --------
    >>> schema = Schema(columns={"site": ColumnSpec(name="site", kind="category")})
    >>> with_fates(schema, keep=["site"]).columns["site"].action
    'keep'
    """
    columns = dict(schema.columns)
    both = [name for name in drop if name in keep]
    if both:
        raise InputError(f"The column {both[0]!r} is to be kept and to be dropped. Choose one.")
    fates: tuple[tuple[Action, Sequence[str]], ...] = (("keep", keep), ("drop", drop))
    for action, names in fates:
        for name in names:
            if name not in columns:
                raise UnknownNameError("column", name, columns)
            columns[name] = replace(columns[name], action=action)
    return replace(schema, columns=columns)


def with_design(schema: Schema, **said: Any) -> Schema:
    """Return the schema with what is said of its rows; None and nothing leave what it has.

    Examples
    --------
    >>> schema = Schema(columns={"id": ColumnSpec(name="id", kind="identifier")})
    >>> with_design(schema, unit="id", time=None).design.unit
    'id'
    """
    design = design_with(schema.design, schema.columns, **said)
    return schema if design is schema.design else replace(schema, design=design)


def design_with(design: Design, columns: Collection[str], **said: Any) -> Design:
    """Return a design with what is said besides, of a table with these columns.

    Examples
    --------
    >>> design_with(Design(unit="id"), ["id", "pw"], weight="pw", unit=None).columns
    {'unit': 'id', 'weight': 'pw'}
    """
    given = {key: value for key, value in said.items() if value not in (None, ())}
    for key in DESIGN_KEYS:
        names = given.get(key, ())
        for name in (names,) if isinstance(names, str) else names or ():
            if name not in columns:
                raise UnknownNameError("column", name, columns)
    return replace(design, **given) if given else design
