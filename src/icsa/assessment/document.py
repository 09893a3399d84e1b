"""The assessment's document: what `assess` fills, JSON holds and the page reads.

There are two editions: for those in charge, and for everybody. The public one has aggregates only:
rounded to three digits, no cell, no row number, no largest or smallest value, no name of a level.
`schema.json` beside this module is made from these types by `write_schema`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from icsa.assessment.document_parts import Count, Measure, Number, Part, Utility
from icsa.assessment.privacy_words import MEASURES
from icsa.privacy.before_release import KeyLuck
from icsa.privacy.lenses import LensName
from icsa.privacy.standing_out import Why
from icsa.privacy.verdict import Status, Word

__all__ = ["Document", "Edition", "Making", "Person", "Point", "document_schema", "write_schema"]

_VERSION = 1

Edition: TypeAlias = Literal["internal", "public"]
Row: TypeAlias = Annotated[int, Meta(ge=1, description="Row of data, counted from 1.")]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class EndWord(Part, frozen=True):
    """The verdict on one end of the scale."""

    verdict: Word


class SelfTest(Part, frozen=True):
    """The assessment's own test on this table."""

    trusted: bool
    why: str
    copy: EndWord
    shuffled: EndWord


class Size(Part, frozen=True):
    """Of a table."""

    rows: Count
    columns: Count


class Tables(Part, frozen=True):
    """How the two tables were matched."""

    original: Size
    released: Size
    matched: list[str]
    only_original: list[str]
    only_released: list[str]
    notes: list[str]


class MadeColumn(Part, frozen=True):
    """What was done to a column."""

    name: str
    kind: str
    action: str
    how: str
    type_before: str
    type_after: str
    missing_before: Count
    missing_after: Count


class Making(Part, frozen=True):
    """How the release was made."""

    method: str
    scatters: tuple[str, str]
    mask: str
    recipe: str
    reproducible: bool
    coordinates: Count
    columns: list[MadeColumn]
    warnings: list[str]
    relations: list[str]


class Point(Part, frozen=True, kw_only=True):
    """A person in the picture; only the internal edition has the row."""

    alone: Number
    near: Number
    row: Row | UnsetType = UNSET
    status: Status


class PeopleSummary(Part, frozen=True):
    """How many people stand out, and of which status they are."""

    count: Count
    beyond: Count
    left_out: Count
    status: dict[Status, Count]
    picture: list[Point]


class Attack(Part, frozen=True):
    """Share of cells guessed right from the release, and from the original without the person."""

    success: Number
    control: Number


class Replicas(Part, frozen=True):
    """Lambda and its upper limit."""

    value: Number
    high: Number


class ColumnShare(Part, frozen=True):
    """How much a column contributes."""

    column: str
    share: Share


class Spread(Part, frozen=True):
    """A person's rho over fresh keys: 5%, median and 95%."""

    rho_low: Number
    rho_median: Number
    rho_high: Number


class Person(Part, frozen=True):
    """A line of the passport."""

    row: Row
    why: Why
    robust_distance: Number
    d_org: Number
    d_rel: Number
    rho: Number
    worst_lens: LensName
    p: Annotated[Number, Meta(description="Corrected for three lenses and the number of people.")]
    attack: Attack
    h: Count
    h_control: Count
    expected_replicas: Replicas | None
    stands_out_by: list[ColumnShare]
    match_by: list[ColumnShare]
    near_twin: bool
    redraws: Spread | None
    before: dict[str, str]
    after: dict[str, str]
    status: Status


class Redraws(Part, frozen=True):
    """What releases under fresh keys gave."""

    n: Annotated[int, Meta(ge=1)]
    words: Annotated[str, Meta(pattern=f"^this key was ({'|'.join(get_args(KeyLuck))})$")]
    worst: Measure


class Threshold(Part, frozen=True):
    """A number that decides, why, and who answers for it."""

    name: str
    value: float
    reason: str
    source: str
    owner: str


class Document(Part, frozen=True, kw_only=True):
    """An assessment in one edition; `people` is there in the internal one only."""

    schema_version: Literal[1] = 1
    edition: Edition
    verdict: Word
    reasons: list[str]
    self_test: SelfTest
    tables: Tables
    making: Making | None
    privacy: Annotated[dict[str, Measure], Meta(extra_json_schema={"required": list(MEASURES)})]
    people_summary: PeopleSummary
    redraws: Redraws | None
    utility: Utility
    policy: Annotated[list[Threshold], Meta(min_length=1)]
    versions: Annotated[dict[str, str], Meta(extra_json_schema={"required": ["icsa", "python"]})]
    people: list[Person] | UnsetType = UNSET

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, by the names that JSON has."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return plain

    def as_json(self) -> str:
        """Return the JSON text of a file."""
        text = json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        return text + "\n"


def document_schema() -> dict[str, Any]:
    """Return the JSON Schema of both editions."""
    (top,), parts = msgspec.json.schema_components([Document], ref_template="#/$defs/{name}")
    for part in parts.values():
        _require_what_is_always_written(part)
    document = parts.pop(top["$ref"].rsplit("/", 1)[1])
    nobody = {"properties": {"picture": {"items": {"properties": {"row": False}}}}}
    no_cells = {
        "picture": {"type": "null"},
        "columns": {"items": {"properties": {"levels": {"type": "null"}}}},
    }
    public = {"people": False, "people_summary": nobody, "utility": {"properties": no_cells}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **document,
        "title": f"Assessment of a release by icsa, schema version {_VERSION}",
        "if": {"properties": {"edition": {"const": "internal"}}},
        "then": {"required": ["people"]},
        "else": {"properties": public},
        "$defs": parts,
    }


def _require_what_is_always_written(part: dict[str, Any]) -> None:
    """Say in a part's schema that values with a default are there, too."""
    for name, value in part["properties"].items():
        if "default" in value:
            del value["default"]
            part["required"].append(name)


def write_schema() -> None:
    """Write `schema.json` beside this module."""
    text = json.dumps(document_schema(), indent=2, ensure_ascii=False) + "\n"
    Path(__file__).with_name("schema.json").write_text(text, encoding="utf-8")
