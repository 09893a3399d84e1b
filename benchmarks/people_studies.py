"""Tables with several rows a person, or weights, and what is asked of them.

Some took part in the making of releases on two levels, others did not: visits whose hazard hangs on
what was measured last, dietox and epil as statsmodels ships them. Simulated ones have seeds of
their own and hold nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from benchmarks.people_models import (
    Model,
    cox_at_baseline,
    cox_over_time,
    lag_1,
    mixed_model,
    regression,
    rows_a_unit,
    share_between,
    weighted_mean,
    weighted_regression,
)

__all__ = ["Study", "studies"]

Figures = Callable[[pd.DataFrame], Iterator[tuple[str, float]]]


@dataclass(frozen=True)
class Study:
    """A table, how it is released, and what is asked of it.

    Attributes
    ----------
    name, about : str
    frame : polars.DataFrame
    said : dict
        Arguments of `icsa.anonymize`.
    models : tuple of Model
        Those whose errors are averaged.
    besides : tuple of Model
        Those whose coefficients are shown, and not averaged.
    prepared : function
        What an analyst makes of a table first: logarithms, years.
    figures : function
        From such a table to named numbers.
    part : bool
        Whether the table took part in the making.
    """

    name: str
    about: str
    frame: pl.DataFrame
    said: dict[str, Any]
    models: tuple[Model, ...]
    besides: tuple[Model, ...] = ()
    prepared: Callable[[pd.DataFrame], pd.DataFrame] = field(default=lambda frame: frame)
    figures: Figures = field(default=lambda _frame: iter(()))
    part: bool = False


def studies(folder: Path | None) -> Iterator[Study]:
    """Yield every study; those whose files are not in the folder are left out."""
    for name, of_file in {"pbcseq": _pbcseq, "mathachieve": _math, "apistrat": _schools}.items():
        file = None if folder is None else folder / f"{name}.csv"
        if file is not None and file.exists():
            yield from of_file(pl.read_csv(file, null_values="NA", infer_schema_length=None))
    yield _balanced()
    yield _visits()
    yield _joint("joint 1", 15, n=250, lasting=2400.0, gap=200.0)
    yield _joint("joint 2", 51, n=400, lasting=1200.0, gap=90.0)
    yield _households()
    yield _dietox()
    yield _epil()


def _over_time(unit: str, time: str, *columns: str) -> Figures:
    """Return lag-1 correlations, shares between units and numbers of rows."""

    def found(frame: pd.DataFrame) -> Iterator[tuple[str, float]]:
        for column in columns:
            yield f"lag-1 correlation, {column}", lag_1(frame, unit, time, column)
        for column in columns:
            yield f"share between units, {column}", share_between(frame, unit, column)
        yield from rows_a_unit(frame, unit)

    return found


def _pbcseq(frame: pl.DataFrame) -> Iterator[Study]:
    """Yield visits of patients with liver disease."""

    def prepared(found: pd.DataFrame) -> pd.DataFrame:
        return found.assign(
            log_bili=np.log(found["bili"]),
            log_protime=10.0 * np.log(found["protime"]),
            year=found["day"] / 365.25,
            first=found["day"] == found.groupby("id")["day"].transform("min"),
        )

    terms, ended = "log_bili + albumin + age", ("id", "day", "futime", "status == 2")
    at_first = regression("log_bili ~ age + sex + albumin + log_protime", "id")
    yield Study(
        name="pbcseq",
        about="visits of patients",
        frame=frame,
        said={"unit": "id", "time": "day", "bound": "futime"},
        models=(
            mixed_model("log_bili ~ year + age", "id", "year"),
            mixed_model("albumin ~ year + age", "id", "year"),
            mixed_model("log_protime ~ year + trt", "id", "year"),
            cox_at_baseline(terms, *ended),
            Model(f"first rows: {at_first.name}", lambda f: at_first.fit(f[f["first"]])),
        ),
        besides=(cox_over_time(terms, *ended),),
        prepared=prepared,
        figures=_over_time("id", "day", "log_bili", "albumin"),
        part=True,
    )


def _math(frame: pl.DataFrame) -> Iterator[Study]:
    """Yield pupils of schools."""
    frame = frame.drop("MEANSES.school") if "MEANSES.school" in frame.columns else frame
    yield Study(
        name="MathAchieve",
        about="pupils of schools",
        frame=frame,
        said={"unit": "School"},
        models=(
            mixed_model("MathAch ~ SES + MEANSES + Sector", "School", "SES"),
            mixed_model("MathAch ~ Minority + Sex + SES + DISCLIM", "School"),
            mixed_model("SES ~ Minority + Sector + PRACAD", "School"),
        ),
        figures=lambda found: iter(
            [
                ("share between units, MathAch", share_between(found, "School", "MathAch")),
                ("share between units, SES", share_between(found, "School", "SES")),
                *rows_a_unit(found, "School"),
            ]
        ),
        part=True,
    )


def _schools(frame: pl.DataFrame) -> Iterator[Study]:
    """Yield a stratified sample of schools, with weights; and the same within strata."""
    kept = ["stype", "api00", "api99", "meals", "ell", "mobility", "emer", "enroll", "pw"]
    said: dict[str, Any] = {"unit": False, "weight": "pw"}
    within = {"apistrat": said, "apistrat within strata": {**said, "strata": ("stype",)}}
    for name, ways in within.items():
        yield Study(
            name=name,
            about="schools, weighted",
            frame=frame.select(kept),
            said=ways,
            models=(
                *(weighted_mean(name, "pw") for name in ("api00", "meals", "ell", "enroll")),
                weighted_regression("api00 ~ meals + ell + mobility", "pw"),
                weighted_regression("api00 ~ stype + meals + ell", "pw"),
            ),
            part=True,
        )


def _balanced() -> Study:
    """Return four measurements of everybody, after Orthodont."""
    rng = np.random.default_rng(41)
    n, ages = 240, np.array([8, 10, 12, 14])
    boy = np.arange(n) % 2
    effects = rng.multivariate_normal([0.0, 0.0], [[3.2, -0.1], [-0.1, 0.03]], n)
    slope = 0.48 + 0.3 * boy + effects[:, 1]
    mm = 20.9 + boy + effects[:, 0] + slope * (ages[:, None] - 8) + rng.normal(0, 1.3, (4, n))
    frame = pl.DataFrame(
        {
            "subject": np.repeat([f"S{k:03}" for k in range(n)], 4),
            "sex": np.repeat(np.where(boy == 1, "male", "female"), 4),
            "age": np.tile(ages, n),
            "mm": (mm.T.ravel() * 2).round() / 2,
            "jaw": (0.6 * mm.T.ravel() + rng.normal(0, 2, 4 * n)).round(1),
        }
    )
    return Study(
        name="balanced",
        about="240 people, 4 times, after Orthodont",
        frame=frame,
        said={"unit": "subject", "time": "age"},
        models=(
            mixed_model("mm ~ age * sex", "subject", "age"),
            mixed_model("jaw ~ age + sex + mm", "subject"),
        ),
        prepared=lambda found: found.assign(age=found["age"] - 11.0),
        figures=_over_time("subject", "age", "mm", "jaw"),
        part=True,
    )


def _visits() -> Study:
    """Return the invented visits of the examples."""
    file = Path(__file__).parent.parent / "examples" / "visits.csv"

    def prepared(found: pd.DataFrame) -> pd.DataFrame:
        return found.assign(
            log_crp=np.log(found["crp_mg_per_l"]),
            blood=found["haemoglobin_g_per_dl"],
            year=found["day"] / 365.25,
        )

    return Study(
        name="visits",
        about="examples/visits.csv",
        frame=pl.read_csv(file),
        said={"unit": "patient_id", "time": "day", "bound": "followed_days"},
        models=(
            mixed_model("log_crp ~ year + arm + age", "patient_id", "year"),
            mixed_model("blood ~ year + sex + log_crp", "patient_id"),
            mixed_model("pain ~ log_crp + arm", "patient_id"),
        ),
        prepared=prepared,
        figures=_over_time("patient_id", "day", "log_crp", "blood"),
        part=True,
    )


def _joint(name: str, seed: int, *, n: int, lasting: float, gap: float) -> Study:
    """Return visits until an event whose hazard hangs on what was measured, or the end of a study.

    Two markers have levels and slopes of each person's own; one falls faster and faster as the
    hidden time of the event comes near.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n):
        age, arm = int(rng.integers(30, 80)), int(rng.random() < 0.5)
        level, slope = rng.normal(0.02 * (age - 55), 0.8), rng.normal(0.5 - 0.4 * arm, 0.4)
        other = rng.normal(4.0, 0.35)
        frailty = 0.9 * level + 0.7 * slope - 0.8 * (other - 4.0)
        event = lasting * rng.weibull(1.4) * np.exp(-frailty)
        end = lasting * rng.uniform(0.4, 1.0)
        followed = max(int(min(event, end)), 20)
        days = np.cumsum(np.concatenate([[0.0], rng.lognormal(np.log(gap), 0.3, 60)])).astype(int)
        for day in days[days < followed]:
            marker = level + slope * day / lasting * 2.0 + rng.normal(0, 0.3)
            near = np.exp(-(event - day) / (2.0 * gap))
            low = other - 0.15 * marker - 0.6 * near + rng.normal(0, 0.2)
            of_person = (5000 + 3 * person, followed, int(event <= end), arm, age)
            cells = (int(day), round(float(np.exp(marker)), 2), round(float(low), 2))
            rows.append((*of_person, *cells))
    names = ["person", "followed", "died", "arm", "age", "day", "marker", "protein"]
    ended = ("person", "day", "followed", "died == 1")

    def prepared(found: pd.DataFrame) -> pd.DataFrame:
        return found.assign(log_marker=np.log(found["marker"]), year=found["day"] / 365.25)

    return Study(
        name=name,
        about=f"simulated: an event that hangs on two markers, {n} people",
        frame=pl.DataFrame(rows, schema=names, orient="row"),
        said={"unit": "person", "time": "day", "bound": "followed"},
        models=(
            mixed_model("log_marker ~ year + arm + age", "person", "year"),
            mixed_model("protein ~ year + log_marker", "person", "year"),
            cox_at_baseline("log_marker + protein + age + arm", *ended),
        ),
        besides=(cox_over_time("log_marker + protein + age", *ended),),
        prepared=prepared,
        figures=_over_time("person", "day", "log_marker", "protein"),
    )


