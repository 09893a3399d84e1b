"""The study of attacks: what each reaches on releases by several masks, and on other people."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from icsa.errors import ICSAError, InputError, UnknownNameError, VerbatimColumnWarning
from icsa.jobs import Job, Work, columns_of
from icsa.randomness import as_key
from icsa.studies.attack_measures import ATTACKS, KINDS, Target, drawn_population
from icsa.studies.named_methods import method_of

__all__ = ["CELL", "AttacksConfig", "attack_block", "attacks_study"]

# What a cell of the study is named by.
CELL = ("attack", "kind", "n", "columns", "severity")
# Steps a standard deviation in the tables whose digits are attacked; fewer where columns are many,
# because doubles have no more digits.
_STEPS, _FEW_STEPS, _MANY = 10.0, 3.0, 5
# More rows would take longer, not be harder to attack.
_INSIDERS_ROWS = 120
# Attacks that take milliseconds.
_FAST = ("reassembly", "membership")


@dataclass(frozen=True)
class AttacksConfig:
    """Every parameter of the study of attacks.

    Attributes
    ----------
    attacks : tuple of str
        "reassembly", "digits", "two releases", "insiders", "all but one", "membership".
    methods : tuple of str
        See `icsa.studies.named_methods`.
    kinds : tuple of str
        Kinds of tables: normal, lognormal, t3, t5, mixture, rounded. Others than the first are only
        run with the middle number of rows, and reassembly with the first two numbers of columns,
        membership with the first; all but one takes the first two kinds.
    n, columns : tuple of int
        Rows of the tables with the first number of columns, and columns of those with the middle
        number of rows, which attacks on digits and maps take too.
    digits_columns, releases_columns, insiders_columns : tuple of int
        Columns for the attacks by digits, two releases and insiders.
    severities : tuple of float
        How many standard deviations out a lone person is.
    tables : int
        Tables a cell of reassembly and membership.
    slow_tables : int
        Tables a cell of the other attacks.
    block : int
        Tables a job.
    seed : int
        Everything random comes from it.
    """

    attacks: tuple[str, ...] = tuple(ATTACKS)
    methods: tuple[str, ...] = (
        "sa",
        "hr-tyler",
        "mcd50-mcd75",
        "mcd50-mcd75+d",
        "mcd50-mcd75+flip",
        "mcd50-mcd75+rotate",
        "mcd50-mcd75+rotate+d",
        "mcd50-mcd75+redraw",
        "mcd50-mcd75+redraw+d",
        "sa+redraw+d",
        "hr-tyler+redraw+d",
    )
    kinds: tuple[str, ...] = tuple(KINDS)
    n: tuple[int, ...] = (60, 240, 1000)
    columns: tuple[int, ...] = (5, 10, 20)
    digits_columns: tuple[int, ...] = (2, 3, 4)
    releases_columns: tuple[int, ...] = (4, 5, 10)
    insiders_columns: tuple[int, ...] = (2, 3, 4)
    severities: tuple[float, ...] = (10.0, 20.0, 50.0)
    tables: int = 20
    slow_tables: int = 6
    block: int = 10
    seed: int = 2026

    def __post_init__(self) -> None:
        """Refuse unknown names, and what cannot be run."""
        for known, given, what in (
            (ATTACKS, self.attacks, "attack"),
            (KINDS, self.kinds, "kind of tables"),
        ):
            for name in given:
                if name not in known:
                    raise UnknownNameError(what, name, known)
        for method in self.methods:
            method_of(method)
        empty = [field.name for field in fields(self) if getattr(self, field.name) == ()]
        if empty:
            raise InputError(f"The study of attacks needs at least one of {', '.join(empty)}.")
        if min(self.n) < 40 or min(self.columns) < 2:
            raise InputError("The study of attacks needs 40 rows and 2 columns or more.")
        if min(self.tables, self.slow_tables, self.block) < 1:
            raise InputError("The study of attacks needs 1 table or more.")

    @property
    def usual_n(self) -> int:
        """The number of rows in the middle of those given."""
        return sorted(self.n)[len(self.n) // 2]


def attacks_study(config: AttacksConfig) -> Work:
    """Return the study: a job for every block of tables of every cell."""
    return Work("attacks", config, tuple(_jobs(config)), attack_block)


def _jobs(config: AttacksConfig) -> Iterator[Job]:
    for cell in _cells(config):
        tables = config.tables if cell["attack"] in _FAST else config.slow_tables
        for first in range(0, tables, config.block):
            last = min(first + config.block, tables)
            name = "-".join(
                [
                    cell["attack"].replace(" ", "_"),
                    cell["kind"],
                    f"n{cell['n']}",
                    f"c{cell['columns']}",
                    f"k{cell['severity']:g}",
                    f"r{first:04d}",
                ]
            )
            yield Job(name, {**cell, "first": first, "last": last}, (last - first) * _cost(cell))


def _cost(cell: dict[str, Any]) -> float:
    """Return about how many seconds one table takes with all methods."""
    n, p = float(cell["n"]), float(cell["columns"])
    seconds: dict[str, float] = {
        "reassembly": 0.05 + n * p / 20_000,
        "digits": 0.2 * 5.0 ** (p - 2),
        "two releases": 3.0 + 0.4 * p,
        "insiders": 0.04 * 10.0 ** max(p - 3, 0) + 0.04,
        "all but one": 2.0 + n / 300,
        "membership": n * n * p / 2e6,
    }
    return seconds[str(cell["attack"])]


def _cells(config: AttacksConfig) -> Iterator[dict[str, Any]]:
    """Yield the cells of every attack: what takes milliseconds gets most of them."""
    usual, first, others = config.usual_n, config.kinds[0], config.kinds[1:]
    narrow = config.columns[0]
    crowd = [(first, n, narrow) for n in config.n]
    crowd += [(first, usual, p) for p in config.columns[1:]]
    crowd += [(kind, usual, narrow) for kind in others]
    lone = crowd + [(kind, usual, p) for kind in others for p in config.columns[1:2]]
    steps = {p: _STEPS if p < _MANY else _FEW_STEPS for p in config.digits_columns}
    few = min(usual, _INSIDERS_ROWS)
    smaller = [n for n in config.n if n <= usual]
    cells = {
        "reassembly": [(*shape, severity) for shape in lone for severity in config.severities],
        "digits": [("normal", usual, p, step) for p, step in steps.items()],
        "two releases": [("normal", usual, p, 0.0) for p in config.releases_columns],
        "insiders": [("normal", few, p, 0.0) for p in config.insiders_columns],
        "all but one": [(kind, n, narrow, 0.0) for kind in config.kinds[:2] for n in smaller],
        "membership": [(*shape, 0.0) for shape in crowd],
    }
    for attack in config.attacks:
        yield from (dict(zip(CELL, (attack, *cell), strict=True)) for cell in cells[attack])


def attack_block(
    config: AttacksConfig, *, first: int, last: int, **cell: Any
) -> dict[str, np.ndarray]:
    """Return all measures of one attack on every method for the tables first..last-1 of a cell.

    A cell is named by `CELL`. All methods see the same tables and the same key. What a method
    cannot release, or an attack cannot look at, is NaN with the reason beside it.
    """
    named = attack, kind, n, columns, severity = tuple(cell[name] for name in CELL)
    key = as_key(config.seed).child(f"attacks {named}")
    numbers = list(ATTACKS).index(attack), list(KINDS).index(kind)
    place = (config.seed, *numbers, n, columns, round(10 * severity))
    found: list[dict[str, Any]] = []
    for number in range(first, last):
        seed = (*place, number)
        generator = np.random.default_rng(seed)
        population = drawn_population(kind, columns, generator)
        table = population.people(n, generator)
        if attack == "reassembly":
            table[-1] = population.lone_person(severity, generator)
        for method in map(method_of, config.methods):
            secret = key.child("release", number)
            target = Target(table, population, method, secret, seed, severity)
            record = {**cell, "table": number, "method": method.name}
            found += [
                {**record, "measure": measure, "value": value, "reason": reason}
                for measure, value, reason in _measured(attack, target)
            ]
    return columns_of(found)


def _measured(attack: str, target: Target) -> list[tuple[str, float, str]]:
    try:
        with warnings.catch_warnings():
            # That few columns leave rows as they are with flip is among what is measured.
            warnings.simplefilter("ignore", VerbatimColumnWarning)
            return [(name, value, "") for name, value in ATTACKS[attack](target).items()]
    except ICSAError as error:
        return [("not run", np.nan, f"{target.method.name}: {error}")]
