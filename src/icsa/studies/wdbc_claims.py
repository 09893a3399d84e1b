"""What is claimed of the Wisconsin study, and what the results say: yes or no, with figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from icsa.studies.pages import Claim
from icsa.studies.wdbc_published import (
    METRICS,
    PUBLISHED_MEANS,
    SEARCH_RANGES,
    published_ahead,
    published_error,
)

__all__ = ["ROBUST", "beside_published", "cell_claims", "conclusions", "mean_claims", "win_claims"]

ROBUST = "mcd50-mcd75"
_FORMS = {"printed": "as printed, without the root", "defined": "as defined, with the root"}
_NEAR = 2.0  # standard errors of the published run
# Metrics of which less is better; of the others more is.
_LESS_IS_BETTER = ("distance", "fpr")


def beside_published(found: pl.DataFrame, ranges: pl.DataFrame) -> pl.DataFrame:
    """Return every published mean, how far ours is from it, and what moves means as far.

    Parameters
    ----------
    found : DataFrame
        From `means`.
    ranges : DataFrame
        From `fold_ranges`: what one fixed draw of the reference's folds does to a mean.

    Returns
    -------
    DataFrame
        ``gap`` is in standard errors of the published run; ``low`` and ``high`` say where one fixed
        draw of the folds would put our mean; ``moved as far by`` is "" within two errors. Else
        it names what puts our mean on both sides of the published one: "folds", or "MCD search" by
        `SEARCH_RANGES`; or it is "no".
    """
    moved = {(row["method"], row["metric"]): row for row in ranges.iter_rows(named=True)}
    rows = []
    for row in found.iter_rows(named=True):
        method, metric, mean = row["method"], row["metric"], row["mean"]
        if method not in PUBLISHED_MEANS or mean is None:
            continue
        published = PUBLISHED_MEANS[method][metric][0]
        gap = (mean - published) / published_error(method, metric)
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
    result = [
        Claim(
            "Every published mean within two standard errors of the published run.",
            near == table.height,
            f"{near} of {table.height}",
        )
    ]
    if far.height:
        causes = (
            far.filter(pl.col("moved as far by") != "no")["moved as far by"]
            .value_counts(sort=True)
            .rows()
        )
        counted = ", ".join(f"{count} by {cause}" for cause, count in causes)
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
    """Return in how many cells, and overall, the method's efficiency is above SA's.

    Parameters
    ----------
    table : DataFrame
        From `ratios`.
    method : str
        Whose it is.
    """
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
            published = f"; {alike}{published_ahead(form)} of the published{rule}"
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
    """Return what the published means say of ICSA and SA, asked of these rows.

    Parameters
    ----------
    found : DataFrame
        From `means`.
    method : str
        The pair that stands for ICSA.
    """
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
    worse = []
    for metric in METRICS[1:]:
        pair = values[method, metric], values["sa", metric]
        if None in pair:
            continue
        worse.append((pair[0] > pair[1]) == (metric in _LESS_IS_BETTER))
    text = f"{method} loses more than SA in every metric."
    result.append(Claim(text, all(worse), f"{sum(worse)} of {len(worse)} metrics"))
    return result


def win_claims(overall: pl.DataFrame) -> list[Claim]:
    """Return whether mcd50-mcd75 wins against the other pairs.

    Parameters
    ----------
    overall : DataFrame
        From `duels`: the efficiency of mcd50-mcd75 over that of every other method.
    """
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
