"""Sentences at the top of the page."""

from __future__ import annotations

from icsa.report.glance import utility_sentences


def _column(name: str, value: float, limit: float) -> dict[str, object]:
    return {"name": name, "distance": {"name": "KS", "value": value, "chance_high": limit}}


def test_a_column_that_is_kept_exactly_is_not_the_nearest_to_its_limit() -> None:
    told = utility_sentences({"columns": [_column("sex", 0.0, 0.05), _column("age", 0.02, 0.09)]})
    assert "2 of 2 columns" in told[0]
    assert "Nearest to that limit is age: KS 0.0200" in told[0]


def test_the_column_furthest_beyond_its_limit_is_named() -> None:
    columns = [_column("sex", 0.01, 0.0), _column("age", 0.3, 0.1), _column("kg", 0.0, 0.0)]
    told = utility_sentences({"columns": columns})
    assert "1 of 3 columns" in told[0]
    assert "Furthest beyond that limit is sex: KS 0.0100" in told[0]
    assert "Furthest beyond that limit is age" in utility_sentences({"columns": columns[1:]})[0]
