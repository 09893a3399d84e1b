"""What the simulation says beyond the paper: decorrelated masks, and other ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from icsa.files import write_atomically
from icsa.studies.figures import save_figure, scenario_figure
from icsa.studies.named_methods import DECORRELATED, PAPER_MASK, Method
from icsa.studies.pages import Claim, Section, claims_section, table_section
from icsa.studies.simulation_claims import decorrelation_claims, with_verdicts
from icsa.studies.simulation_differences import decorrelation, remasking
from icsa.studies.simulation_masks import (
    mask_claims,
    mask_overview,
    verdict_counts,
    with_mask_verdicts,
)

__all__ = ["Part", "decorrelated_part", "masks_part"]

Part = tuple[list[Claim], list[Section]]
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


def decorrelated_part(
    raw: dict[str, np.ndarray], found: pl.DataFrame, methods: Sequence[Method], out: Path
) -> Part:
    """Return claims and sections on methods with the mask's chance correlations taken out."""
    judged = with_verdicts(decorrelation(raw), found)
    if judged.is_empty():
        return [], []
    write_atomically(out / "decorrelation.csv", judged.write_csv)
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
        claims_section("Decorrelated masks", _DECORRELATED, answers),
        *_figures("Decorrelated", "decorrelated", found, shown, out),
        table_section("Decorrelated, every cell", text, judged),
    ]


def masks_part(
    raw: dict[str, np.ndarray], found: pl.DataFrame, methods: Sequence[Method], out: Path
) -> Part:
    """Return claims and sections on methods with another mask than the paper's."""
    judged = with_mask_verdicts(remasking(raw), found)
    if judged.is_empty():
        return [], []
    compared = {*judged["method"], *judged["to"]}
    shown = [method.name for method in methods if method.name in compared]
    counts, means = verdict_counts(judged), mask_overview(found, shown)
    for name, table in (("masks", judged), ("mask_verdicts", counts), ("mask_overview", means)):
        write_atomically(out / f"{name}.csv", table.write_csv)
    answers = mask_claims(judged)
    text = "Means of the paired differences, method minus the other, and their 95% intervals."
    everywhere = "Medians over the cells that all of these methods can estimate."
    sections = [
        claims_section("Other masks", _MASKS, answers),
        table_section("Other masks, medians", everywhere, means),
        table_section("Other masks, verdicts", "How many cells have each verdict.", counts),
        *_figures("Other masks", "masks", found, shown, out),
    ]
    if found["reassembled"].count():
        title = "Other masks, reassembled"
        sections += _figures(title, "reassembled", found, shown, out, across="reassembled")
    return answers, [*sections, table_section("Other masks, every cell", text, judged)]


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
