"""Text tables that went wrong: a good one, and what disks, editors and exports do to it."""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["HEADER", "SECRET", "mutation", "original"]

HEADER = "patient,age,weight,sex,ward,seen,clock,score,remark"
SECRET = "Zq7secret"  # in cells only

_ROWS = 45
_TOKENS = (
    b"",
    b" ",
    b"NA",
    b"NaN",
    b"-",
    b".",
    b"inf",
    b"-inf",
    b"1e400",
    b"1e308",
    b"-1e308",
    b"1e-320",
    b"-0",
    b"007",
    b"0x1F",
    b"1_000",
    b"1,5",
    b"1.234.567",
    b"1 000",
    b"99999999999999999999",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"true",
    b"TRUE",
    b"2020-02-30",
    b"0000-00-00",
    b"0001-01-01",
    b"9999-12-31",
    b"31/12/2020",
    b"2020-01-01T25:00",
    b"23:59:60",
    b"24:00",
    b"=1+1",
    b"[red]x[/red]",
    b"\xc3\xa9",
    b"\xe9",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98\x80",
    b"\x00",
    b"\x1b[31m",
    b"\x85",
    b"\xe2\x80\xa8",
    b'"',
    b'""',
    b'"a,b"',
    b'"a\nb"',
    b"'",
    b"a" * 300,
)
_MARKS = (
    b"\n",
    b"\r",
    b"\r\n",
    b",",
    b";",
    b"\t",
    b"|",
    b'"',
    b"'",
    b"\x00",
    b"\xef\xbb\xbf",
    b"#",
)


def original() -> bytes:
    """Return a table of 45 people with columns of many kinds, as UTF-8."""
    draw = random.Random(1)
    lines = [HEADER]
    for row in range(_ROWS):
        cells = (
            f"P-{row:04}",
            draw.randint(20, 90),
            f"{draw.gauss(75, 12):.1f}",
            draw.choice(("f", "m")),
            draw.choice(("north", "south", "east")),
            f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            f"{draw.randint(0, 23):02}:{draw.randint(0, 59):02}",
            "" if draw.random() < 0.1 else draw.randint(0, 9),
            f"{SECRET} {row}",
        )
        lines.append(",".join(map(str, cells)))
    return ("\n".join(lines) + "\n").encode()


def mutation(number: int) -> bytes:
    """Return the original after one to four accidents; the same number gives the same bytes."""
    draw = random.Random(number)
    data = original()
    for _ in range(draw.randint(1, 4)):
        data = draw.choice(_ACCIDENTS)(data, draw)
    return data


def _change_bytes(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 5)):
        if changed:
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _insert_mark(data: bytes, draw: random.Random) -> bytes:
    place = draw.randint(0, len(data))
    return data[:place] + draw.choice(_MARKS) + data[place:]


def _cut_out(data: bytes, draw: random.Random) -> bytes:
    start = draw.randint(0, len(data))
    return data[:start] + data[start + draw.choice((1, 10, 300, 5000)) :]


def _cut_off(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randint(0, len(data))]


def _repeat_piece(data: bytes, draw: random.Random) -> bytes:
    start = draw.randint(0, len(data))
    end = start + draw.choice((1, 10, 300))
    return data[:end] + data[start:end] + data[end:]


def _replace_cell(data: bytes, draw: random.Random) -> bytes:
    return _edit_cells(data, draw, lambda _row: draw.random() < 0.03)


def _replace_column(data: bytes, draw: random.Random) -> bytes:
    share = draw.choice((0.3, 0.6, 0.95, 1.0))
    return _edit_cells(data, draw, lambda row: row > 0 and draw.random() < share)


def _edit_cells(data: bytes, draw: random.Random, chosen: Callable[[int], bool]) -> bytes:
    token, lines = draw.choice(_TOKENS), data.split(b"\n")
    column = draw.randrange(lines[0].count(b",") + 1)
    for row, line in enumerate(lines):
        cells = line.split(b",")
        if column < len(cells) and len(line) and chosen(row):
            cells[column] = token
            lines[row] = b",".join(cells)
    return b"\n".join(lines)


def _rename_column(data: bytes, draw: random.Random) -> bytes:
    header, _, rest = data.partition(b"\n")
    names = header.split(b",")
    names[draw.randrange(len(names))] = draw.choice((*_TOKENS, *names))
    return b",".join(names) + b"\n" + rest


def _drop_column(data: bytes, draw: random.Random) -> bytes:
    lines = [line.split(b",") for line in data.split(b"\n")]
    column = draw.randrange(len(lines[0]))
    return b"\n".join(b",".join(line[:column] + line[column + 1 :]) for line in lines)


def _change_lines(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    change = draw.choice(("shuffle", "repeat", "same", "drop header", "blank"))
    if change == "shuffle":
        draw.shuffle(lines)
    elif change == "repeat":
        lines += lines[1:] * draw.choice((1, 3))
    elif change == "same":
        lines = lines[:1] + lines[1:2] * len(lines)
    elif change == "blank":
        lines.insert(draw.randint(0, len(lines)), draw.choice((b"", b" ", b",,,")))
    else:
        lines = lines[1:]
    return b"\n".join(lines)


def _change_separator(data: bytes, draw: random.Random) -> bytes:
    return data.replace(b",", draw.choice((b";", b"\t", b"|", b" ", b":")))


def _change_line_ends(data: bytes, draw: random.Random) -> bytes:
    return data.replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\n", b",\n", b"\n\r")))


def _change_encoding(data: bytes, draw: random.Random) -> bytes:
    text = data.decode("latin-1")
    return text.encode(draw.choice(("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")))


_ACCIDENTS = (
    _change_bytes,
    _insert_mark,
    _cut_out,
    _cut_off,
    _repeat_piece,
    _replace_cell,
    _replace_cell,
    _replace_column,
    _replace_column,
    _replace_column,
    _rename_column,
    _drop_column,
    _change_lines,
    _change_separator,
    _change_line_ends,
    _change_encoding,
)
