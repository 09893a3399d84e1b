"""The study of attacks: its tables, its jobs, and what a small run says."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError, UnknownNameError
from icsa.jobs import run
from icsa.masks import permute, redraw
from icsa.randomness import as_key
from icsa.studies.attack_measures import ATTACKS, KINDS, Target, _with_others, drawn_population
from icsa.studies.attacks import CELL, AttacksConfig, attack_block, attacks_study
from icsa.studies.attacks_results import claims, overview, summary, wide, write_results
from icsa.studies.named_methods import method_of

SMALL = AttacksConfig(
    methods=("mcd50-mcd75", "mcd50-mcd75+redraw+d"),
    kinds=("normal",),
    n=(240,),
    columns=(5,),
    digits_columns=(2,),
    releases_columns=(3,),
    insiders_columns=(3,),
    severities=(50.0,),
    tables=5,
    slow_tables=3,
    block=5,
)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_columns_have_mean_0_and_variance_1_before_they_are_mixed(kind: str) -> None:
    z = KINDS[kind](np.random.default_rng(1), (200_000, 2))
    # The variance of a t with 3 degrees of freedom is estimated slowly.
    tolerance = 0.3 if kind in ("t3", "lognormal") else 0.03
    np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(z.var(axis=0), 1.0, atol=tolerance)


def test_lone_people_are_as_far_out_as_asked() -> None:
    rng = np.random.default_rng(2)
    for kind in KINDS:
        population = drawn_population(kind, 4, rng)
        person = population.lone_person(20.0, rng)
        distance = np.linalg.norm(np.linalg.solve(population.mixing, person))
        assert distance == pytest.approx(20.0, abs=0.3)
    rounded = drawn_population("rounded", 3, rng).people(50, rng)
    np.testing.assert_allclose(rounded * 10, np.rint(rounded * 10), atol=1e-9)


def test_a_config_names_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match="No attack 'guessing'"):
        AttacksConfig(attacks=("guessing",))
    with pytest.raises(UnknownNameError, match="kind of tables 'gamma'"):
        AttacksConfig(kinds=("gamma",))
    with pytest.raises(InputError, match="No method"):
        AttacksConfig(methods=("mcd50",))
    with pytest.raises(InputError, match="at least one of severities"):
        AttacksConfig(severities=())
    with pytest.raises(InputError, match="40 rows"):
        AttacksConfig(n=(20,))


def test_every_attack_has_cells_and_all_methods_see_the_same_tables() -> None:
    jobs = attacks_study(AttacksConfig()).jobs
    assert {job.arguments["attack"] for job in jobs} == set(ATTACKS)
    assert {
        job.arguments["columns"] for job in jobs if job.arguments["attack"] == "reassembly"
    } == {
        5,
        10,
        20,
    }
    cell = {"attack": "insiders", "kind": "normal", "n": 60, "columns": 2, "severity": 0.0}
    both = attack_block(SMALL, **cell, first=0, last=4)
    late = attack_block(SMALL, **cell, first=2, last=4)
    for name in (*CELL, "table", "method", "measure", "value"):
        np.testing.assert_array_equal(both[name][both["table"] >= 2], late[name])


def test_a_small_run_finds_what_permute_gives_away_and_nothing_of_redraw(tmp_path) -> None:
    study = attacks_study(SMALL)
    run(study, tmp_path, workers=1, progress=False)
    write_results(study, tmp_path)
    found = pl.read_csv(tmp_path / "summary.csv")

    def means(attack: str, measure: str) -> list[float]:
        cells = found.filter(pl.col("attack") == attack, pl.col("measure") == measure)
        assert cells["method"].to_list() == list(SMALL.methods)
        return cells["mean"].to_list()

    for attack, measure in (
        ("reassembly", "found"),
        ("digits", "rows"),
        ("two releases", "coordinates"),
        ("insiders", "directions"),
    ):
        published, redrawn = means(attack, measure)
        assert published >= 0.6, attack
        assert redrawn == 0.0, attack
    published, redrawn = means("all but one", "error from means")
    assert published < 1e-9
    assert redrawn > 0.5
    published, redrawn = means("membership", "nearest")
    assert published > 0.99
    assert redrawn < 0.65
    assert (
        means("reassembly", "ORE of nearest row")[0] > 10 * means("reassembly", "ORE of guess")[0]
    )
    assert all(row["se"] is not None for row in found.iter_rows(named=True))
    short = pl.read_csv(tmp_path / "overview.csv")
    assert short["method"].to_list() == list(SMALL.methods)
    assert short.width == 9
    answers = pl.read_csv(tmp_path / "claims.csv")
    assert (answers["holds"] == "yes").sum() >= 12
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "Which mask withstands what" in page


def raw(values: dict[str, list[float]], attack: str = "insiders", **cell: object) -> dict:
    """Return results of a cell: by method the values of one measure, a table each."""
    there = {"kind": "normal", "n": 120, "columns": 3, "severity": 0.0, **cell}
    rows = [
        {"attack": attack, **there, "table": i, "method": method, "measure": name, "value": v}
        for method, numbers in values.items()
        for i, v in enumerate(numbers)
        for name in ("directions",)
    ]
    frame = pl.DataFrame([{**row, "reason": ""} for row in rows])
    return {name: frame[name].to_numpy() for name in frame.columns}


def test_summaries_by_hand() -> None:
    found = summary(raw({"sa": [1.0, 0.0, 1.0, 1.0], "sa+redraw": [0.0, 0.0]}))
    row = found.row(0, named=True)
    assert (row["mean"], row["tables"], row["not_run"]) == (0.75, 4, 0)
    assert row["se"] == pytest.approx(0.25)
    assert wide(found, "insiders")["directions"].to_list() == ["0.75 (0.25)", "0 (0)"]
    table = overview(found)
    assert table.columns == ["method", "directions by insiders (120 x 3)"]
    answers = {claim.text: claim.holds for claim in claims(found)}
    assert list(answers.values()) == [False, True]
    better = claims(summary(raw({"sa": [1.0, 1.0], "sa+redraw": [0.0, 0.5]})))
    assert [claim.holds for claim in better] == [True, False]


def test_what_cannot_be_run_says_why() -> None:
    config = AttacksConfig(attacks=("insiders",), methods=("sa", "mcd50-mcd75"), n=(40,))
    cell = {"attack": "insiders", "kind": "normal", "n": 40, "columns": 30, "severity": 0.0}
    frame = pl.DataFrame(attack_block(config, **cell, first=0, last=1))
    assert frame["measure"].unique().to_list() == ["not run"]
    assert frame["value"].is_nan().all()
    assert all("sa: " in reason or "mcd50-mcd75: " in reason for reason in frame["reason"])
    mixed = pl.concat(
        [
            frame,
            frame.with_columns(
                pl.lit("directions").alias("measure"),
                pl.lit(1.0).alias("value"),
                pl.lit("").alias("reason"),
            ),
        ]
    )
    found = summary({name: mixed[name].to_numpy() for name in mixed.columns})
    assert found["not_run"].to_list() == [1, 1]
    assert "ways to match" in found["reason"][0]


@pytest.mark.parametrize("mask", [permute, redraw])
def test_training_decorrelates_as_the_release_does(mask) -> None:
    """A column of the training is that of a table that `masked_copy` would release."""
    rng = np.random.default_rng(3)
    z, others = rng.normal(size=(60, 2)) + 5.0, rng.normal(size=(60, 3))
    key = as_key(1)
    result = _with_others(mask, others)(z, key=key)
    whole = mask(np.column_stack([z[:, 1], others]), key=key.child("simulation", 1))
    kept = whole if mask is redraw else np.column_stack([z[:, 1], others])
    assert result[:, 1].mean() == pytest.approx(kept[:, 0].mean())
    assert result[:, 1].std() == pytest.approx(kept[:, 0].std())


def test_releases_of_a_target_differ_and_come_back() -> None:
    rng = np.random.default_rng(4)
    population = drawn_population("normal", 3, rng)
    table = population.people(60, rng)
    target = Target(table, population, method_of("sa"), as_key(5), (1, 2), 0.0)
    map_ = target.coordinates()
    np.testing.assert_array_equal(target.release(map_, 1), target.release(map_, 1))
    assert not np.array_equal(target.release(map_, 0), target.release(map_, 1))
    assert target.generator().normal() == target.generator().normal()
