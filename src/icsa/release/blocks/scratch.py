"""Scratch: a folder that only its owner can read, with columns of numbers, a file each.

A file holds one number a row and nothing else. It is mapped, not read: what is asked of it comes
from the disk, and a whole column is in memory as long as somebody holds it.
"""

from __future__ import annotations

import copyreg
import errno
import os
import pickle
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from icsa.files import UNFINISHED
from icsa.matrices import Matrix, Vector

__all__ = ["Scratch", "StoredNumbers", "read_starts", "write_starts"]

_SPARE = "spare"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _held(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


# Mappings that nobody may change are kept in scratch, too.
copyreg.pickle(MappingProxyType, lambda mapping: (_held, (dict(mapping),)))


@dataclass(frozen=True)
class Scratch:
    """A folder of columns, each named by what it holds and its place.

    Attributes
    ----------
    folder : Path
    n_rows : int
    """

    folder: Path
    n_rows: int

    def path(self, what: str, place: int) -> Path:
        """Return the file of a column."""
        return self.folder / what / f"{place}.numbers"

    def write(self, what: str, place: int, column: npt.NDArray[Any]) -> None:
        """Keep a column, as a whole or not at all."""
        with self.written(what, [place]) as (file,):
            np.ascontiguousarray(column).tofile(file)

    @contextmanager
    def written(self, what: str, places: Iterable[int]) -> Iterator[list[IO[bytes]]]:
        """Give files to write columns to, which are kept as a whole or not at all."""
        with ExitStack() as stack:
            yield [stack.enter_context(self._one_written(self.path(what, one))) for one in places]

    @contextmanager
    def _one_written(self, path: Path) -> Iterator[IO[bytes]]:
        path.parent.mkdir(exist_ok=True)
        with self._put_in_place(path) as beside:
            mode = "r+b" if self._take_spare(beside) else "wb"
            with beside.open(mode) as file:
                yield file
                file.truncate()

    @contextmanager
    def _put_in_place(self, path: Path) -> Iterator[Path]:
        """Give a name to write to, and put the file in its place when it is complete.

        What a crash of the whole machine would lose is computed again, so nobody waits for the
        disk.
        """
        beside = path.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{path.name}")
        with self.telling_of_room():
            try:
                yield beside
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)

    @contextmanager
    def telling_of_room(self) -> Iterator[None]:
        """Have an error of writing say where there is no room; libraries seldom do."""
        try:
            yield
        except (OSError, pl.exceptions.ComputeError) as error:
            if not _is_about_room(error):
                raise
            raise OSError(
                errno.ENOSPC,
                "No space left for scratch files: a table in blocks needs up to 2.5 times its "
                "size, 3 times with units, and 3.5 times with strata. Make room, or give another "
                "--scratch.",
                str(self.folder.parent),
            ) from None

    def column(self, what: str, place: int, dtype: npt.DTypeLike = np.float64) -> Any:
        """Return a column; whoever writes to it writes to a copy."""
        path = self.path(what, place)
        return np.asarray(np.memmap(path, dtype=dtype, mode="c", shape=(self.n_rows,)))

    def loaded(self, what: str, place: int) -> Vector:
        """Return a column in memory of its own."""
        return np.fromfile(self.path(what, place))

    def allocate(self, what: str, n_columns: int, dtype: npt.DTypeLike = np.float64) -> None:
        """Make room for columns that come block by block, where there is none yet."""
        (self.folder / what).mkdir(exist_ok=True)
        for place in range(n_columns):
            path = self.path(what, place)
            if not path.exists():
                self._take_spare(path)
            with path.open("ab") as file:
                file.truncate(np.dtype(dtype).itemsize * self.n_rows)

    def rows(
        self, what: str, places: Sequence[int], rows: slice, dtype: npt.DTypeLike = np.float64
    ) -> Any:
        """Return some rows of columns, each column in one piece of memory."""
        found = np.empty((rows.stop - rows.start, len(places)), order="F", dtype=dtype)
        for j, place in enumerate(places):
            with self.path(what, place).open("rb", buffering=0) as file:
                file.seek(found.itemsize * rows.start)
                _read_all(file, found[:, j].view(np.uint8).data)
        return found

    def write_rows(
        self, what: str, places: Sequence[int], rows: slice, values: npt.NDArray[Any]
    ) -> None:
        """Write some rows of columns that have room."""
        with self.telling_of_room():
            for j, place in enumerate(places):
                with self.path(what, place).open("r+b") as file:
                    file.seek(values.itemsize * rows.start)
                    np.ascontiguousarray(values[:, j]).tofile(file)

    def gathered(self, what: str, places: Sequence[int], rows: npt.NDArray[np.int64]) -> Matrix:
        """Return rows from all over the table, each in one piece of memory."""
        found = np.empty((rows.size, len(places)))
        for j, place in enumerate(places):
            found[:, j] = self.column(what, place)[rows]
        return found

    def drop(self, what: str) -> None:
        """Let go of columns that nobody needs any more: others are written in their place.

        That spares the system a third of its work, as it has room for them already.
        """
        spare = self.folder / _SPARE
        spare.mkdir(exist_ok=True)
        for path in sorted((self.folder / what).glob("*.numbers")):
            if path.stat().st_nlink == 1:  # not one that stands for another as well
                path.replace(spare / f"{secrets.token_hex(8)}.numbers")
        shutil.rmtree(self.folder / what, ignore_errors=True)

    def drop_spare(self) -> None:
        """Remove the room that columns left, once no others are to be written."""
        shutil.rmtree(self.folder / _SPARE, ignore_errors=True)

    def _take_spare(self, path: Path) -> bool:
        """Give a file that columns left another name, where there is one."""
        for spare in (self.folder / _SPARE).glob("*.numbers"):
            try:
                spare.replace(path)
            except FileNotFoundError:  # another worker was first
                continue
            return True
        return False

    def keep(self, name: str, found: object) -> None:
        """Keep something small that a pass found."""
        (self.folder / "found").mkdir(exist_ok=True)
        text = pickle.dumps(found)
        with self._put_in_place(self.folder / "found" / name) as beside:
            beside.write_bytes(text)

    def kept(self, name: str) -> Any:
        """Return what was kept; a FileNotFoundError where nothing is."""
        return pickle.loads((self.folder / "found" / name).read_bytes())

    def has(self, name: str) -> bool:
        """Return whether something is kept by that name."""
        return (self.folder / "found" / name).exists()

    def forget(self, name: str) -> None:
        """Let go of what was kept."""
        (self.folder / "found" / name).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all columns, and whatever was kept."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)

    def link(self, what: str, place: int, other: str, other_place: int) -> None:
        """Let a column stand for another as well, without a copy where the disk can do that."""
        target = self.path(other, other_place)
        target.parent.mkdir(exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            os.link(self.path(what, place), target)
        except OSError:
            shutil.copyfile(self.path(what, place), target)


def _is_about_room(error: Exception) -> bool:
    """Return whether an error of writing is that the disk is full."""
    if isinstance(error, OSError):  # numpy's, where it could write a part only, has no number
        return error.errno in (None, *_NO_ROOM)
    told = re.search(r"os error (\d+)", str(error))  # polars writes the number into its sentence
    return told is not None and int(told[1]) in _NO_ROOM


def _read_all(file: RawIOBase, target: memoryview) -> None:
    """Fill memory from a file, which may give less at a time than is asked for."""
    while target:
        count = file.readinto(target)
        if not count:
            raise OSError(f"{file.name} ends too early.")  # type: ignore[attr-defined]
        target = target[count:]


class StoredNumbers(Mapping[str, Vector]):
    """Columns in scratch by their names, each mapped when it is asked for and not before."""

    def __init__(self, scratch: Scratch, places: Mapping[str, tuple[str, int]]) -> None:
        self._scratch = scratch
        self._places = dict(places)

    def __getitem__(self, name: str) -> Vector:
        """Return a column."""
        column: Vector = self._scratch.column(*self._places[name])
        return column

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._places)

    def places(self) -> dict[str, tuple[str, int]]:
        """Return where each column is."""
        return dict(self._places)

    def without(self, names: Set[str]) -> StoredNumbers:
        """Return the same columns but for some."""
        kept = {name: place for name, place in self._places.items() if name not in names}
        return StoredNumbers(self._scratch, kept)


def write_starts(scratch: Scratch, starts: npt.NDArray[np.int64]) -> None:
    """Keep where units begin."""
    scratch.write("starts", 0, starts)


def read_starts(scratch: Scratch) -> npt.NDArray[np.int64]:
    """Return where units begin."""
    return np.fromfile(scratch.path("starts", 0), dtype=np.int64)
