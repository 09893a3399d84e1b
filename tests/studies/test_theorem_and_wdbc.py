"""The theorem's bound at small size, and the Wisconsin study's rows and published figures."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError, UnknownNameError
from icsa.studies.engine import read_parts, run_study
from icsa.studies.theorem import TheoremConfig, bound, theorem_study
from icsa.studies.theorem_results import claims, summary
from icsa.studies.theorem_results import write_results as write_theorem
from icsa.studies.wdbc import TARGETS, WdbcConfig, wdbc_rows, wdbc_study
from icsa.studies.wdbc_results import PUBLISHED_MEANS, PUBLISHED_RATIOS
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
    run_study(study, tmp_path, workers=1, progress=False)
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
    run_study(study, tmp_path, workers=1, progress=False)
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


@pytest.mark.thorough
def test_spectral_replication_of_the_wisconsin_rows(tmp_path) -> None:
    study = wdbc_study(WdbcConfig(releases=300, methods=("sa",), bootstrap=200))
    run_study(study, tmp_path, workers=2, progress=False)
    ore = read_parts(study, tmp_path)["ore"].mean()
    assert ore == pytest.approx(PUBLISHED_MEANS["sa"]["ore"][0], rel=0.03)
