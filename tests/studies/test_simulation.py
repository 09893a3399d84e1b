"""The simulation: its data, its jobs, and the figures of an independent run."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.studies.engine import run_study
from icsa.studies.simulation import (
    PAPER_METHODS,
    SimulationConfig,
    draw_data,
    pair_of,
    simulate_block,
    simulation_study,
)
from icsa.studies.simulation_results import (
    REFERENCE_RUN,
    decorrelation,
    differences,
    summary,
    write_results,
)

SMALL = SimulationConfig(
    scenarios=(1, 2), n=(40,), columns=(4,), severities=(0, 16), repetitions=6, block=3
)


@pytest.mark.parametrize("scenario", [1, 2])
def test_data_have_the_law_that_they_should(scenario: int) -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_data(scenario, 100, 5, 8.0, rng) for _ in range(200)]
    x = np.concatenate([data.table[:, :-1] for data in drawn])
    noise = np.concatenate(
        [
            np.delete(data.table[:, -1] - data.table[:, :-1] @ data.coefficients, data.outliers)
            for data in drawn
        ]
    )
    shifts = np.concatenate(
        [(d.table[:, -1] - d.table[:, :-1] @ d.coefficients)[d.outliers] for d in drawn]
    )
    assert noise.std() == pytest.approx(1.0, abs=0.02)
    assert shifts.mean() == pytest.approx(8.0, abs=0.3)
    np.testing.assert_allclose(drawn[0].coefficients, [1.0, -(0.5**0.5), 3**-0.5, -0.5])
    if scenario == 1:
        np.testing.assert_allclose(x.var(axis=0), [4, 3, 2, 1], rtol=0.05)
        assert drawn[0].outliers.tolist() == [99]
    else:
        # Over random rotations columns have the mean eigenvalue, (1 + .75 + .5 + .25)/4 + .025.
        np.testing.assert_allclose(x.var(axis=0), 0.65, rtol=0.05)
        assert drawn[0].outliers.size == 10


def test_methods_are_named_by_their_scatters() -> None:
    assert len(PAPER_METHODS) == 9
    assert pair_of("mcd75-hr") == ("mcd75", "hr", False)
    with pytest.raises(InputError, match="No method 'mcd50'"):
        pair_of("mcd50")
    with pytest.raises(InputError, match="Did you mean 'mcd75'"):
        SimulationConfig(methods=("mcd57-hr",))


def test_the_whole_grid_has_200_cells() -> None:
    config = SimulationConfig()
    jobs = simulation_study(config).jobs
    cells = {
        tuple(job.arguments[k] for k in ("scenario", "n", "columns", "severity")) for job in jobs
    }
    assert len(cells) == 200
    assert len({job.name for job in jobs}) == len(jobs) == 200 * 20


def test_a_cell_agrees_with_an_independent_run() -> None:
    config = SimulationConfig(repetitions=60)
    for scenario, reference in REFERENCE_RUN.items():
        raw = simulate_block(
            config, scenario=scenario, n=120, columns=8, severity=16, first=0, last=60
        )
        for row in summary(raw).iter_rows(named=True):
            ore, loss, _ = reference[row["method"]]
            # The reference has 300 repetitions, a fifth of our variance.
            assert abs(row["ore"] - ore) < 4 * 1.1 * row["ore_se"] + 5e-4, row["method"]
            assert abs(row["loss"] - loss) < 4 * 1.1 * row["loss_se"] + 5e-3, row["method"]


def test_what_cannot_be_estimated_says_why() -> None:
    config = SimulationConfig(repetitions=2)
    raw = simulate_block(config, scenario=1, n=20, columns=32, severity=4, first=0, last=2)
    found = {row["method"]: row for row in summary(raw).iter_rows(named=True)}
    assert found["sa"]["ore"] > 0
    assert found["sa"]["loss"] is None
    assert "more rows than predictors + 1: got 20 rows" in found["sa"]["reason"]
    assert found["mcd50-mcd75"]["ore"] is None
    assert found["mcd50-mcd75"]["not_estimable"] == 2
    assert "more rows than columns + 1: got 20 rows, 32 columns" in found["mcd50-mcd75"]["reason"]


def test_decorrelating_keeps_the_ore_and_loses_less() -> None:
    config = SimulationConfig(methods=("sa", "sa+d"), repetitions=60)
    raw = simulate_block(config, scenario=1, n=120, columns=8, severity=16, first=0, last=60)
    row = decorrelation(raw).row(0, named=True)
    assert row["ore_low"] < 0.01
    assert row["ore_high"] > -0.01
    assert row["loss_high"] < 0


def test_differences_are_paired() -> None:
    raw = simulate_block(SMALL, scenario=1, n=40, columns=4, severity=16, first=0, last=6)
    gaps = differences(raw)
    frame = pl.DataFrame(raw)
    sa, other = (frame.filter(pl.col("method") == m)["ore"] for m in ("sa", "hr-tyler"))
    row = gaps.filter(pl.col("method") == "hr-tyler").row(0, named=True)
    assert row["ore"] == pytest.approx(float((other - sa).mean()))
    assert row["ore_high"] - row["ore"] == pytest.approx(
        1.96 * (other - sa).std() / 6**0.5, rel=1e-3
    )


def test_results_are_written(tmp_path) -> None:
    config = SimulationConfig(**{**asdict(SMALL), "methods": ("sa", "mcd50-mcd75", "sa+d")})
    study = simulation_study(config)
    run_study(study, tmp_path, workers=1, progress=False)
    write_results(study, tmp_path)
    table = pl.read_csv(tmp_path / "summary.csv")
    assert ",".join(table.columns) == (
        "scenario,n,columns,severity,method,repetitions,ore,ore_se,ore_median,loss,loss_se,"
        "loss_median,not_estimable,reason"
    )
    assert table.height == 4 * 3
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4
    assert "src=" not in page  # nothing is loaded from elsewhere
    assert "<link" not in page
    assert json.loads((tmp_path / "config.json").read_text())["config"]["repetitions"] == 6
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}
    write_results(study, tmp_path)
    assert before == {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}
