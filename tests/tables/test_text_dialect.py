"""Marks in the bytes show where the fast parser may see other rows than there are."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.tables.text_dialect import Dialect, quotes_are_paired, separators_outside_quotes

COMMA = Dialect(",")


@pytest.fixture(params=[1, 3, 1 << 22], autouse=True, scope="module")
def chunk(request: pytest.FixtureRequest) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("icsa.tables.text_dialect._CHUNK", request.param)
        yield


@pytest.mark.parametrize(
    ("text", "paired", "separators"),
    [
        ("a,b\n1,2\n", True, 2),
        ('a,b\n"1,2","3"\n', True, 2),
        ('"a","b"', True, 1),
        ('a,b\n"x ""y"", z",""\r\n', True, 2),
        ('a,b\n"x\ny",1\n', True, 2),
        ('a,b\n5" tall,6" tall\n', False, None),
        ('a,b\n"x"y,1\n', False, None),
        ('a,b\n"x,1\n', False, None),
    ],
)
def test_by_hand(text: str, paired: bool, separators: int | None) -> None:
    assert quotes_are_paired(text.encode(), COMMA) is paired
    if separators is not None:
        assert separators_outside_quotes(text.encode(), COMMA) == separators


@given(
    st.lists(
        st.lists(st.text('ab,"\n', max_size=4), min_size=2, max_size=2), min_size=1, max_size=4
    )
)
def test_what_csv_writes_is_paired(rows: list[list[str]]) -> None:
    lines: list[str] = []
    csv.writer(type("Lines", (), {"write": lines.append})(), lineterminator="\n").writerows(rows)
    data = "".join(lines).encode()
    assert quotes_are_paired(data, COMMA)
    assert separators_outside_quotes(data, COMMA) == len(rows)