def _households() -> Study:
    """Return 900 households with a weight each: heads, partners and children."""
    rng = np.random.default_rng(77)
    rows = []
    for home in range(900):
        rooms, town = int(rng.integers(1, 8)), "NSEW"[int(rng.integers(0, 4))]
        school, age = rng.normal(12, 2.5), int(rng.integers(25, 80))
        members = [("head", age)]
        if rng.random() < 0.6:
            members.append(("partner", age + int(rng.normal(-2, 3))))
        born = (max(0, age - 26 - int(rng.integers(0, 12))) for _ in range(rng.poisson(1.0)))
        members += [("child", years) for years in born]
        weight = round(float(np.exp(rng.normal(4 + 0.1 * rooms - 0.2 * (town == "N"), 0.4))), 2)
        for role, years in members:
            schooling = round(float(school + rng.normal(0, 2)), 1)
            income = round(float(np.exp(6 + 0.08 * schooling + 0.05 * rooms + rng.normal(0, 0.4))))
            rows.append((home, weight, rooms, town, role, years, schooling, income))
    names = ["home", "weight", "rooms", "town", "role", "age", "schooling", "income"]
    return Study(
        name="households",
        about="900 simulated households with weights",
        frame=pl.DataFrame(rows, schema=names, orient="row"),
        said={"unit": "home", "role": "role", "weight": "weight"},
        models=(
            *(weighted_mean(column, "weight") for column in ("age", "schooling", "income")),
            weighted_regression("np.log(income) ~ schooling + rooms + town", "weight"),
            mixed_model("schooling ~ age + rooms", "home"),
        ),
        figures=lambda found: iter(
            [
                ("share between units, schooling", share_between(found, "home", "schooling")),
                ("partners' ages, correlation", _of_partners(found)),
                *rows_a_unit(found, "home"),
            ]
        ),
    )


