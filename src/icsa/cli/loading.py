"""What a release needs is loaded while its file is being read."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread

__all__ = ["load_meanwhile"]


def load_meanwhile() -> None:
    """Begin to load what a release needs, in a thread of its own.

    Polars reads without holding the interpreter, so that half of the time is gained. What goes
    wrong in the thread goes wrong again, and is told, where it is needed.
    """
    Thread(target=_load).start()


def _load() -> None:
    with suppress(Exception):
        import numpy as np

        import icsa.release  # noqa: F401
        from icsa.columns.transforms import PowerScale

        # The first kernel of a process takes longest, as numba itself is set up.
        PowerScale(centre=0.0, spread=1.0, exponent=0.5, low=-1.0, high=1.0).forward(np.zeros(1))
