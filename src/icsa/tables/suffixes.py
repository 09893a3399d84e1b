"""Which format a file's name stands for, and what a release is called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from icsa.errors import InputError

__all__ = ["FORMATS", "FileKind", "default_output", "file_kind", "text_suffix"]

FORMATS: dict[str, str] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".xlsx": "xlsx",
    ".sav": "sav",
    ".zsav": "zsav",
    ".dta": "dta",
    ".sas7bdat": "sas7bdat",
    ".xpt": "xpt",
}


@dataclass(frozen=True)
class FileKind:
    """The format of a file, its suffix, and whether gzip compressed it."""

    file_format: str
    suffix: str
    compressed: bool = False


def file_kind(path: Path, file_format: str | None = None) -> FileKind:
    """Return what the suffix of a file's name says about its format.

    Parameters
    ----------
    path : Path
    file_format : str, optional
        One of the values of `FORMATS`; then the suffix only says whether the file is compressed.

    Examples
    --------
    >>> file_kind(Path("patients.csv.gz"))
    FileKind(file_format='csv', suffix='.csv.gz', compressed=True)
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    last = (suffixes[-2:-1] if compressed else suffixes[-1:]) or [""]
    written = "".join(path.suffixes[-2:] if compressed else path.suffixes[-1:])
    found = FORMATS.get(last[0]) if file_format is None else _known(file_format)
    if found is None or (compressed and found != "csv"):
        raise InputError(
            f"{path}: the format is not known from the name. Known suffixes: {', '.join(FORMATS)} "
            "(.csv, .tsv and .txt also with .gz). Rename the file, or name its format."
        )
    return FileKind(found, written, compressed)


def text_suffix(kind: FileKind) -> str:
    """Return how the name of a text file ends, in small letters and without ``.gz``.

    Examples
    --------
    >>> text_suffix(file_kind(Path("patients.TSV.gz")))
    '.tsv'
    """
    return kind.suffix.lower().removesuffix(".gz")


def default_output(path: str | Path) -> Path:
    """Return the name of a release beside its input: NAME.release.SUFFIX.

    SAS data sets (.sas7bdat) cannot be written; their release is a transport file (.xpt).

    Examples
    --------
    >>> default_output("patients.csv").name, default_output("old/a.b.csv.gz").name
    ('patients.release.csv', 'a.b.release.csv.gz')
    >>> default_output("trial.sas7bdat").name
    'trial.release.xpt'
    """
    path = Path(path)
    kind = file_kind(path)
    suffix = ".xpt" if kind.file_format == "sas7bdat" else kind.suffix
    return path.with_name(f"{path.name.removesuffix(kind.suffix)}.release{suffix}")


def _known(file_format: str) -> str:
    known = sorted(set(FORMATS.values()))
    if file_format not in known:
        raise InputError(f"No file format {file_format!r}. Known: {', '.join(known)}.")
    return file_format
