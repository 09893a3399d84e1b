"""What the study of attacks found: tables with standard errors, a figure, claims yes or no."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from icsa.jobs import Work, read_parts
from icsa.studies.attacks import CELL
from icsa.studies.figures import reassembly_figure, save_figure
from icsa.studies.named_methods import Method, method_of
from icsa.studies.pages import Claim, Section, write_page, write_tables

__all__ = ["claims", "overview", "summary", "wide", "write_results"]

_CONTROL = ", control"
_NOTHING = 5e-4
# Shares that count as nearly all, as often, and as next to nothing.
_MOST, _HALF, _HARDLY = 0.8, 0.5, 0.05
# Errors relative to knowing nothing that count as everything and as little learnt.
_ALL_LEARNT, _LITTLE_LEARNT = 0.1, 0.85
_FAR = 50.0
_HIDDEN = 0.3
_CHANCE = 0.65
_INTRODUCTION = (
    "Each attack is run on releases of simulated tables by several methods, and on people who are "
    "not in the table (control). A lone person stands severity standard deviations out in a random "
    "direction; reassembly has found the person when its guess is within .1 of the person's "
    "squared length. Numbers in brackets are standard errors over tables.",
)
_TEXTS = {
    "reassembly": "The release alone. ORE of nearest row is what the paper measures, ORE of guess "
    "what the attacker gets; found is the share of guesses below .1.",
    "digits": "The release with all its digits, of a table of whole numbers; severity is their "
    "standard deviation. Share of the rows that come back, and of tables that do so whole.",
    "two releases": "Two releases of one table. Coordinates whose scores come out exactly, "
    "directions of the map, and people recognised by their scores.",
    "insiders": "One release and the rows of p + 2 people: share of the map's directions found.",
    "all but one": "One release and all rows but one. Error of the last row computed from the "
    "means, in standard deviations; errors of a trained attacker who has the map too, for the last "
    "person's score and its absolute value, where 1 is nothing learnt.",
    "membership": "One release and the true map. How well members are told from outsiders: area "
    "under the curve, .5 by chance.",
}


def summary(raw: dict[str, np.ndarray]) -> pl.DataFrame:
    """Return mean, standard error and number of tables of every measure in every cell.

    What could not be run is counted in ``not_run``, with the first reason.
    """
    frame = pl.DataFrame(raw)
    keys = [*CELL, "method"]
    failed = (
        frame.filter(pl.col("measure") == "not run")
        .group_by(keys, maintain_order=True)
        .agg(pl.len().alias("not_run"), pl.col("reason").first())
    )
    value = pl.col("value")
    found = (
        frame.filter(pl.col("measure") != "not run")
        .group_by([*keys, "measure"], maintain_order=True)
        .agg(
            value.mean().alias("mean"),
            (value.std() / value.len().sqrt()).alias("se"),
            value.median().alias("median"),
            value.len().alias("tables"),
        )
    )
    return found.join(failed, on=keys, how="left", maintain_order="left").with_columns(
        pl.col("not_run").fill_null(0), pl.col("reason").fill_null("")
    )


def wide(found: pl.DataFrame, attack: str) -> pl.DataFrame:
    """Return a row for every cell and method of an attack: each measure, and its standard error."""
    chosen = found.filter(pl.col("attack") == attack).with_columns(
        pl.struct("mean", "se").map_elements(_shown, return_dtype=pl.String).alias("shown")
    )
    keys = ["kind", "n", "columns", "severity", "method", "tables"]
    return chosen.pivot("measure", index=keys, values="shown", maintain_order=True)


def overview(found: pl.DataFrame) -> pl.DataFrame:
    """Return a row a method: what every attack reaches in its typical cell, control beside it."""
    methods = found["method"].unique(maintain_order=True).to_frame()
    for attack, measure, heading in _TYPICAL:
        cells = found.filter(pl.col("attack") == attack)
        if not cells.is_empty():
            column = _typical_column(_typical_cell(cells, attack), measure, heading)
            methods = methods.join(column, on="method", how="left", maintain_order="left")
    return methods


# Attack, measure, and how the column is headed; of its cells the one that `_typical_cell` says.
_TYPICAL = (
    ("reassembly", "found", "lone person found"),
    ("digits", "rows", "rows from digits"),
    ("two releases", "coordinates", "coordinates from two releases"),
    ("insiders", "directions", "directions by insiders"),
    ("all but one", "error from means", "last row from means, error"),
    ("all but one", "score", "last score learnt, error"),
    ("all but one", "size", "its size, error"),
    ("membership", "nearest", "membership with the map"),
)
# More columns than these are there to show where an attack ends.
_REACHED_COLUMNS = {"digits": 4, "two releases": 4, "insiders": 4}


def _typical_column(cell: pl.DataFrame, measure: str, heading: str) -> pl.DataFrame:
    attack, n, columns, severity = cell.select("attack", "n", "columns", "severity").row(0)
    far = f", {severity:g} sd" if attack == "reassembly" else ""
    title = f"{heading} ({n} x {columns}{far})"
    control = cell.filter(pl.col("measure") == measure + _CONTROL).select(
        "method", pl.struct("mean", "se").alias("control")
    )
    joined = cell.filter(pl.col("measure") == measure).join(control, on="method", how="left")
    texts = [
        _shown(row) + (f"; {_shown(row['control'])}" if row["control"] is not None else "")
        for row in joined.iter_rows(named=True)
    ]
    return joined.select("method", pl.Series(title, texts, dtype=pl.String))


def _typical_cell(cells: pl.DataFrame, attack: str) -> pl.DataFrame:
    """Return the first kind, the middle n, the farthest person, and columns within reach."""
    cells = cells.filter(pl.col("kind") == cells["kind"][0])
    sizes = cells["n"].unique().sort().to_list()
    # All but one is run with the smaller tables; its largest is the others' middle.
    middle = sizes[-1] if attack == "all but one" else sizes[len(sizes) // 2]
    cells = cells.filter(pl.col("n") == middle)
    widths = cells["columns"].unique().sort().to_list()
    within = [width for width in widths if width <= _REACHED_COLUMNS.get(attack, widths[0])]
    cells = cells.filter(pl.col("columns") == max(within, default=widths[0]))
    return cells.filter(pl.col("severity") == cells["severity"].max())


def _shown(row: dict[str, float | None]) -> str:
    """Return a mean with its standard error in brackets."""
    mean, error = row["mean"] or 0.0, row["se"]
    # What rounding leaves of an exact copy is nothing.
    text = "0" if abs(mean) < _NOTHING else f"{mean:.{3 if abs(mean) < 0.1 else 2}f}"
    return text if error is None else f"{text} ({0.0 if error < _NOTHING else error:.2g})"


def claims(found: pl.DataFrame) -> list[Claim]:
    """Return what is said of the masks on the pages, with a yes or no from these results."""
    return [
        *_reassembly(found),
        *_shares(found, "digits", "rows"),
        *_shares(found, "two releases", "coordinates"),
        *_insiders(found),
        *_all_but_one(found),
        *_membership(found),
    ]


def _keeps_scores(method: Method) -> bool:
    return method.mask == "permute"


def _draws_anew(method: Method) -> bool:
    return method.mask in ("rotate", "redraw")


def _keeps_robust_scores(method: Method) -> bool:
    return _keeps_scores(method) and all(name.startswith("mcd") for name in method.scatters)


def _of(
    found: pl.DataFrame, attack: str, measure: str, wanted: Callable[[Method], bool]
) -> pl.DataFrame:
    """Return the cells of an attack's measure for the methods that are wanted."""
    names = [name for name in found["method"].unique() if wanted(method_of(name))]
    return found.filter(
        pl.col("attack") == attack, pl.col("measure") == measure, pl.col("method").is_in(names)
    )


