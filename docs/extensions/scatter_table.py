"""The directive ``scatter-table``: every registered scatter, from the registry itself."""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from icsa.scatters import SCATTERS

HEADS = {"name": 16, "class": 7, "affine equivariant": 13, "random starts": 12, "what it is": 52}


class ScatterTable(Directive):
    def run(self) -> list[nodes.Node]:
        group = nodes.tgroup(cols=len(HEADS))
        group += [nodes.colspec(colwidth=width) for width in HEADS.values()]
        head, body = nodes.thead(), nodes.tbody()
        head += _row([nodes.Text(text) for text in HEADS])
        for name, member in SCATTERS.items():
            body += _row(
                [
                    nodes.literal(text=name),
                    nodes.Text(member.robustness),
                    nodes.Text("yes" if member.affine_equivariant else "no"),
                    nodes.Text("yes" if member.seeded else "no"),
                    nodes.Text(member.summary),
                ]
            )
        group += [head, body]
        return [nodes.table("", group, classes=["scatters"])]


def _row(cells: list[nodes.Node]) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        row += nodes.entry("", nodes.paragraph("", "", cell))
    return row


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("scatter-table", ScatterTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
