"""`compare`: this table's best release, beside all others and what rivals would do."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from icsa.assessment.asked import Asked, check_asked
from icsa.assessment.usefulness import fitted_models
from icsa.assessment.whom_compared import matched
from icsa.choice.advice import Advice, advise, front_of
from icsa.choice.budget import DrawPlan, Size, draw_plan
from icsa.choice.candidates import candidates_of
from icsa.choice.compared_rows import ToCompare, some_rows
from icsa.choice.race import Engine, run_race
from icsa.choice.standings import Standing
from icsa.choice.trials import RaceConfig, Subject
from icsa.errors import InputError
from icsa.files import write_text_atomically
from icsa.inspection import guess_schema
from icsa.inspection.units_seen import units_seen
from icsa.jobs import spoken
from icsa.measures import Measure
from icsa.release import prepare
from icsa.schema import Design, Schema, with_design
from icsa.tables import Table, from_frame
from icsa.utility.lost_curves import curves_of

__all__ = ["BUDGET", "Compared", "compare", "compare_declared"]

# Minutes of one core.
BUDGET = 5.0
_VERSION = 1


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Compared:
    """What a comparison found.

    Attributes
    ----------
    candidates : tuple of Standing
        Our own and rivals, with risk, loss and word.
    advice : Advice
        Which release, why, and what to type.
    plan : DrawPlan
        How many draws there were.
    n_rows, n_columns : int
        Of the table.
    notes : tuple of str
        What to know besides.
    """

    candidates: tuple[Standing, ...]
    advice: Advice
    plan: DrawPlan
    n_rows: int
    n_columns: int
    notes: tuple[str, ...] = ()

    @property
    def advised(self) -> Standing:
        """Where the advised candidate stands."""
        return next(one for one in self.candidates if one.candidate == self.advice.candidate)

    @property
    def front(self) -> tuple[Standing, ...]:
        """Those that nobody beats in both risk and loss, the least risk first."""
        return tuple(front_of(self.candidates))

    @property
    def picture_svg(self) -> str:
        """Risk across, loss up, as an inline SVG picture."""
        from icsa.choice.front_picture import front_picture

        return str(front_picture(self.candidates, self.front, self.advice))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        front = {one.name for one in self.front}
        return {
            "schema_version": _VERSION,
            "rows": self.n_rows,
            "columns": self.n_columns,
            "rows_compared": self.plan.rows,
            "notes": list(self.notes),
            "advice": {
                "candidate": self.advice.candidate.name,
                "may_be_released": self.advice.may_be_released,
                "text": self.advice.text,
                "command": self.advice.command,
                "options": self.advice.candidate.options,
            },
            "candidates": [_record(one, one.name in front) for one in self.candidates],
        }

    def to_json(self, path: str | Path) -> None:
        """Write `as_dict` as a file, as a whole or not at all."""
        text = json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        write_text_atomically(Path(path), f"{text}\n")

    def to_html(self, path: str | Path) -> None:
        """Write a page with the picture, the table and the advice, as a whole or not at all."""
        from icsa.choice.compare_page import compare_html

        write_text_atomically(Path(path), compare_html(self))

    def _repr_html_(self) -> str:
        from icsa.choice.compare_page import compare_card

        return compare_card(self)

    def __repr__(self) -> str:
        """Show who is advised and how many took part."""
        released = "advised" if self.advice.may_be_released else "none may be released, nearest"
        name = self.advice.candidate.name
        return f"<Compared: {released} {name!r} of {len(self.candidates)} candidates and rivals>"


def compare(
    table: Any,
    *,
    schema: Schema | None = None,
    unit: str | Literal[False] | None = None,
    time: str | None = None,
    bound: str | None = None,
    role: str | None = None,
    weight: str | None = None,
    strata: str | Sequence[str] = (),
    raking: bool = True,
    models: Sequence[str] = (),
    classify: Sequence[str] = (),
    methods: Sequence[str] = (),
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    budget: float = BUDGET,
    seed: int = 0,
    workers: int = 1,
    dask: str | None = None,
    folder: str | Path | None = None,
    progress: bool | Callable[[str, float], None] = False,
    schema_file: Path | None = None,
) -> Compared:
    """Return which release suits a table best, and where all others and rivals stand.

    Releases by several methods, recipes, masks and scatters race against each other, and against
    what others would do: each is measured under several keys, on halves of the people and with
    planted people, by the functions of `icsa.assess`. The clearly worse are dropped; the best are
    assessed in full, under fresh keys. Of those whose word is "release" the one that loses least is
    advised, never a rival.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or icsa.tables.Table
    schema : Schema, optional
        What each column is; by default guessed.
    unit, time, bound, role, weight, strata, raking : optional
        Whom the rows are about, as in `icsa.anonymize`; they go before what the schema says. With a
        unit people are compared, halved and planted with all their rows, and rivals, which know of
        rows only, are left out.
    models, classify : sequence of str
        Regressions to fit and columns to predict: what they lose counts as much as everything else.
    methods : sequence of str
        Methods ("icsa", "sa", "forest") and rivals ("mdav", "cart", ...) to take; by default all.
    keep, drop : sequence of str
        As in `icsa.anonymize`.
    budget : float
        Minutes of one core, by a fixed model of what draws cost, so that the same budget gives the
        same result on any machine. A long table is compared on a sample of its rows: at most 10,000
        of those with more than 200,000.
    seed : int
        Of everything random. No release of a race is handed out.
    workers, dask, folder
        As in `icsa.jobs.run`: the result does not depend on them, and a folder keeps what is
        finished.
    progress : bool or callable
        Whether to show on standard error how far it is, or what to call with the name of a stage
        and the share of the work that is done.
    schema_file : Path, optional
        Named in the command that is advised.

    Returns
    -------
    Compared

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> x = np.random.default_rng(1).normal(size=(80, 4)).round(2)
    >>> frame = pl.DataFrame(x, schema=["a", "b", "c", "d"])
    >>> found = compare(frame, methods=["sa", "bootstrap"], budget=0.01)
    >>> found.advice.candidate.rival, {one.name: one.word for one in found.candidates}["bootstrap"]
    ('', 'do not release')
    """
    source = table if isinstance(table, Table) else from_frame(table)
    names = (strata,) if isinstance(strata, str) else tuple(strata)
    rows = {"unit": unit, "time": time, "bound": bound, "role": role, "weight": weight}
    said = {**rows, "strata": names}
    own = said if raking else {**said, "raking": False}
    declared = _declared(source, schema, keep, drop, own)
    engine = Engine(
        workers=workers,
        dask=dask,
        folder=None if folder is None else Path(folder),
        progress=progress,
    )
    return compare_declared(
        ToCompare(
            schema=declared,
            n_rows=source.frame.height,
            n_columns=source.frame.width,
            some_rows=lambda count: some_rows(source, count, declared.design),
            file=None if source.origin is None else source.origin.path,
            said=said,
        ),
        engine,
        models=models,
        classify=classify,
        methods=methods,
        budget=budget,
        seed=seed,
        announced=progress is True,
        schema_file=schema_file,
    )


def compare_declared(
    source: ToCompare,
    engine: Engine,
    *,
    models: Sequence[str],
    classify: Sequence[str],
    methods: Sequence[str] = (),
    budget: float = BUDGET,
    seed: int = 0,
    announced: bool = False,
    schema_file: Path | None = None,
) -> Compared:
    """Return what `compare` does; `announced`: say first on standard error how long it takes."""
    declared = source.schema
    candidates = candidates_of(declared, methods)
    own = sum(not one.rival for one in candidates)
    size = Size(
        source.n_rows,
        source.n_columns,
        own,
        len(candidates) - own,
        len(models) + 4 * len(classify),
        designed=bool(declared.design.columns or declared.design.strata),
    )
    plan = draw_plan(size, budget)
    subject = Subject(source.some_rows(plan.rows), declared)
    config = _config(subject, seed, models, classify)
    if announced:
        told = _announced(plan, budget, engine.workers)
        print(f"icsa: {told}", file=sys.stderr, flush=True)
    standings = run_race(candidates, config, subject, plan, replace(size, rows=plan.rows), engine)
    advice = advise(standings, source.file, schema_file, source.said)
    if advice is None:
        raise InputError(f"No candidate can be made of this table: {standings[0].why_not}")
    return Compared(
        candidates=tuple(standings),
        advice=advice[0],
        plan=plan,
        n_rows=size.rows,
        n_columns=size.columns,
        notes=_notes(subject.table.frame.height, size.rows, declared.design),
    )


def _declared(
    table: Table,
    schema: Schema | None,
    keep: Sequence[str],
    drop: Sequence[str],
    said: Mapping[str, Any],
) -> Schema:
    """Return what is declared of a table; people with several rows must be spoken of."""
    declared = with_design(guess_schema(table) if schema is None else schema, **said)
    seen = units_seen(table) if declared.design.unit is None else None
    if seen is not None:
        raise InputError(
            f"Several rows are about one person: {seen.describe()}. Say so with {seen.options}, or "
            "in a schema. Where every row is a person of its own, say --unit none (unit=False)."
        )
    return prepare(table, schema=schema, keep=keep, drop=drop, design=said).schema


def _announced(plan: DrawPlan, budget: float, workers: int) -> str:
    """Return how long it takes; a budget below that of the smallest race is not kept."""
    shared = f", shared by {workers} workers" if workers > 1 else ""
    told = f"comparing takes about {spoken(plan.seconds)} of one core{shared}."
    if plan.seconds <= 60.0 * budget:
        return told
    return f"{told} That is more than the budget of {budget:g} minutes: it is the smallest race."


def _config(
    subject: Subject, seed: int, models: Sequence[str], classify: Sequence[str]
) -> RaceConfig:
    """Return what a race depends on; what is asked for is tried on the original first."""
    design = subject.schema.design
    asked = Asked(models=tuple(models), classify=tuple(classify), design=design)
    same = matched(subject.table, subject.table, subject.schema)
    check_asked(asked, same)
    fitted_models(same, asked)
    return RaceConfig(
        table_sha256=hashlib.sha256(subject.table.frame.write_csv().encode()).hexdigest(),
        seed=seed,
        models=asked.models,
        classify=asked.classify,
        curves=tuple(
            (curve.column, curve.first, curve.second) for curve in curves_of(same.columns)
        ),
    )


def _notes(compared: int, rows: int, design: Design) -> tuple[str, ...]:
    found = []
    if compared < rows:
        found.append(
            f"Compared on {compared:,} of {rows:,} rows, drawn at random: words, risks and losses "
            "are those of so short a table. A larger budget takes more of them. Assess the release "
            "itself."
        )
    if design.unit:
        found.append(
            f"People of {design.unit!r} were compared, halved and planted with all their rows. "
            "Rivals know of rows only, and were left out."
        )
    return tuple(found)


def _record(standing: Standing, on_front: bool) -> dict[str, Any]:
    candidate = standing.candidate
    return {
        "name": standing.name,
        "rival": bool(candidate.rival),
        "options": candidate.options,
        "can_be_made": not standing.why_not,
        "why_not": standing.why_not,
        "word": None if standing.why_not else standing.word,
        "words": dict(standing.words),
        "assessed": standing.assessed,
        "reasons": standing.reasons,
        "on_front": on_front,
        "risk": _measure(standing.risk),
        "members": _measure(standing.members),
        "planted": _measure(standing.planted),
        "gains": dict(standing.gains),
        "loss": _measure(standing.loss),
        "loss_in_race": _measure(standing.raced),
        "parts": dict(standing.parts),
        "fresh_keys": standing.fresh,
        "rounds": standing.rounds,
    }


def _measure(measure: Measure) -> dict[str, Any]:
    return {
        "value": measure.value,
        "low": measure.low,
        "high": measure.high,
        "n": measure.n,
        "reason": measure.reason or None,
    }
