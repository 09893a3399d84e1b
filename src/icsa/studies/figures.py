"""Figures of the studies: the same colours, lines and markers everywhere, readable in grey."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from icsa.studies.named_methods import DECORRELATED
from icsa.studies.simulation import CELL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "distribution_figure",
    "reassembly_figure",
    "save_figure",
    "scenario_figure",
    "theorem_figure",
]

# Okabe and Ito's colours, told apart by all; with line styles, so that grey does as well.
_STYLES: dict[str, tuple[str, str]] = {
    "sa": ("#000000", "-"),
    "cov-cov4": ("#E69F00", "--"),
    "hr-cov": ("#E69F00", ":"),
    "hr-tyler": ("#009E73", "-."),
    "mcd50-cov": ("#CC79A7", "--"),
    "mcd75-cov": ("#CC79A7", ":"),
    "mcd50-hr": ("#56B4E9", "--"),
    "mcd75-hr": ("#56B4E9", ":"),
    "mcd50-mcd75": ("#D55E00", "-"),
    "sa+redraw": ("#999999", "-"),
    "mcd50-mcd75+redraw": ("#0072B2", "-"),
}
_FALLBACK = ("#0072B2", (0, (1, 3)))
_ACROSS = {
    "ore": "outlier replication error (right: hidden better)",
    "reassembled": "reassembled outlier replication error (right: hidden better)",
}
# What the nearest released row and the guess that puts a person together are called.
_AXES = ("ORE of nearest row", "ORE of guess")
# Methods in the picture of guesses: more could not be told apart.
_GUESSES = {
    "sa": ("#000000", "s"),
    "mcd50-mcd75": ("#D55E00", "o"),
    "mcd50-mcd75+flip": ("#CC79A7", "v"),
    "mcd50-mcd75+rotate": ("#009E73", "x"),
    "mcd50-mcd75+redraw+d": ("#0072B2", "+"),
}
_LEAST_ORE = 1e-9  # a copy's error of 0 has no place on a logarithmic axis
# Paths and places in an SVG; a scale is not among them.
_COORDINATES = re.compile(r' (?:d|x|y)="[^"]*"')
_LONG = re.compile(r"-?\d+\.\d{3,}")
_MARKERS = ("o", "s", "^", "D", "P", "X", "v")


def _style(method: str) -> dict[str, Any]:
    """Return colour and line of a method; a decorrelated one has its plain one's, thinner."""
    plain = method.removesuffix(DECORRELATED)
    color, line = _STYLES.get(plain, _FALLBACK)
    return {"color": color, "linestyle": line, "linewidth": 1.4 if plain == method else 0.8}


def _panels(
    down: int, across: int, width: float, height: float, **shared: bool
) -> tuple[Figure, np.ndarray]:
    """Return a figure of panels: so wide at least that a single one has room for its legend."""
    figure, axes = _pyplot().subplots(
        down,
        across,
        figsize=(max(5.6, across * width + 0.4), max(4.2, down * height + 1.0)),
        squeeze=False,
        layout="constrained",
        **shared,
    )
    for panel in axes.flat:
        panel.tick_params(labelsize=7.5)
        panel.grid(alpha=0.25, linewidth=0.5)
    return figure, axes


def _labelled(
    figure: Figure, across: str, upward: str, handles: Sequence[Any], per_row: int = 3
) -> Figure:
    figure.supxlabel(across, fontsize=10)
    figure.supylabel(upward, fontsize=10)
    figure.legend(
        handles=handles, loc="outside upper center", ncols=per_row, fontsize=8, frameon=False
    )
    return figure


