"""The theorem's bound at small size, and the Wisconsin study's rows and published figures."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError, UnknownNameError
from icsa.jobs import read_parts, run
from icsa.studies.theorem import TheoremConfig, bound, theorem_study
from icsa.studies.theorem_results import claims, summary
from icsa.studies.theorem_results import write_results as write_theorem
from icsa.studies.wdbc import TARGETS, WdbcConfig, fold_ranges, wdbc_rows, wdbc_study
from icsa.studies.wdbc_claims import (
    PUBLISHED_MEANS,
    PUBLISHED_RATIOS,
    beside_published,
    cell_claims,
    conclusions,
    mean_claims,
    win_claims,
)
from icsa.studies.wdbc_results import write_results as write_wdbc


def test_spectral_anonymization_stays_under_the_bound_and_falls(tmp_path) -> None:
    config = TheoremConfig(
        n=(20,),
        columns=(2, 5),
        distances=(1.1, 10.0, 100.0, 1000.0),
        methods=("sa", "mcd50-mcd75"),
        tables=5,
        releases=20,
    )
    study = theorem_study(config)
    run(study, tmp_path, workers=1, progress=False)
    write_theorem(study, tmp_path)
    found = pl.read_csv(tmp_path / "summary.csv")
    spectral = found.filter(pl.col("method") == "sa")
    assert (spectral["highest"] <= spectral["bound"]).all()
    assert (spectral["adversarial"] <= spectral["bound"]).all()
    assert (spectral["adversarial"] >= 0.999 * spectral["highest"]).all()
    assert all(claim.holds for claim in claims(found) if "SA" in claim.text)
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_bound_by_hand() -> None:
    # p = 2, M = 1, n = 10, H = 20: 2 * 1 * (6 + 80) / 400.
    assert bound(10, 2, 20.0) == pytest.approx(0.43)
    with pytest.raises(InputError, match="farther away"):
        TheoremConfig(distances=(0.9,))


def test_summary_takes_the_worst_over_tables() -> None:
    columns = {"n": [5, 5], "columns": [2, 2], "distance": [9.0, 9.0], "bound": [1.0, 1.0]}
    values = {
        "lowest": [0.1, 0.2],
        "mean": [0.2, 0.4],
        "highest": [0.3, 0.5],
        "adversarial": [1, 2],
    }
    raw = {**columns, "table": [0, 1], "method": ["sa", "sa"], **values}
    row = summary({name: np.array(value) for name, value in raw.items()}).row(0, named=True)
    assert (row["lowest"], row["highest"], row["adversarial"]) == (0.1, 0.5, 2)
    assert row["median"] == pytest.approx(0.3)


@pytest.mark.parametrize("draw", ["adbench", "campos"])
def test_the_wisconsin_rows(draw: str) -> None:
    table, outliers = wdbc_rows(draw)
    assert table.shape == (367, 30)
    assert outliers.tolist() == list(range(357, 367))
    with pytest.raises(UnknownNameError, match="Known: adbench, campos"):
        WdbcConfig(rows="campus")


def test_a_short_run_is_near_the_published_means(tmp_path) -> None:
    study = wdbc_study(WdbcConfig(releases=8, block=8, bootstrap=200))
    run(study, tmp_path, workers=1, progress=False)
    write_wdbc(study, tmp_path)
    found = pl.read_csv(tmp_path / "means.csv")
    assert (
        ",".join(found.columns) == "method,metric,mean,sd,n_undefined,published_mean,published_sd"
    )
    for row in found.iter_rows(named=True):
        published = PUBLISHED_MEANS[row["method"]][row["metric"]]
        assert (row["published_mean"], row["published_sd"]) == published
        # 80 releases, within targets less spread than over all.
        assert abs(row["mean"] - published[0]) < 0.3 * published[1], row
    sa = found.filter(pl.col("method") == "sa", pl.col("metric") == "ore")["mean"][0]
    assert sa == pytest.approx(0.00104, rel=0.15)
    table = pl.read_csv(tmp_path / "table2.csv")
    assert set(table["target"]) == {*TARGETS, "overall"} == set(PUBLISHED_RATIOS)
    assert table.height == 11 * 5 * 2
    overall = table.filter(pl.col("target") == "overall", pl.col("form") == "printed")
    for row in overall.iter_rows(named=True):
        assert 0.6 < row["ratio"] / row["published"] < 1.6
        assert row["low"] < row["ratio"] < row["high"]


def test_another_draw_has_no_published_figures_and_other_pairs_are_compared(tmp_path) -> None:
    methods = ("sa", "mcd50-mcd75", "cov-cov4")
    config = WdbcConfig(rows="campos", methods=methods, releases=2, block=2, bootstrap=50)
    study = wdbc_study(config)
    run(study, tmp_path, workers=1, progress=False)
    write_wdbc(study, tmp_path)
    for name, column in (("means", "published_mean"), ("table2", "published")):
        table = pl.read_csv(tmp_path / f"{name}.csv")
        assert table[column].null_count() == table.height
    assert not (tmp_path / "published.csv").exists()
    duels = pl.read_csv(tmp_path / "duels.csv")
    assert duels["method"].unique().to_list() == ["cov-cov4"]
    assert duels.height == 5 * 2
    pairs = pl.read_csv(tmp_path / "pairs.csv")
    assert pairs["method"].to_list() == ["mcd50-mcd75", "cov-cov4"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "another draw (campos)" in page
    assert "Does mcd50-mcd75 win?" in page
    assert "leaves out the root that the definition has" in page
    told = " ".join(pl.read_csv(tmp_path / "claims.csv")["figures"])
    assert "49 of the published" in told
    assert "41 of the published" in told


def test_a_published_mean_is_found_explained_or_neither() -> None:
    rows = [
        ("sa", "ore", 0.00105),  # .00104, standard error .0009 / sqrt(20000) = 6.4e-6
        ("sa", "recall", 0.90),  # .942, far; folds move ours up to .95
        ("sa", "jaccard", 0.60),  # .767, far; folds move ours up to .65
        ("mcd50-mcd75", "ore", 0.0052),
    ]
    found = pl.DataFrame(rows, schema=["method", "metric", "mean"], orient="row")
    folds = [("sa", "recall", -0.05, 0.05), ("sa", "jaccard", -0.05, 0.05)]
    ranges = pl.DataFrame(folds, schema=["method", "metric", "down", "up"], orient="row")
    table = beside_published(found, ranges)
    assert table["gap"][0] == pytest.approx(1.57, abs=0.01)
    assert table["moved as far by"].to_list() == ["", "folds", "no", "MCD search"]
    near, explained, spectral, robust = mean_claims(table)
    assert (near.holds, near.detail) == (False, "1 of 4")
    assert not explained.holds
    assert explained.detail.endswith("not sa jaccard")
    assert (spectral.holds, robust.holds) == (True, False)
    assert [claim.holds for claim in mean_claims(table.head(1))] == [True, True]


def test_claims_count_cells_and_wins() -> None:
    rows = [
        (target, "distance", form, ratio, ratio - 0.1, ratio + 0.1)
        for form, shift in (("printed", 0.0), ("defined", -0.5))
        for target, ratio in (
            ("radius", 1.2 + shift),
            ("area", 2.0 + shift),
            ("overall", 1.6 + shift),
        )
    ]
    schema = ["target", "metric", "form", "ratio", "low", "high"]
    table = pl.DataFrame(rows, schema=schema, orient="row")
    printed, printed_whole, defined, _ = cell_claims(table, "mcd50-mcd75")
    assert printed.detail == "2 of 2 (2 with the interval above 1); 49 of the published"
    assert (printed_whole.holds, printed_whole.detail) == (True, "1 of 1: distance 1.60")
    assert (defined.holds, defined.detail) == (
        False,
        "1 of 2 (1 with the interval above 1); 1 of ours and 41 of the published by the mean OREs "
        "of all targets",
    )
    duels = table.rename({"target": "method"})
    won, lost = win_claims(duels)
    assert won.holds
    assert lost.detail == "1 of 3 won, 1 lost; won:lost radius 0:1, area 1:0, overall 0:0"


def test_conclusions_ask_who_hides_better_and_who_loses_more() -> None:
    metrics = ("ore", "distance", "recall", "precision", "jaccard", "fpr")
    rows = [
        ("sa", metric, value) for metric, value in zip(metrics, (1, 1, 3, 3, 3, 1), strict=True)
    ]
    rows += [
        ("p", metric, value) for metric, value in zip(metrics, (2, 2, 2, 2, 4, 2), strict=True)
    ]
    better, more = conclusions(
        pl.DataFrame(rows, schema=["method", "metric", "mean"], orient="row"), "p"
    )
    assert better.holds
    assert (more.holds, more.detail) == (False, "4 of 5 metrics")


def test_folds_move_means_both_ways() -> None:
    ranges = fold_ranges(WdbcConfig(methods=("sa",)), draws=3, releases=1)
    assert ranges["metric"].to_list() == ["distance", "recall", "precision", "jaccard", "fpr"]
    assert (ranges["down"] < 0).all()
    assert (ranges["up"] > 0).all()
    one = fold_ranges(WdbcConfig(methods=("sa",)), draws=1, releases=1)
    assert (one["down"] == 0).all()


@pytest.mark.thorough
def test_spectral_replication_of_the_wisconsin_rows(tmp_path) -> None:
    study = wdbc_study(WdbcConfig(releases=300, methods=("sa",), bootstrap=200))
    run(study, tmp_path, workers=2, progress=False)
    ore = read_parts(study, tmp_path)["ore"].mean()
    assert ore == pytest.approx(PUBLISHED_MEANS["sa"]["ore"][0], rel=0.03)
