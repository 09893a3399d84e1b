"""The simulation: its data, its jobs, and the figures of an independent run."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError
from icsa.jobs import read_parts, run
from icsa.masks import MASKS
from icsa.studies.named_methods import method_of
from icsa.studies.simulation import (
    PAPER_METHODS,
    SimulationConfig,
    simulate_block,
    simulation_study,
)
from icsa.studies.simulation_beyond import decorrelation_claims, with_verdicts
from icsa.studies.simulation_claims import REFERENCE_RUN, against_reference, claims
from icsa.studies.simulation_results import method_times, write_results
from icsa.studies.simulation_scores import draw_data
from icsa.studies.simulation_tables import (
    decorrelation,
    differences,
    ore_quantiles,
    summary,
    worst_cells,
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
    assert method_of("mcd75-hr").scatters == ("mcd75", "hr")
    assert all(method_of(name).mask == "permute" for name in PAPER_METHODS)
    assert not any(method_of(name).decorrelate for name in PAPER_METHODS)
    with pytest.raises(InputError, match="No method 'mcd50'"):
        method_of("mcd50")
    with pytest.raises(InputError, match="Did you mean 'mcd75'"):
        SimulationConfig(methods=("mcd57-hr",))


@pytest.mark.parametrize("mask", sorted(MASKS))
@pytest.mark.parametrize("decorrelate", [False, True])
def test_a_method_may_name_a_mask(mask: str, decorrelate: bool) -> None:
    name = f"mcd50-mcd75+{mask}{'+d' if decorrelate else ''}"
    found = method_of(name)
    assert (found.scatters, found.mask, found.decorrelate) == (
        ("mcd50", "mcd75"),
        mask,
        decorrelate,
    )
    assert found.plain_name == f"mcd50-mcd75+{mask}"


@pytest.mark.parametrize("name", ["sa+", "sa++d", "sa+d+d", "sa+d+rotate", "sa+rotate+flip", "+d"])
def test_a_method_has_one_pair_one_mask_and_one_end(name: str) -> None:
    with pytest.raises(InputError, match=r"No method|mask"):
        method_of(name)


def test_a_mask_that_is_named_is_the_one_that_is_used() -> None:
    methods = ("sa", "sa+permute", "sa+rotate")
    config = SimulationConfig(methods=methods, repetitions=4)
    raw = simulate_block(config, scenario=1, n=60, columns=4, severity=16, first=0, last=4)
    by_method = {m: raw["ore"][raw["method"] == m] for m in methods}
    np.testing.assert_array_equal(by_method["sa"], by_method["sa+permute"])
    assert (by_method["sa"] != by_method["sa+rotate"]).all()


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


def grid(values: dict[tuple[int, int], dict[str, list[float]]], severity: int = 16) -> dict:
    """Return raw results by size and method, all of scenario 1."""
    rows = [
        (1, n, columns, severity, method, float(ore))
        for (n, columns), methods in values.items()
        for method, ores in methods.items()
        for ore in ores
    ]
    names = ("scenario", "n", "columns", "severity", "method", "ore")
    return {
        name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


def test_worst_cells_are_those_of_sa_and_of_the_best_method() -> None:
    raw = grid(
        {
            # SA's lowest three: 20 x 2, 30 x 2, 40 x 2; the best method's: 50 x 2, 60 x 2, 20 x 2.
            (20, 2): {"sa": [0.01, 0.01], "hr-tyler": [0.5, 0.5]},
            (30, 2): {"sa": [0.02, 0.02], "hr-tyler": [0.9, 0.9]},
            (40, 2): {"sa": [0.03, 0.03], "hr-tyler": [0.8, 0.8]},
            (50, 2): {"sa": [0.1, 0.1], "hr-tyler": [0.1, 0.1]},
            (60, 2): {"sa": [0.2, 0.2], "hr-tyler": [0.1, 0.1]},
            (70, 2): {"sa": [0.0, 0.0], "hr-tyler": [np.nan, np.nan]},
        }
    )
    easy = grid({(10, 2): {"sa": [0.0, 0.0], "hr-tyler": [0.0, 0.0]}}, severity=4)
    both = {name: np.concatenate([raw[name], easy[name]]) for name in raw}
    found = worst_cells(ore_quantiles(both), 1, ("sa", "hr-tyler"))
    assert found.select("n", "why").rows() == [
        (20, "worst for sa and the best method"),
        (30, "worst for sa"),
        (40, "worst for sa"),
        (50, "worst for the best method"),
        (60, "worst for the best method"),
    ]


def test_every_cell_says_whether_decorrelating_keeps_the_ore_and_loses_less() -> None:
    cell = {"scenario": [1] * 5, "n": [40] * 5, "columns": [4] * 5, "severity": [0, 2, 4, 8, 16]}
    gaps = pl.DataFrame(
        {
            **cell,
            "method": ["sa"] * 5,
            "ore": [0.0, -0.1, 0.0, 0.01, None],
            # The plain ORE is 1: the same is between -.05 and .05.
            "ore_low": [-0.04, -0.2, -0.1, 0.005, None],
            "ore_high": [0.04, -0.06, 0.1, 0.015, None],
            "loss": [-1.0, -1.0, 1.0, 0.0, None],
            "loss_low": [-1.1, -1.1, 0.9, -0.1, None],
            "loss_high": [-0.9, -0.9, 1.1, 0.1, None],
        }
    )
    plain = {**cell, "method": ["sa"] * 5, "ore": [1.0] * 4 + [None], "repetitions": [9] * 5}
    judged = with_verdicts(gaps, pl.DataFrame(plain))
    assert judged["ore_is"].to_list() == ["same", "lower", "unclear", "same", None]
    assert judged["loss_is"].to_list() == ["lower", "lower", "higher", "unclear", None]
    assert judged["holds"].to_list() == [True, False, False, False, None]
    less, same, both = decorrelation_claims(judged)
    assert [less.holds, same.holds, both.holds] == [False, False, False]
    assert less.detail == "of 4 cells: lower in 2, higher in 1, unclear in 1"
    assert same.detail == (
        "of 4 cells: same in 2, lower in 1, unclear in 1; the interval has 0 in it in 2"
    )
    assert both.detail == "1 of 4 cells"
    assert all(claim.holds for claim in decorrelation_claims(judged.head(1)))


def test_gaps_to_the_independent_run_are_in_standard_errors() -> None:
    row = {"scenario": 1, "n": 120, "columns": 8, "severity": 16, "method": "sa"}
    values = {"repetitions": 1200, "ore": 0.322, "ore_se": 0.008, "loss": 0.336, "loss_se": 0.01}
    table = against_reference(pl.DataFrame([{**row, **values}]))
    # Theirs .312 with the standard error .006: .01 / hypot(.008, .006) = 1.
    assert table["ore gap"][0] == pytest.approx(1.0)
    assert table["loss gap"][0] == pytest.approx(0.0)
    assert against_reference(pl.DataFrame([{**row, **values, "n": 40}])).is_empty()


def test_claims_say_no_when_the_results_do() -> None:
    rows = [
        {"scenario": 2, "n": 40, "columns": 4, "severity": 16, "method": method, **values}
        for method, values in {
            "sa": {"ore": 0.5, "ore_se": 0.1, "loss": 1.0, "loss_se": 0.1},
            "mcd50-mcd75": {"ore": 0.6, "ore_se": 0.1, "loss": 2.0, "loss_se": 0.1},
        }.items()
    ]
    found = pl.DataFrame(rows).with_columns(pl.lit(9).alias("repetitions"))
    gaps = found.filter(pl.col("method") != "sa").with_columns(pl.lit(0.1).alias("ore_low"))
    (claim,) = claims(found, gaps)
    assert not claim.holds
    assert (
        claim.detail
        == "both in 0 of 1 cells, highest ORE in 1, lowest loss in 0; not both at 40 x 4"
    )


def test_times_have_a_row_a_method_and_a_column_a_size() -> None:
    config = SimulationConfig(n=(40, 20), columns=(4,), methods=("sa", "cov-cov4"))
    note, table = method_times(config, sets=1, rounds=1)
    assert "when the report was made" in note
    assert table["method"].to_list() == ["sa", "cov-cov4", "all together"]
    assert table.columns == ["method", "20 x 4, ms", "40 x 4, ms"]
    assert table.drop("method").min_horizontal().min() > 0


def test_a_dask_cluster_of_two_processes_gives_the_same_summary(tmp_path) -> None:
    pytest.importorskip("distributed")
    study = simulation_study(SMALL)
    texts = []
    for name, dask in (("joblib", None), ("dask", "local")):
        run(study, tmp_path / name, workers=2, dask=dask, progress=False)
        texts.append(summary(read_parts(study, tmp_path / name)).write_csv())
    assert texts[0] == texts[1]
    assert texts[0].count("\n") == 1 + 4 * 9


def test_results_are_written(tmp_path) -> None:
    config = SimulationConfig(**{**asdict(SMALL), "methods": ("sa", "mcd50-mcd75", "sa+d")})
    study = simulation_study(config)
    run(study, tmp_path, workers=1, progress=False)
    write_results(study, tmp_path)
    table = pl.read_csv(tmp_path / "summary.csv")
    assert ",".join(table.columns) == (
        "scenario,n,columns,severity,method,repetitions,ore,ore_se,ore_median,loss,loss_se,"
        "loss_median,reassembled,reassembled_se,reassembled_median,attacked,ore_attacked,guesses,"
        "guess_median,guessed_near,not_estimable,reason"
    )
    assert table.height == 4 * 3
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 6
    for title in ("in the worst cells", "Time of each method", "ORE: differences to SA"):
        assert title in page
    assert page.index("Decorrelated masks") > page.index("Time of each method")
    answers = pl.read_csv(tmp_path / "claims.csv")
    assert answers.columns == ["claim", "holds", "figures"]
    assert set(answers["holds"]) <= {"yes", "no"}
    assert answers.filter(pl.col("claim").str.starts_with("sa+d")).height == 3
    assert "src=" not in page  # nothing is loaded from elsewhere
    assert "<link" not in page
    assert json.loads((tmp_path / "config.json").read_text())["config"]["repetitions"] == 6
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}
    write_results(study, tmp_path)
    assert before == {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}
