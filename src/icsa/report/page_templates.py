"""Templates of pages, from the folder beside this module."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["page_template"]


@cache
def page_template(name: str, **filters: Callable[..., object]) -> Any:
    """Return a template: texts are escaped, and a name that is not given is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("icsa.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(filters)
    return environment.get_template(name)
