"""How thorough a run is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """A full run, or a quick one that shows that everything works."""

    quick: bool = False

    def choose(self, full: int, quick: int) -> int:
        """Return one of two numbers of sets, rounds or rows."""
        return quick if self.quick else full
