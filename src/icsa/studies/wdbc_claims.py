"""What is published and claimed of the Wisconsin study, and what the results say: yes or no."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from icsa.studies.pages import Claim

__all__ = [
    "METRICS",
    "PUBLISHED_INTERVALS",
    "PUBLISHED_MEANS",
    "PUBLISHED_RATIOS",
    "PUBLISHED_RELEASES",
    "RATIO_METRICS",
    "ROBUST",
    "beside_published",
    "cell_claims",
    "conclusions",
    "mean_claims",
    "win_claims",
]

METRICS = ("ore", "distance", "recall", "precision", "jaccard", "fpr")
RATIO_METRICS = ("distance", "recall", "fpr", "precision", "jaccard")
# Releases a method and target, and targets.
PUBLISHED_RELEASES, _TARGETS = 2000, 10
# Least and largest mean of mcd50-mcd75 with the MCDs that R's covMcd ends in after ten seeds, as
# `python -m benchmarks.wdbc_search` found them.
SEARCH_RANGES: dict[str, tuple[float, float]] = {
    "ore": (0.00402, 0.00538),
    "distance": (360.0, 720.0),
    "recall": (0.855, 0.908),
    "precision": (0.745, 0.790),
    "jaccard": (0.671, 0.715),
    "fpr": (0.560, 0.700),
}

# Mean and standard deviation as published, by metric: SA, then mcd50-mcd75.
PUBLISHED_MEANS: dict[str, dict[str, tuple[float, float]]] = {
    "sa": {
        "ore": (0.00104, 0.0009),
        "distance": (267.68, 759.82),
        "recall": (0.942, 0.070),
        "precision": (0.810, 0.114),
        "jaccard": (0.767, 0.102),
        "fpr": (0.529, 0.286),
    },
    "mcd50-mcd75": {
        "ore": (0.00490, 0.0044),
        "distance": (436.69, 1208.80),
        "recall": (0.884, 0.118),
        "precision": (0.774, 0.105),
        "jaccard": (0.694, 0.101),
        "fpr": (0.634, 0.264),
    },
}
# Ratios as printed (no root), by target, in the order of RATIO_METRICS.
PUBLISHED_RATIOS: dict[str, tuple[float, ...]] = {
    "radius": (2.98, 3.56, 4.79, 4.65, 4.31),
    "texture": (3.92, 5.75, 4.74, 4.98, 5.26),
    "perimeter": (3.20, 2.87, 3.12, 3.33, 3.36),
    "area": (1.89, 1.12, 3.58, 3.33, 2.97),
    "smoothness": (1.16, 4.36, 3.79, 3.97, 4.06),
    "compactness": (1.69, 1.72, 4.24, 4.17, 3.85),
    "concavity": (1.20, 2.54, 2.84, 2.71, 2.78),
    "concave points": (2.61, 2.74, 6.75, 6.75, 6.03),
    "symmetry": (3.03, 1.81, 6.10, 5.03, 3.32),
    "fractal dimension": (0.74, 1.97, 5.41, 5.18, 4.33),
    "overall": (2.88, 2.33, 3.91, 3.95, 3.58),
}
# Their 95% intervals over all targets.
PUBLISHED_INTERVALS: dict[str, tuple[float, float]] = {
    "distance": (2.81, 2.95),
    "recall": (2.27, 2.39),
    "fpr": (3.85, 3.97),
    "precision": (3.89, 4.01),
    "jaccard": (3.53, 3.63),
}
ROBUST = "mcd50-mcd75"
_FORMS = {"printed": "as printed, without the root", "defined": "as defined, with the root"}
_NEAR = 2.0  # standard errors of the published run
# Metrics of which less is better; of the others more is.
_LESS_IS_BETTER = ("distance", "fpr")


def beside_published(found: pl.DataFrame, ranges: pl.DataFrame) -> pl.DataFrame:
    """Return every published mean, how far ours is from it, and what moves means as far.

    ``gap`` is in standard errors of the published run; ``low`` and ``high`` say where one fixed
    draw of the folds would put our mean, by `fold_ranges`; ``moved as far by`` is "" within two
    errors. Else it names what puts our mean on both sides of the published one: "folds", or "MCD
    search" by `SEARCH_RANGES`; or it is "no".
    """
    moved = {(row["method"], row["metric"]): row for row in ranges.iter_rows(named=True)}
    rows = []
    for row in found.iter_rows(named=True):
        method, metric, mean = row["method"], row["metric"], row["mean"]
        if method not in PUBLISHED_MEANS or mean is None:
            continue
        published, deviation = PUBLISHED_MEANS[method][metric]
        gap = (mean - published) / (deviation / (PUBLISHED_RELEASES * _TARGETS) ** 0.5)
        shift = moved.get((method, metric), {"down": 0.0, "up": 0.0})
        low, high = mean + shift["down"], mean + shift["up"]
        search = SEARCH_RANGES.get(metric, (1.0, 0.0)) if method == ROBUST else (1.0, 0.0)
        causes = {"folds": (low, high), "MCD search": search}
        explained = [cause for cause, (a, b) in causes.items() if a <= published <= b]
        near = abs(gap) <= _NEAR
        rows.append(
            {
                "method": method,
                "metric": metric,
                "mean": mean,
                "published": published,
                "gap": gap,
                "within 2": "yes" if near else "no",
                "low": low,
                "high": high,
                "moved as far by": "" if near else " and ".join(explained) or "no",
            }
        )
    return pl.DataFrame(rows)


def mean_claims(table: pl.DataFrame) -> list[Claim]:
    """Return whether the published means were found, or the gaps explained."""
    near = table.filter(pl.col("within 2") == "yes").height
    far = table.filter(pl.col("within 2") == "no")
    unexplained = far.filter(pl.col("moved as far by") == "no")
    names = ", ".join(f"{m} {k}" for m, k in unexplained.select("method", "metric").rows())
    text = "Every published mean within two standard errors of the published run."
    result = [Claim(text, near == table.height, f"{near} of {table.height}")]
    if far.height:
        causes = far.filter(pl.col("moved as far by") != "no")["moved as far by"]
        counts = causes.value_counts(sort=True).rows()
        counted = ", ".join(f"{count} by {cause}" for cause, count in counts)
        detail = f"{far.height - unexplained.height} of {far.height}: {counted or 'none'}"
        result.append(
            Claim(
                "Every larger gap is no larger than what the folds that a run happens to draw, or "
                "where the search for the MCD happens to end, move the mean by.",
                unexplained.is_empty(),
                detail + (f"; not {names}" if names else ""),
            )
        )
    for row in table.filter(pl.col("metric") == "ore").iter_rows(named=True):
        share = row["mean"] / row["published"] - 1.0
        text = f"{row['method']}: mean ORE within 3% of the published one."
        detail = f"{row['mean']:.5f}, published {row['published']:.5f}, {share:+.1%}"
        result.append(Claim(text, abs(share) <= 0.03, detail))
    return result


def cell_claims(table: pl.DataFrame, method: str) -> list[Claim]:
    """Return in how many cells, and overall, the method's ratios are above 1: ahead of SA."""
    result = []
    for form, words in _FORMS.items():
        part = table.filter(pl.col("form") == form).drop_nulls("ratio")
        cells, overall = (
            part.filter((pl.col("target") == "overall") == whole) for whole in (False, True)
        )
        ahead = cells.filter(pl.col("ratio") > 1.0).height
        sure = cells.filter(pl.col("low") > 1.0).height
        published = ""
        if method == ROBUST:
            alike = f"{_with_overall_ore(table)} of ours and " if form == "defined" else ""
            rule = " by the mean OREs of all targets" if form == "defined" else ""
            published = f"; {alike}{_published_ahead(form)} of the published{rule}"
        text = f"{method} is ahead of SA in most cells of target and metric, efficiency {words}."
        detail = f"{ahead} of {cells.height} ({sure} with the interval above 1){published}"
        result.append(Claim(text, 2 * ahead > cells.height, detail))
        whole = overall.filter(pl.col("low") > 1.0).height
        text = f"{method} is ahead of SA over all targets in every metric, efficiency {words}."
        figures = ", ".join(f"{m} {r:.2f}" for m, r in overall.select("metric", "ratio").rows())
        result.append(
            Claim(text, whole == overall.height, f"{whole} of {overall.height}: {figures}")
        )
    return result


