"""Random tables: from files the cells, the account and the errors are those of memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icsa.errors import ICSAError
from icsa.release import anonymize
from tests.release.blocks.tables import released_in_blocks, require_the_same, stored

from .random_tables import random_release, random_table


def outcome(release: Callable[[], Any]) -> Any:
    """Return a release, or the sentence that refuses it."""
    try:
        return release()
    except ICSAError as refused:
        return str(refused)


def require_both_ways_the_same(seed: int, folder: Path) -> None:
    frame = random_table(seed)
    options, said = random_release(seed, frame.columns)
    draw = np.random.default_rng([seed, 2])
    edges = draw.choice(frame.height - 1, 2, replace=False) + 1
    table = stored(frame, folder / "parts", sorted(edges.tolist()))
    leaves = int(draw.integers(1, 13))
    wanted = outcome(lambda: anonymize(frame, random_state=1, **options, **said))
    found = outcome(
        lambda: released_in_blocks(
            table, folder / "scratch", leaves=leaves, options=options, **said
        )
    )
    if isinstance(wanted, str) or isinstance(found, str):
        assert found == wanted
        return
    require_the_same(found, wanted)
    assert (found[1].method, found[1].why) == (wanted.method, wanted.why)


@pytest.mark.parametrize("seed", range(3))
def test_a_few_random_tables(tmp_path: Path, seed: int) -> None:
    require_both_ways_the_same(seed, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3, 200))
def test_many_random_tables(tmp_path: Path, seed: int) -> None:
    require_both_ways_the_same(seed, tmp_path)
