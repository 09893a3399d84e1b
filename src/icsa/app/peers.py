"""Who is at the other end of a connection from this machine, where the system tells."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_welcome", "owner_of"]

# A socket of the newer protocol reaches an older address too, and is listed elsewhere.
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_MAPPED = "0000000000000000FFFF0000"
_LOCAL, _REMOTE, _UID, _INODE = 1, 2, 7, 9
# Of a socket that its owner closed: the kernel lists it as root's.
_NOBODY = -1


def owner_of(client: tuple[str, int], server: tuple[str, int], table: str) -> int | None:
    r"""Return the user whose socket is `client`, as Linux lists its sockets; None where not listed.

    Parameters
    ----------
    client, server : tuple of str and int
        Addresses and ports of the two ends.
    table : str
        What ``/proc/net/tcp`` or ``/proc/net/tcp6`` holds.

    Examples
    --------
    >>> line = " 1: 0100007F:C350 0100007F:1F90 01 0:0 00:0 0  1000 0 7 1"
    >>> owner_of(("127.0.0.1", 50000), ("127.0.0.1", 8080), f"head\n{line}\n")
    1000
    """
    ends = _written(*client), _written(*server)
    for line in table.splitlines()[1:]:
        parts = line.split()
        if len(parts) <= _INODE:
            continue
        if (parts[_LOCAL].removeprefix(_MAPPED), parts[_REMOTE].removeprefix(_MAPPED)) == ends:
            return int(parts[_UID]) if parts[_INODE] != "0" else _NOBODY
    return None


def is_welcome(client: tuple[str, int] | None, server: tuple[str, int] | None) -> bool:
    """Return whether a connection is by who runs this program, or by root, who may do everything.

    Cookies know no ports: another user's server on this machine could be sent one. Where the system
    does not tell whose a connection is, the cookie decides alone.
    """
    if client is None or server is None or not hasattr(os, "getuid"):
        return True
    owners = [owner_of(client, server, _listed(table)) for table in _TABLES]
    return all(owner is None or owner in (os.getuid(), 0) for owner in owners)


def _listed(table: Path) -> str:
    try:
        return table.read_text(encoding="ascii")
    except OSError:  # another system
        return ""


def _written(address: str, port: int) -> str:
    """Return an address as the kernel writes it: bytes of a number of this machine, then the port.

    Examples
    --------
    >>> _written("127.0.0.1", 8080)
    '0100007F:1F90'
    """
    number = bytes(int(part) for part in address.split(".")) if address.count(".") == 3 else b""
    return f"{number[::-1].hex().upper()}:{port:04X}"
