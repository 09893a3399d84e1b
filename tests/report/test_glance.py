"""Sentences at the top of the page."""

from __future__ import annotations

from msgspec.structs import replace

from icsa.assessment.document import Document
from icsa.assessment.document_parts import Distance, Utility
from icsa.report.glance import utility_sentences


def _sentence(utility: Utility, distances: dict[str, tuple[float, float]]) -> str:
    """Return the sentence on columns of these names, with their distances and limits."""
    columns = [
        replace(
            utility.columns[0],
            name=name,
            distance=Distance(name="KS", value=value, chance=0.0, chance_high=limit),
        )
        for name, (value, limit) in distances.items()
    ]
    return utility_sentences(replace(utility, columns=columns))[0]


def test_a_column_that_is_kept_exactly_is_not_the_nearest_to_its_limit(
    documents: dict[str, Document],
) -> None:
    told = _sentence(documents["less"].utility, {"sex": (0.0, 0.05), "age": (0.02, 0.09)})
    assert "2 of 2 columns" in told
    assert "Nearest to that limit is age: KS 0.0200" in told


def test_the_column_furthest_beyond_its_limit_is_named(documents: dict[str, Document]) -> None:
    utility = documents["less"].utility
    distances = {"sex": (0.01, 0.0), "age": (0.3, 0.1), "kg": (0.0, 0.0)}
    told = _sentence(utility, distances)
    assert "1 of 3 columns" in told
    assert "Furthest beyond that limit is sex: KS 0.0100" in told
    del distances["sex"]
    assert "Furthest beyond that limit is age" in _sentence(utility, distances)
