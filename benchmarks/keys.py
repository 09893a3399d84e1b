"""Is there one word for a recipe, whatever key is drawn? Tables on the edge, released many times.

    python -m benchmarks.keys [--keys 100] [--harmless 10] [--json FILE]

For every table: how many of 100 keys give each word, by the draw alone (as icsa assess has it that
does not know the recipe); with the expected replicas of 100 other keys, drawn anew for every one of
them; and with the share of other keys that alarm, which are always the same. Then the share of
keys that alarm on harmless tables: the limit rests on it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.verdict import KINDS
from icsa.assessment.fresh_releases import how_before
from icsa.comparison.features import FeatureTable
from icsa.comparison.matching import Comparison, match_tables
from icsa.inspection import guess_schema
from icsa.privacy import assess_privacy
from icsa.privacy.before_release import reasons_over_keys
from icsa.privacy.policy import Policy
from icsa.privacy.reasons import Word, decided
from icsa.randomness import as_key
from icsa.release import Plan, plan, prepare, release
from icsa.tables import Table

__all__ = ["main", "on_the_edge", "words_over_keys"]

_REDRAWS = 100
_SETS = 10


@dataclass(frozen=True)
class Words:
    """The words of a table's releases, key by key."""

    draw: tuple[Word, ...]
    replicas: tuple[Word, ...]
    recipe: tuple[Word, ...]


def on_the_edge() -> Iterator[tuple[str, np.ndarray, dict[str, Any]]]:
    """Yield tables that some keys replicate people of, and how they are released."""
    published = {"recipe": "paper", "method": "sa", "mask": "permute"}
    for rows, columns, far in ((69, 3, 6.0), (69, 3, 10.0), (200, 3, 10.0), (150, 8, 14.0)):
        x = np.random.default_rng(1).normal(size=(rows, columns))
        x[0] = far / np.sqrt(columns)
        yield f"{rows} x {columns}, one at {far:.0f} sd, paper with sa", x, published
    for seed in (3, 4):
        x = KINDS["clusters"](np.random.default_rng(seed), 100, 8)
        yield f"100 x 8, three groups ({seed}), mixed", x, {}


def words_over_keys(x: np.ndarray, options: dict[str, Any], keys: int) -> Words:
    """Return the words of as many releases of a table as there are keys."""
    made, comparison = _planned(x, options)
    secret = as_key(1).child("handed out")

    def drawn(number: int, place: int) -> FeatureTable:
        fresh = release(made, secret.child(f"set {number}", place))
        return comparison.encode(fresh.table.frame)

    before = [
        assess_privacy(comparison.features, redraw=lambda k, s=s: drawn(s, k), n_redraws=_REDRAWS)
        for s in range(1, _SETS + 1)
    ]
    always = assess_privacy(
        comparison.features, redraw=how_before(comparison, made, _REDRAWS).redraw
    )
    of_recipe = reasons_over_keys(always.redrawn, Policy())
    replicas = [_only(found.verdict.reasons, "before release") for found in (*before, always)]
    found: list[tuple[Word, Word, Word]] = []
    for key in range(keys):
        released = comparison.features.with_released(drawn(0, key))
        own = assess_privacy(released).verdict.reasons
        found.append(
            (
                decided(own).word,
                decided([*own, *replicas[key % _SETS]]).word,
                decided([*own, *replicas[-1], *of_recipe]).word,
            )
        )
    return Words(*(tuple(words) for words in zip(*found, strict=True)))


def _only(reasons: Any, rule: str) -> list[Any]:
    return [reason for reason in reasons if reason.rule == rule]


def _planned(x: np.ndarray, options: dict[str, Any]) -> tuple[Plan, Comparison]:
    choices = dict(options)
    frame = pl.DataFrame(np.round(x, 3), schema=[f"c{j}" for j in range(x.shape[1])])
    table = Table(frame)
    schema = guess_schema(table)
    prepared = prepare(table, schema=schema, recipe=choices.pop("recipe", "mixed"))
    made = plan(prepared, **choices)
    return made, match_tables(table, release(made, as_key(2)).table, schema)


def harmless(tables: int) -> Iterator[tuple[str, float, float, float]]:
    """Yield how often keys alarm on tables that are released as usual, and the largest Lambda."""
    for rows, columns in ((200, 5), (100, 8), (400, 12)):
        for kind, draw in KINDS.items():
            for seed in range(tables):
                x = draw(np.random.default_rng([seed, rows]), rows, columns)
                made, comparison = _planned(x, {})
                redraw = how_before(comparison, made, _REDRAWS).redraw
                found = assess_privacy(comparison.features, redraw=redraw, n_redraws=_REDRAWS)
                assert found.redrawn is not None
                stop = found.redrawn.share("do not release")
                look = found.redrawn.share("do not release", "look again")
                largest = float(found.redrawn.expected.high.max())
                yield f"{rows} x {columns} {kind}", look, stop, largest


def main() -> None:
    """Print how the words of many keys differ, before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--harmless", type=int, default=5, help="tables of each kind and size")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: dict[str, Any] = {}
    for name, x, how in on_the_edge():
        words = words_over_keys(x, how, options.keys)
        results[name] = {key: dict(Counter(found)) for key, found in vars(words).items()}
        print(name)
        for key, counts in results[name].items():
            print(f"  {key:10} {counts}", flush=True)
    found = list(harmless(options.harmless)) if options.harmless else []
    results["harmless"] = found
    for size in sorted({name.rsplit(" ", 1)[0] for name, *_ in found}):
        looks, stops, largest = np.array([row[1:] for row in found if row[0].startswith(size)]).T
        print(
            f"harmless, {size}: {looks.size} tables, keys that look {looks.mean():.3f}, stop "
            f"{stops.mean():.3f}; tables with look >= .1, .2, .3: "
            f"{[float(np.mean(looks >= limit).round(3)) for limit in (0.1, 0.2, 0.3)]}; "
            f"Lambda's limit > .1 {np.mean(largest > 0.1):.2f}"
        )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
