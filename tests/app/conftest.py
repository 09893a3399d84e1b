"""One server for all tests that leave it as they found it, or start from an empty one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .talking import Client, Started, started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with started(tmp_path_factory.mktemp("app")) as found:
        yield found


@pytest.fixture
def client(server: Started) -> Client:
    """Somebody who is let in, with no table on the desk."""
    found = server.client()
    found.post("/file/put-away")
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
