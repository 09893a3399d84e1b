"""Invented tables with several rows a person: visits, households, clusters, a balanced design."""

from __future__ import annotations

import numpy as np
import polars as pl


def visits(n: int = 90, seed: int = 0) -> pl.DataFrame:
    """Return irregular visits: levels and slopes of each person's own, a flag, gaps, a sum."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n):
        followed = int(rng.integers(200, 2200))
        age, sex = int(rng.integers(25, 80)), "fm"[int(rng.random() < 0.4)]
        level, slope = rng.normal(1.0 + 0.02 * (age - 50), 0.8), rng.normal(0.15, 0.1)
        days = np.cumsum(np.concatenate([[0.0], rng.lognormal(5.2, 0.3, 12)])).astype(int)
        for day in days[days <= followed][: int(rng.integers(1, 12))]:
            crp = np.exp(level + slope * day / 365.0 + rng.normal(0, 0.3))
            pain = int(np.clip(rng.normal(2.0 + 0.5 * level, 0.8), 0, 4))
            albumin = None if rng.random() < 0.1 else round(rng.normal(3.6 - 0.15 * level, 0.2), 2)
            part, more = (int(number) for number in rng.integers(0, 25, 2))
            of_person = (1000 + 7 * person, followed, age, sex)
            high = "yes" if crp > 6 else "no"
            rows.append(
                (*of_person, int(day), round(crp, 1), pain, albumin, part, more, part + more, high)
            )
    names = [
        "id",
        "followed",
        "age",
        "sex",
        "day",
        "crp",
        "pain",
        "albumin",
        "part",
        "more",
        "total",
        "high",
    ]
    return pl.DataFrame(rows, schema=names, orient="row")


def falls(n: int = 150, seed: int = 0) -> pl.DataFrame:
    """Return visits of people half of whom die, and fall just before they do."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n):
        died, followed = int(rng.random() < 0.5), int(rng.integers(300, 2000))
        level = rng.normal(4.0, 0.3)
        days = np.cumsum(np.concatenate([[0.0], rng.lognormal(5.2, 0.3, 12)])).astype(int)
        for day in days[days < followed]:
            fallen = 1.5 * died * np.exp(-(followed - day) / 250)
            protein = round(float(level - fallen + rng.normal(0, 0.15)), 2)
            other = round(float(rng.normal(2.0 + 0.3 * level, 0.4)), 2)
            rows.append((1000 + person, followed, died, int(day), protein, other))
    names = ["id", "followed", "died", "day", "protein", "other"]
    return pl.DataFrame(rows, schema=names, orient="row")


def balanced(n: int = 120, seed: int = 0) -> pl.DataFrame:
    """Return four measurements of everybody, at the same ages."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n):
        sex = "fm"[person % 2]
        level, slope = rng.normal(22 + (sex == "m"), 2), rng.normal(0.5 + 0.3 * (sex == "m"), 0.2)
        for age in (8, 10, 12, 14):
            mm = level + slope * (age - 8) + rng.normal(0, 1)
            rows.append((f"S{person:03}", sex, age, round(mm * 2) / 2, bool(rng.random() < 0.3)))
    return pl.DataFrame(rows, schema=["subject", "sex", "age", "mm", "brace"], orient="row")


def households(n: int = 150, seed: int = 0) -> pl.DataFrame:
    """Return heads, partners and children, alike in their schooling; some cells are missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for home in range(n):
        rooms, town = int(rng.integers(1, 8)), "NSEW"[int(rng.integers(0, 4))]
        school, age = rng.normal(12, 2.5), int(rng.integers(25, 80))
        members = [("head", age)]
        if rng.random() < 0.6:
            members.append(("partner", age + int(rng.normal(-2, 4))))
        children = min(int(rng.poisson(1.0)), 5)
        members += [("child", max(0, age - 28 - int(rng.integers(0, 9)))) for _ in range(children)]
        for role, years in members:
            schooling = None if rng.random() < 0.05 else round(float(school + rng.normal(0, 2)), 1)
            rows.append((home, rooms, town, role, years, schooling, bool(rng.random() < 0.5)))
    names = ["household", "rooms", "town", "role", "age", "schooling", "woman"]
    return pl.DataFrame(rows, schema=names, orient="row")


def clusters(n: int = 60, seed: int = 0) -> pl.DataFrame:
    """Return pupils in schools, with a mean of the school's pupils."""
    rng = np.random.default_rng(seed)
    rows = []
    for school in range(n):
        sector, level = "ab"[int(rng.random() < 0.5)], rng.normal(0, 1)
        funds = round(float(rng.normal(50 + 5 * level, 5)), 1)
        ses = np.round(rng.normal(0.4 * level, 0.8, int(rng.integers(12, 45))), 3)
        for own in ses:
            marks = round(float(10 + level + 2 * own + (sector == "b") + rng.normal(0, 2)), 2)
            rows.append((200 + 3 * school, sector, funds, float(ses.mean()), float(own), marks))
    names = ["school", "sector", "funds", "mean_ses", "ses", "marks"]
    return pl.DataFrame(rows, schema=names, orient="row")
