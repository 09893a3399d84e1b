"""The race: all candidates get few draws, the clearly worse are dropped, the best get more.

Whoever is left is assessed in full, on fresh keys: the one that wins is judged by keys that had no
part in its winning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from icsa.choice.advice import preferred
from icsa.choice.budget import FINALISTS, DrawPlan, RoundDraws, Size
from icsa.choice.candidates import Candidate
from icsa.choice.standings import Standing, standing_of
from icsa.choice.trials import Draws, RaceConfig, Subject, as_arguments, try_candidate
from icsa.jobs import Job, Pace, Work, run, shown_progress

__all__ = ["Engine", "run_race"]


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Where jobs are done, and who is told.

    Attributes
    ----------
    workers, dask, folder
        As in `icsa.jobs.run`.
    progress : bool or callable
        Whether to show on standard error how far it is; or what to call with the name of a stage
        and the share of the work that is done.
    """

    workers: int = 1
    dask: Any = None
    folder: Path | None = None
    progress: bool | Callable[[str, float], None] = False


def run_race(
    candidates: Sequence[Candidate],
    config: RaceConfig,
    subject: Subject,
    plan: DrawPlan,
    size: Size,
    engine: Engine,
) -> list[Standing]:
    """Return where every candidate and rival stands in the end, in their order."""
    with _Race(candidates, config, subject, plan, size, engine) as race:
        for number in range(len(plan.rounds)):
            race.round(number)
        return race.finals()


class _Race:
    """A race under way: who is still in, and the rows of all trials."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        config: RaceConfig,
        subject: Subject,
        plan: DrawPlan,
        size: Size,
        engine: Engine,
    ) -> None:
        self._all = list(candidates)
        self._own = [one for one in candidates if not one.rival]
        self._config, self._subject = config, subject
        self._plan, self._size, self._engine = plan, size, engine
        self._rows: dict[str, list[pl.DataFrame]] = {one.name: [] for one in candidates}
        self._fresh: dict[str, pl.DataFrame] = {}
        self._pace = Pace(0, self._planned(), plan.seconds)
        self._shown = shown_progress("compare", self._pace, engine.progress is True)

    def __enter__(self) -> _Race:
        self._advance = self._shown.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._shown.__exit__(None, None, None)

    def round(self, number: int) -> None:
        """Give those who are still in their draws of a round."""
        found = self._plan.rounds[number]
        before = self._plan.rounds[:number]
        draws = Draws(
            keys=_next(before, found, "keys"),
            splits=_next(before, found, "splits"),
            plantings=_next(before, found, "plantings"),
        )
        seconds = found.seconds(self._size)
        who = self._all if not number else self._staying(number)
        if number:
            gone = self._most(number) - len(who)
            self._pace.forget(gone, gone * seconds)
        tried = self._tried(f"round-{number + 1}", who, draws, seconds)
        for one in who:
            self._rows[one.name].append(tried[one.name])

    def finals(self) -> list[Standing]:
        """Assess the best in full until one may be released; return where all stand."""
        left = preferred([one for one in self._ranking() if not one.surely_forbidden])
        number = 0
        while left:
            number += 1
            now, left = left[:FINALISTS], left[FINALISTS:]
            draws = Draws(keys=(0, self._plan.fresh), fresh=True)
            seconds = self._size.full + self._plan.fresh * self._size.key
            who = [one.candidate for one in now]
            self._fresh |= self._tried(f"final-{number}", who, draws, seconds)
            if any(self._standing(one).word == "release" for one in who):
                break
        return [self._standing(one) for one in self._all]

    def _planned(self) -> int:
        """Return how many jobs there are at most, if the first finalists are enough."""
        own = len(self._own)
        rounds = sum(map(self._most, range(len(self._plan.rounds))))
        return rounds + len(self._all) - own + min(FINALISTS, own)

    def _most(self, number: int) -> int:
        """Return how many of our own are in a round at most.

        Whoever was left out counts, so that the others go on as they would beside them.
        """
        return min(len(self._own), self._plan.staying(number, self._size.candidates))

    def _staying(self, number: int) -> list[Candidate]:
        """Return who is in a round: none that is clearly worse than the best, and at most half."""
        ranking = self._ranking()
        allowed = [one for one in ranking if not one.surely_forbidden] or ranking
        limit = allowed[0].raced.high if allowed else None
        close = [
            one.candidate
            for one in allowed
            if limit is None or one.raced.low is None or one.raced.low <= limit
        ]
        return close[: self._most(number)]

    def _ranking(self) -> list[Standing]:
        """Return our own candidates that can be made, the least loss first."""
        found = [self._standing(one) for one in self._own]
        made = [one for one in found if not one.why_not and one.raced.value is not None]
        return sorted(made, key=lambda one: (one.surely_forbidden, one.raced.value or 0.0))

    def _standing(self, candidate: Candidate) -> Standing:
        rows = self._rows[candidate.name]
        fresh = self._fresh.get(candidate.name)
        return standing_of(candidate, pl.concat(rows), fresh, rounds=len(rows))

    def _tried(
        self, name: str, who: Sequence[Candidate], draws: Draws, seconds: float
    ) -> dict[str, pl.DataFrame]:
        """Return the rows of some trials, by candidate."""
        if not who:
            return {}
        jobs = tuple(
            Job(one.job, {"candidate": as_arguments(one), "draws": asdict(draws)}, cost=seconds)
            for one in who
        )
        work = Work("compare", self._config, jobs, partial(try_candidate, subject=self._subject))
        engine = self._engine
        found = pl.DataFrame(
            run(
                work,
                None if engine.folder is None else engine.folder / name,
                workers=min(engine.workers, len(jobs)),
                dask=engine.dask,
                progress=lambda job: self._tell(name, job),
            )
        )
        return {one.name: found.filter(pl.col("candidate") == one.name) for one in who}

    def _tell(self, stage: str, job: Job) -> None:
        if callable(self._engine.progress):
            self._pace.advance(job.cost)
            self._engine.progress(stage, self._pace.share)
        else:
            self._advance(job)


def _next(before: Sequence[RoundDraws], now: RoundDraws, name: str) -> tuple[int, int]:
    start = sum(getattr(found, name) for found in before)
    return start, start + getattr(now, name)
