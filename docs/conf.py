"""Sphinx configuration."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

import icsa

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "extensions")]

project = "icsa"
author = "The icsa developers"
copyright = "2026, the icsa developers"
version = release = icsa.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "include_if_present",
    "mathml",
    "picture",
    "plain_formulas",
    "rooms",
    "scatter_table",
]
exclude_patterns = [
    "_build",
    "compare_results.rst",
    "mcd_optimum_results.rst",
    "people_results.rst",
    "performance_results.rst",
    "recipes_results.rst",
]
templates_path = ["_templates"]
default_role = "py:obj"

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False

# Formulas become MathML, which browsers draw by themselves: pages need no network.
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"icsa {release}"
html_static_path = ["_static"]
html_css_files = ["icsa.css"]
html_show_sourcelink = False
html_sidebars = {"*": []}
html_theme_options = {
    "logo": {"text": "icsa"},
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def _skip_foreign(
    _app: Sphinx, _what: str, _name: str, member: object, _skip: bool, _options: object
) -> bool | None:
    # Classes show what they inherit from icsa, not from scikit-learn or Python.
    home = getattr(member, "__module__", None) or getattr(
        getattr(member, "fget", None), "__module__", None
    )
    return None if str(home).startswith("icsa") else True


def setup(app: Sphinx) -> None:
    app.connect("autodoc-skip-member", _skip_foreign)
