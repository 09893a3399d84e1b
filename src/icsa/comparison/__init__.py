"""An original beside its release: cells of both in one form, for every measure to read."""

from __future__ import annotations

__all__: list[str] = []
