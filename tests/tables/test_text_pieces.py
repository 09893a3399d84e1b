"""Text files in pieces: the same text, cells, types and sentences as those read at once."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icsa.errors import InputError
from icsa.tables import Table, file_kind, read_table
from icsa.tables.table import Variable
from icsa.tables.text_encoding import load_text
from icsa.tables.text_streams import expanded_size, look_through, record_blocks

from .in_pieces import read_in_pieces

LAW = settings(max_examples=150, deadline=None, derandomize=True)
LETTERS = st.sampled_from(
    [b"a", b",", b"\n", b"\r\n", b"\r", b'"', b" ", b"\xc3\xa9", b"\xe9", b"7"]
)
RARE = st.sampled_from([b"\x81", b"\x00", b"\xef\xbb\xbf", b"\x01", b"\xff\xfe"])


def as_read(read: object) -> object:
    """Return a result, or the sentence of an error."""
    try:
        return read()  # type: ignore[operator]
    except InputError as error:
        return str(error)


@given(
    start=st.one_of(st.just(b""), RARE),
    letters=st.lists(st.one_of(*[LETTERS] * 6, RARE), min_size=1, max_size=40),
    piece=st.integers(1, 9),
    encoding=st.sampled_from([None, None, None, "utf-8", "latin-1", "utf-16"]),
    compressed=st.booleans(),
)
@LAW
def test_the_text_in_pieces_is_the_text(
    start: bytes, letters: list[bytes], piece: int, encoding: str | None, compressed: bool
):
    data = start + b"".join(letters)
    how = {"compressed": compressed, "encoding": encoding}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t"
        path.write_bytes(gzip.compress(data) if compressed else data)
        with (
            patch("icsa.tables.text_encoding.PIECE", piece),
            patch("icsa.tables.text_streams.PIECE", piece),
        ):
            wanted = as_read(lambda: load_text(path, **how))  # type: ignore[arg-type]
            found = as_read(lambda: look_through(path, **how))  # type: ignore[arg-type]
            if isinstance(wanted, str) or isinstance(found, str):
                assert found == wanted
                return
            pieces = b"".join(found.pieces())
        assert pieces == wanted.data
        assert (found.encoding, found.newline) == (wanted.encoding, wanted.newline)
        assert found.size == len(wanted.data)
        lines = pieces.count(b"\n") + (not pieces.endswith(b"\n"))
        assert found.n_lines >= lines
        assert "".join(found.lines()) == pieces.decode()


@given(
    texts=st.lists(st.sampled_from(['"', "\n", "a", ",", '""', '"\n"', "a,b\n"]), max_size=30),
    n_bytes=st.integers(1, 12),
)
@LAW
def test_blocks_end_where_records_do(texts: list[str], n_bytes: int):
    data = "".join(texts).encode()
    blocks = list(record_blocks([data], '"', n_bytes))
    if blocks and blocks[-1] is None:
        assert len(data) > 4 * n_bytes
        return
    assert b"".join(blocks) == data  # type: ignore[arg-type]
    for block in blocks[:-1]:
        assert block is not None
        assert block.endswith(b"\n")
        assert block.count(b'"') % 2 == 0


CELLS = {
    "whole": ["1", "22", "-3"],
    "point": ["1.5", "22.25", "-0.75"],
    "comma": ["1,5", "22,25", "7"],
    "grouped": ["1,234", "22", "1,000,000"],
    "code": ["007", "012", "100"],
    "level": ["low", "mid", "it's high"],
    "date": ["2020-01-31", "1999-12-01", "2024-02-29"],
    "slashed": ["1/2/2020", "3/4/2021", "13/2/2020"],
    "flag": ["TRUE", "FALSE"],
    "clock": ["07:10", "23:59", "31:05"],
    "word": ["", "NA", "NaN", "-", "inf"],
    "odd": ['say ""so""', "two\nlines", "a;b,c", "", " x "],
}


@st.composite
def text_tables(draw: st.DrawFn) -> str:
    """Return text with columns that are of one kind in their first rows, and of any below."""
    separator = draw(st.sampled_from([",", ";", "\t"]))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    n_first, n_more = draw(st.integers(20, 22)), draw(st.integers(0, 25))
    blank, others = draw(st.integers(0, 2)), draw(st.booleans())
    rows = []
    for number in range(n_first + n_more):
        row = []
        for kind in kinds:
            pool = CELLS[kind]
            if number >= n_first and others and draw(st.integers(0, 9)) == 0:
                pool = CELLS[draw(st.sampled_from(sorted(CELLS)))]
            cell = draw(st.sampled_from(pool)) if draw(st.integers(0, 9)) else ""
            needs = any(mark in cell for mark in (separator, '"', "\n"))
            row.append(f'"{cell}"' if needs else cell)
        rows.append(separator.join(row))
    rows += [separator * (len(kinds) - 1)] * blank
    if draw(st.integers(0, 7)) == 0:  # short, long, blank, or with a mark that is not closed
        broken = draw(st.sampled_from(["1", separator * 9, "", 'a"b', '"open']))
        rows.insert(draw(st.integers(0, len(rows))), broken)
    names = separator.join(f"name_{place}" for place in range(len(kinds)))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join([names, *rows]) + draw(st.sampled_from(["", end]))


@given(text=text_tables(), n_bytes=st.integers(8, 400))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_cells_types_and_sentences_are_those_of_a_file_that_is_read_at_once(
    text: str, n_bytes: int
):
    with (
        TemporaryDirectory() as folder,
        patch("icsa.tables.text_reading.SMALL", 0),
        patch("icsa.tables.text_reading._SAMPLED_ROWS", 20),
    ):
        path = Path(folder) / "t.csv"
        path.write_bytes(text.encode())
        wanted = as_read(lambda: read_table(path))
        found = as_read(lambda: read_in_pieces(path, Path(folder) / "s", n_bytes=n_bytes))
    if not isinstance(wanted, Table):
        assert found == wanted
        return
    assert isinstance(found, Table)
    assert found.frame.equals(wanted.frame)
    assert found.frame.schema == wanted.frame.schema
    assert found.variables == wanted.variables
    assert found.layout == wanted.layout


def test_what_follows_a_long_way_below(tmp_path: Path):
    rows = [f"{k % 50},{k % 7}.5,{k % 3}/2/2020" for k in range(300_000)]
    path = tmp_path / "t.csv"
    for place, row in ((299_990, "x,1.5,2/2/2020"), (299_991, "1,none,31/2/2020")):
        kept, rows[place] = rows[place], row
        path.write_text("\n".join(["a,b,day", *rows]))
        found, wanted = read_in_pieces(path, tmp_path / "s"), read_table(path)
        assert found.frame.equals(wanted.frame)
        assert (found.variables, found.layout) == (wanted.variables, wanted.layout)
        rows[place] = kept


def test_sizes_of_packed_files_are_guessed_from_their_beginning(tmp_path: Path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 10))
    assert expanded_size(path, compressed=file_kind(path).compressed) >= 40
    path.write_bytes(gzip.compress(b"".join(b"%d,2\n" % k for k in range(2_000_000))))
    unpacked = len(gzip.decompress(path.read_bytes()))
    assert 0.7 * unpacked < expanded_size(path, compressed=True) < 1.4 * unpacked


def test_a_broken_gzip_file_is_told(tmp_path: Path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * 1000)[:-9])
    with pytest.raises(InputError, match="not a whole gzip file"):
        look_through(path, compressed=True, encoding=None)


def test_variables_can_be_kept_in_scratch():
    variable = Variable(decimals=2)
    assert pickle.loads(pickle.dumps(variable)) == variable
