"""Other masks beside the published one: a verdict for every cell, their counts, and claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from icsa.studies.named_methods import method_of
from icsa.studies.pages import Claim
from icsa.studies.simulation import CELL
from icsa.studies.simulation_claims import SAME_ORE, counts_in_words, side, where_known, within

__all__ = ["VERDICTS", "mask_claims", "mask_overview", "verdict_counts", "with_mask_verdicts"]

_BOTH, _ONE, _EQUAL = "better on both", "better on one, equal on the other", "equal on both"
_MIXED, _WORSE = "better on one, worse on the other", "worse"
# What may come out of a cell, the best first.
VERDICTS = (_BOTH, _ONE, _EQUAL, _MIXED, _WORSE)
# Who looks at a release: the paper, at the nearest row; or who also puts pieces together.
_VIEWS = {"ore": "verdict", "reassembled": "verdict_reassembled"}


def with_mask_verdicts(gaps: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Return the differences of methods with another mask, with a verdict for every cell.

    ``ore_is``, ``loss_is``, ``reassembled_is``: "lower" or "higher" when the interval leaves 0 out,
    else "unclear". ``verdict``: one of `VERDICTS`, from ORE (higher is better) and loss (lower is
    better), equal where 0 is in the interval; ``verdict_reassembled`` from the reassembled ORE and
    loss. ``same``: whether the intervals of ORE and loss lie within 5% of the other method's means.
    What cannot be estimated is missing.

    Parameters
    ----------
    gaps, found : DataFrame
        From `icsa.studies.simulation_differences.remasking`, and the summary.
    """
    names = ("ore", "loss")
    other = found.select(
        *CELL, pl.col("method").alias("to"), *(pl.col(name).alias(f"{name}_to") for name in names)
    )
    both = gaps.join(other, on=[*CELL, "to"], how="left", maintain_order="left")
    same = pl.all_horizontal(within(name, SAME_ORE * pl.col(f"{name}_to")) for name in names)
    return both.with_columns(
        *(where_known(name, side(name)).alias(f"{name}_is") for name in (*_VIEWS, "loss")),
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
    return where_known(privacy, where_known("loss", verdict))


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
    chosen = judged.filter(*_of_interest(judged))
    result: list[Claim] = []
    places = chosen.select("method", "to", "scenario").unique(maintain_order=True)
    for method, to, scenario in places.rows():
        cells = chosen.filter(method=method, to=to, scenario=scenario)
        pair = f"{method} against {to}, scenario {scenario}"
        result += _claims_of(pair, cells, one_alone=scenario == 1)
    return result


def _of_interest(judged: pl.DataFrame) -> tuple[pl.Expr, pl.Expr]:
    """Return what chooses comparisons to published methods, of decorrelated ones if there are."""
    names = {*judged["method"], *judged["to"]}
    published = [name for name in names if method_of(name).is_published]
    decorrelated = [name for name in judged["method"].unique() if method_of(name).decorrelate]
    return (
        pl.col("to").is_in(published),
        pl.col("method").is_in(decorrelated) if decorrelated else pl.lit(True),
    )


def _claims_of(pair: str, cells: pl.DataFrame, *, one_alone: bool) -> Iterable[Claim]:
    most = max(cells["severity"].to_list())
    farthest = cells.filter(severity=most)
    parts = [("", cells)] if farthest.height < cells.height else []
    for severity, rows in (*parts, (f", severity {most}", farthest)):
        known = rows.drop_nulls("verdict")
        if known.is_empty():
            continue
        counts = dict(known["verdict"].value_counts().rows())
        detail = counts_in_words(counts, known.height, VERDICTS)
        if one_alone:
            text = (
                f"{pair}{severity}: higher ORE and less loss in every cell (intervals leave 0 out)."
            )
            yield Claim(text, counts.get(_BOTH, 0) == known.height, detail)
        else:
            text = (
                f"{pair}{severity}: the same ORE and loss in every cell (intervals within "
                f"{SAME_ORE:.0%} of it)."
            )
            same = int(known["same"].sum())
            yield Claim(text, same == known.height, f"the same in {same}; {detail}")
        attacked = rows.drop_nulls("reassembled_is")
        if not attacked.is_empty():
            sides = dict(attacked["reassembled_is"].value_counts().rows())
            text = f"{pair}{severity}: higher reassembled ORE in every cell (interval above 0)."
            words = counts_in_words(sides, attacked.height, ("higher", "unclear", "lower"))
            yield Claim(text, sides.get("higher", 0) == attacked.height, words)
