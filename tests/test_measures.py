"""Measures: values with intervals, or reasons."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.measures import Measure, NotEstimable


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.3124, 0.3006, 0.3241, "0.312 (0.301 to 0.324)"),
        (0.00104, 0.00101, 0.00107, "0.00104 (0.00101 to 0.00107)"),
        (436.69, 400.2, 480.9, "437 (400 to 481)"),
        (1208.8, 1200.0, 1210.0, "1209 (1200 to 1210)"),
        (0.0001, -0.01, 0.0102, "0.0001 (-0.0100 to 0.0102)"),
        (0.98, 0.95, 1.02, "0.98 (0.95 to 1.02)"),
        (2.0, 1.0, math.inf, "2.00 (1.00 to inf)"),
        (0.0, 0.0, 0.0, "0.00 (0.00 to 0.00)"),
        (-0.00001, -0.2, 0.2, "0.000 (-0.200 to 0.200)"),
        (3e-9, 1e-9, 5e-9, "3.00e-09 (1.00e-09 to 5.00e-09)"),
        (2.5e15, None, None, "2.50e+15"),
        (0.25, None, None, "0.250"),
    ],
)
def test_text(value: float, low: float | None, high: float | None, text: str) -> None:
    assert str(Measure(name="m", value=value, low=low, high=high)) == text


def test_text_of_a_reason() -> None:
    measure = Measure.of(NotEstimable("no outliers were named"), name="ORE", interval=(0.0, 1.0))
    assert str(measure) == "not estimable: no outliers were named"
    assert (measure.value, measure.low, measure.high) == (None, None, None)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": None}, "either a value or a reason"),
        ({"value": 1.0, "reason": "why"}, "either a value or a reason"),
        ({"value": math.nan}, "not finite"),
        ({"value": math.inf}, "not finite"),
        ({"value": 1.0, "low": 0.0}, "both of its ends"),
        ({"value": 1.0, "high": 2.0}, "both of its ends"),
        ({"value": None, "reason": "why", "low": 0.0, "high": 1.0}, "needs a value"),
        ({"value": 1.0, "low": 2.0, "high": 1.0}, "low end is above"),
        ({"value": 1.0, "low": math.nan, "high": 1.0}, "low end is above"),
    ],
)
def test_contradictions_are_errors(fields: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Measure(name="m", **fields)


def test_a_reason_is_not_empty() -> None:
    with pytest.raises(InputError, match="needs a reason"):
        NotEstimable("")


def test_frozen_comparable_and_sent_to_other_processes() -> None:
    measure = Measure(name="m", value=1.0, low=0.5, high=2.0, direction="lower is better", n=4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        measure.value = 2.0
    assert pickle.loads(pickle.dumps(measure)) == measure
    reason = NotEstimable("why")
    assert pickle.loads(pickle.dumps(reason)) == reason
    assert dataclasses.asdict(measure)["high"] == 2.0


def test_mean_by_hand() -> None:
    # mean 2, standard deviation 1, standard error 1 / sqrt(3), 1.959964 of it on each side.
    measure = Measure.mean_of([1.0, np.nan, 2.0, 3.0], name="m", direction="lower is better")
    assert measure.value == 2.0
    assert measure.low == pytest.approx(2.0 - 1.959964 / math.sqrt(3), abs=1e-6)
    assert measure.high == pytest.approx(2.0 + 1.959964 / math.sqrt(3), abs=1e-6)
    assert (measure.n, measure.n_undefined, measure.direction) == (3, 1, "lower is better")


def test_mean_of_one_and_of_none() -> None:
    one = Measure.mean_of([4.0], name="m")
    assert (one.value, one.low, one.high, one.n) == (4.0, None, None, 1)
    none = Measure.mean_of([np.nan, np.nan], name="m", reason="the reference selects all")
    assert (none.value, none.n, none.n_undefined) == (None, 0, 2)
    assert none.reason == "the reference selects all"
    assert Measure.mean_of([], name="m").reason == "no value is defined"


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [
        ([[1.0]], 0.95, "a vector of values"),
        ([1.0, np.inf], 0.95, "infinite"),
        ([1.0, 2.0], 1.0, "between 0 and 1"),
        ([1.0, 2.0], 0.0, "between 0 and 1"),
    ],
)
def test_mean_errors(values: list, level: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Measure.mean_of(values, name="m", level=level)


def test_intervals_cover() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2000, 50))
    covered = 0
    for values in draws:
        measure = Measure.mean_of(values, name="m", level=0.9)
        covered += measure.low <= 0.0 <= measure.high
    # 90%, less the .7% that 50 rows lose to the t distribution; 4 standard errors of .67%.
    assert abs(covered / 2000 - 0.893) < 0.027


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_text_keeps_the_order(value: float, width: float) -> None:
    text = str(Measure(name="m", value=value, low=value - width, high=value + width))
    middle, low, high = (
        float(part) for part in text.replace("(", "").replace(")", "").split() if part != "to"
    )
    assert low <= middle <= high
