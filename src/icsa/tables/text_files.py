"""Text files (.csv, .tsv, .txt) as one of the formats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from icsa.tables.base import FileKind, Format, ReadingOptions
from icsa.tables.table import Layout, Table
from icsa.tables.text_reading import read_text
from icsa.tables.text_writing import write_text

__all__ = ["CSV"]


def _read(path: Path, kind: FileKind, options: ReadingOptions) -> Table:
    table = read_text(
        path,
        compressed=kind.compressed,
        separator=options.separator,
        decimal=options.decimal,
        encoding=options.encoding,
    )
    return replace(table, layout=replace(table.layout, suffix=_suffix(kind)))


def _write(table: Table, path: Path, kind: FileKind) -> None:
    write_text(table, path, _text_layout(table.layout, kind))


def _suffix(kind: FileKind) -> str:
    """Return how the name of a text file ends, in small letters and without ``.gz``."""
    return kind.suffix.lower().removesuffix(".gz")


def _text_layout(layout: Layout, kind: FileKind) -> Layout:
    """Return the layout of a text file: that of the input if it was one, but tabs in .tsv files."""
    suffix = _suffix(kind)
    tabs = suffix == ".tsv"
    if layout.file_format == "csv":
        separator = layout.separator
        if tabs and layout.suffix != suffix:
            separator = "\t"
        elif suffix == ".csv" and layout.suffix == ".tsv" and separator == "\t":
            separator = ";" if layout.decimal == "," else ","
        return replace(layout, separator=separator, suffix=suffix, compressed=kind.compressed)
    return Layout(
        "csv",
        separator="\t" if tabs else ",",
        decimal=".",
        encoding="utf-8",
        newline="\n",
        suffix=suffix,
        compressed=kind.compressed,
    )


CSV = Format(
    name="csv",
    title="CSV",
    suffixes=(".csv", ".tsv", ".txt"),
    read=_read,
    write=_write,
    options=("separator", "decimal", "encoding"),
    gzipped=True,
)
