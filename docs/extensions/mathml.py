"""Formulas as MathML, made by docutils: pages need neither scripts nor a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    formula = tex2mathml(node.astext()).replace("<math ", '<math display="block" ', 1)
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="equation-number">({number})</span>')
    self.body.append(formula + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
