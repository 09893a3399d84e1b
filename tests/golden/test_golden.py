"""Seeded releases and assessments stay as they are, byte for byte, unless that is meant.

`tests.golden.store` says how to renew them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.pinning import run_pinned, why_not
from tests.golden.store import differences, made_with


def test_releases_and_assessments_are_the_stored_ones(tmp_path: Path) -> None:
    reason = why_not(made_with())
    if reason:
        pytest.skip(f"The golden files cannot be made here: {reason}.")
    run_pinned(tmp_path)
    changed = differences(tmp_path)
    assert not changed, "\n".join(["Changed (python -m tests.golden.store renews):", *changed])