def _published_ahead(form: str) -> int:
    """Return how many of the 50 published cells favour mcd50-mcd75 over SA.

    The table is printed without the root. With it, a ratio is smaller by the root of the ratio of
    the two mean OREs; the published means over all targets are taken for it.
    """
    robust, spectral = (PUBLISHED_MEANS[method]["ore"][0] for method in ("mcd50-mcd75", "sa"))
    root = (robust / spectral) ** 0.5 if form == "defined" else 1.0
    targets = (ratios for target, ratios in PUBLISHED_RATIOS.items() if target != "overall")
    return sum(ratio / root > 1.0 for ratios in targets for ratio in ratios)


def _with_overall_ore(table: pl.DataFrame) -> int:
    """Return how many cells are ahead when the root is that of the overall ratio of OREs.

    Only so can the published table be given its root, for its OREs by target are not published.
    """
    printed, defined = (
        table.filter(pl.col("form") == form, pl.col("target") == "overall")["ratio"][0]
        for form in ("printed", "defined")
    )
    cells = table.filter(pl.col("form") == "printed", pl.col("target") != "overall")
    return cells.filter(pl.col("ratio") > printed / defined).height


def conclusions(found: pl.DataFrame, method: str) -> list[Claim]:
    """Return what the published means say of ICSA, here the method, and SA, asked of these rows."""
    values: Mapping[tuple[str, str], Any] = {
        (row["method"], row["metric"]): row["mean"] for row in found.iter_rows(named=True)
    }
    ours, theirs = values[method, "ore"], values["sa", "ore"]
    result = [
        Claim(
            f"{method} hides the outliers better than SA.",
            ours > theirs,
            f"mean ORE {ours:.5f} against {theirs:.5f}, {ours / theirs:.1f} times",
        )
    ]
    pairs = {metric: (values[method, metric], values["sa", metric]) for metric in METRICS[1:]}
    worse = [
        (pair[0] > pair[1]) == (metric in _LESS_IS_BETTER)
        for metric, pair in pairs.items()
        if None not in pair
    ]
    text = f"{method} loses more than SA in every metric."
    result.append(Claim(text, all(worse), f"{sum(worse)} of {len(worse)} metrics"))
    return result


def win_claims(overall: pl.DataFrame) -> list[Claim]:
    """Return whether mcd50-mcd75 wins the `duels` against the other pairs."""
    result = []
    for form, words in _FORMS.items():
        part = overall.filter(pl.col("form") == form).drop_nulls("ratio")
        won = part.filter(pl.col("low") > 1.0)
        lost = part.filter(pl.col("high") < 1.0)
        score = ", ".join(
            f"{name} {(won['method'] == name).sum()}:{(lost['method'] == name).sum()}"
            for name in part["method"].unique(maintain_order=True)
        )
        text = f"{ROBUST} wins against every other pair in every metric, efficiency {words}."
        detail = f"{won.height} of {part.height} won, {lost.height} lost; won:lost {score}"
        result.append(Claim(text, won.height == part.height, detail))
    return result
