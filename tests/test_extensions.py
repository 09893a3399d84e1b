"""What the how-to pages add works in every command; nothing outside a registry knows a member."""

from __future__ import annotations

import ast
import doctest
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import icsa
from icsa.cli import run
from icsa.columns import KINDS, Column
from icsa.inspection import guess_schema
from icsa.masks import MASKS
from icsa.recipes import RECIPES
from icsa.scatters import SCATTERS, cov
from icsa.scatters.registry import ResolvedScatter
from icsa.tables import FORMATS, read_table

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "icsa"
REGISTRIES: tuple[dict[str, Any], ...] = (FORMATS, KINDS, MASKS, RECIPES, SCATTERS)


@pytest.fixture
def following() -> Iterator[Callable[[str], dict[str, Any]]]:
    """Return what does all that a page says, but for taking its member out of the registry."""
    before = [dict(registry) for registry in REGISTRIES]

    def follow(page: str) -> dict[str, Any]:
        text = (ROOT / "docs" / f"{page}.rst").read_text()
        names: dict[str, Any] = {}
        for example in doctest.DocTestParser().get_examples(text):
            if not example.source.startswith("del ") and example.exc_msg is None:
                exec(compile(example.source, page, "exec"), names)
        return names

    yield follow
    for registry, members in zip(REGISTRIES, before, strict=True):
        registry.clear()
        registry.update(members)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Return a file in which the wind turns with the hour."""
    generator = np.random.default_rng(3)
    hours = generator.normal(12.0, 3.0, 120).round(1)
    wind = ((hours * 15 + generator.normal(0, 30, 120)).round() % 360).astype(int)
    sites = generator.choice(["a", "b"], 120)
    path = tmp_path / "people.csv"
    cm = (170 + hours + generator.normal(0, 5, 120)).round(1)
    pl.DataFrame({"hour": hours, "wind": wind, "cm": cm, "site": sites}).write_csv(path)
    return path


def released(path: Path, *options: str) -> pl.DataFrame:
    """Return what the command line makes of a file."""
    assert run(["anonymize", str(path), "--seed", "1", "--quiet", *options]) == 0
    return read_table(path.with_name(f"{path.stem}.release{path.suffix}")).frame


def test_a_kind_is_declared_inspected_released_and_compared(
    people: Path, following: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    following("add_a_kind")
    schema, report = people.with_suffix(".toml"), people.with_suffix(".json")
    kinds = {"hour": "continuous", "wind": "direction", "cm": "continuous", "site": "category"}
    sections = [f'[columns.{name}]\nkind = "{kind}"\n' for name, kind in kinds.items()]
    schema.write_text("version = 1\n" + "".join(sections))
    assert run(["inspect", str(people), "--schema", str(schema)]) == 0
    assert "masked, other directions" in capsys.readouterr().out
    frame = released(people, "--schema", str(schema))
    assert frame["wind"].is_between(0, 359).all()
    # The wind turns with the hour, in the release too.
    off = np.radians(frame["wind"].to_numpy() - 15 * frame["hour"].to_numpy())
    assert np.hypot(np.cos(off).mean(), np.sin(off).mean()) > 0.3
    options = ["--schema", str(schema), "--json", str(report), "--quiet"]
    assert run(["assess", str(people), str(people.with_name("people.release.csv")), *options]) == 0
    compared = json.loads(report.read_text())["utility"]["columns"]
    assert {column["name"]: column["kind"] for column in compared} == kinds


def test_a_format_is_released_in_itself(people: Path, following: Callable[[str], Any]) -> None:
    following("add_a_format")
    lines = people.with_suffix(".jsonl")
    pl.read_csv(people).write_ndjson(lines)
    frame = released(lines)
    assert frame.schema == pl.read_csv(people).schema
    assert json.loads(lines.with_name("people.release.jsonl").read_text().splitlines()[0])


def test_a_mask_hides_a_table(people: Path, following: Callable[[str], Any]) -> None:
    following("add_a_mask")
    assert not released(people, "--mask", "roll").equals(released(people, "--force"))


def test_a_recipe_is_followed(people: Path, following: Callable[[str], Any]) -> None:
    following("add_a_recipe")
    table = read_table(people)
    chosen = {"calibration_rounds": 0, "find_relations": False}
    schema = replace(guess_schema(table), recipe=chosen)
    same = icsa.anonymize(table, schema=schema, random_state=1)
    assert released(people, "--recipe", "quick").equals(same.table.frame)


def test_a_scatter_says_itself_that_it_is_anchored(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ResolvedScatter("mine", "a test", anchored_at=0.75, function=cov)
    monkeypatch.setitem(SCATTERS, "mine", own)
    usual = released(people)
    assert released(people, "--scatters", "mcd50,mine", "--force").equals(usual)
    monkeypatch.setitem(SCATTERS, "mine", replace(own, anchored_at=None))
    assert not released(people, "--scatters", "mcd50,mine", "--force").equals(usual)


def modules_outside(package: str) -> list[Path]:
    return [p for p in SOURCE.rglob("*.py") if p.relative_to(SOURCE).parts[0] != package]


def subclasses(of: type) -> set[str]:
    return {c.__name__ for c in of.__subclasses__()} | {
        name for c in of.__subclasses__() for name in subclasses(c)
    }


def test_nobody_outside_columns_asks_which_class_a_column_is() -> None:
    classes = subclasses(Column)
    assert {"Continuous", "ZeroInflated", "Category", "Binary"} <= classes
    for module in modules_outside("columns"):
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                assert not (node.func.id == "isinstance" and names & classes), module
                first = node.args[0] if node.args else None
                column = isinstance(first, ast.Name) and first.id == "column"
                named = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
                assert not (node.func.id in ("getattr", "hasattr") and column and named), module
