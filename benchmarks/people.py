"""What releases of people with several rows, and of weighted samples, keep: one command, one page.

    python -m benchmarks.people [--folder FOLDER] [--releases 20] [--others 5] [--only NAME ...]
                                [--json FILE] [--rst docs/people_results.rst]

The folder holds pbcseq.csv, mathachieve.csv and apistrat.csv; those it lacks are left out. All
other tables are shipped by statsmodels or simulated with seeds of their own (`people_studies`).
Every table is released so many times as it should be; beside that stand rows released as if they
were people, with the old names put beside them (or weights released as any other column), and whole
people drawn with replacement from the original: what another sample of the same size would give.

bSE      mean error of a model's coefficients, in the original's standard errors
overlap  of the 95% intervals with the original's
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from benchmarks.people_studies import Study, studies
from benchmarks.to_rst import list_table
from icsa.randomness import as_key
from icsa.release import anonymize, plan, prepare, release
from icsa.tables import from_frame
from icsa.utility.estimates import Estimated, Outcome, interval_overlap

Made = Callable[[int], pl.DataFrame]
OWN, FLAT, SAMPLE = "icsa", "rows as people", "people drawn again"
INTRODUCTION = """\
``python -m benchmarks.people --folder FOLDER`` makes these tables: {releases} releases, {others} of
what is beside them; in brackets standard errors over releases, and of the original its own standard
error. bSE is the mean error of a model's coefficients in the original's standard errors, overlap
that of confidence intervals. Tables with a star took part in the making of the method, the others
did not. *Rows as people*: released row by row, the old names put beside the rows; of apistrat the
weight released as any other column. *People drawn again*: whole people of the original, drawn with
replacement.
"""


def ways(study: Study) -> dict[str, Made]:
    """Return how the table is released, and what stands beside."""
    prepared = prepare(from_frame(study.frame), design=study.said)
    planned = plan(prepared)
    unit = study.said["unit"]

    def by_icsa(seed: int) -> pl.DataFrame:
        return release(planned, as_key(seed)).table.frame

    def by_row(seed: int) -> pl.DataFrame:
        if not unit:
            return anonymize(study.frame, unit=False, random_state=seed).table
        others = study.frame.drop(unit)
        made = anonymize(others, unit=False, random_state=seed).table
        return made.with_columns(study.frame[unit])

    def drawn_again(seed: int) -> pl.DataFrame:
        rng = np.random.default_rng([19, seed])
        if not unit:
            return study.frame[rng.integers(0, study.frame.height, study.frame.height)]
        groups = study.frame.partition_by(unit, maintain_order=True)
        chosen = rng.integers(0, len(groups), len(groups))
        return pl.concat(
            groups[which].with_columns(pl.lit(place).alias(unit))
            for place, which in enumerate(chosen)
        )

    return {OWN: by_icsa, FLAT: by_row, SAMPLE: drawn_again}


def found_in(study: Study, frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the outcomes of all models, and the figures, of one table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = study.prepared(frame.to_pandas())
        return {
            "models": {model.name: _fitted(model.fit, rows) for model in study.models},
            "besides": {model.name: _fitted(model.fit, rows) for model in study.besides},
            "figures": dict(study.figures(rows)),
        }


def _fitted(
    fit: Callable[[pd.DataFrame], dict[str, Outcome]], rows: pd.DataFrame
) -> dict[str, Outcome]:
    """Return a model's outcomes; none where a table cannot bear it."""
    try:
        return fit(rows)
    except (ValueError, np.linalg.LinAlgError):
        return {}


def errors_of(
    before: dict[str, dict[str, Outcome]], after: dict[str, dict[str, Outcome]]
) -> tuple[float, float]:
    """Return the mean error in standard errors, and the mean overlap; NaN where nothing is."""
    errors, overlaps = [], []
    for model, coefficients in before.items():
        for name, old in coefficients.items():
            new = after[model].get(name)
            if isinstance(old, Estimated) and isinstance(new, Estimated):
                shared = interval_overlap(old, new)
                errors.append(abs(new.value - old.value) / old.standard_error)
                overlaps += [shared] if isinstance(shared, float) else []
    return (float(np.mean(errors)), float(np.mean(overlaps))) if errors else (np.nan, np.nan)


