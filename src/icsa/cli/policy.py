"""``icsa policy``: the thresholds of the verdict, to read, change and give to ``icsa assess``."""

from __future__ import annotations

__all__ = ["policy"]


def policy() -> None:
    """Print the thresholds of the verdict as a commented file.

    Change what you answer for, say why, and give the file to icsa assess --policy.

    Example: icsa policy > policy.toml
    """
    from icsa.assessment import policy_text

    print(policy_text(), end="")
