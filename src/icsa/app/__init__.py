"""A page of one's own: from a file to a signed release, on this machine only.

Three kinds of processes. The server (`serving`, `guard`, `routes` and a module a step) holds no
cell and loads nothing heavy. The desk (`desk`) reads tables, holds schemas against them and
draws. Work that takes long is a command of the command line, in a process of its own (`workshop`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icsa.lazily import imported_when_asked

if TYPE_CHECKING:
    from icsa.app.serving import serve

__all__ = ["serve"]

# The desk is a module of this package, and needs no server.
__getattr__ = imported_when_asked(__name__, {"serve": "serving"})
