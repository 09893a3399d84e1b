"""Forms and uploads: names, limits, and what is left of those that are refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from icsa.app.forms import Form, NotOursError, read_form, safe_name
from icsa.app.site import download
from icsa.errors import InputError


def sent(folder: Path, body: bytes, kind: str, most: int = 1000, pieces: int = 7) -> Form:
    """Return the form that comes in pieces of some bytes."""

    async def stream() -> AsyncIterator[bytes]:
        for start in range(0, len(body), pieces):
            yield body[start : start + pieces]

    request = Request({"type": "http", "headers": [(b"content-type", kind.encode())]})
    request.stream = stream  # type: ignore[method-assign]
    return asyncio.run(read_form(request, "secret", folder, most))


def parts(content: bytes, name: str = "a.csv", csrf: str = "secret") -> bytes:
    return (
        (
            f'--B\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{csrf}\r\n'
            f'--B\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        ).encode()
        + content
        + b"\r\n--B--\r\n"
    )


PARTS = "multipart/form-data; boundary=B"
FIELDS = "application/x-www-form-urlencoded"


@given(st.text(max_size=300))
def test_a_safe_name_is_a_name_in_its_folder(given: str) -> None:
    name = safe_name(given)
    assert name == Path(name).name
    assert 0 < len(name.encode()) < 400
    assert not name.startswith((".", "-", " "))
    assert name.isprintable()
    assert not set(name) & set('/\\:*?"<>|\0')
    assert safe_name(name) == name


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\data.csv", "data.csv"),
        ("<script>alert(1)</script>.csv", "script.csv"),
        ('a"; rm -rf ~;".csv', "a__ rm -rf.csv"),
        ("..", "table"),
        (".csv", "table.csv"),
        ("a\nb\x1b[31m.csv", "a_b__31m.csv"),
        ("Größe 2024.csv", "Größe 2024.csv"),
        ("x" * 300 + ".parquet", "x" * 80 + ".parquet"),
    ],
)
def test_names(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@pytest.mark.parametrize("pieces", [1, 7, 10_000])
def test_a_file_is_written_as_it_comes_for_its_owner_only(tmp_path: Path, pieces: int) -> None:
    content = b"a,b\r\n1,2\r\n--B\r\n-"
    form = sent(tmp_path, parts(content.replace(b"\r\n--B", b"\r\n--C")), PARTS, pieces=pieces)
    assert form.file == tmp_path / "a.csv"
    assert form.file.read_bytes() == content.replace(b"\r\n--B", b"\r\n--C")
    assert form.file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_too_large_is_told_and_gone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"larger than .* MB.*Type its path instead"):
        sent(tmp_path, parts(b"x" * 1001), PARTS)
    assert sent(tmp_path, parts(b"x" * 1000), PARTS).file is not None
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("csrf", ["", "wrong", "secre"])
def test_a_form_of_others_is_not_kept(tmp_path: Path, csrf: str) -> None:
    with pytest.raises(NotOursError):
        sent(tmp_path, parts(b"x", csrf=csrf), PARTS)
    with pytest.raises(NotOursError):
        sent(tmp_path, f"csrf={csrf}&a=1".encode(), FIELDS)
    with pytest.raises(NotOursError):  # the file first
        sent(tmp_path, parts(b"x").replace(b'name="csrf"', b'name="other"'), PARTS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "body", [b"", b"--B", b"--B\r\n", b"nonsense", b"--B\r\nContent-Disposition: x\r\n\r\n"]
)
def test_half_a_form_is_refused(tmp_path: Path, body: bytes) -> None:
    with pytest.raises((InputError, NotOursError)):
        sent(tmp_path, body, PARTS)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_upload_leaves_nothing(tmp_path: Path) -> None:
    whole = parts(b"x" * 500)
    with pytest.raises((InputError, NotOursError)):
        sent(tmp_path, whole[:-30], PARTS)
    assert not list(tmp_path.iterdir())


def test_long_fields_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="longer than"):
        sent(tmp_path, b"csrf=secret&a=" + b"x" * 5_000_000, FIELDS, pieces=100_000)
    body = parts(b"x" * 5_000_000).replace(b'; filename="a.csv"', b"")
    with pytest.raises(InputError, match="longer than"):
        sent(tmp_path, body, PARTS, pieces=100_000)


def test_a_downloads_name_cannot_leave_its_header() -> None:
    answer = download("x", 'a"\r\nSet-Cookie: x=1\r\n<ä>.csv', "text/csv")
    told = answer.headers["content-disposition"]
    assert "\r" not in told
    assert "\n" not in told
    assert told.count('"') == 2
    assert told.isascii()
