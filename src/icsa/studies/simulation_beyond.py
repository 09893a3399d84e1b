"""What the simulation says beyond the paper: decorrelated masks, and other ones.

Every cell gets a verdict by the intervals of paired differences; claims count the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from icsa.studies.figures import save_figure, scenario_figure
from icsa.studies.named_methods import DECORRELATED, PAPER_MASK, Method, method_of
from icsa.studies.pages import Claim, Section, claims_table, write_tables
from icsa.studies.simulation import CELL
from icsa.studies.simulation_tables import decorrelation, remasking

__all__ = [
    "VERDICTS",
    "decorrelated_part",
    "decorrelation_claims",
    "mask_claims",
    "mask_overview",
    "masks_part",
    "verdict_counts",
    "with_mask_verdicts",
    "with_verdicts",
]

_Part = tuple[list[Claim], list[Section]]
_DECORRELATED = (
    "Beyond the paper: the chance correlations between the masked components are taken out. The "
    "claim is: same ORE, less loss. Every cell answers it by the interval of the paired "
    "differences, decorrelated minus plain. The ORE is the same when the interval lies within 5% "
    "of the plain method's mean ORE; a loss is lower when the interval is below 0."
)
_MASKS = (
    "Beyond the paper: other masks. Every cell compares a method with the published one of the "
    "same scatters, by the intervals of the paired differences: better where the interval of the "
    "ORE is above 0 or that of the loss below, worse where it is on the other side, equal where 0 "
    "is in it. The reassembled ORE counts the attacker's guess as one more released row: who has "
    "the release alone adds up the rows that are far out in nearly orthogonal directions. It was "
    "computed on the first repetitions of every cell, as the configuration says. Where a tenth of "
    "the rows is shifted, the guess is compared with each of them."
)
# A method's ORE is the same as another's when it differs by less than this share of it.
_SAME_ORE = 0.05
_SIDES = ("same", "lower", "higher", "unclear")
_BOTH, _ONE, _EQUAL = "better on both", "better on one, equal on the other", "equal on both"
_MIXED, _WORSE = "better on one, worse on the other", "worse"
# What may come out of a cell, the best first.
VERDICTS = (_BOTH, _ONE, _EQUAL, _MIXED, _WORSE)
# Who looks at a release: the paper, at the nearest row; or who also puts pieces together.
_VIEWS = {"ore": "verdict", "reassembled": "verdict_reassembled"}


def decorrelated_part(
    raw: dict[str, np.ndarray], found: pl.DataFrame, methods: Sequence[Method], out: Path
) -> _Part:
    """Return claims and sections on methods with the mask's chance correlations taken out."""
    judged = with_verdicts(decorrelation(raw), found)
    if judged.is_empty():
        return [], []
    write_tables(out, decorrelation=judged)
    answers = decorrelation_claims(judged)
    names = {method.name for method in methods}
    shown = [
        method.name
        for method in methods
        if method.mask == PAPER_MASK
        and (method.decorrelate or f"{method.name}{DECORRELATED}" in names)
    ]
    text = "Means of the paired differences, decorrelated minus plain, and their 95% intervals."
    return answers, [
        Section("Decorrelated masks", _DECORRELATED, claims_table(answers)),
        *_figures("Decorrelated", "decorrelated", found, shown, out),
        Section("Decorrelated, every cell", text, judged),
    ]


def masks_part(
    raw: dict[str, np.ndarray], found: pl.DataFrame, methods: Sequence[Method], out: Path
) -> _Part:
    """Return claims and sections on methods with another mask than the paper's."""
    judged = with_mask_verdicts(remasking(raw), found)
    if judged.is_empty():
        return [], []
    compared = {*judged["method"], *judged["to"]}
    shown = [method.name for method in methods if method.name in compared]
    counts, means = verdict_counts(judged), mask_overview(found, shown)
    write_tables(out, masks=judged, mask_verdicts=counts, mask_overview=means)
    answers = mask_claims(judged)
    text = "Means of the paired differences, method minus the other, and their 95% intervals."
    everywhere = "Medians over the cells that all of these methods can estimate."
    sections = [
        Section("Other masks", _MASKS, claims_table(answers)),
        Section("Other masks, medians", everywhere, means),
        Section("Other masks, verdicts", "How many cells have each verdict.", counts),
        *_figures("Other masks", "masks", found, shown, out),
    ]
    if found["reassembled"].count():
        title = "Other masks, reassembled"
        sections += _figures(title, "reassembled", found, shown, out, across="reassembled")
    return answers, [*sections, Section("Other masks, every cell", text, judged)]


def _figures(
    title: str,
    name: str,
    found: pl.DataFrame,
    methods: Sequence[str],
    out: Path,
    across: str = "ore",
) -> Iterable[Section]:
    """Yield a figure of some methods for every scenario; none of no methods."""
    for scenario in sorted(set(found["scenario"].to_list())) if methods else ():
        figure = scenario_figure(found, scenario, methods, across)
        text = save_figure(figure, out / "figures", f"{name}{scenario}")
        caption = "Thin lines with hollow markers are decorrelated."
        yield Section(f"{title}, scenario {scenario}", figure=text, caption=caption)


