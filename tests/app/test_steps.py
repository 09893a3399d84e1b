"""The steps without a browser: what is shown as text, refused, kept apart, undone."""

from __future__ import annotations

import contextlib
import html
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from time import monotonic, sleep

import pytest

from icsa import cli

from .talking import CLINIC, PATIENCE, VISITS, Client, Started, notice, shown_problem

HOSTILE = '<script>alert("x")</script>'
# As a column's name, a level, a cell; quoted as CSV wants it.
QUOTED = HOSTILE.replace('"', '""')


def hostile_table() -> bytes:
    head = f'"{QUOTED}","<img src=x onerror=alert(1)>",age,"{{{{ 7*7 }}}}"'
    first, second = (QUOTED, "<b>bold</b>"), "'><svg onload=alert(2)>"
    rows = [f'"{first[k % 2]}","{second}{k % 3}",{20 + k % 50},{k * 7 % 31}' for k in range(80)]
    return "\n".join([head, *rows]).encode() + b"\n"


class Foreign(HTMLParser):
    """What of a page a table could have brought: elements and handlers that no page of ours has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in ("img", "b", "object", "embed") or (tag == "script" and "src" not in named):
            self.found.append(tag)
        self.found += [name for name in named if name.startswith("on") or name == "style"]


def tags(page: str) -> list[str]:
    parser = Foreign()
    parser.feed(page)
    return parser.found


def test_the_parser_sees_what_a_table_brings() -> None:
    assert tags("<p onload=x><b>&lt;img&gt;</b><script>1</script>") == ["onload", "b", "script"]


def test_names_levels_and_cells_are_shown_as_text(client: Client) -> None:
    name = "<img src=x>&quot;.csv"
    client.upload("/file/upload", name, hostile_table())
    for path in ("/file", "/columns", "/release"):
        page = client.get(path).text
        assert not tags(page), path
    page = client.get("/columns").text
    assert html.escape(HOSTILE, quote=True).replace("&quot;", "&#34;") in page
    assert "{{ 7*7 }}" in html.unescape(page)
    assert "/release" in page


def test_a_hostile_table_goes_the_whole_way(client: Client) -> None:
    client.upload("/file/upload", "h.csv", hostile_table())
    page = client.post("/release/start", {"do": "make", "assessed": "quickly"}).text
    assert 'class="verdict' in page
    assert not tags(page)
    client.post("/hand-out/names", {"prepared_by": HOSTILE, "decided_by": '"><b>'})
    client.post("/hand-out/mark", {"number": "1"})
    assert not tags(client.get("/hand-out").text)
    report = client.get("/look/1/report")
    policy = report.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert report.headers["x-frame-options"] == "SAMEORIGIN"
    assert html.escape(HOSTILE).replace("&quot;", "&#34;") in report.text
    assert len(re.findall(r"<script", report.text)) == 1
    public = client.get("/hand-out/1/public-report")
    assert public.headers["content-disposition"].startswith("attachment; ")
    assert len(re.findall(r"<script", public.text)) == 1


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.csv", b"", "empty"),
        ("bad.xlsx", b"PK\x03\x04nonsense", ""),
        ("bad.parquet", b"PAR1nonsense", ""),
        ("bad.sav", b"$FL2nonsense", ""),
        ("photo.jpg", b"\xff\xd8\xff", ""),
        ("no suffix", b"a,b\n1,2\n", ""),
        ("torn.csv", b'a,b\n1,"2\n3,4\n', ""),
    ],
)
def test_a_bad_file_gets_the_command_lines_sentence(
    client: Client, name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    page = client.upload("/file/upload", name, content).text
    told = notice(page)
    assert sentence in told
    assert "bug in icsa" not in told
    path = tmp_path / name
    path.write_bytes(content)
    with contextlib.redirect_stderr(io.StringIO()) as said:
        assert cli.run(["inspect", str(path)]) == 2
    expected = said.getvalue().removeprefix("icsa: error: ").strip()
    assert told.rpartition("/")[2] == expected.rpartition("/")[2]
    assert "Which file is it?" in page


@pytest.mark.parametrize(
    "path",
    ["/etc", "/nowhere/at.csv", "", "no.csv", "/dev/zero", "/proc/self/mem", "~no-user/a", "a\0b"],
)
def test_paths_that_are_no_tables_are_told(client: Client, path: str) -> None:
    page = client.post("/file/path", {"path": path}).text
    assert notice(page)
    assert "Which file is it?" in page


def test_every_step_shows_its_command(client: Client) -> None:
    client.upload("/file/upload", "clinic.csv", CLINIC.read_bytes())
    assert "icsa inspect clinic.csv --schema-out clinic.toml" in client.get("/file").text
    assert "icsa inspect clinic.csv --schema-out clinic.toml" in client.get("/columns").text
    shown = "icsa anonymize clinic.csv --schema clinic.toml --output clinic.release.csv"
    assert shown in client.get("/release").text
    page = client.post("/release/start", {"do": "choose", "recipe": "topcode", "method": "sa"}).text
    assert f"{shown} --recipe topcode --method sa --report" in page
    client.post("/file/put-away")
    client.post("/file/path", {"path": str(CLINIC)})
    assert f"icsa inspect {CLINIC} --schema-out clinic.toml" in client.get("/file").text


def test_a_change_is_checked_and_undone(client: Client) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    page = client.post("/columns/change", {"c4-upper": "30"}).text
    assert "above the declared upper bound 30" in shown_problem(page)
    assert "Go on to the release" not in page
    refused = client.post("/release/start", {"do": "make"}).text
    assert "The schema is not in order yet" in refused
    page = client.post("/columns/undo").text
    assert 'id="in-order"' in page
    assert 'name="c4-upper" value="110"' in page
    assert "nothing to undo" in notice(client.post("/columns/undo").text)


def test_what_is_wrong_is_said_once_where_it_was_asked(client: Client, server: Started) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    body = f"csrf={client.csrf}".encode()
    answer = client.ask("POST", "/columns/undo", body, kind)
    assert notice(server.client().get("/columns").text) == ""  # another tab
    place = answer.headers["location"]
    assert re.fullmatch(r"/columns\?said=[0-9a-f]{8}", place)
    assert "nothing to undo" in notice(client.get(place).text)
    assert notice(client.get(place).text) == ""


def test_many_columns_change_at_once(client: Client) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    fields = {"do": "bulk", "chosen": ["4", "5", "6"], "all-action": "drop"}
    page = client.post("/columns/change", fields).text
    assert page.count('class="a-drop"') == 4
    assert "No column is selected" in notice(
        client.post("/columns/change", {"do": "bulk", "all-action": "drop"}).text
    )


def test_the_whole_form_works_without_a_script(client: Client) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    page = client.get("/columns").text
    form = page[page.index('id="columns-form"') : page.index("</form>", page.index("columns-form"))]
    fields: dict[str, list[str]] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        kind = re.search(r'type="(\w+)"', tag)
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name and name[1] != "csrf" and ((kind and kind[1] != "checkbox") or " checked" in tag):
            fields.setdefault(name[1], []).append(html.unescape(value[1]) if value else "on")
    for name, inside in re.findall(
        r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL
    ):
        for chosen in re.findall(r'<option(?: value="([^"]*)")? selected>([^<]*)', inside):
            fields.setdefault(name, []).append(html.unescape(chosen[0] or chosen[1]))
    before = client.get("/columns/schema").text
    unchanged = client.post("/columns/change", {**fields, "do": "change"}).text
    assert not notice(unchanged)
    assert client.get("/columns/schema").text == before
    fields["c4-upper"] = ["112"]
    fields["c2-action"] = ["drop"]
    del fields["switch-0"]
    assert 'id="in-order"' in client.post("/columns/change", {**fields, "do": "change"}).text
    after = client.get("/columns/schema").text
    assert "upper = 112" in after
    assert 'derive = ""' in after
    assert len(set(after.splitlines()) ^ set(before.splitlines())) < 8


def test_an_older_page_does_not_replace_a_newer_schema(client: Client, server: Started) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    other = server.client()
    page = client.get("/columns").text
    (revision,) = set(re.findall(r'name="revision" value="(\d+)"', page))
    client.post("/columns/change", {"c4-upper": "111"})
    for path, fields in (
        ("/columns/text", {"text": "version = 1\n"}),
        ("/columns/change", {"whole": "1", "c4-upper": "109"}),
    ):
        told = other.post(path, {**fields, "revision": revision}).text
        assert "changed in another tab" in notice(told)
    assert 'name="c4-upper" value="111"' in client.get("/columns").text
    other.post("/columns/change", {"c5-upper": "250"})  # one field of an older page: only that
    both = client.get("/columns").text
    assert 'name="c4-upper" value="111"' in both
    assert 'name="c5-upper" value="250"' in both


def test_the_text_is_the_schema(client: Client) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    text = client.get("/columns/schema").text
    (revision,) = set(re.findall(r'name="revision" value="(\d+)"', client.get("/columns").text))
    page = client.post(
        "/columns/text", {"text": text.replace("upper = 110", "upper = 108"), "revision": revision}
    ).text
    assert 'name="c4-upper" value="108"' in page
    loaded = client.upload("/columns/load", "s.toml", text.encode()).text
    assert 'name="c4-upper" value="110"' in loaded
    bad = client.upload(
        "/columns/load", "s.toml", b"version = 1\n[columns.nobody]\nkind = 'text'\n"
    )
    assert "nobody" in shown_problem(bad.text)
    assert "not written in UTF-8" in notice(
        client.upload("/columns/load", "s.toml", b"\xff\xfe").text
    )


def test_a_separator_that_is_wrong_is_told(client: Client) -> None:
    content = b"id;value\n" + b"".join(b"%d;%d,5\n" % (k, k) for k in range(40))
    client.upload("/file/upload", "d.csv", content)
    page = client.post("/file/reading", {"separator": ","}).text
    assert notice(page).startswith("d.csv: by the separator ',' the file is one column")
    assert 'kind = "continuous"' in client.get("/columns/schema").text


def test_nothing_is_left_of_an_upload_that_is_refused(client: Client, server: Started) -> None:
    """Refused at once, after a while, or as something else is being done."""
    client.upload("/file/upload", "torn.csv", b'a,b\n1,"2\n3,4\n')
    assert not list(server.temporary.rglob("torn.csv"))
    wide = ",".join(f"c{k}" for k in range(400)) + "\n"
    slow = (wide + ("1," * 399 + "2\n") * 3000 + "1\n").encode()
    client.upload("/file/upload", "slow.csv", slow)
    assert not list(server.temporary.rglob("slow.csv"))
    client.post("/file/path", {"path": str(CLINIC)})
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    client.ask("POST", "/release/start", f"csrf={client.csrf}&do=make".encode(), kind)
    other = client.ask("POST", "/file/upload", *client.parts("other.csv", b"a,b\n1,2\n"))
    assert "Something else is being done" in notice(client.get(other.headers["location"]).text)
    assert not list(server.temporary.rglob("other.csv"))
    client.post("/working/cancel")


def test_nothing_is_left_once_cancelling_is_answered(client: Client, server: Started) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    client.ask("POST", "/release/start", f"csrf={client.csrf}&do=make".encode(), kind)
    patient_until = monotonic() + PATIENCE
    while not list(server.temporary.rglob("clinic.release.csv")):  # it is assessed after that
        assert monotonic() < patient_until
        sleep(0.01)
    client.ask("POST", "/working/cancel", f"csrf={client.csrf}".encode(), kind)
    assert not list(server.temporary.rglob("clinic.release.csv"))


def test_another_sheet_is_another_schema(client: Client, tmp_path: Path) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(tmp_path / "two.xlsx")
    for name, column in (("people", "age"), ("<b>table<b>", "weight")):
        sheet = book.add_worksheet(name)
        sheet.write_column(0, 0, [column, *(20 + k % 37 for k in range(60))])
        sheet.write_column(0, 1, ["other", *(k * 7 % 53 for k in range(60))])
    book.close()
    page = client.upload("/file/upload", "two.xlsx", (tmp_path / "two.xlsx").read_bytes()).text
    assert "<option selected>people" in page
    assert "[columns.age]" in client.get("/columns/schema").text
    page = client.post("/file/reading", {"sheet": "<b>table<b>"}).text
    assert "icsa inspect two.xlsx --sheet '<b>table<b>'" in html.unescape(page)
    assert not tags(page)
    assert "[columns.weight]" in client.get("/columns/schema").text
    assert "[columns.age]" not in client.get("/columns/schema").text


def test_a_remedy_leads_to_the_step_that_it_changes(client: Client) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    kept = {"do": "bulk", "chosen": ["0", "4", "11", "15", "16", "17", "20"], "all-action": "keep"}
    client.post("/columns/change", kept)
    page = client.post("/release/start", {"do": "make", "assessed": "quickly"}).text
    assert '<p class="word">do not release</p>' in page
    forms = re.findall(r'action="/look/remedy".*?</form>', page, re.DOTALL)
    found = [re.findall(r'name="(recipe|drop)" value="([^"]*)"', form) for form in forms]
    assert [("recipe", "topcode")] in found
    assert [("drop", "patient_id")] in found
    stricter = client.post("/look/remedy", {"recipe": "topcode"}).text
    assert "--recipe topcode" in stricter
    assert "How the release is made" in stricter
    dropped = client.post("/look/remedy", {"drop": "patient_id"}).text
    assert '<tr id="c0" class="a-drop">' in dropped
    page = client.get("/hand-out").text
    client.post("/hand-out/mark", {"number": "1"})
    assert "The word for this release is “do not release”" in client.get("/hand-out").text


def test_visits_are_declared_released_and_assessed(client: Client) -> None:
    client.post("/file/path", {"path": str(VISITS)})
    page = client.get("/columns").text
    assert re.search(r'<option value="0" selected>patient_id', page)
    page = client.get("/release").text
    assert "--public-report public.html" in page
    page = client.post("/release/start", {"do": "make", "assessed": "quickly"}).text
    assert 'class="verdict' in page


def test_numbers_of_releases_that_are_not_there_are_told(client: Client) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    for path in ("/hand-out/7/release", "/look/7/report", "/look/999999999999"):
        assert client.get(path).status in (303, 404)


def test_choices_that_are_none_are_refused(client: Client) -> None:
    client.post("/file/path", {"path": str(CLINIC)})
    for fields in ({"recipe": "--output"}, {"method": "x; rm -rf"}, {"mask": "../x"}):
        page = client.post("/release/start", {"do": "make", **fields}).text
        assert "There is no" in notice(page)
