"""The directive ``include-if-present``: a file's text or, where it is missing, the content."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst.directives.misc import Include
from sphinx.application import Sphinx


class IncludeIfPresent(Include):
    has_content = True

    def run(self) -> list[nodes.Node]:
        page = Path(self.state.document.current_source or "")
        if (page.parent / self.arguments[0]).exists():
            return super().run()
        self.state.document.settings.record_dependencies.add(str(page.parent / self.arguments[0]))
        found = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, found)
        return found.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("include-if-present", IncludeIfPresent)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
