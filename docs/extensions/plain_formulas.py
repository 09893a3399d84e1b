"""Let docstrings write a length as |x| and a fitted attribute as name_, as plain text has them."""

from __future__ import annotations

import re

from sphinx.application import Sphinx

_QUOTED = re.compile(r"(``.+?``|`.+?`)")
_SPECIAL = re.compile(r"(?<!\\)\||(?<=\w)(?<!\\)_(?!\w)")


def _escape(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    in_example = False
    for i, line in enumerate(lines):
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if in_example:
            continue
        parts = _QUOTED.split(line)
        parts[::2] = [_SPECIAL.sub(r"\\\g<0>", part) for part in parts[::2]]
        lines[i] = "".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _escape, priority=600)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