def scenario_figure(
    found: pl.DataFrame, scenario: int, methods: Sequence[str], across: str = "ore"
) -> Figure:
    """Return a panel for each n and number of columns: ORE or reassembled ORE across, loss upward.

    A line is a method, a marker a severity; farther right hides better, lower loses less.
    """
    from matplotlib.lines import Line2D

    cells = found.filter(pl.col("scenario") == scenario, pl.col("method").is_in(list(methods)))
    sizes, widths, severities = (
        cells[name].unique().sort().to_list() for name in ("n", "columns", "severity")
    )
    figure, axes = _panels(len(sizes), len(widths), 2.4, 2.0)
    for panel, (n, width) in zip(axes.flat, itertools.product(sizes, widths), strict=True):
        there = cells.filter(pl.col("n") == n, pl.col("columns") == width)
        _draw_scenario(panel, there, methods, severities, across)
        panel.set_title(f"n = {n}, {width} columns", fontsize=9)
    marks = [
        Line2D([], [], color="0.4", linestyle="none", marker=mark, label=f"severity {severity}")
        for severity, mark in zip(severities, _MARKERS, strict=False)
    ]
    upward = "distance of the coefficients (down: lost less)"
    handles = [*_lines(methods), *marks]
    return _labelled(figure, _ACROSS[across], upward, handles, max(4, 2 * len(widths) - 1))