def measured(study: Study, releases: int, others: int) -> dict[str, Any]:
    """Return all that is asked of a table, of every way and release."""
    original = found_in(study, study.frame)
    result: dict[str, Any] = {
        "rows": study.frame.height,
        "units": study.frame[study.said["unit"]].n_unique() if study.said["unit"] else None,
        "about": study.about,
        "part": study.part,
        "original": _plain(original),
        "ways": {},
    }
    for name, made in ways(study).items():
        each = [found_in(study, made(seed)) for seed in range(releases if name == OWN else others)]
        result["ways"][name] = {
            "errors": [errors_of(original["models"], one["models"]) for one in each],
            "found": [_plain(one) for one in each],
        }
        both = zip(*result["ways"][name]["errors"], strict=True)
        print(study.name, name, *map(_with_error, both), flush=True)
    return result


def _plain(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return coefficients of Cox models and figures, as numbers and their errors."""
    shown: dict[str, Any] = {}
    for model, outcomes in {**found["models"], **found["besides"]}.items():
        if model.startswith("Cox"):
            for name, outcome in outcomes.items():
                if isinstance(outcome, Estimated):
                    shown[f"{model.split(':')[0]}, {name}"] = (
                        outcome.value,
                        outcome.standard_error,
                    )
    return shown | {name: (float(value), None) for name, value in found["figures"].items()}


def _with_error(values: Sequence[float]) -> str:
    """Return a mean with its standard error in brackets; of what is there."""
    known = np.array([value for value in values if np.isfinite(value)])
    if not known.size:
        return ""
    if known.size == 1:
        return f"{known[0]:.2f}"
    return f"{known.mean():.2f} ({known.std(ddof=1) / np.sqrt(known.size):.2f})"


def page(results: dict[str, Any], releases: int, others: int) -> str:
    """Return the tables of the documentation."""
    parts = [INTRODUCTION.format(releases=releases, others=others)]
    headings = ["table", "units", "rows"]
    headings += [f"{way}: {what}" for way in (OWN, FLAT, SAMPLE) for what in ("bSE", "overlap")]
    lines = []
    for name, result in results.items():
        cells = [f"{name}{' *' * result['part']}: {result['about']}"]
        cells += [f"{result['units']:,}" if result["units"] else "", f"{result['rows']:,}"]
        for way in (OWN, FLAT, SAMPLE):
            cells += [_with_error(own) for own in zip(*result["ways"][way]["errors"], strict=True)]
        lines.append(cells)
    parts += list_table(headings, lines)
    for name, result in results.items():
        if result["original"]:
            parts += [
                f"{name}:\n",
                *list_table(["what", "original", OWN, FLAT, SAMPLE], _details(result)),
            ]
    return "\n".join(parts).rstrip() + "\n"


def _details(result: dict[str, Any]) -> Iterator[list[str]]:
    """Yield a line for every coefficient of Cox models, and every figure."""
    for what, (value, error) in result["original"].items():
        beside = [
            _with_error([one[what][0] for one in result["ways"][way]["found"] if what in one])
            for way in (OWN, FLAT, SAMPLE)
        ]
        yield [what, f"{value:.2f}" if error is None else f"{value:.2f} ({error:.2f})", *beside]


def main() -> None:
    """Read the arguments, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--releases", type=int, default=20)
    parser.add_argument("--others", type=int, default=5)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rst", type=Path)
    given = parser.parse_args()
    results: dict[str, Any] = {}
    for study in studies(given.folder):
        if given.only and study.name not in given.only:
            continue
        results[study.name] = measured(study, given.releases, given.others)
        if given.json is not None:
            given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        if given.rst is not None:
            given.rst.write_text(page(results, given.releases, given.others), encoding="utf-8")


if __name__ == "__main__":
    main()