def _claim(
    text: str, cells: pl.DataFrame, holds: Callable[[pl.Series], pl.Series]
) -> Iterator[Claim]:
    """Yield the claim that the means of all cells satisfy something, unless there are none."""
    if not cells.is_empty():
        ends = [cells.sort("mean").row(place, named=True) for place in (0, -1)]
        least, largest = (f"{end['mean']:.3f} ({end['se'] or 0.0:.3f})" for end in ends)
        detail = f"{least} to {largest} in {cells.height} cells"
        yield Claim(text, bool(holds(cells["mean"]).all()), detail)


def _reassembly(found: pl.DataFrame) -> Iterator[Claim]:
    far = found.filter(pl.col("severity") == _FAR, pl.col("columns") == 5, pl.col("n") == 240)
    yield from _claim(
        "permute, robust scatters: a lone person at 50 sd among 240 with 5 columns is put together "
        "again in more than half of the tables, whatever their kind.",
        _of(far, "reassembly", "found", _keeps_robust_scores),
        lambda mean: mean > _HALF,
    )
    hidden = _of(far, "reassembly", "ORE of nearest row", _keeps_robust_scores)
    yield from _claim(
        "The paper's ORE calls the same people hidden.", hidden, lambda mean: mean > _HIDDEN
    )
    anew = _of(found, "reassembly", "found", _draws_anew)
    text = "rotate, redraw: fewer than one person in 1,000 is found, over all cells."
    yield from _fewer_than(0.001, text, anew)
    control = _of(found, "reassembly", f"found{_CONTROL}", lambda _: True)
    text = "Fewer than one in 100 who are not in the table are found, over all cells and methods."
    yield from _fewer_than(0.01, text, control)


