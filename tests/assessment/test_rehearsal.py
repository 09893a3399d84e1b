"""Rehearsals, holdouts and the word over keys: who was in beside who was not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.assessment.controls import control_reasons
from icsa.assessment.rehearsal import rehearse, releasing_rows, usual_halves
from icsa.comparison.matching import Comparison, match_tables
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.privacy.policy import Policy
from icsa.randomness import as_key
from icsa.release import Plan, plan, prepare, release
from icsa.tables import Table
from tests.assessment.tables import normal_table, people

Rows = Callable[[np.ndarray, int], pl.DataFrame]


def planned(frame: pl.DataFrame, recipe: str = "mixed", **options: Any) -> tuple[Table, Plan]:
    table = Table(frame)
    return table, plan(prepare(table, recipe=recipe), **options)


def compared(table: Table) -> Comparison:
    return match_tables(table, table, guess_schema(table))


def synthetic(frame: pl.DataFrame, copied: float) -> Rows:
    """Return a recipe that draws normal rows of the half's covariances, and copies some people."""

    def released(rows: np.ndarray, number: int) -> pl.DataFrame:
        x, rng = frame.to_numpy()[rows], np.random.default_rng(number)
        drawn = rng.multivariate_normal(x.mean(axis=0), np.cov(x.T), size=len(x), method="svd")
        count = round(copied * len(x))
        drawn[:count] = x[rng.permutation(len(x))[:count]]
        return pl.DataFrame(drawn, schema=frame.columns)

    return released


@pytest.mark.parametrize(("copied", "rules"), [(0.0, []), (0.1, ["rehearsal"])])
def test_a_recipe_that_copies_people_is_found(copied: float, rules: list[str]) -> None:
    frame = normal_table(300, 6, seed=4)
    control = rehearse(compared(Table(frame)), synthetic(frame, copied), 12)
    assert control.kind == "rehearsal"
    assert control.n_halves == 12
    assert [reason.rule for reason in control_reasons(control, Policy())] == rules
    assert control.told_apart is not None
    assert control.told_apart.low is not None
    assert (control.told_apart.low > 0.5) == bool(copied)


@pytest.mark.parametrize(
    ("recipe", "options"),
    [
        ("mixed", {}),
        ("topcode", {"mask": "rotate"}),
        ("paper", {"method": "sa", "raw_units": True}),
        ("mixed", {"scatters": ["mcd75", "cov"], "mask": "permute"}),
        ("mixed", {"method": "forest"}),
    ],
)
def test_the_half_is_released_as_the_whole_was(recipe: str, options: dict[str, Any]) -> None:
    table, made = planned(people(240, seed=2), recipe, **options)
    rows = np.arange(0, 240, 2)
    half = releasing_rows(made, table)(rows, 0)
    assert half.columns == release(made, as_key(1)).table.frame.columns
    assert half.height == 120
    # Levels are kept exactly: those of these rows, not of all.
    ward = table.frame["ward"][rows].value_counts(sort=True)["count"].sort()
    assert half["ward"].value_counts(sort=True)["count"].sort().equals(ward)
    control = rehearse(compared(table), releasing_rows(made, table), 4)
    assert control.kind == "rehearsal"
    assert not control_reasons(control, Policy())
    assert {attack.attack for attack in control.attacks} >= {"membership", "inference"}


def test_a_rehearsal_is_the_same_each_time_and_whatever_key_was_drawn() -> None:
    table, made = planned(people(200, seed=3))
    measures = []
    for key in (1, 2):
        found = icsa.assess(table, release(made, as_key(key)).table, plan=made, rehearse=3)
        assert found.control.n_halves == 4
        measures.append((found.control.told_apart, found.control.nearest, found.control.attacks))
    assert measures[0] == measures[1]


def test_a_table_that_is_too_small_is_not_rehearsed_and_says_so() -> None:
    table, made = planned(people(50, seed=3))
    found = icsa.assess(table, release(made, as_key(1)).table, plan=made)
    assert found.control.kind == "none"
    assert found.control.words.startswith("not rehearsed: half of the people cannot be released (")
    assert "30 are the fewest" in found.control.words or "too few" in found.control.words


def test_a_rehearsal_is_off_where_nobody_wants_it_or_it_takes_long() -> None:
    table, made = planned(people(120, seed=3))
    found = icsa.assess(table, release(made, as_key(1)).table, plan=made, rehearse=0)
    assert found.control.kind == "none"
    assert usual_halves(2_000_000, 30) == 0
    assert found.as_dict("public")["control"]["kind"] == "none"


def test_people_who_were_not_in_the_table_are_the_control() -> None:
    everybody = normal_table(600, 6, seed=8)
    inside, outside = everybody[:300], everybody[300:]
    fresh = synthetic(inside, 0.0)(np.arange(300), 1)
    copied = synthetic(inside, 0.5)(np.arange(300), 1)
    harmless = icsa.assess(inside, fresh, holdout=outside)
    assert harmless.control.kind == "holdout"
    assert harmless.control.n_people == 300
    assert not [reason for reason in harmless.reasons if reason.rule == "holdout"]
    found = icsa.assess(inside, copied, holdout=outside)
    assert [reason.word for reason in found.reasons if reason.rule == "holdout"] == ["look again"]
    shown = found.as_dict("public")
    assert shown["control"]["told_apart"]["value"] > 0.7
    beside = [one for one in shown["attackers"] if one["attack"] == "linkability"]
    assert beside[0]["control_is"] == "people who were not in the table"


def test_a_holdout_with_people_of_the_table_is_none() -> None:
    everybody = normal_table(500, 5, seed=8)
    inside = everybody[:300]
    found = icsa.assess(inside, synthetic(inside, 0.0)(np.arange(300), 1), holdout=everybody[250:])
    assert found.control.kind == "none"
    assert "repeat 50 of its people in every cell" in found.control.words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"holdout": normal_table(50, 4)}, "The holdout lacks 'e'"),
        ({"holdout": normal_table(10, 5)}, "The holdout has 10 rows"),
        ({"holdout": normal_table(50, 5), "rehearse": 2}, "two controls"),
        ({"rehearse": 2}, "give its plan"),
        ({"rehearse": -1}, "rehearse must be 0 or larger"),
    ],
)
def test_controls_that_cannot_be_had_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        icsa.assess(normal_table(seed=1), normal_table(seed=2), **options)


def test_one_word_for_a_recipe_whatever_key_is_drawn() -> None:
    """A lone person whom some keys replicate: the draws differ, the word of the recipe does not."""
    x = np.random.default_rng(1).normal(size=(69, 3))
    x[0] = 10.0 / np.sqrt(3.0)
    frame = pl.DataFrame(x.round(3), schema=["a", "b", "c"])
    table, made = planned(frame, "paper", method="sa", mask="permute")
    draws, words = set(), set()
    for number in range(12):
        released = release(made, as_key(5).child("key", number)).table
        draws.add(icsa.assess(table, released).verdict)
        found = icsa.assess(table, released, plan=made, redraws=40, rehearse=0)
        words.add(found.verdict)
        assert "keys" in {reason.rule for reason in found.reasons}
    assert len(draws) > 1
    assert words == {"do not release"}
    counts = found.as_dict("public")["redraws"]["verdicts"]
    assert sum(counts.values()) == 40
    assert counts["do not release"] >= 8
    assert counts["release"] >= 8
