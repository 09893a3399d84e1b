"""``python -m icsa`` is the command ``icsa``."""

from __future__ import annotations

from icsa.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