def _of_partners(frame: pd.DataFrame) -> float:
    """Return the correlation of a head's age with the partner's."""
    ages = frame[frame["role"] != "child"].pivot_table(index="home", columns="role", values="age")
    ages = ages.dropna()
    return float(np.corrcoef(ages["head"], ages["partner"])[0, 1])


def _shipped(package: str, name: str) -> pl.DataFrame:
    """Return a table that statsmodels ships."""
    with (files(package) / name).open(encoding="utf-8") as file:
        return pl.from_pandas(pd.read_csv(file, index_col=0))


def _dietox() -> Study:
    """Return weights of growing pigs."""
    frame = _shipped("statsmodels.regression.tests.results", "dietox.csv")
    kept = ["Pig", "Evit", "Cu", "Litter", "Start", "Time", "Weight", "Feed"]
    return Study(
        name="dietox",
        about="growing pigs, of statsmodels",
        frame=frame.select([name for name in kept if name in frame.columns]),
        said={"unit": "Pig", "time": "Time"},
        models=(
            mixed_model("Weight ~ Time + Cu", "Pig", "Time"),
            mixed_model("Weight ~ Time + Evit", "Pig"),
        ),
        figures=_over_time("Pig", "Time", "Weight"),
    )


def _epil() -> Study:
    """Return seizures of patients with epilepsy, at four times."""
    frame = _shipped("statsmodels.genmod.tests.results", "epil.csv")
    kept = [name for name in ("subject", "trt", "base", "age", "period", "y") if name in frame]
    return Study(
        name="epil",
        about="seizures at four times, of statsmodels",
        frame=frame.select(kept),
        said={"unit": "subject", "time": "period"},
        models=(
            mixed_model("root ~ period + trt + base + age", "subject"),
            regression("root ~ period + base", "subject"),
        ),
        prepared=lambda found: found.assign(root=np.sqrt(found["y"])),
        figures=_over_time("subject", "period", "root"),
    )
