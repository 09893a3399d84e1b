"""The picture of the rooms is true: they exist, all of them, on the floors that imports obey."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "icsa"
PAGE = (ROOT / "docs" / "architecture.rst").read_text(encoding="utf-8")


def drawn_floors() -> list[list[str]]:
    """Return the names of the rooms in the picture, a list a floor, from the top."""
    picture = re.search(r"^\.\. rooms::\n(?: +:.*\n)*\n((?: +.*\n)+)", PAGE, re.MULTILINE)
    assert picture
    lines = picture[1].splitlines()
    return [[room.partition(":")[0].strip() for room in line.split("|")] for line in lines]


def test_floors_are_the_layers_of_the_import_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    held = [[name.strip().removeprefix("icsa.") for name in layer.split("|")] for layer in layers]
    assert drawn_floors() == held


def test_every_room_is_drawn_and_every_drawn_room_exists() -> None:
    drawn = [room for floor in drawn_floors() for room in floor]
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert sorted(drawn) == sorted(name for name in there if not name.startswith("__"))


def test_the_way_leads_through_rooms() -> None:
    way = re.search(r"^ +:way: (.*)$", PAGE, re.MULTILINE)
    assert way
    stops = [stop.strip() for stop in way[1].split(">")]
    assert set(stops) <= {room for floor in drawn_floors() for room in floor}


def test_files_that_the_page_names_exist() -> None:
    named = re.findall(r"``((?:\w+/)+\w+\.py)``", PAGE)
    missing = [n for n in named if not (PACKAGE / n).exists() and not (ROOT / n).exists()]
    assert named
    assert not missing


def test_no_two_modules_have_one_name_unless_by_protocol() -> None:
    names = [path.stem for path in PACKAGE.rglob("*.py")]
    by_protocol = {"__init__", "base", "limits", "registry", "reading", "writing"}
    assert sorted({n for n in names if names.count(n) > 1} - by_protocol) == []
