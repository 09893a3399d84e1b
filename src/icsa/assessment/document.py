"""The assessment's document: what `assess` fills, JSON holds and the page reads.

There are two editions: for those in charge, and for everybody. The public one has aggregates only:
rounded to three digits, no cell, no row number, no largest or smallest value, no name of a level,
no count of one or two people. The type of a text says who may read it (`document_parts.Words`).
`schema.json` beside this module is made from these types by `write_schema`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from icsa.assessment.controls import ControlKind
from icsa.assessment.document_parts import (
    INTERNAL,
    AttackText,
    Count,
    Few,
    HandedIn,
    Measure,
    Name,
    Number,
    Part,
    UsualText,
    Utility,
    Words,
)
from icsa.assessment.document_units import Units
from icsa.assessment.privacy_words import MEASURES
from icsa.attacks.protocol import ControlIs
from icsa.privacy.before_release import KeyLuck
from icsa.privacy.lenses import LensName
from icsa.privacy.reasons import Status, Word
from icsa.privacy.standing_out import Why as Chosen

__all__ = [
    "Attacker",
    "Document",
    "Edition",
    "Making",
    "Person",
    "Point",
    "document_schema",
    "write_schema",
]

_VERSION = 1

Edition: TypeAlias = Literal["internal", "public"]
Row: TypeAlias = Annotated[int, Meta(ge=1, description="Row of data, counted from 1.")]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class Why(Part, frozen=True):
    """A rule of the verdict that was met, and what to do about it."""

    word: Word
    rule: Words
    says: Annotated[Words, Meta(description="In words that fit every table.")]
    text: Annotated[str, Meta(description="With counts and row numbers; empty in public.")]
    remedies: Annotated[list[str], Meta(description="The first to try first; none in public.")]


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
    matched: list[Name]
    only_original: list[Name]
    only_released: list[Name]
    notes: list[str]


class MadeColumn(Part, frozen=True):
    """What was done to a column."""

    name: Name
    kind: Words
    action: Words
    how: str
    type_before: str
    type_after: Words
    missing_before: Few
    missing_after: Few


class Making(Part, frozen=True):
    """How the release was made."""

    method: Words
    scatters: list[Words]
    mask: Words
    recipe: Words
    reproducible: bool
    coordinates: Count
    columns: list[MadeColumn]
    warnings: list[str]
    relations: list[str]
    why: str = ""


class Point(Part, frozen=True, kw_only=True):
    """A person in the picture."""

    alone: Number
    near: Number
    row: Row
    status: Status


class PeopleSummary(Part, frozen=True):
    """How many people stand out, and of which status they are."""

    count: Few
    beyond: Few
    left_out: Few
    status: dict[Status, Few]
    picture: Annotated[list[Point], INTERNAL]


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

    column: Name
    share: Share


class Spread(Part, frozen=True):
    """A person's rho over fresh keys: 5%, median and 95%."""

    rho_low: Number
    rho_median: Number
    rho_high: Number


class Person(Part, frozen=True):
    """A line of the passport."""

    row: Row
    why: Chosen
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


class Noticed(Part, frozen=True):
    """How often one copied person would be noticed at this size; shares of people."""

    ordinary: Number
    standing_out: Number
    enough: bool
    advice: Words


class Redraws(Part, frozen=True):
    """What releases under fresh keys gave; `verdicts` is how many of them have each word."""

    n: Annotated[int, Meta(ge=1)]
    words: Annotated[Words, Meta(pattern=f"^this key was ({'|'.join(get_args(KeyLuck))})$")]
    worst: Measure
    verdicts: dict[Word, Count]


class Control(Part, frozen=True):
    """People who were not in the table, beside whom those in it were attacked, if any."""

    kind: Annotated[
        ControlKind,
        Meta(
            description="rehearsal: the recipe released random halves of the people; holdout: "
            "people were given who were not in the table; none: compared was with the nearest "
            "other original only, which is weaker."
        ),
    ]
    words: str
    people: Count
    halves: Count
    told_apart: Measure | None
    nearest: Measure | None


class Attacker(Part, frozen=True):
    """How far an attacker gets, beside the same on people who were not in the table."""

    attack: Words
    knows: AttackText
    guesses: str
    right: Measure
    control: Measure
    naive: Measure
    difference: Annotated[Measure, Meta(description="right less control")]
    control_is: ControlIs
    means: str


class Threshold(Part, frozen=True):
    """A number that decides, why, and who answers for it."""

    name: Words
    value: float
    reason: UsualText
    source: UsualText
    owner: UsualText


class Document(Part, frozen=True, kw_only=True):
    """An assessment in one edition; `people` is there in the internal one only."""

    schema_version: Literal[1] = 1
    edition: Edition
    verdict: Word
    reasons: list[Why]
    self_test: SelfTest
    handed_in: HandedIn
    tables: Tables
    making: Making | None
    privacy: Annotated[dict[str, Measure], Meta(extra_json_schema={"required": list(MEASURES)})]
    people_summary: PeopleSummary
    noticed: Noticed
    redraws: Redraws | None
    control: Control
    attackers: list[Attacker]
    utility: Utility
    policy: Annotated[list[Threshold], Meta(min_length=1)]
    versions: Annotated[dict[str, Words], Meta(extra_json_schema={"required": ["icsa", "python"]})]
    people: Annotated[list[Person] | UnsetType, INTERNAL] = UNSET
    units: Annotated[
        Units | UnsetType,
        Meta(description="Where people have several rows: then everything else is about units."),
    ] = UNSET

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
    nobody = {"properties": {"picture": {"maxItems": 0}}}
    told = {"properties": {"text": {"const": ""}, "remedies": {"maxItems": 0}}}
    one_file = {"properties": {"files": {"items": {"properties": {"role": {"const": "release"}}}}}}
    no_cells = {
        "picture": {"type": "null"},
        "columns": {"items": {"properties": {"levels": {"type": "null"}}}},
    }
    no_trajectories = {"items": {"properties": {"original": {"maxItems": 0}}}}
    public = {
        "people": False,
        "units": {"properties": {"trajectories": no_trajectories}},
        "people_summary": nobody,
        "reasons": {"items": told},
        "handed_in": one_file,
        "utility": {"properties": no_cells},
    }
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
