"""Draw the pictures before the pages are read."""

from __future__ import annotations

from pathlib import Path

from make_picture import draw
from sphinx.application import Sphinx


def _draw(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "_static" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    draw(folder / "outlier.svg")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