def _fewer_than(limit: float, text: str, cells: pl.DataFrame) -> Iterator[Claim]:
    if not cells.is_empty():
        people = int(cells["tables"].sum())
        times = round(float((cells["mean"] * cells["tables"]).sum()))
        yield Claim(text, times < limit * people, f"{times} of {people}")


def _shares(found: pl.DataFrame, attack: str, measure: str) -> Iterator[Claim]:
    yield from _claim(
        f"{attack}: permute gives nearly all {measure} away with up to 4 columns, decorrelated or "
        "not.",
        _of(found.filter(pl.col("columns") <= 4), attack, measure, _keeps_scores),
        lambda mean: mean > _MOST,
    )
    yield from _claim(
        f"{attack}: rotate and redraw give no {measure} away.",
        _of(found, attack, measure, _draws_anew),
        lambda mean: mean == 0.0,
    )


def _insiders(found: pl.DataFrame) -> Iterator[Claim]:
    plain = _of(found, "insiders", "directions", lambda m: m.is_published)
    yield from _claim(
        "insiders: p + 2 of them find nearly the whole map of a permuted release.",
        plain,
        lambda mean: mean > _MOST,
    )
    others = _of(found, "insiders", "directions", lambda m: not m.is_published)
    yield from _claim(
        "insiders: they find nothing of any other release.", others, lambda mean: mean < _HARDLY
    )


def _all_but_one(found: pl.DataFrame) -> Iterator[Claim]:
    attack, normal = "all but one", found.filter(pl.col("kind") == "normal")
    yield from _claim(
        "all but one: where means are kept (permute, and decorrelating after anything but redraw) "
        "the last row is computed exactly.",
        _of(
            found,
            attack,
            "error from means",
            lambda m: m.mask == "permute" or (m.decorrelate and m.mask != "redraw"),
        ),
        lambda mean: mean < 1e-6,
    )
    yield from _claim(
        "all but one: flip and rotate hide the sign of the last score and give its size away, in "
        "normal tables.",
        _of(normal, attack, "size", lambda m: m.mask in ("flip", "rotate")),
        lambda mean: mean < _ALL_LEARNT,
    )
    for measure in ("score", "size"):
        yield from _claim(
            f"all but one: with redraw little is learnt of the last person's {measure}.",
            _of(found, attack, measure, lambda m: m.mask == "redraw"),
            lambda mean: mean > _LITTLE_LEARNT,
        )


def _membership(found: pl.DataFrame) -> Iterator[Claim]:
    yield from _claim(
        "membership: who has the map recognises every member of a permuted release.",
        _of(found, "membership", "nearest", lambda m: m.is_published),
        lambda mean: mean > 0.99,
    )
    narrow = found.filter(pl.col("columns") <= 10)
    for measure in ("nearest", "density"):
        yield from _claim(
            f"membership: with redraw the area under the curve ({measure}) is below .65, with up "
            "to 10 columns.",
            _of(narrow, "membership", measure, lambda m: m.mask == "redraw"),
            lambda mean: mean < _CHANCE,
        )


def write_results(study: Work, out: Path) -> None:
    """Write summary.csv, overview.csv, a table an attack, the figure, claims and report.html."""
    raw = read_parts(study, out)
    found = summary(raw)
    short = overview(found)
    write_tables(out, summary=found, overview=short)
    text = (
        "Success in the typical cell of each attack (standard error); after the semicolon the "
        "same on people who are not in the table."
    )
    sections = [Section("Which mask withstands what", text, short)]
    if "reassembly" in found["attack"]:
        figure = save_figure(reassembly_figure(pl.DataFrame(raw)), out / "figures", "attacks")
        caption = (
            "Each point is a table. Across: what the ORE says, the nearest released row. Upward: "
            "the guess that the attacker makes. Below the line the person has been found."
        )
        sections.append(
            Section("What the ORE says, and what the attacker gets", figure=figure, caption=caption)
        )
    for attack in found["attack"].unique(maintain_order=True):
        table = wide(found, attack)
        write_tables(out, **{attack.replace(" ", "_"): table})
        sections.append(Section(attack.capitalize(), _TEXTS[attack], table))
    write_page(out, "Attacks: which masks withstand", _INTRODUCTION, sections, claims(found))
