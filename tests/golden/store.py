"""The golden files as they are stored, and how a new set differs from them.

    python -m tests.golden.store

makes them anew. Whoever does says in the changelog what changed and why.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tempfile
from pathlib import Path

from tests.golden.pinning import run_pinned, versions

STORED = Path(__file__).parent / "stored"
_DIGESTS = STORED / "digests.json"
# Of larger files and of matrices only the digest is kept.
_LARGEST_KEPT = 1_000_000
# An SPSS file says when it was written, in the 17 characters from here.
_SPSS_DATE = slice(92, 109)


def made_with() -> dict[str, str]:
    """Return the versions of what the stored files were made with."""
    return json.loads(_DIGESTS.read_text(encoding="utf-8"))["made_with"]


def differences(folder: Path) -> list[str]:
    """Return a line for each file of a folder that is not as stored."""
    stored = json.loads(_DIGESTS.read_text(encoding="utf-8"))["digests"]
    made = {path.name: path for path in folder.iterdir()}
    absent = [f"{name}: not made any more" for name in stored if name not in made]
    return absent + [
        f"{name}: {_first_difference(name, _content(path))}"
        for name, path in sorted(made.items())
        if _digest(_content(path)) != stored.get(name)
    ]


def renew() -> None:
    """Make the golden files anew and store them."""
    with tempfile.TemporaryDirectory() as scratch:
        run_pinned(Path(scratch))
        STORED.mkdir(exist_ok=True)
        for old in STORED.iterdir():
            old.unlink()
        contents = {path.name: _content(path) for path in sorted(Path(scratch).iterdir())}
    for name, content in contents.items():
        if len(content) <= _LARGEST_KEPT and not name.endswith(".npy"):
            _kept(name).write_bytes(gzip.compress(content, mtime=0))
    digests = {name: _digest(content) for name, content in contents.items()}
    record = {"made_with": versions(), "digests": digests}
    _DIGESTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _kept(name: str) -> Path:
    return STORED / f"{name}.gz"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _content(path: Path) -> bytes:
    content = bytearray(path.read_bytes())
    if path.suffix == ".sav":
        content[_SPSS_DATE] = b" " * len(content[_SPSS_DATE])
    return bytes(content)


def _first_difference(name: str, made: bytes) -> str:
    """Return where a file begins to differ from the stored one, as far as that is kept."""
    if not _kept(name).exists():
        return "differs" if name.endswith((".npy", ".parquet")) else "is new"
    before, after = gzip.decompress(_kept(name).read_bytes()).split(b"\n"), made.split(b"\n")
    pairs = zip(before, after, strict=False)
    lines = [number for number, (old, new) in enumerate(pairs, 1) if old != new]
    if not lines:
        return f"has {len(after)} lines instead of {len(before)}"
    old, new = (rows[lines[0] - 1][:120] for rows in (before, after))
    return f"{len(lines)} lines differ, first line {lines[0]}: {old!r} -> {new!r}"


if __name__ == "__main__":
    renew()
