"""The simulation beyond the paper: other masks, and who puts pieces together again."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import polars as pl
import pytest

from icsa import cli
from icsa.attacks.reassembly import reassemble
from icsa.errors import InputError
from icsa.jobs import run
from icsa.studies.simulation import (
    PAPER_METHODS,
    SimulationConfig,
    simulate_block,
    simulation_study,
)
from icsa.studies.simulation_beyond import (
    VERDICTS,
    mask_claims,
    mask_overview,
    verdict_counts,
    with_mask_verdicts,
)
from icsa.studies.simulation_results import write_results
from icsa.studies.simulation_scores import DataSet, attacked_errors
from icsa.studies.simulation_tables import decorrelation, remasking, summary

REDRAWN = "mcd50-mcd75+redraw+d"
METHODS = ("sa", "mcd50-mcd75", REDRAWN)


def of(raw: dict[str, np.ndarray], name: str, method: str) -> np.ndarray:
    return raw[name][raw["method"] == method]


# --- the attack ----------------------------------------------------------------------------------


def test_what_is_attacked_where_nothing_is_said() -> None:
    methods = (*PAPER_METHODS, "sa+d", REDRAWN)
    config = SimulationConfig(methods=methods)
    assert config.attacked_methods == ("sa", "mcd50-mcd75", "sa+d", REDRAWN)
    assert SimulationConfig(methods=methods, attacked=()).attacked_methods == ()
    assert SimulationConfig(methods=methods, attacked=("hr-cov",)).attacked_methods == ("hr-cov",)
    with pytest.raises(InputError, match="'sa\\+d' is to be attacked but not simulated"):
        SimulationConfig(attacked=("sa+d",))
    with pytest.raises(InputError, match="0 or more"):
        SimulationConfig(attacked_repetitions=-1)


def test_only_the_first_repetitions_of_chosen_methods_are_attacked() -> None:
    config = SimulationConfig(methods=METHODS, attacked=("sa", REDRAWN), attacked_repetitions=3)
    raw = simulate_block(config, scenario=1, n=60, columns=4, severity=16, first=1, last=5)
    for method, attacked in (
        ("sa", [1, 1, 0, 0]),
        ("mcd50-mcd75", [0] * 4),
        (REDRAWN, [1, 1, 0, 0]),
    ):
        assert np.isfinite(of(raw, "reassembled", method)).tolist() == attacked
    assert not raw["reason"].astype(bool).any()
    plain = simulate_block(
        SimulationConfig(methods=METHODS, attacked=()),
        scenario=1,
        n=60,
        columns=4,
        severity=16,
        first=1,
        last=5,
    )
    for name in ("ore", "loss"):  # an attack changes nothing else
        np.testing.assert_array_equal(raw[name], plain[name])


def test_the_reassembled_ore_counts_the_guess_as_one_more_row() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(80, 3))
    table[:2] = [[60.0, 40.0, 50.0], [-50.0, 60.0, 10.0]]
    released = rng.normal(size=(80, 3))
    released[range(3), range(3)] = table[0]
    guess = reassemble(released).guess
    assert guess is not None
    errors = [
        [((person - row) ** 2).sum() / (person**2).sum() for row in (*released, guess)]
        for person in table[:2]
    ]
    reassembled, error = attacked_errors(DataSet(table, np.ones(2), np.arange(2)), released)
    assert reassembled == pytest.approx(np.mean([min(row) for row in errors]))
    assert error == pytest.approx(min(row[-1] for row in errors))
    assert error < 0.01  # the first person is back; the second is not in the release
    assert reassembled > 0.1


def test_a_release_in_which_nobody_is_far_out_gives_no_guess() -> None:
    rng = np.random.default_rng(5)
    table = rng.normal(size=(200, 3))
    data = DataSet(table, np.ones(2), np.array([7]))
    released = rng.uniform(-1.0, 1.0, size=(200, 3))
    reassembled, error = attacked_errors(data, released)
    nearest = ((table[7] - released) ** 2).sum(axis=1).min() / (table[7] ** 2).sum()
    assert reassembled == pytest.approx(nearest)
    assert np.isnan(error)


def test_somebody_far_out_is_put_together_again_unless_the_scores_are_drawn_anew() -> None:
    config = SimulationConfig(methods=("mcd50-mcd75", REDRAWN), repetitions=12)
    raw = simulate_block(config, scenario=1, n=240, columns=5, severity=100, first=0, last=12)
    found = {row["method"]: row for row in summary(raw).iter_rows(named=True)}
    published, redrawn = found["mcd50-mcd75"], found[REDRAWN]
    assert published["ore"] > 0.25  # what the paper looks at says that it is hidden
    assert published["reassembled"] < 0.1
    assert published["guessed_near"] > 0.8
    assert redrawn["reassembled"] > 0.5
    assert redrawn["guessed_near"] == 0.0
    assert published["attacked"] == redrawn["attacked"] == 12
    assert published["guesses"] == 12


def test_an_attack_that_cannot_be_made_says_why() -> None:
    config = SimulationConfig(methods=("sa",), repetitions=1)
    raw = simulate_block(config, scenario=1, n=20, columns=32, severity=4, first=0, last=1)
    assert np.isnan(raw["reassembled"]).all()
    assert "reassembly: " in raw["reason"][0]
    assert "more rows than columns + 1" in raw["reason"][0]
    assert summary(raw)["attacked"].to_list() == [0]
    assert summary(raw)["guessed_near"].to_list() == [None]


# --- cell by cell --------------------------------------------------------------------------------


def cells(rows: list[dict[str, object]], scenario: int = 1) -> pl.DataFrame:
    place = {"scenario": scenario, "columns": 4, "severity": 16}
    return pl.DataFrame([{**place, "n": 20 + i, **row} for i, row in enumerate(rows)])


def interval(name: str, low: float | None, high: float | None) -> dict[str, float | None]:
    middle = None if low is None or high is None else (low + high) / 2
    return {name: middle, f"{name}_low": low, f"{name}_high": high}


def judged_cells(
    bounds: list[tuple[tuple[float, float] | None, tuple[float, float] | None]], scenario: int = 1
) -> pl.DataFrame:
    """Intervals of ORE and loss, a cell each; the reassembled ORE has that of the ORE."""
    pair = {"method": REDRAWN, "to": "mcd50-mcd75"}
    gaps = cells(
        [
            {
                **pair,
                **interval("ore", *(ore or (None, None))),
                **interval("loss", *(loss or (None, None))),
                **interval("reassembled", *(ore or (None, None))),
            }
            for ore, loss in bounds
        ],
        scenario,
    )
    means = {"method": "mcd50-mcd75", "ore": 1.0, "loss": 2.0}
    return with_mask_verdicts(gaps, cells([means] * len(bounds), scenario))


UP, ZERO, DOWN = (0.1, 0.3), (-0.2, 0.1), (-0.3, -0.1)


@pytest.mark.parametrize(
    ("ore", "loss", "verdict"),
    [
        (UP, DOWN, "better on both"),
        (UP, ZERO, "better on one, equal on the other"),
        (ZERO, DOWN, "better on one, equal on the other"),
        (ZERO, ZERO, "equal on both"),
        (UP, UP, "better on one, worse on the other"),
        (DOWN, DOWN, "better on one, worse on the other"),
        (DOWN, ZERO, "worse"),
        (ZERO, UP, "worse"),
        (DOWN, UP, "worse"),
        (UP, None, None),
        (None, DOWN, None),
    ],
)
def test_a_cell_has_one_verdict(ore, loss, verdict) -> None:
    row = judged_cells([(ore, loss), (UP, DOWN)]).row(0, named=True)
    assert row["verdict"] == row["verdict_reassembled"] == verdict
    assert verdict is None or verdict in VERDICTS


def test_the_same_is_within_five_percent_on_both_axes() -> None:
    # The other method's means are an ORE of 1 and a loss of 2.
    bounds = [
        ((-0.04, 0.04), (-0.09, 0.09)),
        ((-0.06, 0.04), (-0.09, 0.09)),
        ((-0.04, 0.04), (-0.09, 0.11)),
        ((-0.04, 0.04), None),
    ]
    judged = judged_cells(bounds, scenario=2)
    assert judged["same"].to_list() == [True, False, False, None]
    same, _ = mask_claims(judged)
    assert not same.holds
    assert same.detail == "the same in 1; of 3 cells: equal on both in 3"
    assert same.text.startswith(f"{REDRAWN} against mcd50-mcd75, scenario 2, severity 16: ")
    assert mask_claims(judged.head(1))[0].holds


def test_claims_are_decided_by_every_cell() -> None:
    good = judged_cells([(UP, DOWN), (UP, DOWN)])
    assert all(claim.holds for claim in mask_claims(good))
    both, reassembled, *_ = mask_claims(judged_cells([(UP, DOWN), (ZERO, DOWN), (None, None)]))
    assert "scenario 1, severity 16: higher ORE and less loss in every cell" in both.text
    assert (both.holds, reassembled.holds) == (False, False)
    assert both.detail == (
        "of 2 cells: better on both in 1, better on one, equal on the other in 1"
    )
    assert reassembled.detail == "of 2 cells: higher in 1, unclear in 1"


def test_claims_are_made_of_all_severities_and_of_the_largest() -> None:
    weak = judged_cells([(ZERO, DOWN)]).with_columns(severity=pl.lit(2, dtype=pl.Int64))
    every, _, farthest, _ = mask_claims(pl.concat([weak, judged_cells([(UP, DOWN)])]))
    assert (every.holds, farthest.holds) == (False, True)
    assert "scenario 1: higher" in every.text
    assert "scenario 1, severity 16: higher" in farthest.text


def test_claims_are_about_decorrelated_methods_against_published_ones() -> None:
    judged = judged_cells([(UP, DOWN)])
    plain = judged.with_columns(pl.lit("mcd50-mcd75+redraw").alias("method"))
    other = judged.with_columns(pl.lit("mcd50-mcd75+d").alias("to"))
    texts = [claim.text for claim in mask_claims(pl.concat([plain, other, judged]))]
    assert {text.partition(",")[0] for text in texts} == {f"{REDRAWN} against mcd50-mcd75"}
    assert mask_claims(plain)[0].text.startswith("mcd50-mcd75+redraw against mcd50-mcd75,")


def test_verdicts_are_counted_by_scenario_and_severity() -> None:
    first = judged_cells([(UP, DOWN), (UP, DOWN), (DOWN, UP), (None, DOWN)])
    second = judged_cells([(ZERO, ZERO)], scenario=2)
    counts = verdict_counts(pl.concat([first, second]))
    assert counts["privacy"].to_list() == ["ORE", "ORE", "reassembled ORE", "reassembled ORE"]
    assert counts["cells"].to_list() == [3, 1, 3, 1]
    assert counts["better on both"].to_list() == [2, 0, 2, 0]
    assert counts["worse"].to_list() == [1, 0, 1, 0]
    assert counts["equal on both"].to_list() == [0, 1, 0, 1]


def rows_of(values: dict[str, list[float]]) -> dict[str, np.ndarray]:
    methods = [method for method, found in values.items() for _ in found]
    ore = np.array([value for found in values.values() for value in found])
    size = ore.size
    return {
        "scenario": np.full(size, 1),
        "n": np.full(size, 40),
        "columns": np.full(size, 4),
        "severity": np.full(size, 16),
        "repetition": np.array([i for found in values.values() for i in range(len(found))]),
        "method": np.array(methods),
        "ore": ore,
        "loss": 1.0 - ore,
        "reassembled": np.where(ore < 0.5, ore / 2, np.nan),
        "guess": np.full(size, np.nan),
        "reason": np.full(size, ""),
    }


def test_other_masks_are_compared_with_the_published_one_of_the_same_scatters() -> None:
    raw = rows_of(
        {
            "sa": [0.1, 0.2],
            "sa+d": [0.1, 0.3],
            "hr-cov": [0.0, 0.1],
            "sa+redraw": [0.4, 0.4],
            "sa+redraw+d": [0.6, 0.4],
            "hr-cov+rotate": [0.2, 0.1],
        }
    )
    gaps = remasking(raw)
    assert gaps.select("method", "to").rows() == [
        ("sa+redraw", "sa"),
        ("sa+redraw+d", "sa"),
        ("sa+redraw+d", "sa+d"),
        ("hr-cov+rotate", "hr-cov"),
    ]
    row = gaps.row(1, named=True)
    # .6 - .1 and .4 - .2: mean .35, standard deviation .3/sqrt 2, standard error .15.
    assert row["ore"] == pytest.approx(0.35)
    assert row["ore_high"] - row["ore"] == pytest.approx(1.96 * 0.15, rel=1e-4)
    assert row["loss"] == pytest.approx(-0.35)
    # Reassembled: only the second repetition was attacked in both.
    assert row["reassembled"] == pytest.approx(0.1)
    assert decorrelation(raw)["method"].to_list() == ["sa", "sa+redraw"]


def test_medians_are_over_cells_that_all_methods_can_estimate() -> None:
    names = ("ore", "loss", "ore_attacked", "reassembled", "guessed_near")
    rows = [
        {"scenario": 1, "n": n, "columns": 4, "severity": 2, "method": method}
        | dict.fromkeys(names, value)
        for n, values in {20: (1.0, 3.0), 30: (2.0, 5.0), 40: (9.0, 4.0), 60: (9.0, None)}.items()
        for method, value in zip(("sa", "sa+redraw"), values, strict=True)
    ]
    table = mask_overview(pl.DataFrame(rows), ("sa", "sa+redraw"))
    assert table.select("method", "cells", "ore").rows() == [("sa", 3, 2.0), ("sa+redraw", 3, 4.0)]


# --- the whole study -----------------------------------------------------------------------------


def test_results_with_another_mask_are_written(tmp_path) -> None:
    config = SimulationConfig(
        n=(40,),
        columns=(4,),
        severities=(0, 16),
        methods=(*METHODS, "sa+d"),
        repetitions=4,
        attacked_repetitions=3,
    )
    study = simulation_study(config)
    run(study, tmp_path, workers=1, progress=False)
    write_results(study, tmp_path)
    judged = pl.read_csv(tmp_path / "masks.csv")
    assert judged.select("method", "to").unique().rows() == [(REDRAWN, "mcd50-mcd75")]
    assert judged.height == 4
    assert set(judged["verdict"]) <= set(VERDICTS)
    counts = pl.read_csv(tmp_path / "mask_verdicts.csv")
    assert counts["cells"].to_list() == [1] * 8
    means = pl.read_csv(tmp_path / "mask_overview.csv")
    assert means["method"].unique().sort().to_list() == ["mcd50-mcd75", REDRAWN]
    assert (means["reassembled"] <= means["ore_attacked"]).all()
    answers = pl.read_csv(tmp_path / "claims.csv")
    assert answers.filter(pl.col("claim").str.starts_with(f"{REDRAWN} against")).height == 8
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 10  # two scenarios: all, worst, decorrelated, masks, reassembled
    assert page.index("Other masks") > page.index("Decorrelated masks")
    assert json.loads((tmp_path / "config.json").read_text())["config"] == json.loads(
        json.dumps(asdict(config))
    )


@pytest.mark.parametrize(
    "methods", [("sa", "sa+redraw+d"), ("sa", "sa+redraw", "sa+redraw+d"), ("sa+redraw",)]
)
def test_a_study_need_not_have_the_method_to_compare_with(methods, tmp_path) -> None:
    config = SimulationConfig(n=(30,), columns=(3,), severities=(8,), methods=methods)
    study = simulation_study(replace(config, repetitions=3))
    run(study, tmp_path, workers=1, progress=False)
    write_results(study, tmp_path)
    assert (tmp_path / "decorrelation.csv").exists() == ("sa+redraw" in methods[:-1])
    assert (tmp_path / "masks.csv").exists() == ("sa" in methods)


def test_the_command_says_what_is_attacked(capsys) -> None:
    command = "study simulation --also sa+redraw --attack sa+redraw --attack-repetitions 7"
    assert cli.run([*command.split(), "--show-config"]) == 0
    config = json.loads(capsys.readouterr().out)["config"]
    assert config["attacked"] == ["sa+redraw"]
    assert config["attacked_repetitions"] == 7
    assert config["methods"][-1] == "sa+redraw"
