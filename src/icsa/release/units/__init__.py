"""Releases of people with several rows: all of a person's as one, or on two levels."""

from __future__ import annotations

__all__: list[str] = []
