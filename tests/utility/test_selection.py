"""Agreement of selected sets: by hand, undefined cases, laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.measures import NotEstimable
from icsa.utility import false_positive_rate, jaccard, precision, recall

METRICS = [false_positive_rate, jaccard, precision, recall]
PAIRS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.booleans(), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
    )
)

ALL, NONE = [True] * 4, [False] * 4
# A = {0, 1, 2}, B = {1, 3}: one in common, four in either, one outside A and that one selected.
A, B = [True, True, True, False], [False, True, False, True]


def test_four_variables_by_hand() -> None:
    assert recall(A, B) == 1 / 3
    assert precision(A, B) == 1 / 2
    assert jaccard(A, B) == 1 / 4
    assert false_positive_rate(A, B) == 1.0
    assert false_positive_rate(B, A) == 1.0
    assert false_positive_rate([True, False, False, False], B) == 2 / 3


def test_an_empty_selection() -> None:
    assert precision(A, NONE) == NotEstimable("nothing is selected")
    assert recall(A, NONE) == 0.0
    assert jaccard(A, NONE) == 0.0
    assert false_positive_rate(A, NONE) == 0.0


def test_a_reference_of_all_or_nothing() -> None:
    missing = NotEstimable("the reference selects every variable")
    assert false_positive_rate(ALL, B) == false_positive_rate(ALL, NONE) == missing
    assert recall(NONE, B) == NotEstimable("the reference selects nothing")
    assert (precision(NONE, B), jaccard(NONE, B), false_positive_rate(NONE, B)) == (0.0, 0.0, 0.5)
    assert jaccard(NONE, NONE) == NotEstimable(
        "neither the reference nor the selection has a variable"
    )


@given(PAIRS)
def test_against_sets(pair: tuple[list[bool], list[bool]]) -> None:
    reference, selected = ({j for j, chosen in enumerate(side) if chosen} for side in pair)
    outside = set(range(len(pair[0]))) - reference
    for metric, above, below in [
        (recall, reference & selected, reference),
        (precision, reference & selected, selected),
        (jaccard, reference & selected, reference | selected),
        (false_positive_rate, outside & selected, outside),
    ]:
        found = metric(np.array(pair[0]), np.array(pair[1]))
        if below:
            assert found == len(above) / len(below)
        else:
            assert isinstance(found, NotEstimable)


@given(PAIRS)
def test_laws(pair: tuple[list[bool], list[bool]]) -> None:
    a, b = pair
    assert recall(a, b) == precision(b, a) or isinstance(recall(a, b), NotEstimable)
    assert jaccard(a, b) == jaccard(b, a)
    if any(a):
        assert recall(a, a) == precision(a, a) == jaccard(a, a) == 1.0
    if not all(a):
        assert false_positive_rate(a, a) == 0.0


@pytest.mark.parametrize("metric", METRICS)
def test_results_are_plain_floats(metric) -> None:
    assert type(metric(np.array(A), np.array(B))) is float


@pytest.mark.parametrize("metric", METRICS)
def test_errors(metric) -> None:
    with pytest.raises(InputError, match="coefficients != 0"):
        metric([0.0, 1.5], [True, False])
    with pytest.raises(InputError, match="coefficients != 0"):
        metric([True, False], [0, 1])
    with pytest.raises(InputError, match="same variables"):
        metric([True, False], [True])
    with pytest.raises(InputError, match="same variables"):
        metric(np.ones((2, 2), dtype=bool), np.ones((2, 2), dtype=bool))
    with pytest.raises(InputError, match="same variables"):
        metric(np.ones(0, dtype=bool), np.ones(0, dtype=bool))
