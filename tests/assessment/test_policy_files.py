"""Policy files: what is printed can be read, and nothing is overlooked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from icsa.assessment import policy_text, read_policy
from icsa.errors import InputError
from icsa.privacy import Policy


def read(folder: Path, text: str) -> Policy:
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path)


def test_what_is_printed_is_the_default(tmp_path: Path) -> None:
    assert read(tmp_path, policy_text()) == Policy()
    assert policy_text().count("\nowner = ") == len(Policy().values())


def test_a_change_needs_a_reason_and_an_owner(tmp_path: Path) -> None:
    changed = policy_text().replace(
        "[person_chance]\nvalue = 0.015", "[person_chance]\nvalue = 0.1"
    )
    with pytest.raises(InputError, match="say why and who answers"):
        read(tmp_path, changed)
    said = 'version = 1\n[person_chance]\nvalue = 0.1\nreason = "all are ill"\n'
    with pytest.raises(InputError, match="owner is missing"):
        read(tmp_path, said)
    policy = read(tmp_path, said + 'owner = "data protection officer"\n')
    assert policy.person_chance.value == 0.1
    assert policy.person_chance.source == "not given"
    assert policy.person_ratio == Policy().person_ratio


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "version is missing"),
        ("version = 2", "version is missing or not 1"),
        ("version = 1\n[person_chanc]\nvalue = 1", "Did you mean 'person_chance'"),
        ("version = 1\n[person_chance]\nvalu = 1", "Did you mean 'value'"),
        ("version = 1\nperson_chance = 0.1", "is no table"),
        ('version = 1\n[person_chance]\nvalue = "0.1"', "must be a number"),
        ("version = 1\n[person_chance]\nvalue = true", "must be a number"),
        ("version = 1\n[person_chance]\nvalue = nan", "must be a number"),
        ("version = 1\n[person_chance]\nvalue = 5", "from 0 to 1"),
        ("version = 1\n[part_cells]\nvalue = -1", "0 or larger"),
        ("version = 1\n[person_chance]\nreason = 3", "must be a text"),
        ("version = 1\n[person_chance]\nowner = ''", "not empty"),
        ("version = 1\n[[", "this is no TOML"),
        (
            "version = 1\n[person_chance]\nvalue = 0.1\nvalue = 0.2\n",
            "line 4: the key 'value' is there twice",
        ),
        (
            "version = 1\n[before_look]\nvalue = 0.9\nreason = 'r'\nowner = 'o'",
            "before_look must not be larger than before_stop",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path, text)