def _lines(methods: Sequence[str]) -> list[Any]:
    """Return a line of each method, for a legend."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], label=method, **_style(method)) for method in methods]


def _draw_scenario(
    axes: Axes,
    panel: pl.DataFrame,
    methods: Sequence[str],
    severities: Sequence[int],
    across: str,
) -> None:
    drawn = False
    for method in methods:
        line = panel.filter(pl.col("method") == method).drop_nulls([across, "loss"])
        line = line.sort("severity")
        if line.is_empty():
            continue
        drawn = True
        style = _style(method)
        axes.errorbar(
            line[across],
            line["loss"],
            xerr=1.96 * line[f"{across}_se"].fill_null(0.0),
            yerr=1.96 * line["loss_se"].fill_null(0.0),
            elinewidth=0.5,
            zorder=2,
            **style,
        )
        face = "white" if method.endswith(DECORRELATED) else style["color"]
        for row in line.iter_rows(named=True):
            axes.plot(
                row[across],
                row["loss"],
                marker=_MARKERS[severities.index(row["severity"]) % len(_MARKERS)],
                color=style["color"],
                markerfacecolor=face,
                markersize=3.6,
                markeredgewidth=0.8,
                zorder=3,
            )
    if not drawn:
        words = "not run" if panel.is_empty() else "loss not estimable"
        axes.text(0.5, 0.5, words, ha="center", va="center", transform=axes.transAxes)
        axes.set_xticks([])
        axes.set_yticks([])


def distribution_figure(raw: pl.DataFrame, cells: pl.DataFrame, methods: Sequence[str]) -> Figure:
    """Return a panel for each cell: the share of repetitions with an ORE of at most x."""
    across = 2 if len(cells) in (2, 4) else min(3, len(cells))
    figure, axes = _panels(-(-len(cells) // across), across, 3.1, 2.6, sharey=True)
    for panel in axes.flat[len(cells) :]:
        panel.set_visible(False)
    for panel, cell in zip(axes.flat, cells.iter_rows(named=True), strict=False):
        there = raw.filter(**{name: cell[name] for name in CELL})
        for method in methods:
            values = np.sort(there.filter(pl.col("method") == method)["ore"].to_numpy())
            shares = np.arange(1, values.size + 1) / values.size
            # Enough points for a curve on paper; more would only make the file larger.
            kept = np.unique(np.linspace(0, values.size - 1, 250).astype(int))
            lowest = np.maximum(values[kept], _LEAST_ORE)
            panel.plot(lowest, shares[kept], drawstyle="steps-post", **_style(method))
        panel.set_xscale("log")
        title = f"n = {cell['n']}, {cell['columns']} columns\n{cell['why']}"
        panel.set_title(title, fontsize=9)
    words = "outlier replication error, logarithmic (right: hidden better)"
    upward = "share of repetitions with at most this error"
    return _labelled(figure, words, upward, _lines(methods), max(4, 2 * across - 1))


def theorem_figure(found: pl.DataFrame) -> Figure:
    """Return a panel for each size: distance of the outlier across, nearest release upward."""
    sizes, widths = (found[name].unique().sort().to_list() for name in ("n", "columns"))
    methods = found["method"].unique(maintain_order=True).to_list()
    figure, axes = _panels(len(sizes), len(widths), 3.0, 2.5, sharey=True)
    for panel, (n, width) in zip(axes.flat, itertools.product(sizes, widths), strict=True):
        there = found.filter(pl.col("n") == n, pl.col("columns") == width).sort("distance")
        _draw_theorem(panel, there, methods)
        panel.set_title(f"n = {n}, {width} columns", fontsize=9)
    across = "distance H of the outlier (the others within 1)"
    upward = "squared distance to the nearest released row / H²"
    return _labelled(figure, across, upward, axes[0][0].get_legend_handles_labels()[0])


def _draw_theorem(axes: Axes, panel: pl.DataFrame, methods: Sequence[str]) -> None:
    for method in methods:
        line = panel.filter(pl.col("method") == method)
        style = _style(method)
        axes.plot(line["distance"], line["median"], **style, marker="o", markersize=3, label=method)
        if method == "sa":
            axes.plot(
                line["distance"],
                line["adversarial"],
                color="0.5",
                linestyle="--",
                linewidth=1.0,
                label="sa, worst permutation",
            )
    limit = panel.unique("distance", maintain_order=True)
    axes.plot(limit["distance"], limit["bound"], color="0.2", linestyle=":", label="bound for sa")
    axes.set_xscale("log")
    axes.set_yscale("log")


def reassembly_figure(raw: pl.DataFrame) -> Figure:
    """Return a panel for each number of columns and severity: what the ORE says, what is guessed.

    A point is a table with a lone person: across the error of the nearest released row, upward that
    of the attacker's guess. Tables of the first kind and the middle number of rows are shown.
    """
    cells = raw.filter(pl.col("attack") == "reassembly")
    sizes = cells["n"].unique().sort().to_list()
    cells = cells.filter(pl.col("kind") == cells["kind"][0], pl.col("n") == sizes[len(sizes) // 2])
    points = cells.filter(pl.col("measure").is_in(_AXES)).pivot(
        "measure", index=["columns", "severity", "method", "table"], values="value"
    )
    widths, severities = (
        points[name].unique().sort().to_list() for name in ("columns", "severity")
    )
    figure, axes = _panels(len(severities), len(widths), 3.0, 2.4, sharex=True, sharey=True)
    for panel, (far, width) in zip(axes.flat, itertools.product(severities, widths), strict=True):
        _draw_guesses(panel, points.filter(pl.col("severity") == far, pl.col("columns") == width))
        panel.set_title(f"{width} columns, person at {far:g} sd", fontsize=9)
    across = "ORE: error of the nearest released row"
    handles = axes[0][0].get_legend_handles_labels()[0]
    return _labelled(figure, across, "error of the attacker's guess", handles)


def _draw_guesses(axes: Axes, panel: pl.DataFrame) -> None:
    for method, (color, marker) in _GUESSES.items():
        there = panel.filter(pl.col("method") == method)
        if not there.is_empty():
            across, upward = (np.maximum(there[axis].to_numpy(), 1e-4) for axis in _AXES)
            axes.plot(
                across,
                upward,
                linestyle="none",
                marker=marker,
                markersize=3.2,
                markeredgewidth=0.7,
                color=color,
                markerfacecolor="none",
                label=method,
            )
    axes.axhline(0.1, color="0.4", linewidth=0.8, linestyle="--")
    axes.set_yscale("log")


def save_figure(figure: Figure, folder: Path, name: str) -> str:
    """Write NAME.svg and NAME.png, close the figure, and return the SVG's text."""
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    # No date and fixed ids: the same results give the same bytes.
    figure.savefig(text, format="svg", metadata={"Date": None})
    # Two decimals are a hundredth of a point.
    shorter = _COORDINATES.sub(
        lambda attribute: _LONG.sub(lambda found: f"{float(found[0]):.2f}", attribute[0]),
        text.getvalue(),
    )
    (folder / f"{name}.svg").write_text(shorter, encoding="utf-8")
    figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
    _pyplot().close(figure)
    return shorter


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "icsa"
    import matplotlib.pyplot as plt

    return plt