def with_verdicts(gaps: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Return the differences of decorrelated methods with a verdict for every cell.

    ``ore_is``: "same" when the interval lies within `_SAME_ORE` of the plain method's mean ORE,
    "lower" or "higher" when it leaves 0 out and is not the same, else "unclear". ``loss_is``:
    "lower" or "higher" when the interval leaves 0 out, else "unclear". ``holds``: same ORE, less
    loss. All three are missing where the method cannot be estimated.
    """
    plain = found.select(*CELL, "method", pl.col("ore").alias("ore_plain"), "repetitions")
    both = gaps.join(plain, on=[*CELL, "method"], how="left", maintain_order="left")
    same = _within("ore", _SAME_ORE * pl.col("ore_plain"))
    ore = pl.when(same).then(pl.lit("same")).otherwise(_side("ore"))
    judged = both.with_columns(
        _where_known("ore", ore).alias("ore_is"),
        _where_known("loss", _side("loss")).alias("loss_is"),
    )
    holds = (pl.col("ore_is") == "same") & (pl.col("loss_is") == "lower")
    return judged.with_columns(holds.alias("holds")).drop("repetitions")


def _within(name: str, margin: pl.Expr) -> pl.Expr:
    """Return whether an interval lies between minus and plus the margin."""
    return (pl.col(f"{name}_low") > -margin) & (pl.col(f"{name}_high") < margin)


def _side(name: str) -> pl.Expr:
    """Return "lower" or "higher" where an interval leaves 0 out, else "unclear"."""
    return (
        pl.when(pl.col(f"{name}_high") < 0)
        .then(pl.lit("lower"))
        .when(pl.col(f"{name}_low") > 0)
        .then(pl.lit("higher"))
        .otherwise(pl.lit("unclear"))
    )


def _where_known(name: str, verdict: pl.Expr) -> pl.Expr:
    """Return a verdict, missing where the interval is."""
    return pl.when(pl.col(f"{name}_low").is_not_null()).then(verdict)


def decorrelation_claims(judged: pl.DataFrame) -> list[Claim]:
    """Return "same ORE, less loss" for every decorrelated method, with the counts of cells."""
    result = []
    for (method,), every in judged.group_by(["method"], maintain_order=True):
        cells = every.drop_nulls(["ore_is", "loss_is"])
        n, held = cells.height, int(cells["holds"].sum())
        ore, loss = (dict(cells[name].value_counts().rows()) for name in ("ore_is", "loss_is"))
        zero = cells.filter(pl.col("ore_low") <= 0, pl.col("ore_high") >= 0).height
        result += [
            Claim(
                f"{method}+d: less loss than {method} in every cell (interval below 0).",
                loss.get("lower", 0) == n,
                _counts_in_words(loss, n, _SIDES),
            ),
            Claim(
                f"{method}+d: the ORE of {method} in every cell (interval within {_SAME_ORE:.0%} "
                "of it).",
                ore.get("same", 0) == n,
                f"{_counts_in_words(ore, n, _SIDES)}; the interval has 0 in it in {zero}",
            ),
            Claim(
                f"{method}+d: same ORE and less loss in every cell.",
                held == n,
                f"{held} of {n} cells",
            ),
        ]
    return result


def _counts_in_words(found: dict[str, int], total: int, order: Sequence[str]) -> str:
    """Return in how many cells each verdict was given."""
    words = [f"{word} in {found[word]}" for word in order if word in found]
    return f"of {total} cells: {', '.join(words)}"


def with_mask_verdicts(gaps: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Return the differences of methods with another mask, with a verdict for every cell.

    ``ore_is``, ``loss_is``, ``reassembled_is``: "lower" or "higher" when the interval leaves 0 out,
    else "unclear". ``verdict``: one of `VERDICTS`, from ORE (higher is better) and loss (lower is
    better), equal where 0 is in the interval; ``verdict_reassembled`` from the reassembled ORE and
    loss. ``same``: whether the intervals of ORE and loss lie within 5% of the other method's means.
    What cannot be estimated is missing.
    """
    names = ("ore", "loss")
    other = found.select(
        *CELL, pl.col("method").alias("to"), *(pl.col(name).alias(f"{name}_to") for name in names)
    )
    both = gaps.join(other, on=[*CELL, "to"], how="left", maintain_order="left")
    same = pl.all_horizontal(_within(name, _SAME_ORE * pl.col(f"{name}_to")) for name in names)
    return both.with_columns(
        *(_where_known(name, _side(name)).alias(f"{name}_is") for name in (*_VIEWS, "loss")),
        *(_verdict(privacy).alias(name) for privacy, name in _VIEWS.items()),
        same.alias("same"),
    ).drop(f"{name}_to" for name in names)


def _verdict(privacy: str) -> pl.Expr:
    better = pl.sum_horizontal(
        (pl.col(f"{privacy}_low") > 0).cast(pl.Int8), (pl.col("loss_high") < 0).cast(pl.Int8)
    )
    worse = pl.sum_horizontal(
        (pl.col(f"{privacy}_high") < 0).cast(pl.Int8), (pl.col("loss_low") > 0).cast(pl.Int8)
    )
    verdict = (
        pl.when(better == 2)
        .then(pl.lit(_BOTH))
        .when((better == 1) & (worse == 1))
        .then(pl.lit(_MIXED))
        .when(better == 1)
        .then(pl.lit(_ONE))
        .when(worse > 0)
        .then(pl.lit(_WORSE))
        .otherwise(pl.lit(_EQUAL))
    )
    return _where_known(privacy, _where_known("loss", verdict))


def verdict_counts(judged: pl.DataFrame) -> pl.DataFrame:
    """Return how many cells have each verdict, for every comparison, scenario and severity.

    By ORE and loss, and in the second half of the rows by the reassembled ORE and loss.
    """
    place = ["method", "to", "scenario", "severity"]
    tables = []
    for privacy, verdict in _VIEWS.items():
        known = judged.drop_nulls(verdict)
        counted = known.group_by(place, maintain_order=True).agg(
            pl.len().alias("cells"),
            *((pl.col(verdict) == word).sum().alias(word) for word in VERDICTS),
        )
        words = {"ore": "ORE", "reassembled": "reassembled ORE"}[privacy]
        tables.append(counted.insert_column(2, pl.lit(words).alias("privacy")))
    return pl.concat(tables).sort("method", "to", maintain_order=True)


def mask_overview(found: pl.DataFrame, methods: Sequence[str]) -> pl.DataFrame:
    """Return medians over the cells of each scenario and severity that all methods can estimate.

    Medians, because the loss is many times larger in cells of hardly more rows than columns. The
    last three are of attacked releases alone, with their own ORE beside the reassembled.
    """
    names = ("ore", "loss", "ore_attacked", "reassembled", "guessed_near")
    rows = found.filter(pl.col("method").is_in(list(methods)))
    known = rows.filter((pl.all_horizontal(pl.col(*names).count() == len(methods))).over(CELL))
    return known.group_by(["scenario", "severity", "method"], maintain_order=True).agg(
        pl.len().alias("cells"), *(pl.col(name).median() for name in names)
    )


def mask_claims(judged: pl.DataFrame) -> list[Claim]:
    """Return what is claimed of other masks against the published one, decided cell by cell.

    Where one person stands out (scenario 1): better on both axes. Where a tenth of the people do
    so together (scenario 2): the same. In both: safer from who puts pieces together. Where there
    are decorrelated methods, the claims are about these.
    """
    names = {*judged["method"], *judged["to"]}
    published = [name for name in names if method_of(name).is_published]
    chosen = judged.filter(pl.col("to").is_in(published))
    decorrelated = [name for name in judged["method"].unique() if method_of(name).decorrelate]
    if decorrelated:
        chosen = chosen.filter(pl.col("method").is_in(decorrelated))
    result: list[Claim] = []
    places = chosen.select("method", "to", "scenario").unique(maintain_order=True)
    for method, to, scenario in places.rows():
        cells = chosen.filter(method=method, to=to, scenario=scenario)
        pair = f"{method} against {to}, scenario {scenario}"
        result += _claims_of(pair, cells, one_alone=scenario == 1)
    return result


def _claims_of(pair: str, cells: pl.DataFrame, *, one_alone: bool) -> Iterable[Claim]:
    most = max(cells["severity"].to_list())
    farthest = cells.filter(severity=most)
    parts = [("", cells)] if farthest.height < cells.height else []
    for severity, rows in (*parts, (f", severity {most}", farthest)):
        known = rows.drop_nulls("verdict")
        if known.is_empty():
            continue
        counts = dict(known["verdict"].value_counts().rows())
        detail = _counts_in_words(counts, known.height, VERDICTS)
        if one_alone:
            text = (
                f"{pair}{severity}: higher ORE and less loss in every cell (intervals leave 0 out)."
            )
            yield Claim(text, counts.get(_BOTH, 0) == known.height, detail)
        else:
            text = (
                f"{pair}{severity}: the same ORE and loss in every cell (intervals within "
                f"{_SAME_ORE:.0%} of it)."
            )
            same = int(known["same"].sum())
            yield Claim(text, same == known.height, f"the same in {same}; {detail}")
        attacked = rows.drop_nulls("reassembled_is")
        if not attacked.is_empty():
            sides = dict(attacked["reassembled_is"].value_counts().rows())
            text = f"{pair}{severity}: higher reassembled ORE in every cell (interval above 0)."
            words = _counts_in_words(sides, attacked.height, ("higher", "unclear", "lower"))
            yield Claim(text, sides.get("higher", 0) == attacked.height, words)
