"""Small tables and made-up standings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from icsa.choice.candidates import Candidate
from icsa.choice.standings import Standing, standing_of
from icsa.privacy.reasons import WORDS, Word


def patients(n: int = 70, seed: int = 5) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    height = generator.normal(170.0, 9.0, n).round(1)
    weight = (0.8 * (height - 170.0) + generator.normal(75.0, 9.0, n)).round(1)
    pressure = (0.5 * weight + generator.normal(90.0, 9.0, n)).round(1)
    dose = generator.lognormal(1.0, 0.5, n).round(2)
    return pl.DataFrame({"height": height, "weight": weight, "pressure": pressure, "dose": dose})


def rows_of(
    losses: Sequence[float],
    words: Sequence[Word] | Word = "release",
    areas: Sequence[float] = (0.55, 0.53),
    found: Sequence[float] = (0.0, 0.0),
    assessed: Word | None = None,
) -> pl.DataFrame:
    """Return the rows of a trial, as made up."""
    said = [words] * len(losses) if isinstance(words, str) else list(words)
    rows: list[tuple[str, int, str, float, str]] = []
    for number, (loss, word) in enumerate(zip(losses, said, strict=True)):
        rows.append(("key", number, "word", float(list(WORDS).index(word)), ""))
        rows.append(("key", number, "pairs", loss, ""))
        rows.append(("key", number, "loss", loss, ""))
    for number, area in enumerate(areas):
        rows.append(("split", number, "area", area, ""))
        rows.append(("split", number, "variance", 4e-4, ""))
        rows.append(("split", number, "inference", 0.01, ""))
    rows += [("planting", number, "found", share, "") for number, share in enumerate(found)]
    if assessed is not None:
        rows.append(("assessed", 0, "word", float(list(WORDS).index(assessed)), "a reason"))
    return pl.DataFrame(rows, schema=["what", "number", "measure", "value", "note"], orient="row")


def standing(
    name: str, raced: Sequence[float], fresh: Sequence[float] = (), **made_up: object
) -> Standing:
    """Return a candidate with these losses in the race and under fresh keys."""
    options: Mapping[str, str] = {"rival": name} if name in ("mdav", "cart") else {}
    mask = "rotate" if "rotate" in name else ""
    candidate = (
        Candidate(name=name, mask=mask, **options)
        if not options
        else Candidate(name=name, **options)
    )
    word = made_up.pop("assessed", "release" if fresh else None)
    rows = rows_of(raced, **made_up)  # type: ignore[arg-type]
    last = rows_of(fresh, assessed=word) if fresh else None  # type: ignore[arg-type]
    return standing_of(candidate, rows, last)
